"""The encoder–decoders and their runs that visitors share: few, since both halves together are large."""

from playground.config import ModelConfig
from playground.limits import MAX_TOKENS
from playground.model import EncoderDecoder
from playground.runs.budget import check_pair_budget, check_pair_patterns
from playground.runs.pair_run import PairRun, run_pair
from playground.training.after.generate import decode_greedily
from playground.training.tasks.examples import EOS, EOS_ID
from playground.web.server.settings import settings
from playground.web.session import caches, trained_slot
from playground.web.session.caches import TextKey
from playground.web.session.shipped_translator import translator_on_device
from playground.web.session.weights_cache import TRANSLATOR, WeightsId, cache_by_weights, cache_for_everybody


@cache_by_weights
def run(
    source: TextKey, sentence: int, target: TextKey, line: int, weights: WeightsId, config: ModelConfig, seed: int
) -> PairRun:
    """Run one sentence of a source text and one line of a target text, both counted from 0.

    `weights` are `random`, `translator`, or a trained encoder–decoder's, before or after training.

    Raises:
        TooLargeError: the model or the texts are over this server's limits.
        BusyError: no turn came free.
        InputError: a tokenizer has no word for the target, or a sentence is longer than the position table.
    """
    sources, targets = caches.tokenize(source), caches.tokenize(target)
    tgt_vocab_size = caches.tokenizer(target).vocab_size
    check_pair_budget(config, tgt_vocab_size, settings().max_parameters)
    check_pair_patterns(config, sources.ids.shape[1], targets.ids.shape[1])
    with caches.TURNS.take():
        is_random = weights == "random"
        model = _random_pair(config, tgt_vocab_size, seed) if is_random else trained_pair(weights)
        return run_pair(model, sources, targets, sentence, line)


@cache_by_weights
def generate_lines(source: TextKey, weights: WeightsId, max_len: int) -> tuple[str, ...]:
    """A trained encoder–decoder's answer to each sentence: the likeliest token at every step.

    Raises:
        BusyError: no turn came free.
        UnavailableError: this session has no such network.
        InputError: a sentence is longer than the position table.
    """
    sources, vocabulary, model = caches.tokenize(source), caches.tokenizer(source), trained_pair(weights)
    with caches.TURNS.take():
        ids, mask = sources.ids.to(caches.device()), sources.mask.to(caches.device())
        answers = decode_greedily(model, ids, mask, min(max_len, MAX_TOKENS) - 1)
    return tuple(" ".join(vocabulary.id_to_token(i) for i in row if i > EOS_ID) or EOS for row in answers.tolist())


def trained_pair(weights: str) -> EncoderDecoder:
    """The shipped translator, or the session's trained encoder–decoder; raises UnavailableError where there is none."""
    if weights == TRANSLATOR:
        return translator_on_device()
    network = trained_slot.network_on_device(weights)
    if not isinstance(network, EncoderDecoder):
        raise TypeError("an encoder alone has no decoder")
    return network


@cache_for_everybody(max_entries=1)
def _random_pair(config: ModelConfig, tgt_vocab_size: int, seed: int) -> EncoderDecoder:
    return EncoderDecoder(config, tgt_vocab_size, seed).requires_grad_(False).to(caches.device())
