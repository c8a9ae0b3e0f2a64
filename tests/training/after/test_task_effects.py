"""What a network still gets right with a part of it changed, against the evaluation of weights without that part."""

from typing import Any

import pytest
import torch

from playground.model.changes import Change
from playground.training.after.answers import MAX_TOKENS, first_sequences, score_changed
from playground.training.evaluation import evaluate, scores, select_scored
from playground.training.tasks import make_data
from tests.training.after.trained import trained
from tests.training.tiny import CPU

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
        lame = trained.__wrapped__(task)  # a copy of its own
        for name in names:
            lame.encoder.get_parameter(f"layers.1.{name}")[..., columns] = 0
        expected = evaluate(lame.network, examples, made.recipe, CPU)
        score = score_changed(made.network, examples, made.recipe, CPU, [part])
        assert score.accuracy == pytest.approx(expected.accuracy, abs=0.02)  # of 16 sequences, rounding may flip one
        plain = score_changed(lame.network, examples, made.recipe, CPU, [])
        assert score.probability == pytest.approx(plain.probability, abs=1e-5)
        assert abs(score.probability - untouched.probability) > 1e-7


def test_a_mean_over_tokens_leaves_padding_out() -> None:
    made = trained("reverse")
    examples = make_data(made.recipe).validation
    together = score_changed(made.network, examples, made.recipe, CPU, [Change("mean", 0)])
    right = [
        score_changed(made.network, examples[slice(i, i + 1)], made.recipe, CPU, [Change("mean", 0)])
        for i in range(len(examples))
    ]
    counts = [examples[slice(i, i + 1)].n_answers for i in range(len(examples))]
    mean = sum(one.probability * n for one, n in zip(right, counts, strict=True)) / sum(counts)
    assert together.probability == pytest.approx(mean, abs=1e-5)


def test_the_sequences_are_as_many_as_fit() -> None:
    examples = make_data(trained("reverse").recipe).validation
    assert len(first_sequences(examples)) == len(examples)
    many = examples[torch.arange(len(examples)).repeat(100)]
    chosen = first_sequences(many)
    assert MAX_TOKENS - many.ids.shape[1] < chosen.ids.numel() <= MAX_TOKENS
