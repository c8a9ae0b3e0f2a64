"""Setups of the whole space of configurations, small enough that each takes milliseconds."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from playground import Encoder, ModelConfig
from playground.export.code import export_run
from playground.export.written import Export
from playground.limits import MAX_TOKENS
from playground.link.opening import Focus
from playground.runs.encoder_run import run
from playground.text import build_tokenizer, characters, split_sentences, words
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
"""Of `export`."""


FIRST = Focus(0, 0, 0, 0)


@st.composite
def setups(draw: st.DrawFn) -> Arguments:
    """Any architecture, sentence, tokenizer, mask and seed."""
    config = draw(configs(max_len=256))
    text, tokenizer = draw(st.sampled_from(TEXTS)), draw(st.sampled_from(TOKENIZERS))
    return arguments(config, text, tokenizer, causal=draw(st.booleans()), seed=draw(st.integers(0, 2**31 - 1)))


def arguments(config: ModelConfig, text: str, tokenizer: str, **options: Any) -> Arguments:
    """What the export is asked with: the configuration gets a token table that the tokenizer fits."""
    rows = {"vectors": 0, "bpe": 300, "char": characters().vocab_size, "word": words(text.split("\n")).vocab_size}
    focus = Focus(config.n_layers - 1, config.n_heads - 1, 3, 0)
    join = config.position_join if rows[tokenizer] else "add"
    config = replace(config, vocab_size=rows[tokenizer], position_join=join)
    return {"config": config, "text": text, "tokenizer": tokenizer, "focus": focus, **options}


def export(
    config: ModelConfig,
    text: str = TEXTS[1],
    tokenizer: str = "word",
    *,
    seed: int = 0,
    causal: bool = False,
    sentence: int = 0,
    focus: Focus = FIRST,
) -> Export:
    """An encoder of random weights with its sentence, of any architecture."""
    sentences = split_sentences(text).sentences
    cutter = build_tokenizer("word" if tokenizer == "vectors" else tokenizer, config.vocab_size, sentences)
    batch = cutter.encode_batch(sentences, config.max_len if config.has_position_table else MAX_TOKENS)
    computed = run(Encoder(config, seed), batch, sentence, seed=seed, causal=causal)
    given: dict[str, Any] = {
        "seed": seed,
        "weights": "random",
        "tokenizer": tokenizer,
        "causal": causal,
        "focus": focus,
    }
    return export_run(computed, batch, sentence, **given)
