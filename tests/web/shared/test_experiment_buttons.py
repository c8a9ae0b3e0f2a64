"""What an experiment does on its page, the same on both pages that have one: from Start to Stop, and in between."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.training import variants
from playground.training.trainer import Speed
from playground.web.session import experiments, own_models
from playground.web.session.own_models import OWN
from playground.web.session.services import services
from tests.waiting import running_jobs
from tests.web.app_test import array, captions, charts, grey_buttons, press, prose, sentences, status_text, working
from tests.web.experiment_pages import (
    OWN_TEXT,
    ended,
    endless_comparison,
    measured,
    regularisers_page,
    training_page,
    until_step,
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")
BOTH = pytest.mark.parametrize("page", ["training", "regularisers"])
ENDLESS = {"training_steps": 5_000}
CHARTS = {"training": "training_loss", "regularisers": "regularisers_validation"}


@pytest.fixture
def endless(one_experiment_at_a_time: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Regularisers page's runs take long, as those of the Training page do under the link ENDLESS."""
    monkeypatch.setattr(variants, "comparison_recipe", endless_comparison)


def opened(page: str, **query: object) -> AppTest:
    return training_page(**query) if page == "training" else regularisers_page("Weight decay", **query)


def start(app: AppTest, page: str) -> AppTest:
    """The page of a run that has done some steps."""
    return until_step(press(app, f"{page}_start"))


def lines(app: AppTest, page: str) -> list[list[float]]:
    """The lines of the page's chart."""
    traces = charts(app).get(CHARTS[page], [])
    return [array(traces, i, "y").tolist() for i in range(len(traces))]


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("endless")
@BOTH
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
@BOTH
def test_one_thing_at_a_time_over_all_pages(page: str) -> None:
    other = {"training": "regularisers", "regularisers": "training"}[page]
    app = start(opened(other, **ENDLESS), other)
    working(app.switch_page(f"../../pages/{page}.py").run())
    assert grey_buttons(app, page) == {"start", "stop"}
    assert f"the page “{other.title()}” goes on" in captions(app)
    app.session_state[OWN].experiments.get(other).stop()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("error", "sentence"),
    [(MemoryError(), "too little memory"), (RuntimeError("secret /path"), "Something went wrong")],
)
@BOTH
def test_a_failure_is_one_sentence_and_leaves_the_page_whole(
    page: str, error: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(variants, "Trainer", fail)
    app = measured(opened(page), page)
    told = f"{status_text(app)}\n{sentences(app)}"
    assert told.count(sentence) == 1
    assert "secret" not in told
    assert grey_buttons(app, page) == {"stop"}


@BOTH
def test_what_takes_too_long_can_not_start_and_says_what_to_shrink(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "machine_speed", lambda: Speed(25.0, 1e-12))
    app = opened(page, training_steps=600)
    (error,) = app.error
    assert "choose fewer" in error.value
    assert "start" in grey_buttons(app, page)


OTHER_RUN = {"training": ("training_lr", 0.01), "regularisers": ("regularisers_weight_decay", 1.0)}


@pytest.mark.sampled(1)
@BOTH
def test_settings_that_make_another_run_are_told_from_those_of_the_curves(page: str) -> None:
    app = measured(opened(page, weights="random", regularisers_measure="loss"), page)
    first = lines(app, page)
    app.session_state[f"{page}_regularisers_open"] = True
    key, value = OTHER_RUN[page]
    app.session_state["dropout"] = 0.5  # which no run has from the sidebar
    assert sentences(working(app.run())) == ""
    app.session_state[key] = value
    assert "changed since this run" in prose(working(app.run()))
    assert lines(app, page) == first
    measured(app, page)
    assert "changed since this run" not in prose(app)
    assert lines(app, page) != first


@pytest.fixture
def two_visitors(one_experiment_at_a_time: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """All AppTests are one session, which would have the experiments of one visitor alone."""
    monkeypatch.setattr(own_models, "_until_disconnect", lambda own: own)


@pytest.mark.usefixtures("two_visitors")
def test_who_comes_later_has_the_same_network_and_curves_at_once() -> None:
    first, second = measured(training_page()), training_page()
    press(second, "training_start")
    assert not running_jobs()
    assert status_text(second).startswith("The run finished at step 5; the weights of step 5 are kept.")
    assert second.session_state[OWN].trained is first.session_state[OWN].trained
    assert "answer?" in "".join(header.value for header in working(second.run()).header)
    assert charts(second)["training_loss"] == charts(first)["training_loss"]
    assert prose(second) == prose(working(first.run()))


@pytest.mark.usefixtures("two_visitors")
def test_a_text_of_ones_own_is_kept_for_nobody() -> None:
    app = measured(training_page(**OWN_TEXT))
    assert not services().pool._jobs
    ended(press(app, "training_start"))
    assert status_text(app) == "The run finished at step 5; the weights of step 5 are kept."
