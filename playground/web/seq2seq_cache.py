"""The encoder–decoders and their runs that visitors share: few, since both halves together are large."""

import streamlit as st

from playground.config import ModelConfig
from playground.model import EncoderDecoder
from playground.seq2seq import PairRun, check_pair_budget, check_pair_patterns, run_pair
from playground.web import cache
from playground.web.cache import TextKey
from playground.web.settings import settings


@st.cache_resource(max_entries=3, show_spinner=False)
def run(source: TextKey, sentence: int, target: TextKey, line: int, config: ModelConfig, seed: int) -> PairRun:
    """Run one sentence of a source text and one line of a target text, both counted from 0, on random weights.

    Raises:
        TooLargeError: the model or the texts are over this server's limits.
        BusyError: no turn came free.
        ValueError: a tokenizer has no word for the target, or a sentence is longer than the position table.
    """
    sources, targets = cache.tokenize(source), cache.tokenize(target)
    tgt_vocab_size = cache.tokenizer(target).vocab_size
    check_pair_budget(config, tgt_vocab_size, settings().max_parameters)
    check_pair_patterns(config, sources.ids.shape[1], targets.ids.shape[1])
    with cache.TURNS.take():
        return run_pair(_model(config, tgt_vocab_size, seed), sources, targets, sentence, line)


@st.cache_resource(max_entries=1, show_spinner=False)
def _model(config: ModelConfig, tgt_vocab_size: int, seed: int) -> EncoderDecoder:
    return EncoderDecoder(config, tgt_vocab_size, seed).requires_grad_(False).to(cache.device())
