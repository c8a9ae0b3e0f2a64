"""What two swapped words do to a weight, against plain passes over sentences that are written out here."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from playground import Trace
from playground.analysis.attribution import Claim, find_claim, judge_swap, measure, swap_words
from playground.text import Batch, words
from playground.weights import checkpoint

SENTENCE = "The animal didn't cross the street because it was too tired."


def weights_of(text: str, layer: int, *, causal: bool = False) -> tuple[list[str], NDArray[Any]]:
    """A sentence's tokens and a layer's weights (H, T, T), by the trained encoder alone."""
    encoder, tokenizer = checkpoint.load("minilm")
    batch, trace = tokenizer.encode_batch([text]), Trace()
    n = batch.ids.shape[1]
    with torch.inference_mode():
        encoder(batch.ids, torch.ones(1, n, n).tril().bool() if causal else batch.mask, trace)
    return batch.tokens[0], trace[f"layers.{layer}.attn.pattern"][0].numpy()


def trained_claim(
    text: str, layer: int, head: int, query: int, key: int, rival: int | None, *, causal: bool = False
) -> tuple[Claim, Batch]:
    tokens, patterns = weights_of(text, layer, causal=causal)
    batch = checkpoint.load("minilm")[1].encode_batch([text])
    allowed = [not causal or place <= query for place in range(len(tokens))]
    found = find_claim(batch, 0, patterns[head, query], allowed, (query, key), rival)
    assert isinstance(found, Claim), found
    return found, batch


@pytest.mark.parametrize("causal", [False, True])
def test_the_swapped_sentence_has_the_weights_of_its_own_pass(causal: bool) -> None:
    claim, _ = trained_claim(SENTENCE, 3, 1, 10, 2, 8, causal=causal)
    text = "The street didn't cross the animal because it was too tired."
    tokens, patterns = weights_of(text, 3, causal=causal)
    found = measure(swap_words(claim), checkpoint.load("minilm")[1].encode_batch([text]), patterns[1])
    assert found is not None
    places = [tokens.index(word) for word in ("it", "animal", "street")]
    assert (found.text, [*found.positions]) == (text, places)
    np.testing.assert_allclose(found.weights, patterns[1, places[0], places[1:]], atol=2e-5)


def test_the_words_of_a_claim_have_the_sum_of_their_tokens() -> None:
    """Of *didn't*, which is three tokens, and of one of two words that are spelled alike."""
    tokens, patterns = weights_of(SENTENCE, 2)
    claim, _ = trained_claim(SENTENCE, 2, 9, 10, 4, None)
    assert (claim.word(claim.key), tokens[3:6]) == ("didn't", ["didn", "'", "t"])
    assert claim.weights[0] == pytest.approx(patterns[9, 10, 3:6].sum(), abs=1e-6)
    second, _ = trained_claim(SENTENCE, 2, 9, 10, 7, 1)
    assert second.words[second.key].start == SENTENCE.index("the ")
    assert second.word(second.rival) != "The", "a swap of two words that are spelled alike shows nothing"


def claim_about(text: str, query: int, key: int, rival: int) -> Claim:
    """A claim about words without a run."""
    batch = words([text]).encode_batch([text])
    places = tuple(range(len(batch.tokens[0])))
    found = find_claim(batch, 0, np.full(len(places), 0.1, np.float32), [True] * len(places), (query, key), rival)
    assert isinstance(found, Claim)
    return found


@pytest.mark.parametrize(
    ("text", "query", "key", "rival", "swapped"),
    [
        ("a b c d", 3, 0, 1, "b a c d"),
        ("a, b (c) d!", 6, 0, 2, "b, a (c) d!"),
        ("a b a c", 3, 2, 1, "a a b c"),
    ],
)
def test_words_change_their_places_and_nothing_else_does(
    text: str, query: int, key: int, rival: int, swapped: str
) -> None:
    claim = claim_about(text, query, key, rival)
    made = swap_words(claim)
    assert made.text == swapped
    assert [made.word(place) for place in (made.key, made.rival)] == [claim.word(claim.key), claim.word(claim.rival)]


@pytest.mark.parametrize(
    ("text", "focus"),
    [
        ("Anna", (1, 1)), ("Anna sleeps", (1, 0)), ("Anna sleeps.", (1, 3)), ("Anna sleeps", (1, 1)),
        ("Anna sleeps", (2, 1)), ("no no no", (3, 1)), ("a bb", (2, 9)), ("Anna sees Bob", (0, 1)),
    ],
)  # fmt: skip
def test_two_words_that_differ_from_the_query_are_needed(text: str, focus: tuple[int, int]) -> None:
    batch = checkpoint.load("minilm")[1].encode_batch([text])
    n = len(batch.tokens[0])
    assert find_claim(batch, 0, np.zeros(max(n, 10), np.float32), [True] * n, focus, None) is None


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ((0.57, 0.19), (0.24, 0.19), "word"),
        ((0.1, 0.3), (0.2, 0.5), "word"),
        ((0.68, 0.05), (0.26, 0.52), "place"),
        ((0.05, 0.68), (0.52, 0.26), "place"),
        ((0.001, 0.004), (0.5, 0.4), "close"),
        ((0.44, 0.12), (0.09, 0.07), "close"),
        ((0.5, 0.451), (0.3, 0.253), "word"),
    ],
)
def test_a_swap_is_judged_by_the_numbers_that_are_shown(
    before: tuple[float, float], after: tuple[float, float], verdict: str
) -> None:
    assert judge_swap(before, after) == verdict
