"""What is said to be the network's answer is what the network answers, whole or changed, at once or token by token."""

import math
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from playground import EncoderDecoder, ModelConfig
from playground.model import causal_mask
from playground.model.changes import Change
from playground.training.network import (
    Network,
    Tagger,
    answer_examples,
    decode_greedily,
    evaluate,
    next_token_probabilities,
    score_changed,
    scores,
)
from playground.training.recipe import IGNORE, SPECIALS, Data, Recipe
from playground.training.tasks import make_data
from playground.training.trainer import Trainer
from tests.training.tiny import CPU
from tests.training.trained import trained

ONE_LAYER = ModelConfig(vocab_size=1, d_model=16, n_heads=2, n_layers=1, d_ff=32, max_len=32, dropout=0.0)
SMALL: dict[str, Any] = {"length": 6, "n_symbols": 5, "n_train": 200, "n_validation": 20}


def untrained(task: str) -> tuple[Network, Data, Recipe]:
    trainer = Trainer(ONE_LAYER, Recipe(task=task, **SMALL))
    return trainer.network, trainer.data, trainer.recipe


@pytest.mark.parametrize("task", ["reverse", "count", "masked", "characters"])
def test_what_it_says_is_the_likeliest_class_wherever_something_is_asked(task: Any) -> None:
    network, data, recipe = untrained(task)
    samples = answer_examples(network, data, data.validation, recipe)
    assert samples[0].text == data.example
    for i, sample in enumerate(samples):
        one = data.validation[slice(i, i + 1)]
        with torch.inference_mode():
            likeliest = scores(network, one, recipe)[0].argmax(-1)
        asked = one.targets[0] != IGNORE
        assert list(sample.answer) == [data.labels[c] for c in likeliest[asked].tolist()]
        assert list(sample.right_answer) == [data.labels[c] for c in one.targets[0][asked].tolist()]


TASKS: list[Any] = ["reverse", "count", "masked", "characters", "seq2seq-reverse"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("task", TASKS)
def test_with_a_change_it_is_the_evaluation_of_weights_that_lack_the_part(task: Any) -> None:
    made = trained(task)
    examples = make_data(made.recipe).validation
    parts: list[tuple[list[Change], list[str], slice]] = [
        ([], [], slice(None)),
        ([Change("zero", 1, 1)], ["attn.o.weight"], slice(8, 16)),
        ([Change("zero", 1)], ["attn.o.weight"], slice(None)),
        ([Change("off", 1, None, ("attn",))], ["attn.o.weight", "attn.o.bias"], slice(None)),
        ([Change("off", 1, None, ("ffn",))], ["ffn.down.weight", "ffn.down.bias"], slice(None)),
    ]
    for changes, names, columns in parts:
        lame = replace(made, network=deepcopy(made.network))
        for name in names:
            lame.encoder.get_parameter(f"layers.1.{name}")[..., columns] = 0
        expected = evaluate(lame.network, examples, made.recipe, CPU).accuracy
        found = score_changed(made.network, examples, made.recipe, CPU, changes)
        assert found == pytest.approx(expected, abs=0.02)  # of 16 sequences, rounding may flip one


def test_what_may_come_next_is_the_softmax_over_ordinary_tokens() -> None:
    made = trained("characters")
    assert isinstance(made.network, Tagger)
    tokens, found = next_token_probabilities(made.network, [3, 4, 5])
    logits = made.network(torch.tensor([[3, 4, 5]]), causal_mask(3))[0, -1].double()
    weights = {i: math.exp(logits[i]) for i in range(len(SPECIALS), len(logits))}
    assert tokens.tolist() == sorted(weights, key=lambda i: -weights[i])
    assert found.tolist() == pytest.approx([weights[i] / sum(weights.values()) for i in tokens.tolist()])


N_CLASSES = 12
CONFIG = ModelConfig(vocab_size=N_CLASSES, d_model=16, n_heads=2, n_layers=2, d_ff=32, max_len=7, dropout=0.0)
BOS, EOS, LONGEST = 3, 4, 6
SOURCE = torch.randint(5, N_CLASSES, (8, 5), generator=torch.Generator().manual_seed(1))
LENGTHS = torch.tensor([5, 4, 3, 2, 1, 5, 5, 3])
SOURCE_MASK = torch.arange(5) < LENGTHS[:, None]


def plainly(model: EncoderDecoder, source: Tensor) -> list[int]:
    """One sequence alone, without padding, the whole model run anew for every token."""
    said = [BOS]
    while len(said) <= LONGEST and (len(said) == 1 or said[-1] != EOS):
        said.append(int(model(source[None], torch.tensor([said]))[0, -1].argmax()))
    return said[1:]


@pytest.mark.parametrize("eos_bias", [-50.0, 4.5, 50.0])
def test_the_decoder_says_the_likeliest_token_until_it_ends(eos_bias: float) -> None:
    model = EncoderDecoder(CONFIG, N_CLASSES, seed=14).requires_grad_(False)
    model.fc.bias[EOS] += eos_bias
    model.fc.weight *= 3
    source = SOURCE.masked_fill(~SOURCE_MASK, 0)
    said = decode_greedily(model, source, SOURCE_MASK, LONGEST)
    expected = [plainly(model, row[:length]) for row, length in zip(SOURCE, LENGTHS.tolist(), strict=True)]
    width = max(map(len, expected))
    assert said.tolist() == [row + [0] * (width - len(row)) for row in expected]
    assert not said.is_inference()
    assert eos_bias != 4.5 or len(set(map(len, expected))) > 1, "sequences end at different places"
    assert (said.shape[1] == LONGEST) == (eos_bias < 50)
    assert (said.shape[1] == 1) == (eos_bias == 50)
