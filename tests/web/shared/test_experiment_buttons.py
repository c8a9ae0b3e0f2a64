"""What an experiment does on its page, the same on both pages that have one: from Start to Stop, and in between."""

import gc
from typing import Any

import pytest
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from playground.training import job, variants
from playground.training.job import Speed
from playground.training.trainer import Trainer
from playground.training.variants import SIZES, regulariser_runs
from playground.web.session import experiments
from playground.web.session.experiments import EXPERIMENTS, join_variants
from playground.web.session.services import services
from playground.web.views import regularisers
from tests.waiting import running_jobs, until
from tests.web.app_test import (
    SESSION,
    array,
    captions,
    charts,
    grey_buttons,
    press,
    prose,
    sentences,
    status_text,
    values,
    working,
)  # fmt: skip
from tests.web.experiment_pages import (
    config,
    ended,
    endless_comparison,
    measured,
    recipe,
    regularisers_page,
    short_comparison,
    training_page,
    until_step,
)  # fmt: skip

pytestmark = [
    pytest.mark.usefixtures("one_experiment_at_a_time"),
    pytest.mark.parametrize("page", ["training", "regularisers"]),
]
ENDLESS = {"training_steps": 5_000}
CHARTS = {"training": "training_loss", "regularisers": "regularisers_validation"}


@pytest.fixture
def endless(one_experiment_at_a_time: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Regularisers page's runs take long, as those of the Training page do under the link ENDLESS."""
    monkeypatch.setattr(regularisers, "comparison_recipe", endless_comparison)


def opened(page: str, **query: object) -> AppTest:
    return training_page(**query) if page == "training" else regularisers_page("Weight decay", **query)


def start(app: AppTest, page: str) -> AppTest:
    """The page of a run that has done some steps."""
    return until_step(press(app, f"{page}_start"))


def lines(app: AppTest, page: str) -> list[list[float]]:
    """The lines of the page's chart."""
    traces = charts(app).get(CHARTS[page], [])
    return [array(traces, i, "y").tolist() for i in range(len(traces))]


@pytest.mark.usefixtures("endless")
def test_start_leave_come_back_stop_and_start_again(page: str) -> None:
    app = opened(page, **ENDLESS)
    before = lines(app, page)
    start(app, page)
    assert grey_buttons(app, page) == {"start"}
    working(app.switch_page("../../pages/norms.py").run())
    working(app.switch_page(f"../../pages/{page}.py").run())
    until_step(app, "Training")
    press(app, f"{page}_stop")
    assert status_text(app).startswith("Stopped")
    assert grey_buttons(ended(app, page), page) == {"stop"}
    assert len(lines(app, page)) > len(before)
    press(start(app, page), f"{page}_stop")
    assert status_text(app).startswith("Stopped")


@pytest.mark.usefixtures("endless")
@pytest.mark.sampled(1)
def test_a_connection_that_breaks_ends_the_run_and_leaves_its_curves(page: str) -> None:
    app = opened(page, **ENDLESS)
    before = lines(app, page)
    for _ in range(2):  # who comes back starts another one
        start(app, page)
        clear_session_resource_cache(SESSION)  # as the server does when a tab is closed, or its connection broke
        ended(app, page)
        assert status_text(app).startswith("Stopped")
        assert len(lines(app, page)) > len(before)


@pytest.mark.usefixtures("endless")
def test_one_thing_at_a_time_over_all_pages(page: str) -> None:
    other = {"training": "regularisers", "regularisers": "training"}[page]
    app = start(opened(other, **ENDLESS), other)
    working(app.switch_page(f"../../pages/{page}.py").run())
    assert grey_buttons(app, page) == {"start", "stop"}
    assert f"the page “{other.title()}” goes on" in captions(app)
    app.session_state[EXPERIMENTS].get(other).stop()


@pytest.mark.usefixtures("endless")
def test_who_waits_is_told_the_place_in_the_queue(page: str) -> None:
    blocking = join_variants(regulariser_runs(config(**SIZES), endless_comparison("reverse", "small", 1, {}), []))
    app = press(opened(page, **ENDLESS), f"{page}_start")
    assert status_text(app).startswith("Waiting: number 1 in the queue.")
    assert grey_buttons(app, page) == {"start"}
    blocking.stop()
    press(until_step(app, "Training"), f"{page}_stop")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("error", "sentence"),
    [(MemoryError(), "too little memory"), (RuntimeError("secret /path"), "Something went wrong")],
)
def test_a_failure_is_one_sentence_and_leaves_the_page_whole(
    page: str, error: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    module, name = (job, "Trainer") if page == "training" else (variants, "VariantTraining")
    monkeypatch.setattr(module, name, fail)
    app = measured(opened(page), page)
    told = f"{status_text(app)}\n{sentences(app)}"
    assert told.count(sentence) == 1
    assert "secret" not in told
    assert grey_buttons(app, page) == {"stop"}


def test_what_takes_too_long_can_not_start_and_says_what_to_shrink(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "machine_speed", lambda: Speed(25.0, 1e-12))
    app = opened(page, training_steps=600)
    (error,) = app.error
    assert "choose fewer" in error.value
    assert "start" in grey_buttons(app, page)


@pytest.mark.usefixtures("endless")
@pytest.mark.sampled(1)
def test_while_it_runs_it_takes_the_memory_of_its_largest_run(page: str) -> None:
    gc.collect()
    before = set(services().memory.users)
    if page == "training":
        app, asked = training_page(**ENDLESS, training_distill=0.5), recipe(distill=0.5)
    else:
        app = regularisers_page("Weight decay", "Knowledge distillation")
        asked = short_comparison("reverse", "small", 0, {"distill": 0.5})
    start(app, page)
    (reservation,) = set(services().memory.users) - before
    sizes = {} if page == "training" else SIZES
    trainer = Trainer(config(**sizes), asked)
    assert trainer.teacher is not None
    assert reservation.n_bytes == experiments.training_bytes(trainer.config, asked, trainer.data)
    press(app, f"{page}_stop")
    until(lambda: set(services().memory.users) == before and not running_jobs())


WITHOUT_EFFECT: dict[str, dict[str, Any]] = {
    "training": {"training_temperature": 5.0, "training_text": "a text that no made-up task reads"},
    "regularisers": {"regularisers_clip": 0.5},
}
OTHER_RUN = {"training": ("training_lr", 0.01, "lr 0.002 → 0.01"),
             "regularisers": ("regularisers_weight_decay", 1.0, "weight_decay 0.3 → 1.0")}  # fmt: skip


@pytest.mark.sampled(1)
def test_other_settings_are_told_from_those_of_the_curves_where_they_make_another_run(page: str) -> None:
    app = measured(opened(page, weights="random", regularisers_measure="loss"), page)
    first = lines(app, page)
    app.session_state[f"{page}_regularisers_open"] = True
    for key, value in {"dropout": 0.5, **WITHOUT_EFFECT[page]}.items():
        app.session_state[key] = value
    assert sentences(working(app.run())) == ""
    assert lines(measured(app, page), page) == first
    key, value, difference = OTHER_RUN[page]
    app.session_state[key] = value
    assert difference in prose(working(app.run()))
    assert values(app, key) == {key: value}
    assert lines(app, page) == first
    measured(app, page)
    assert "no longer this run's" not in prose(app)
    assert lines(app, page) != first
