"""The Training page trains what the link names, shows what was measured, and says in plain words what can't be."""

import gc
import math
import re
import threading
import time
import weakref
from collections.abc import Generator, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from playground.config import ModelConfig
from playground.presets import PRESETS
from playground.training.after.generate import generate
from playground.training.after.samples import answer_samples
from playground.training.after.trained_network import from_trainer, load, save
from playground.training.architecture import architecture
from playground.training.cost import Speed
from playground.training.network import Tagger, build_network
from playground.training.optimiser import learning_rate
from playground.training.recipe import Recipe
from playground.training.regularisers.catalogue import REGULARISERS
from playground.training.seeding import generator
from playground.training.tasks import TASKS, make_data
from playground.training.trainer import Trainer
from playground.web.choices import experiment_params
from playground.web.choices.experiment_params import RECIPE, STRENGTHS, TITLES
from playground.web.choices.params import OWN
from playground.web.server.settings import Settings
from playground.web.session import experiment_inputs, experiments, memory_budget
from playground.web.session.experiments import EXPERIMENTS, Experiment, session_experiments
from playground.web.session.memory_budget import MemoryReservation
from playground.web.session.trained_slot import SLOT, TrainedSlot
from playground.web.views.training import text_generation, training_run
from tests.waiting import job_threads, until
from tests.web.app_test import (
    SESSION,
    array,
    captions,
    charts,
    grey_buttons,
    open_page,
    press,
    prose,
    sentences,
    status_text,
    table,
    upload,
    uploader,
    working,
)  # fmt: skip
from tests.web.session.test_experiments import in_session

SIZES = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32}
SMALL = {"length": 8, "n_symbols": 5, "n_train": 64, "steps": 5, "batch_size": 16}
LINK = {f"training_{name}": str(value) for name, value in (SIZES | SMALL).items()}
ENDLESS = {"training_steps": "5000"}
pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")

TEXT = "the cat sat on the mat and the dog sat on the log. " * 6 + "what a day it was for all of them, 3 * 4 = 12!"


def page(**query: str) -> AppTest:
    """The page under a link, with a small model and a short run."""
    return working(open_page("training", **{**LINK, **query}))


def ended(app: AppTest) -> AppTest:
    """The page once its run is over."""
    until(lambda: not job_threads())
    assert "cancel" in grey_buttons(working(app.run()), "training")
    return app


def trained(**query: str) -> AppTest:
    return ended(press(page(**query), "training_start"))


def floats(values: Sequence[float]) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def recipe(**changes: Any) -> Recipe:
    return Recipe(**{"lr": 2e-3, **SMALL, **changes})


def config(**changes: Any) -> ModelConfig:
    """The architecture behind the page: its sizes, and the sidebar's rest, which is the trained model's."""
    return ModelConfig(**{**vars(PRESETS["minilm-l6"].config), "vocab_size": 1, **SIZES, **changes})


def run(asked: Recipe, **changes: Any) -> Trainer:
    """The run behind the page, made without the app."""
    trainer = Trainer(config(**changes), asked)
    for _ in trainer.run():
        pass
    return trainer


def opened(app: AppTest, key: str, column: str) -> Any:
    app.session_state[f"{key}_open"] = True
    return table(working(app.run()), column)


# --- before


@pytest.mark.parametrize("title", TITLES)
def test_a_task_shows_a_question_with_its_answer_and_a_rule_to_beat(title: str) -> None:
    app = page(training_task=title)
    asked = experiment_inputs.without_idle(recipe(task=TITLES[title]))
    data = make_data(asked)
    network = build_network(architecture(config(), asked, data), data.task, len(data.labels), asked.seed)
    (first,) = answer_samples(network, data, asked, n=1)
    is_text = data.task.reads_text
    reads, says = (
        first.text.replace(" ", "␣") if is_text else first.text,
        ("" if is_text else " ").join(first.right_answer),
    )
    assert app.code[0].value == f"reads  {reads}\nsays   {says}"
    assert data.task.question in prose(app)
    assert f"is right in **{data.baseline:.1%}** of the validation set" in captions(app)
    assert f"{len(data.labels)} classes" in captions(app)
    assert f" {sum(p.numel() for p in network.parameters()):,} parameters" in captions(app)
    assert "5 steps of 16 sequences" in captions(app)
    assert sentences(app) == ""


def test_before_a_start_the_schedule_is_what_is_known() -> None:
    app = page(training_warmup="10", training_lr="0.01", training_steps="50")
    traces = charts(app)["training_rate"]
    rates = [learning_rate(step, recipe(lr=0.01, warmup=10)) for step in range(1, 51)]
    np.testing.assert_array_equal(array(traces, 0, "y"), floats(rates))
    assert "at most 0.01, reached at step 10" in captions(app)
    assert grey_buttons(app, "training") == {"pause", "cancel", "reset"}
    assert "**Start** trains it" in captions(app)


def test_every_field_of_a_recipe_and_every_regulariser_can_be_set() -> None:
    assert set(RECIPE) | {"task", "seed", "n_validation"} == set(Recipe.__dataclass_fields__)
    assert set(STRENGTHS) == {each.field for each in REGULARISERS.values()} | {"temperature"}
    app = page(training_task="Next character", training_text=TEXT)
    app.session_state["training_regularisers_open"] = True
    working(app.run())
    keys = {w.key for kind in (app.slider, app.select_slider, app.toggle) for w in kind}
    assert {f"training_{name}" for name in STRENGTHS} <= keys


def test_what_a_link_sets_is_there_though_its_panel_is_closed() -> None:
    assert "training_clip" not in {slider.key for slider in page().select_slider}
    app = page(training_clip="0.5")
    assert app.select_slider(key="training_clip").value == 0.5
    assert "Regularisers that are set: 1." in captions(app)


def test_the_defaults_are_those_of_the_first_task_and_stand_on_stops() -> None:
    plain: dict[str, Any] = {name: param.default for name, param in RECIPE.items()}
    assert all(getattr(Recipe(**TASKS["reverse"].defaults), name) == value for name, value in plain.items())
    for task in TASKS.values():
        for name, value in task.defaults.items():
            assert RECIPE[name].read_all([f"{value:g}" if isinstance(value, float) else str(value)]) == (value, None)


def test_another_task_by_hand_brings_its_own_settings_and_a_link_keeps_its() -> None:
    app = open_page("training", training_steps="300", training_length="9")
    assert app.select_slider(key="training_steps").value == 300
    working(app.selectbox(key="training_task").select("Match brackets").run())
    for name, value in TASKS["brackets"].defaults.items():
        assert app.session_state[f"training_{name}"] == value
    working(app.selectbox(key="training_task").select("Reverse").run())
    for name in TASKS["brackets"].defaults:
        assert app.session_state[f"training_{name}"] == OWN[f"training_{name}"].default


# --- a run


@pytest.mark.parametrize("task", ["reverse", "seq2seq-reverse"])
def test_a_link_reproduces_the_run_to_the_digit(task: Any) -> None:
    app = trained(training_task=TASKS[task].title, training_clip="0.5", training_dropout_residual="0.1", seed="3")
    expected = run(recipe(task=task, clip=0.5, dropout_residual=0.1, seed=3))
    shown, looks = charts(app), expected.history.evaluations
    assert [trace.get("name") for trace in shown["training_loss"]][:4] == [
        "batches", "mean of 2 batches", "training set", "validation set",
    ]  # fmt: skip
    np.testing.assert_array_equal(array(shown["training_loss"], 0, "y"), floats(expected.history.loss))
    np.testing.assert_array_equal(
        array(shown["training_loss"], 3, "y"), floats([look.validation.loss for look in looks])
    )
    np.testing.assert_array_equal(
        array(shown["training_accuracy"], 0, "y"), floats([look.train.accuracy for look in looks])
    )
    np.testing.assert_array_equal(array(shown["training_rate"], 0, "y"), floats(expected.history.lr))
    np.testing.assert_array_equal(array(shown["training_gradient"], 0, "y"), floats(expected.history.grad_norm))
    last = looks[-1].validation
    assert f"Validation loss {last.loss:.6f} nats" in prose(app)
    assert status_text(app) == "All 5 steps are done."
    numbers = opened(app, "training_evaluations", "validation loss")
    assert list(numbers["validation loss"]) == [look.validation.loss for look in looks]
    assert list(numbers.index) == [look.step for look in looks]
    assert list(opened(app, "training_steps", "gradient norm")["gradient norm"]) == expected.history.grad_norm
    assert {metric.label: metric.value for metric in app.metric}["Validation accuracy"] == f"{last.accuracy:.1%}"
    assert grey_buttons(app, "training") == {"pause", "cancel"}

    answers = answer_samples(expected.network, expected.data, expected.recipe)
    assert list(table(app, "it says")["it says"]) == [" ".join(sample.answer) for sample in answers]
    assert list(table(app, "it says")["mistakes"]) == [
        f"{sample.n_wrong} of {max(len(sample.right_answer), len(sample.answer))}" if sample.n_wrong else "none"
        for sample in answers
    ]

    names = list(expected.history.snapshots[0].patterns)
    first, final = expected.history.snapshots[0], expected.history.snapshots[-1]
    np.testing.assert_array_equal(array(shown["training_pattern"]), final.patterns[names[0]][0, 0])
    app.slider(key="training_moment").set_value(0)
    app.slider(key="training_head").set_value(1)
    working(app.run())
    np.testing.assert_array_equal(array(charts(app)["training_pattern"]), first.patterns[names[0]][0, 1])
    assert "before training: random weights" in captions(app)
    if task == "seq2seq-reverse":
        groups: list[Any] = [group for group in app.get("button_group") if group.key == "training_attention"]
        working(groups[0].set_value("decoder self").run())
        pattern = first.patterns["decoder self"][0, 1]
        later = ~np.tril(np.ones(pattern.shape, bool))
        np.testing.assert_array_equal(
            array(charts(app)["training_pattern"]), np.where(later, np.float32(np.nan), pattern)
        )


def test_start_pause_resume_cancel_reset() -> None:
    app = press(page(**ENDLESS), "training_start")
    assert status_text(app).startswith(("Training", "Getting ready", "Waiting"))
    assert grey_buttons(app, "training") == {"start"}
    until(lambda: status_text(working(app.run())).startswith("Training"))
    press(app, "training_pause")
    assert status_text(app).startswith("Paused: step")
    assert grey_buttons(app, "training") == {"start"}
    stands = status_text(app)
    time.sleep(0.1)
    assert status_text(working(app.run())) == stands
    press(app, "training_resume")
    assert "Paused" not in status_text(app)
    press(app, "training_cancel")
    assert status_text(app).startswith("Cancelled after step")
    assert status_text(app).endswith("the weights of that step are kept.")
    assert not job_threads()
    assert "What has it learnt?" in [title.value for title in app.subheader]
    steps = int(status_text(app).split()[3].strip(";").replace(",", ""))
    at, rates = (array(charts(app)["training_rate"], 0, axis) for axis in "xy")
    assert at[-1] == steps
    np.testing.assert_array_equal(rates, floats([learning_rate(int(step), recipe(steps=5000)) for step in at]))
    press(app, "training_reset")
    assert "training_loss" not in charts(app)
    assert "**Start** trains it" in captions(app)
    again = ended(press(working(app.select_slider(key="training_steps").set_value(5).run()), "training_start"))
    np.testing.assert_array_equal(array(charts(again)["training_loss"], 0, "y"), floats(run(recipe()).history.loss))


def metrics(app: AppTest) -> dict[str, str]:
    return {metric.label: str(metric.value) for metric in app.metric}


def at_step(app: AppTest, at_least: int) -> AppTest:
    """The page of a run that goes on, once it has got so far."""

    def step() -> int:
        found = re.search(r"step ([0-9,]+) of", status_text(working(app.run())))
        return int(found[1].replace(",", "")) if found else 0

    until(lambda: step() >= at_least)
    return app


def test_a_cancelled_run_has_one_accuracy() -> None:
    app = press(at_step(press(page(**ENDLESS), "training_start"), 3), "training_cancel")
    ((step, share, loss),) = re.findall(
        r"weights of step ([0-9,]+): \*\*([0-9.]+%)\*\*.*Validation loss ([0-9.]+) nats", prose(app)
    )
    assert f"after step {step};" in status_text(app)
    assert metrics(app)["Validation accuracy"] == share
    assert float(metrics(app)["Validation loss"]) == pytest.approx(float(loss), abs=1e-4)
    assert metrics(app)["Training accuracy"] == "–"  # of these weights it was not measured


def test_what_is_reset_never_takes_the_place_of_what_was_trained() -> None:
    app = trained()
    good = app.session_state[SLOT].trained
    working(app.select_slider(key="training_steps").set_value(5000).run())
    press(at_step(press(app, "training_start"), 2), "training_reset")
    until(lambda: not job_threads())
    assert app.session_state[SLOT].trained is good
    assert "with the weights of step 5:" in prose(working(app.run()))


def test_who_cancels_while_the_teacher_learns_is_told_that_nothing_is_kept() -> None:
    app = press(page(training_distill="0.5", **ENDLESS), "training_start")
    until(lambda: "its teacher, twice as wide, learns first" in status_text(working(app.run())))
    press(app, "training_cancel")
    assert status_text(app) == "Cancelled before its own first step; it has no weights to keep."
    assert app.session_state[SLOT].trained is None


def test_after_cancelling_a_slow_step_the_page_waits_for_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(*_: Any) -> bool:
        begun.set()
        return go_on.wait()

    monkeypatch.setattr(Trainer, "_learn", slow)
    app = press(page(**ENDLESS), "training_start")
    assert begun.wait(60)
    app.session_state[EXPERIMENTS].get("training").job.cancel(timeout=0)
    assert status_text(working(app.run())) == "Cancelling after the current step …"
    assert grey_buttons(app, "training") == {"pause", "cancel"}
    go_on.set()
    assert status_text(ended(app)).startswith("Cancelled before its own first step")


def test_a_connection_that_breaks_ends_the_run_and_leaves_its_curves_and_weights() -> None:
    app = at_step(press(page(**ENDLESS), "training_start"), 3)
    clear_session_resource_cache(SESSION)
    assert re.match(
        r"The connection to your browser broke, and the run was cancelled after step [0-9,]+; the weights of that step "
        r"are kept\.",
        status_text(ended(app)),
    )
    assert len(array(charts(app)["training_rate"], 0, "y")) >= 3
    assert "What has it learnt?" in [title.value for title in app.subheader]


def test_what_has_ended_keeps_neither_network_nor_training_set() -> None:
    training, slot, memory = (
        training_run.TrainingRun(config(), recipe(n_train=50)),
        TrainedSlot(),
        MemoryReservation(10**6),
    )
    memory_budget.reserve(memory)
    for _ in training.run():
        pass
    example = training.data.validation[slice(0, 1)]
    assert training._trainer is not None
    trainer, train = weakref.ref(training._trainer), weakref.ref(training.data.train)
    experiment_inputs._cached_data.clear()
    training.end(slot, "finished", memory)
    gc.collect()
    assert (trainer(), train()) == (None, None)
    assert memory not in memory_budget.memory_users()
    assert slot.trained in memory_budget.memory_users()
    assert len(training.data.train) == 0
    assert torch.equal(training.data.validation.ids, example.ids)
    assert training.data.validation.ids.untyped_storage().nbytes() == example.ids.nbytes
    made = make_data(recipe(n_train=50))
    assert (training.data.labels, training.data.vocabulary, training.data.baseline) == (
        made.labels, made.vocabulary, made.baseline,
    )  # fmt: skip


@pytest.mark.parametrize("task", ["reverse", "seq2seq-copy"])
def test_a_run_counts_all_that_it_holds(task: Any) -> None:
    asked = recipe(task=task, distill=0.5)
    trainer = Trainer(config(), asked)
    for _ in trainer.run():
        pass
    assert trainer.teacher is not None
    networks = (trainer.network, trainer.teacher.network)
    n = sum(parameter.numel() for network in networks for parameter in network.parameters())
    examples = (trainer.data.train, trainer.data.validation)
    n_data = sum(part.nbytes for each in examples for part in vars(each).values() if part is not None)
    assert experiment_inputs.training_bytes(trainer.config, asked, trainer.data) == 6 * 4 * n + n_data


def test_a_run_that_the_server_has_no_room_for_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    before = sum(other.n_bytes for other in memory_budget.memory_users())
    monkeypatch.setattr(memory_budget, "settings", lambda: Settings(max_own_weights=before + 30_000))
    app = trained()
    assert status_text(app) == "It failed."
    assert sentences(app).startswith("This server holds as many visitors' weights as it can right now")
    assert grey_buttons(app, "training") == {"pause", "cancel"}


def test_a_run_is_described_by_the_data_that_it_has() -> None:
    asked = {"training_task": "Next character", "training_text": TEXT, "training_n_train": "16384"}
    made = make_data(recipe(task="characters", text=TEXT, n_train=16384))
    assert len(made.train) < 1_000
    assert f"{len(made.train):,} sequences of 8" in captions(trained(**asked))


def test_a_page_left_and_entered_again_finds_its_run() -> None:
    app = press(page(**ENDLESS), "training_start")
    until(lambda: status_text(working(app.run())).startswith("Training"))
    working(app.switch_page("../../pages/norms.py").run())
    app.switch_page("../../pages/training.py")
    assert "cancel" not in grey_buttons(working(app.run()), "training")
    assert status_text(app).startswith("Training")
    press(app, "training_cancel")


def test_other_settings_are_told_from_those_of_the_curves() -> None:
    app = trained()
    assert sentences(app) == ""
    working(app.select_slider(key="training_lr").set_value(0.01).run())
    assert "than the page has now: the run described above" in sentences(app)
    assert "lr 0.002 → 0.01" in sentences(app)
    np.testing.assert_array_equal(array(charts(app)["training_loss"], 0, "y"), floats(run(recipe()).history.loss))
    ended(press(app, "training_start"))
    assert sentences(app) == ""
    expected = floats(run(recipe(lr=0.01)).history.loss)
    np.testing.assert_array_equal(array(charts(app)["training_loss"], 0, "y"), expected)


def test_a_setting_that_counts_nowhere_makes_no_other_run() -> None:
    assert page(training_schedule="constant").select_slider(key="training_warmup").disabled
    app = trained()
    app.session_state["training_regularisers_open"] = True
    assert working(app.run()).select_slider(key="training_temperature").disabled
    app.session_state["training_temperature"] = 5.0
    app.session_state["training_text"] = "a text that no made-up task reads"
    working(app.run())
    assert sentences(app) == ""


def test_a_teacher_learns_first_and_is_announced() -> None:
    app = trained(training_distill="0.5")
    np.testing.assert_array_equal(
        array(charts(app)["training_loss"], 0, "y"), floats(run(recipe(distill=0.5)).history.loss)
    )
    training = training_run.TrainingRun(config(), recipe(distill=0.5))
    next(training.run())
    paused: Any = SimpleNamespace(computation=training, cancelling=False, job=SimpleNamespace(status="paused"))
    assert "its teacher, twice as wide, learns first: step 1 of 5" in training_run.status_sentence(paused)


def test_a_learning_rate_of_100_is_stopped_and_the_last_good_weights_are_kept() -> None:
    app = trained(training_lr="100", training_schedule="constant", training_steps="200", training_optimizer="sgd")
    assert "ran away" in sentences(app)
    expected = run(recipe(lr=100, schedule="constant", steps=200, optimizer="sgd"))
    assert expected.outcome == "diverged"
    assert status_text(app) == f"Ended at step {expected.step} of 200."
    assert f"the weights of step {expected.kept_step:,} are kept" in sentences(app)
    assert list(table(app, "it says")["it says"]) == [
        " ".join(sample.answer) for sample in answer_samples(expected.network, expected.data, expected.recipe)
    ]


def test_a_failure_is_said_in_one_sentence_and_leaves_the_page_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(training_run, "Trainer", break_down)
    app = trained()
    (error,) = app.error
    assert "too little memory" in error.value
    assert grey_buttons(app, "training") == {"pause", "cancel"}


def test_who_waits_for_a_seat_is_told_his_place() -> None:
    gate = threading.Event()

    def work() -> Generator[None]:
        while not gate.wait(0.02):
            yield

    for _ in range(2):
        experiments.BACKEND.submit(work)
    app = press(page(), "training_start")
    assert status_text(app).startswith("Waiting for a seat: 2nd in the queue.")
    assert opened(app, "training_evaluations", "validation loss").empty
    assert grey_buttons(app, "training") == {"start"}
    gate.set()
    assert status_text(ended(app)) == "All 5 steps are done."


def test_one_thing_at_a_time_over_all_pages() -> None:
    class Other:
        progress = 0.0

        def run(self) -> Iterator[None]:
            while True:
                time.sleep(0.01)
                yield

    app = page()
    in_session(lambda: session_experiments().start("regularisers", lambda: Experiment("", Other)))
    working(app.run())
    assert "start" in grey_buttons(app, "training")
    assert "the page “Regularisers” goes on" in captions(app)
    app.session_state[EXPERIMENTS].get("regularisers").job.pause()
    assert "the page “Regularisers” is paused" in captions(working(app.run()))


# --- what can't be


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"training_d_model": "16", "training_n_heads": "3"}, "n_heads=3 does not divide d_model=16"),
        ({"training_n_symbols": "2", "training_length": "2", "training_n_train": "4096"}, "would work"),
        ({"training_length": "40", "weights": "random", "max_len": "32"}, "length=40"),
        ({"training_task": "Next character", "training_text": "   "}, "is blank"),
        ({"training_task": "Next character", "training_text": "aaaaaaaaaaaaaaaa"}, "one character only"),
        ({"training_task": "Next character", "training_text": "short"}, "at least"),
        ({"training_task": "Next character", "training_text": TEXT, "training_length": "256"}, "is too long a window"),
    ],
)
def test_what_can_not_be_trained_is_said_in_one_sentence(query: dict[str, str], sentence: str) -> None:
    app = page(**query)
    (error,) = app.error
    assert sentence in error.value.replace("\\", "")
    assert "start" in grey_buttons(app, "training")
    assert app.button(key="training_start").disabled


def test_a_run_that_takes_too_long_says_what_to_shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_run, "machine_speed", lambda: Speed(10.0, 1e-12))
    app = page(training_steps="600")
    assert "this server trains for at most 5 min" in sentences(app)
    assert "steps would fit" in sentences(app)
    assert app.button(key="training_start").disabled


def test_what_somebody_typed_never_acts_as_markdown() -> None:
    app = page(training_task="Next character", training_text="**x**:red[y]$z$")
    (error,) = app.error
    assert r"\*\*x\*\*\:red\[y\]\$z\$" in error.value


# --- afterwards


def characters(**query: str) -> AppTest:
    return trained(
        training_task="Next character", training_text=TEXT, training_length="8", training_prompt="the ", **query
    )


def written(app: AppTest) -> str:
    return str(app.code[1].value)


@pytest.mark.parametrize(("heat", "top_k"), [("0.0", "0"), ("0.8", "3")])
def test_a_network_writes_what_its_probabilities_say(heat: str, top_k: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_generation, "LENGTH", 40)
    app = press(characters(training_heat=heat, training_top_k=top_k, seed="4"), "training_write")
    asked = recipe(task="characters", text=TEXT, length=8, n_symbols=10, seed=4)
    expected = run(asked)
    assert isinstance(expected.network, Tagger)
    (ids,) = expected.data.tokenizer.encode_batch(["the "]).ids.tolist()
    how: dict[str, Any] = {"temperature": float(heat), "top_k": int(top_k), "generator": generator(4, "writing")}
    drawn = generate(expected.network, ids, 40, window=8, **how)
    assert written(app) == "the " + expected.data.text(list(drawn))
    shares = array(charts(app)["training_next"], 0, "x")
    assert (np.diff(shares) <= 0).all()
    assert len(shares) == {"0.0": 1, "0.8": 3}[heat]
    assert math.isclose(shares.sum(), 1, rel_tol=1e-5)
    working(app.text_input(key="training_prompt").set_value("a").run())
    assert "training_next" not in charts(app)


def test_prompts_that_are_empty_or_strange() -> None:
    app = characters()
    app.text_input(key="training_prompt").set_value("")
    press(app, "training_write")
    assert "needs something to start from" in sentences(app)
    app.text_input(key="training_prompt").set_value("the ♥*x*")
    press(app, "training_write")
    assert "there was no `♥`" in captions(app)
    assert written(app).startswith("the [UNK]")


def test_the_weights_go_to_every_page_and_the_untrained_ones_with_them() -> None:
    app = trained(training_length="6")
    press(app, "training_look")
    assert app.session_state["weights"] == "trained here"
    assert app.session_state["text"] == make_data(recipe(length=6)).example
    working(app.switch_page("../../pages/attention.py").run())
    expected = run(recipe(length=6)).history.snapshots[-1].patterns["self"]
    np.testing.assert_allclose(array(charts(app)["attention_pattern"]), expected[0, 1], atol=1e-6)


def test_a_file_brings_a_network_back() -> None:
    made = from_trainer(run(recipe(steps=20)))
    app = page()
    upload(app, "training_file", save(made))
    assert sentences(app) == ""
    assert f"Validation loss {made.results.validation_loss:.6f} nats" in prose(app)
    data = make_data(made.recipe)
    assert list(table(app, "it says")["it says"]) == [
        " ".join(t.answer) for t in answer_samples(made.network, data, made.recipe)
    ]
    assert uploader(app, "training_file").value is None
    upload(app, "training_file", b"\x00" * 30)
    assert "This file can't be used." in sentences(app)
    assert f"Validation loss {made.results.validation_loss:.6f} nats" in prose(app)


def test_what_is_downloaded_can_be_loaded() -> None:
    app = trained()
    assert [button.proto.label for button in app.get("download_button")] == ["Download (safetensors)"]
    made = from_trainer(run(recipe()))
    assert load(save(made), max_parameters=10**6).key == made.key


def test_titles_are_the_links_words_and_must_not_change() -> None:
    assert list(experiment_params.TITLES) == [
        "Copy", "Reverse", "Sort", "Count", "Match brackets", "Fill in the gaps", "Next character",
        "Copy, with a decoder", "Reverse, with a decoder",
    ]  # fmt: skip
