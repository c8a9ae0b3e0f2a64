"""What is said to be the network's answer is what the network answers, whole or changed, at once or token by token."""

import math
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import pytest
import torch
from torch import Tensor

from playground import EncoderDecoder, ModelConfig
from playground.model import causal_mask
from playground.model.changes import Change
from playground.training.answers import (
    answer_samples,
    decode_greedily,
    generate,
    next_token_probabilities,
    next_tokens,
    score_changed,
)
from playground.training.network import Network, Tagger, evaluate, scores, select_scored
from playground.training.recipe import Recipe
from playground.training.tasks import Data, make_data
from playground.training.tasks.task import IGNORE, SPECIALS
from playground.training.trainer import Trainer
from tests.training.tiny import CPU
from tests.training.trained import trained

ONE_LAYER = ModelConfig(vocab_size=1, d_model=16, n_heads=2, n_layers=1, d_ff=32, max_len=32, dropout=0.0)
SMALL: dict[str, Any] = {"length": 6, "n_symbols": 5, "n_train": 200, "n_validation": 20}


def untrained(task: str) -> tuple[Network, Data, Recipe]:
    trainer = Trainer(ONE_LAYER, Recipe(task=task, **SMALL))
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


TASKS: list[Any] = ["reverse", "brackets", "masked", "characters", "seq2seq-reverse"]


@pytest.mark.parametrize("task", TASKS)
def test_without_a_change_it_is_the_evaluation_of_the_run(task: Any) -> None:
    made = trained(task)
    examples = make_data(made.recipe).validation
    score = score_changed(made.network, examples, made.recipe, CPU, [])
    assert score.accuracy == pytest.approx(evaluate(made.network, examples, made.recipe, CPU).accuracy)
    logits, targets = select_scored(scores(made.network, examples, made.recipe), examples.targets)
    chosen = logits.double().softmax(-1)[torch.arange(len(targets)), targets]
    assert score.probability == pytest.approx(float(chosen.mean()), abs=1e-6)


@pytest.mark.parametrize("task", TASKS)
def test_without_a_part_it_is_that_of_weights_that_lack_it(task: Any) -> None:
    made = trained(task)
    examples = make_data(made.recipe).validation
    untouched = score_changed(made.network, examples, made.recipe, CPU, [])
    for part, names, columns in (
        (Change("zero", 1, 1), ["attn.o.weight"], slice(8, 16)),
        (Change("zero", 1), ["attn.o.weight"], slice(None)),
        (Change("off", 1, None, ("attn",)), ["attn.o.weight", "attn.o.bias"], slice(None)),
        (Change("off", 1, None, ("ffn",)), ["ffn.down.weight", "ffn.down.bias"], slice(None)),
    ):
        lame = replace(made, network=deepcopy(made.network))
        for name in names:
            lame.encoder.get_parameter(f"layers.1.{name}")[..., columns] = 0
        expected = evaluate(lame.network, examples, made.recipe, CPU)
        score = score_changed(made.network, examples, made.recipe, CPU, [part])
        assert score.accuracy == pytest.approx(expected.accuracy, abs=0.02)  # of 16 sequences, rounding may flip one
        plain = score_changed(lame.network, examples, made.recipe, CPU, [])
        assert score.probability == pytest.approx(plain.probability, abs=1e-5)
        assert abs(score.probability - untouched.probability) > 1e-7


N_CLASSES, WINDOW = 12, 7
CONFIG = ModelConfig(vocab_size=N_CLASSES, d_model=16, n_heads=2, n_layers=2, d_ff=32, max_len=WINDOW, dropout=0.0)
TAGGER = Tagger(CONFIG, N_CLASSES, seed=3)
LOGITS = torch.tensor([9.0, 9.0, 9.0, 1.0, 0.2, -0.5, 2.0, 0.9])  # the specials would be the likeliest


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def chi_square(counts: Counter[int], probabilities: dict[int, float]) -> float:
    n = counts.total()
    return sum((counts[token] - n * p) ** 2 / (n * p) for token, p in probabilities.items())


@pytest.mark.parametrize("temperature", [0.0, 1e-300, 0.5, 2.0, 1e12])
@pytest.mark.parametrize("top_k", [0, 1, 3, 100])
def test_candidates_have_the_probabilities_of_the_softmax(temperature: float, top_k: int) -> None:
    tokens, found = next_token_probabilities(LOGITS, temperature, top_k)
    kept = sorted(range(3, 8), key=lambda i: -LOGITS[i].item())[: 1 if temperature == 0 else top_k or None]
    weights = [math.exp((LOGITS[i].item() - LOGITS[kept[0]].item()) / (temperature or 1)) for i in kept]
    assert tokens.tolist() == kept
    assert found.tolist() == pytest.approx([weight / sum(weights) for weight in weights])
    with pytest.raises(ValueError, match="diverged"):
        next_token_probabilities(LOGITS / 0, temperature, top_k)


def test_draws_are_those_of_the_probabilities_and_depend_on_the_generator_alone() -> None:
    def write(seed: int) -> list[int]:
        return list(islice(generate(TAGGER, [4], 1.0, 4, rng(seed), 1), 2_000))

    written = write(0)
    assert (written == write(0), written == write(1)) == (True, False)
    assert not torch.is_inference_mode_enabled()
    after = Counter(following for token, following in pairwise(written) if token == written[0])
    tokens, probabilities = next_tokens(TAGGER, [written[0]], 1.0, 4)
    expected = dict(zip(tokens.tolist(), probabilities.tolist(), strict=True))
    assert set(after) == set(expected)
    assert chi_square(after, expected) < 16.3  # χ² of 3: 99.9 %
    with pytest.raises(ValueError, match="needs something to start from"):
        next(generate(TAGGER, [], 1.0, 0, rng(), 7))


def test_greedy_writing_is_what_the_whole_network_says_step_by_step() -> None:
    """The likeliest of all that is no special token, which this network would prefer."""
    tagger = Tagger(CONFIG, N_CLASSES, seed=3)
    with torch.no_grad():
        tagger.head.bias[: len(SPECIALS)] += 50
    prompt = [3, 4, 5]
    written = list(islice(generate(tagger, prompt, 0, 0, rng(), WINDOW), 12))
    ids = list(prompt)
    for token in written:
        context = ids[-WINDOW:]
        best, score = -1, -math.inf
        for candidate in range(len(SPECIALS), N_CLASSES):  # by brute force, and in a batch with another sequence
            batch = torch.tensor([context, [3] * len(context)])
            logits = tagger(batch, causal_mask(len(context)))[0, -1, candidate].item()
            best, score = (candidate, logits) if logits > score else (best, score)
        assert token == best
        ids.append(token)
    assert prompt == [3, 4, 5]


BOS, EOS, LONGEST = 3, 4, 6
SOURCE = torch.randint(5, N_CLASSES, (8, 5), generator=rng(1))
LENGTHS = torch.tensor([5, 4, 3, 2, 1, 5, 5, 3])
SOURCE_MASK = torch.arange(5) < LENGTHS[:, None]


def pair_model(eos_bias: float) -> EncoderDecoder:
    model = EncoderDecoder(CONFIG, N_CLASSES, seed=14)
    with torch.no_grad():
        model.fc.bias[EOS] += eos_bias
        model.fc.weight *= 3
    return model


def plainly(model: EncoderDecoder, source: Tensor) -> list[int]:
    """One sequence alone, without padding, the whole model run anew for every token."""
    said = [BOS]
    while len(said) <= LONGEST and (len(said) == 1 or said[-1] != EOS):
        said.append(int(model(source[None], torch.tensor([said]))[0, -1].argmax()))
    return said[1:]


@pytest.mark.parametrize("eos_bias", [-50.0, 3.0, 4.5, 5.0, 50.0])
def test_the_decoder_says_the_likeliest_token_until_it_ends(eos_bias: float) -> None:
    model = pair_model(eos_bias)
    source = SOURCE.masked_fill(~SOURCE_MASK, 0)
    said = decode_greedily(model, source, SOURCE_MASK, LONGEST)
    expected = [plainly(model, row[:length]) for row, length in zip(SOURCE, LENGTHS.tolist(), strict=True)]
    width = max(map(len, expected))
    assert said.tolist() == [row + [0] * (width - len(row)) for row in expected]
    assert not said.is_inference()
    assert eos_bias != 4.5 or len(set(map(len, expected))) > 1, "sequences end at different places"
    assert (said.shape[1] == LONGEST) == (eos_bias < 50)
    assert (said.shape[1] == 1) == (eos_bias == 50)
