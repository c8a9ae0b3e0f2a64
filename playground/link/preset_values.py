"""What a preset sets, by the link's keys."""

from functools import cache
from types import MappingProxyType
from typing import Any

from playground.link.params import ARCHITECTURE
from playground.presets import PRESETS


@cache
def values_of_preset(name: str, *, has_wordpiece: bool) -> MappingProxyType[str, Any]:
    """What a preset of `PRESETS` sets beside the weights: architecture, tokens, and its text if it has one.

    Without the checkpoint's tokenizer, the text's own words stand in for it. The token table has the preset's rows, as
    those that the tokenizer has no token for are added.
    """
    preset = PRESETS[name]
    values = {key: getattr(preset.config, key) for key in ARCHITECTURE}
    own_text = {} if preset.text is None else {"text": preset.text}
    tokenizer = preset.tokenizer
    if tokenizer == "wordpiece" and not has_wordpiece:
        tokenizer = "word"
    exact = tokenizer in ("wordpiece", "vectors") or preset.text is not None
    rows = 0 if exact else preset.config.vocab_size
    return MappingProxyType(values | own_text | {"tokenizer": tokenizer, "table_rows": rows})
