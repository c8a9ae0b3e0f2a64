"""What is said to be the network's answer is what the network answers."""

from typing import Any

import pytest
import torch

from playground.config import ModelConfig
from playground.model import EncoderDecoder
from playground.training.after.answers import Sample, answer_samples
from playground.training.evaluation import scores
from playground.training.network import Network
from playground.training.recipe import Recipe
from playground.training.tasks import Data
from playground.training.tasks.examples import BOS_ID, EOS_ID, IGNORE, PAD_ID
from playground.training.trainer import Trainer
from tests.training.tiny import train

CONFIG = ModelConfig(vocab_size=1, d_model=16, n_heads=2, n_layers=1, d_ff=32, max_len=32, dropout=0.0)
SMALL: dict[str, Any] = {"length": 6, "n_symbols": 5, "n_train": 200, "n_validation": 20}


def untrained(task: str) -> tuple[Network, Data, Recipe]:
    trainer = Trainer(CONFIG, Recipe(task=task, **SMALL))
    return trainer.network, trainer.data, trainer.recipe


@pytest.mark.parametrize("task", ["reverse", "brackets", "masked", "characters"])
def test_what_it_says_is_the_likeliest_class_wherever_something_is_asked(task: Any) -> None:
    network, data, recipe = untrained(task)
    samples = answer_samples(network, data, recipe, n=20)
    assert len(samples) == 20
    assert samples[0].text == data.example
    for i, sample in enumerate(samples):
        one = data.validation[slice(i, i + 1)]
        with torch.inference_mode():
            likeliest = scores(network, one, recipe)[0].argmax(-1)
        asked = one.targets[0] != IGNORE
        assert list(sample.answer) == [data.labels[c] for c in likeliest[asked].tolist()]
        assert list(sample.right_answer) == [data.labels[c] for c in one.targets[0][asked].tolist()]


def test_a_decoder_speaks_for_itself_symbol_by_symbol() -> None:
    network, data, recipe = untrained("seq2seq-copy")
    assert isinstance(network, EncoderDecoder)
    for i, sample in enumerate(answer_samples(network, data, recipe, n=4)):
        one = data.validation[slice(i, i + 1)]
        said = [BOS_ID]
        with torch.inference_mode():
            while len(said) <= data.validation[slice(0, 4)].targets.shape[1] and said[-1] != EOS_ID:
                said.append(int(network(one.ids, torch.tensor([said]), one.mask, None)[0, -1].argmax()))
        words = [data.labels[c] for c in said[1:] if c != EOS_ID]
        assert list(sample.answer) == words
        assert list(sample.right_answer) == sample.text.split(" ") == data.text(one.ids[0].tolist()).split(" ")


def test_padding_that_a_decoder_says_is_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    network, data, recipe = untrained("seq2seq-copy")
    monkeypatch.setattr(
        "playground.training.after.answers.decode_greedily",
        lambda *_, **__: torch.tensor([[5, PAD_ID, 6, EOS_ID, PAD_ID]]),
    )
    (sample,) = answer_samples(network, data, recipe, n=1)
    assert sample.answer == (data.labels[5], "[PAD]", data.labels[6])


@pytest.mark.parametrize(("answer", "n_wrong"), [("cba", 0), ("caa", 1), ("c", 2), ("cbaaa", 2)])
def test_mistakes_are_counted_place_by_place(answer: str, n_wrong: int) -> None:
    assert Sample("a b c", tuple("cba"), tuple(answer)).n_wrong == n_wrong


def test_a_network_that_has_learnt_makes_no_mistakes() -> None:
    recipe = Recipe(task="copy", steps=120, lr=1e-2, warmup=20, batch_size=32, **SMALL)
    trainer = train(recipe, CONFIG, watch=False)
    assert sum(sample.n_wrong for sample in answer_samples(trainer.network, trainer.data, recipe, n=20)) == 0
