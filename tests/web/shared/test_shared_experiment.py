"""Two visitors who follow one link share one run: each sees it, and each may leave it alone."""

import pytest
from streamlit.testing.v1 import AppTest

from playground.web.session import experiments
from playground.web.session.own_models import OWN
from playground.web.session.services import services
from playground.web.views import regularisers
from tests.waiting import running_jobs
from tests.web.app_test import captions, charts, press, prose, status_text, working
from tests.web.experiment_pages import (
    OWN_TEXT,
    ended,
    endless_comparison,
    measured,
    regularisers_page,
    training_page,
    until_step,
)  # fmt: skip

SHARED = "Shared with 1 other"


@pytest.fixture(autouse=True)
def two_visitors(one_experiment_at_a_time: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """All AppTests are one session, which would have the experiments of one visitor alone."""
    monkeypatch.setattr(experiments, "_until_disconnect", lambda own: own)


def opened(page: str, **query: object) -> AppTest:
    return training_page(**query) if page == "training" else regularisers_page("Weight decay", **query)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("page", ["training", "regularisers"])
def test_who_stops_leaves_and_the_run_goes_on(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regularisers, "comparison_recipe", endless_comparison)
    first, second = (opened(page, training_steps=5_000) for _ in range(2))
    until_step(press(first, f"{page}_start"))
    assert SHARED not in status_text(first)
    press(second, f"{page}_start")
    assert SHARED in status_text(working(second.run()))
    assert SHARED in status_text(working(first.run()))
    press(first, f"{page}_stop")
    stopped = status_text(first)
    assert stopped.startswith("Stopped")
    until_step(second, "Training", at_least=5)
    assert status_text(working(first.run())) == stopped
    assert SHARED not in status_text(working(second.run()))
    assert len(running_jobs()) == 1
    press(second, f"{page}_stop")
    assert not running_jobs()
    if page == "training":
        assert first.session_state[OWN].trained is None
        assert second.session_state[OWN].trained is not None


def test_who_comes_later_has_the_same_network_and_curves_at_once() -> None:
    first, second = measured(training_page()), training_page()
    assert second.button(key="training_another_seed")
    press(second, "training_start")
    assert not running_jobs()
    assert status_text(second).startswith("All 5 steps are done. This run had been computed here before.")
    assert second.session_state[OWN].trained is first.session_state[OWN].trained
    assert "answer?" in "".join(header.value for header in working(second.run()).header)
    assert charts(second)["training_loss"] == charts(first)["training_loss"]
    assert prose(second) == prose(working(first.run()))


def test_another_seed_is_a_run_to_watch() -> None:
    app = press(measured(training_page(seed=4)), "training_start")
    app = press(app, "training_another_seed")
    assert app.session_state["seed"] == 5
    assert "About **" in captions(app)


def test_a_text_of_ones_own_is_kept_for_nobody() -> None:
    app = measured(training_page(**OWN_TEXT))
    assert not services().pool._jobs
    ended(press(app, "training_start"))
    assert status_text(app) == "All 5 steps are done."
