"""The translator that comes with the app is the file that was trained, translates all it is asked, and aligns words."""

from collections.abc import Iterator

import pytest
import torch

from playground.link.params import OWN
from playground.model import Trace
from playground.training.network import answer_examples, evaluate, scores
from playground.training.tasks import make_data
from playground.training.tasks.translation import WORD_CLASSES, WORDS
from playground.training.trained_network import load_translator

KIND = dict(
    zip(
        (word for words in WORDS.values() for word, *_ in words),
        [k for k in WORD_CLASSES for _ in WORDS[k]],
        strict=True,
    )
)


def test_it_is_the_recipes_network_and_makes_no_mistake() -> None:
    trained = load_translator()
    data = make_data(trained.recipe)
    measure = evaluate(trained.network, data.validation, trained.recipe, torch.device("cpu"))
    assert measure.accuracy == trained.results.validation_accuracy == 1
    assert measure.loss == pytest.approx(trained.results.validation_loss, rel=1e-2)
    assert (
        sum(sample.n_wrong for sample in answer_examples(trained.network, data, data.validation, trained.recipe)) == 0
    )


def looked_at(layer: int, head: int) -> Iterator[tuple[list[str], list[int]]]:
    """The words of each validation sentence, and at which of them each step of the decoder looks most."""
    trained = load_translator()
    data = make_data(trained.recipe)
    trace = Trace(keep=lambda name: name.endswith("cross_attn.pattern"))
    with torch.inference_mode():
        scores(trained.network, data.validation, trained.recipe, trace)
    largest = trace[f"decoder.layers.{layer}.cross_attn.pattern"][:, head].argmax(-1).tolist()  # of (N, Tt, Ts)
    for ids, places in zip(data.validation.ids.tolist(), largest, strict=True):
        words = data.text([i for i in ids if i]).split()
        yield words, places[: len(words)]


def test_the_head_that_the_page_opens_with_looks_at_the_word_that_is_translated() -> None:
    pairs = list(looked_at(OWN["encdec_example_layer"].default, OWN["encdec_example_head"].default))
    hits = [seen == place for words, places in pairs for seen, place in zip(places, sources(words), strict=True)]
    assert sum(hits) / len(hits) > 0.99


def sources(words: list[str]) -> list[int]:
    """For each French word, the place of its English word."""
    places = list(range(len(words)))
    for i, word in enumerate(words[1:]):
        if (KIND[words[i]], KIND[word]) == ("colour", "noun"):
            places[i], places[i + 1] = i + 1, i
    return places
