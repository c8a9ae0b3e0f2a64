"""What a link meant before a parameter was added to its page, or before a seed meant other weights."""

from collections.abc import Collection
from typing import Any

OTHER_WEIGHTS = "1"
"""The version of links in which one generator drew all random weights in turn, instead of one each tensor."""

_RANDOM_PAGES = {"gradient-flow", "training", "regularisers", "tutorials"}
"""Pages that draw random weights, or train from them, whatever weights the sidebar has chosen."""

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


def describe_other_weights(page: str, *, seed: int, is_random: bool, has_random_decoder: bool) -> str | None:
    """A sentence for what a link of version `OTHER_WEIGHTS` opens; None where no random weights are shown.

    Args:
        page: the page that is open.
        seed: what random weights are drawn from.
        is_random: whether the chosen weights are.
        has_random_decoder: whether the Decoder page shows both halves at random, as it does for most own texts.
    """
    if not (has_random_decoder if page == "encoder-decoder" else is_random or page in _RANDOM_PAGES):
        return None
    return (
        "Since this link was made, the playground has changed how it draws random weights: "
        f"seed {seed} gives other ones now."
    )
