"""What a network answers for a hidden word, what each head adds, and which sentences are near to somebody's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch

from playground.analysis.comparison import list_heads
from playground.language.capabilities import CAPABILITIES, FUNCTION_WORDS, Capability, Example
from playground.language.network import EnglishNetwork, score_hidden
from playground.language.text import IDS, MASK, VOCABULARY, encode, english_tokenizer, join_words
from playground.runs.arrays import Array
from playground.runs.variant_runs import Variant, run_variants
from playground.text import Batch
from playground.training.network import Tagger

N_SEARCHED = 60
"""Held-out sentences searched for a difference."""


@torch.inference_mode()
def score_word(network: Tagger, final: Array, place: int, word_id: int) -> Array:
    """Return a word's probability at one token, from final vectors: (N, T, D) → (N,)."""
    scores = network.head(torch.tensor(final[:, place]).to(network.head.weight))
    probabilities: Array = scores.softmax(-1)[:, word_id].cpu().numpy()
    return probabilities


def head_costs(
    network: Tagger, batch: Batch, sentence: int, place: int, word_id: int, *, causal: bool = False
) -> Array:
    """Return the probability that a word loses without each head: (L, H); the word at `place` is masked."""
    config = network.encoder.config
    variants: list[Variant] = [[], *([head] for head in list_heads(config))]
    probabilities = np.zeros(len(variants), np.float32)
    for numbers, final in run_variants(network.encoder, batch, sentence, variants, causal=causal):
        probabilities[list(numbers)] = score_word(network, final, place, word_id)
    lost: Array = (probabilities[0] - probabilities[1:]).reshape(config.n_layers, config.n_heads)
    return lost


@dataclass(frozen=True)
class Answer:
    """A network's probability of each option, and the head whose removal costs most."""

    probabilities: Mapping[str, float]
    layer: int
    head: int
    cost: float
    """The probability lost without it."""


def write_masked(example: Example) -> str:
    """Write an example with [MASK] for its word."""
    return join_words([*example.words[: example.place], MASK, *example.words[example.place + 1 :]])


def answer_example(network: EnglishNetwork, example: Example) -> Answer:
    """Return a network's answer for an example."""
    text = write_masked(example)
    every = dict(network.predict(text, len(VOCABULARY)))
    batch, place = network.tokenizer.encode_batch([text]), example.place + 1  # behind [CLS]
    costs = head_costs(network.network, batch, 0, place, IDS[example.answer], causal=network.spec.causal)
    layer, head = divmod(int(costs.argmax()), costs.shape[1])
    return Answer({word: every[word] for word in example.options}, layer, head, float(costs[layer, head]))


@torch.inference_mode()
def find_difference(first: EnglishNetwork, second: EnglishNetwork, capability: Capability) -> Example:
    """Return the held-out sentence whose right word two give the most different probabilities, in percent."""
    examples = capability.examples(N_SEARCHED)
    hidden, right = encode(examples), [IDS[example.answer] for example in examples]
    one, other = (score_hidden(n.network, n.spec, *hidden).softmax(-1)[:, right].diagonal() for n in (first, second))
    return examples[int((one - other).mul(100).round().abs().argmax())]


_OF_EACH = 60
"""Held-out sentences of each capability to choose from."""


@cache
def _offered() -> tuple[tuple[Example, frozenset[str]], ...]:
    examples = [example for each in CAPABILITIES.values() for example in each.examples(_OF_EACH)]
    return tuple((example, frozenset(example.words).difference(FUNCTION_WORDS)) for example in examples)


def nearest_sentences(text: str, n: int = 3) -> list[Example]:
    """Return the `n` sentences that share most words with a text, of different options."""
    words = frozenset(english_tokenizer().encode_batch([text.lower()]).tokens[0]).difference(FUNCTION_WORDS)
    offered = sorted(_offered(), key=lambda each: -len(each[1] & words) / len(each[1] | words))
    found: dict[tuple[str, ...], Example] = {}
    for example, _ in offered:
        found.setdefault(tuple(sorted(example.options)), example)
        if len(found) == n:
            break
    return list(found.values())
