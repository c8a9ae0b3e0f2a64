"""A run of the Training page is the one that its link names, is shown while it goes on, and frees what it took."""

import gc
import re
import weakref
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from playground.training import evaluation
from playground.training.after.answers import answer_samples
from playground.training.after.run_state import TrainingRequest
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS, make_data
from playground.training.trainer import learning_rate
from playground.views.training import describe_lengths
from playground.web.session import experiments
from playground.web.session.services import services
from playground.web.session.trained_slot import SLOT, TrainedSlot
from playground.web.views import training as training_page_parts
from tests.waiting import job_threads, until
from tests.web.app_test import (
    array,
    captions,
    charts,
    choose,
    grey_buttons,
    open_panels,
    press,
    prose,
    sentences,
    status_text,
    table,
    working,
)  # fmt: skip
from tests.web.experiment_pages import TEXT, config, floats, measured, recipe, run, train, training_page, until_step

pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")


def metrics(app: AppTest) -> dict[str, str]:
    return {metric.label: str(metric.value) for metric in app.metric}


# --- to the end


@pytest.mark.parametrize(
    ("task", "changes"),
    [("reverse", {"clip": 0.5, "dropout_residual": 0.1, "seed": 3}), ("seq2seq-reverse", {"distill": 0.5})],
)
def test_a_link_reproduces_the_run_to_the_digit(task: Any, changes: dict[str, Any]) -> None:
    link = {name if name == "seed" else f"training_{name}": value for name, value in changes.items()}
    app = measured(training_page(training_task=TASKS[task].title, **link))
    expected = run(recipe(task=task, **changes))
    history, shown = expected.history, charts(app)
    looks = history.evaluations
    for chart, trace, numbers in (
        ("loss", 0, history.loss),
        ("loss", 3, [look.validation.loss for look in looks]),
        ("accuracy", 0, [look.train.accuracy for look in looks]),
        ("rate", 0, history.lr),
        ("gradient", 0, history.grad_norm),
    ):
        np.testing.assert_array_equal(array(shown[f"training_{chart}"], trace, "y"), floats(numbers))
    last = looks[-1].validation
    assert f"Validation loss {last.loss:.6f} nats" in prose(app)
    assert metrics(app)["Validation accuracy"] == f"{last.accuracy:.1%}"
    assert status_text(app) == "All 5 steps are done."
    assert grey_buttons(app, "training") == {"pause", "cancel"}
    answers = answer_samples(expected.network, expected.data, expected.recipe)
    assert list(table(app, "it says")["it says"]) == [" ".join(sample.answer) for sample in answers]
    assert list(table(app, "it says")["mistakes"]) == [
        f"{sample.n_wrong} of {max(len(sample.right_answer), len(sample.answer))}" if sample.n_wrong else "none"
        for sample in answers
    ]
    open_panels(app, "training_evaluations_open", "training_steps_open")
    assert table(app, "validation loss")["validation loss"].to_dict() == {
        look.step: look.validation.loss for look in looks
    }
    assert list(table(app, "gradient norm")["gradient norm"]) == history.grad_norm


@pytest.mark.parametrize(("task", "attention"), [("reverse", None), ("seq2seq-reverse", "decoder self")])
def test_attention_is_that_of_the_chosen_moment_and_head(task: str, attention: str | None) -> None:
    app = measured(training_page(training_task=TASKS[task].title))
    first, *_, final = run(recipe(task=task)).history.snapshots
    name = next(iter(first.patterns))
    moved = [np.abs(final.patterns[name][0, head] - first.patterns[name][0, head]).sum() for head in (0, 1)]
    most = int(np.argmax(moved))
    np.testing.assert_array_equal(array(charts(app)["training_pattern"]), final.patterns[name][0, most])
    assert "this one's attention has changed most" in captions(app)
    choose(app, training_moment=0, training_head=1 - most)
    assert "before training: random weights" in captions(app)
    assert "this one's attention has changed most" not in captions(app)
    pattern = first.patterns[attention or name][0, 1 - most]
    if attention:
        groups: list[Any] = [group for group in app.get("button_group") if group.key == "training_attention"]
        working(groups[0].set_value(attention).run())
        pattern = np.where(np.tril(np.ones(pattern.shape, bool)), pattern, np.float32(np.nan))
    np.testing.assert_array_equal(array(charts(app)["training_pattern"]), pattern)


def test_a_learning_rate_of_100_is_stopped_and_the_last_good_weights_are_kept() -> None:
    asked = {"lr": 100, "schedule": "constant", "steps": 200, "optimizer": "sgd"}
    app = measured(training_page(**{f"training_{name}": value for name, value in asked.items()}))
    expected = run(recipe(**asked))
    assert expected.outcome == "diverged"
    assert status_text(app) == f"Ended at step {expected.step} of 200."
    assert f"the weights of step {expected.kept_step:,} are kept" in sentences(app)
    assert list(table(app, "it says")["it says"]) == [
        " ".join(sample.answer) for sample in answer_samples(expected.network, expected.data, expected.recipe)
    ]


def test_a_run_that_learnt_nothing_leaves_the_network_before_it() -> None:
    app = training_page(training_optimizer="sgd", training_schedule="constant")
    good = train(app)
    assert train(choose(app, training_lr=100)) is good
    assert "What was trained before it stays." in sentences(app)


# --- not to the end


def test_of_a_cancelled_run_one_step_is_kept_and_measured() -> None:
    app = press(until_step(press(training_page(training_steps=5_000), "training_start"), at_least=3), "training_cancel")
    ((step, share, loss),) = re.findall(
        r"weights of step ([0-9,]+): \*\*([0-9.]+%)\*\*.*Validation loss ([0-9.]+) nats", prose(app)
    )
    assert f"after step {step}; the weights of that step are kept." in status_text(app)
    assert metrics(app)["Validation accuracy"] == share
    assert float(metrics(app)["Validation loss"]) == pytest.approx(float(loss), abs=1e-4)
    assert metrics(app)["Training accuracy"] == "–"  # of these weights it was not measured
    at, rates = (array(charts(app)["training_rate"], 0, axis) for axis in "xy")
    assert at[-1] == int(step.replace(",", ""))
    np.testing.assert_array_equal(rates, floats([learning_rate(int(step), recipe(steps=5_000)) for step in at]))
    assert "Step 5,000 has not been reached" in captions(app)


def test_what_is_reset_never_takes_the_place_of_what_was_trained() -> None:
    app = training_page()
    good = train(app)
    press(choose(app, training_steps=5_000), "training_start")
    press(until_step(app), "training_reset")
    until(lambda: not job_threads())
    assert app.session_state[SLOT].trained is good
    assert "with the weights of step 5:" in prose(working(app.run()))


def test_who_cancels_while_the_teacher_learns_is_told_that_nothing_is_kept() -> None:
    app = press(training_page(training_steps=5_000, training_distill=0.5), "training_start")
    until(lambda: "its teacher, twice as wide, learns first" in status_text(working(app.run())))
    press(app, "training_cancel")
    assert status_text(app) == "Cancelled before its own first step; it has no weights to keep."
    assert app.session_state[SLOT].trained is None


# --- snapshots


def test_a_step_that_was_not_saved_is_told_from_one_that_was_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    n = make_data(recipe()).validation[slice(0, 1)].ids.shape[1]
    two_heads_twice = 2 * 2 * n * n  # before training and at the end
    monkeypatch.setattr(evaluation, "MAX_SNAPSHOT_NUMBERS", two_heads_twice)
    app = choose(measured(training_page()), training_moment=12)
    assert "before training: random weights" in captions(app)
    assert "Of step 3 nothing was saved; this is the nearest saved step before." in captions(app)
    assert "has not been reached" not in captions(app)
    assert "nothing was saved" not in captions(choose(app, training_moment=20))


def test_attention_that_is_too_large_to_keep_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "MAX_SNAPSHOT_NUMBERS", 1)
    app = measured(training_page())
    assert "too large to be kept while it learns" in captions(app)
    assert "training_pattern" not in charts(app)
    assert not app.error


# --- memory and data


def test_a_run_says_how_long_its_sequences_are() -> None:
    lengths = [int((row != 0).sum()) for row in make_data(recipe()).train.ids]
    assert (min(lengths), max(lengths)) == (4, 8)
    said = f"64 sequences of 4 to 8 tokens ({sum(lengths) / 64:.3g} on average)"
    assert said in captions(press(training_page(training_steps=5_000), "training_start"))
    windows = make_data(recipe(task="characters", text=TEXT)).train
    assert describe_lengths(windows) == f"{len(windows)} sequences of 8 tokens"


def test_what_has_ended_keeps_neither_network_nor_training_set() -> None:
    training, slot = TrainingRequest(config(), recipe(n_train=50)).build(), TrainedSlot()
    for _ in training.run():
        pass
    assert training._trainer is not None
    example = training._trainer.data.validation[slice(0, 1)]
    trainer, train_set = weakref.ref(training._trainer), weakref.ref(training._trainer.data.train)
    training.close("finished")
    gc.collect()
    assert (trainer(), train_set()) == (None, None)
    data = training.state.data
    assert len(data.train) == 0
    assert torch.equal(data.validation.ids, example.ids)
    assert data.validation.ids.untyped_storage().nbytes() == example.ids.nbytes
    made = make_data(recipe(n_train=50))
    for name in ("labels", "vocabulary", "baseline"):
        assert getattr(data, name) == getattr(made, name)
    for _ in range(2):  # what two visitors share counts once
        assert training_page_parts.keep_network(slot, training.state, "finished") == ""
        assert slot.trained is training.state.trained
        assert slot.trained in services().memory.users


@pytest.mark.parametrize("task", ["reverse", "seq2seq-copy"])
def test_a_run_counts_all_that_it_holds(task: Any) -> None:
    trainer = run(recipe(task=task, distill=0.5))
    assert trainer.teacher is not None
    networks = (trainer.network, trainer.teacher.network)
    n = sum(parameter.numel() for network in networks for parameter in network.parameters())
    examples = (trainer.data.train, trainer.data.validation)
    n_data = sum(part.nbytes for each in examples for part in vars(each).values() if part is not None)
    assert experiments.training_bytes(trainer.config, trainer.recipe, trainer.data) == 6 * 4 * n + n_data


@pytest.mark.parametrize("task", ["copy", "characters", "masked", "seq2seq-copy"])
def test_questions_are_those_of_the_whole_data(task: Any) -> None:
    asked = Recipe(task=task, text=TEXT * (task in ("characters", "masked")), length=6, n_train=300, n_validation=20)
    whole, few = make_data(asked), experiments.validation_data(asked)
    assert (few.labels, few.vocabulary, few.example) == (whole.labels, whole.vocabulary, whole.example)
    for name, part in vars(whole.validation).items():
        theirs = getattr(few.validation, name)
        assert (part is None and theirs is None) or part.equal(theirs)


# --- the chosen head


def test_a_head_that_a_link_or_a_hand_has_chosen_stays() -> None:
    shape = {"training_n_layers": 2}
    app = measured(training_page(**shape))
    opened = app.session_state["training_layer"], app.session_state["training_head"]
    linked = measured(training_page(**shape, training_layer=1 - opened[0], training_head=1))
    assert (linked.session_state["training_layer"], linked.session_state["training_head"]) == (1 - opened[0], 1)
    choose(app, training_layer=0, training_head=0)
    working(app.run())
    assert (app.session_state["training_layer"], app.session_state["training_head"]) == (0, 0)
