"""What a link meant before a parameter was added to its page."""

from collections.abc import Collection
from typing import Any

_OWN_TEXT_KEYS = ("encdec_target", "encdec_attention", "encdec_layer", "encdec_head", "encdec_position")
"""The Decoder page's parameters before it had a trained example."""

_TARGET_BEFORE = "Het dier was te moe.\nDaarom stak het de straat niet over."
"""The default of `encdec_target` then."""


def missing_values(linked: Collection[str]) -> dict[str, Any]:
    """What a link with these keys leaves out and meant by it, where that is no longer the default."""
    if "encdec_source" in linked or not any(key in linked for key in _OWN_TEXT_KEYS):
        return {}
    target = {} if "encdec_target" in linked else {"encdec_target": _TARGET_BEFORE}
    return {"encdec_source": "your text", **target}
