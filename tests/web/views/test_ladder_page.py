"""The page Ladder: what is trained is what stands there, rungs move and go, and each opens beside the one before it."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from playground.link.params import ARCHITECTURE
from playground.training.ablation import Ablation
from playground.training.cost import Speed
from playground.training.ladder import START, TRAINED, USUAL, climb, ladder_recipe, ladder_trainings
from playground.training.recipe import Recipe
from playground.training.tasks import make_data
from playground.views.ladder import BEFORE_ANY, Ladder, answer_ladder
from playground.web.session import experiments
from playground.web.session.services import services
from playground.web.views import ladder
from tests.web.app_test import answer, captions, choose, grey_buttons, open_page, press, prose, sentences, status_text
from tests.web.experiment_pages import measured, until_step

pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")

PAGE = "ladder"
RUNGS = ("GELU", "pre-norm", "rotary positions")


def short_ladder(task: str, seed: int) -> Recipe:
    """The page's recipe, but soon over."""
    return replace(ladder_recipe(task, seed), n_train=64, n_validation=16, batch_size=16, steps=4)


def endless_ladder(task: str, seed: int) -> Recipe:
    """The page's recipe, which does not end while a test runs."""
    return replace(short_ladder(task, seed), steps=5_000)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "ladder_recipe", short_ladder)


def ladder_page(*rungs: str, **query: object) -> AppTest:
    """The page under a link, with these rungs and one seed."""
    return open_page(
        PAGE,
        **{"ladder_rungs": rungs or RUNGS, "ladder_seeds": 1, "ladder_task": "Sort", "ladder_cards": "true", **query},
    )


@pytest.mark.long
def test_what_is_trained_is_each_rung_and_its_numbers_are_shown() -> None:
    app = ladder_page(ladder_seeds=3, seed=7)
    assert answer(app) == BEFORE_ANY
    assert app.button(key="ladder_start").label == "Start 12 trainings"
    app = measured(app, PAGE)
    recipe = short_ladder("sort", 7)
    ablation = Ablation(ladder_trainings(RUNGS, recipe, make_data(recipe), 3))
    for _ in ablation.run():
        pass
    here = Ladder(ablation.state)
    assert "All 12 runs are done" in status_text(app)
    assert answer(app) == answer_ladder(here)
    for name, step in here.steps.items():
        change = f"{step.effect.loss_change:+.3f} nats".replace("-", "−")
        assert f"loss **{change}**" in captions(app), name
    assert "Changed since" not in answer(app)


def test_rungs_move_go_and_come_back() -> None:
    app = ladder_page()
    moves = {
        button.key
        for button in app.button
        if button.disabled and ("_up_" in str(button.key) or "_down_" in str(button.key))
    }
    assert moves == {"ladder_up_1", "ladder_down_3"}
    app = press(app, "ladder_down_1")
    assert app.session_state["ladder_rungs"] == ["pre-norm", "GELU", "rotary positions"]
    assert app.query_params["ladder_rungs"] == ["pre-norm", "GELU", "rotary positions"]
    app = press(app, "ladder_up_3")
    assert app.session_state["ladder_rungs"] == ["pre-norm", "rotary positions", "GELU"]
    app = press(app, "ladder_remove_2")
    assert app.session_state["ladder_rungs"] == ["pre-norm", "GELU"]
    assert "Start 3 trainings" in app.button(key="ladder_start").label
    app = press(press(app, "ladder_remove_1"), "ladder_remove_1")
    assert "Start 1 trainings" not in app.button(key="ladder_start").label
    assert "start" in grey_buttons(app, PAGE)
    assert "Choose at least one rung" in sentences(app)
    app = press(app, "ladder_usual")
    assert tuple(app.session_state["ladder_rungs"]) == USUAL


@pytest.mark.long
def test_after_a_change_the_page_says_what_was_measured_and_what_is_new() -> None:
    app = measured(ladder_page(), PAGE)
    app = press(app, "ladder_down_1")
    assert answer(app).startswith("**The settings are no longer this run's:** the order of the rungs.")
    assert "*Here:*" not in captions(app), "nothing was measured of this order"
    app = press(app, "ladder_remove_3")
    assert "*rotary positions* is gone" in answer(app)
    app = choose(app, ladder_task="Reverse")
    assert "task Sort → Reverse" in answer(app)
    assert "the seeds" in answer(choose(app, ladder_seeds="3"))


def test_a_rung_opens_beside_the_one_before_it() -> None:
    app = ladder_page(seed=3)
    app = press(app, "ladder_open_3")
    before, here = climb(TRAINED, RUNGS)[-2:]
    shown = {key: app.session_state[key] for key in ARCHITECTURE}
    assert shown == {key: getattr(here, key) for key in ARCHITECTURE}
    assert (app.session_state["weights"], app.session_state["seed"]) == ("random", 3)
    pinned = app.session_state["_pinned"]
    assert {key: pinned[key] for key in ARCHITECTURE} == {key: getattr(before, key) for key in ARCHITECTURE}
    assert (pinned["weights"], pinned["seed"]) == ("random", 3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(1, len(USUAL) + 1))
def test_every_rungs_encoder_is_one_that_the_sidebar_can_have(number: int) -> None:
    app = press(ladder_page(*USUAL), f"ladder_open_{number}")
    encoder = climb(TRAINED, USUAL)[number]
    opened = open_page("compare", weights="random", **{key: getattr(encoder, key) for key in ARCHITECTURE})
    assert not opened.info, "no value lies beside its slider's stops"
    assert {key: app.session_state[key] for key in ARCHITECTURE} == {
        key: opened.session_state[key] for key in ARCHITECTURE
    }


def test_what_would_take_too_long_says_what_to_leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "machine_speed", lambda: Speed(10.0, 1e-12))
    app = ladder_page(ladder_seeds=3)
    assert "take rungs away or choose one seed" in app.error[0].value
    assert "start" in grey_buttons(app, PAGE)
    assert "**1 · GELU**" in prose(app), "the rungs are there all the same"


@pytest.mark.long
def test_what_is_trained_is_not_refused_and_a_delayed_machine_refuses_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    app = measured(ladder_page(), PAGE)
    services().runs.delay = 5.0
    assert experiments.most_seconds() == 5 * services().settings.max_training_seconds
    monkeypatch.setattr(experiments, "machine_speed", lambda: Speed(100.0, 1e-12))
    assert not app.run().error
    assert choose(app, ladder_seeds="3").error, "which nobody has trained"


def test_the_last_seed_has_no_next_one() -> None:
    app = ladder_page(seed=2**31 - 1, ladder_seeds=3)
    assert "seed=" in app.error[0].value
    assert "start" in grey_buttons(app, PAGE)
    assert not choose(app, ladder_seeds="1").error


def test_while_it_runs_it_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "ladder_recipe", endless_ladder)
    app = until_step(press(ladder_page(), "ladder_start"), f"Training: run 1 of 4: {START}")
    assert "The encoder of 2017 is being trained" in answer(app)
    press(app, "ladder_cancel")
    assert status_text(app) == "Cancelled in the first of 4 runs."


def test_a_link_that_names_no_rung_is_repaired_with_a_sentence() -> None:
    app = ladder_page("GELU", "<b>rope</b>", ladder_task="fly", ladder_seeds="99")
    assert app.session_state["ladder_rungs"] == ["GELU"]
    assert all(f"ladder_{key}=“" in sentences(app) for key in ("rungs", "task", "seeds"))
