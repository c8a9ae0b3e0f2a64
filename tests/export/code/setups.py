"""Setups of the whole space of configurations, small enough that each takes milliseconds."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from playground import ModelConfig
from playground.export import Place
from playground.text import characters, words
from tests.model.strategies import configs

TEXTS = (
    "this is an example sentence",
    "The animal didn't cross the street because it was too tired.\nIt slept.",
    'He said "no" — \\n it\'s {{ 7 }} {% raw %} \u202e\u00e9\U0001f600 #"""\n'
    "One more, much longer, line of words, so that the first is padded",
    "a " * 90,
    "word",
)

TOKENIZERS = ("word", "char", "bpe", "vectors")


Arguments = dict[str, Any]
"""Of `as_python`."""


@st.composite
def setups(draw: st.DrawFn) -> Arguments:
    """Any architecture, sentence, tokenizer, mask and seed."""
    config = draw(configs(max_len=256))
    text, tokenizer = draw(st.sampled_from(TEXTS)), draw(st.sampled_from(TOKENIZERS))
    return arguments(config, text, tokenizer, causal=draw(st.booleans()), seed=draw(st.integers(0, 2**31 - 1)))


def arguments(config: ModelConfig, text: str, tokenizer: str, **options: Any) -> Arguments:
    """What the export is asked with: the configuration gets a token table that the tokenizer fits."""
    rows = {"vectors": 0, "bpe": 300, "char": characters().vocab_size, "word": words(text.split("\n")).vocab_size}
    place = Place(config.n_layers - 1, config.n_heads - 1, 3)
    config = replace(config, vocab_size=rows[tokenizer])
    return {"config": config, "text": text, "tokenizer": tokenizer, "place": place, **options}
