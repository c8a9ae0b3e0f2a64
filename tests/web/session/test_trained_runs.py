"""What a session has trained: several runs side by side, each with a link that others open, from the server's store."""

import json
from dataclasses import replace

import pytest
import safetensors.torch

from playground.config import ModelConfig
from playground.training.recipe import Recipe
from playground.training.trained_network import TrainedNetwork, describe_origin, key_in, run_key, save
from playground.web.session import own_models
from playground.web.session.own_models import MOST_RUNS, OWN, OwnModels
from playground.web.session.services import services
from tests.training.trained import trained
from tests.web.app_test import captions, choose, open_page, press, prose, sentences, values, working
from tests.web.experiment_pages import OWN_TEXT, measured, training_page


def test_a_name_has_the_key_and_the_share_and_nothing_breaks_it() -> None:
    one = trained()
    name = one.run_name
    assert key_in(name) == run_key(replace(one.config, dropout=0.3), one.recipe)
    for other in (replace(one.recipe, seed=9), replace(one.recipe, clip=1.0)):
        assert run_key(one.config, other) != key_in(name)
    frozen = run_key(ModelConfig(vocab_size=12, d_model=64, n_heads=4, n_layers=2), Recipe())
    assert frozen == "811a4fa74f2d9a4b56dddcbb4089d5ee", "a later field must not break the links to runs"
    key = key_in(name)
    for wrong in ("", "abc-1", f"{key}-", f"{key}-x", f"{key}-123456", f"{key}-²", f"../{key}-1", f"{key}\n"):
        assert key_in(wrong) == ""
    with pytest.raises(ValueError, match="no hash"):
        services().store.find("../secret", bytes)


def test_what_was_stored_comes_back_to_another_session_and_nothing_else_does() -> None:
    one, slot = trained(), OwnModels()
    slot.fetch(one.run_name)
    assert not slot.runs
    own_models.store(one)
    slot.fetch(one.run_name)
    found = slot.trained
    assert found is not None
    assert (found.key, found.origin) == (one.key, "stored")
    slot.fetch(one.run_name)
    assert list(slot.runs) == [found]


def test_what_was_cancelled_or_is_a_visitors_own_is_not_stored() -> None:
    one = trained()
    cancelled = replace(one, results=replace(one.results, outcome="cancelled"))
    own_text = replace(one, recipe=replace(one.recipe, task="characters", text="what I typed"))
    for each in (cancelled, own_text, one):
        own_models.store(replace(each, origin="opened") if each is one else each)
        assert not services().store.path(key_in(each.run_name)).exists()


@pytest.mark.parametrize("kind", ["damaged", "of another run", "foreign"])
def test_a_wrong_file_in_the_store_is_deleted(kind: str) -> None:
    one, store, slot = trained(), services().store, OwnModels()
    foreign = safetensors.torch.save({}, {"format": "x", "recipe": json.dumps({})})
    content = {"damaged": save(one)[:200], "of another run": save(trained("sort")), "foreign": foreign}[kind]
    key = key_in(one.run_name)
    store.keep(key, content)
    slot.fetch(one.run_name)
    assert slot.runs == ()
    assert not store.path(key).exists()


def test_a_session_keeps_the_newest_runs_and_each_once() -> None:
    slot = OwnModels()
    networks = [trained("reverse", seed=seed) for seed in range(MOST_RUNS + 1)]
    for one in (*networks, networks[-2]):
        slot.put(one)
    assert list(slot.runs) == [*networks[1:-2], networks[-1], networks[-2]]
    assert slot.trained is networks[-2]


def test_how_near_another_processor_came_is_said_where_it_differs() -> None:
    one = trained()
    share = one.results.validation_accuracy
    assert describe_origin(one, one.run_name) == describe_origin(one, one.run_key) == describe_origin(one, "") == ""
    stored = replace(one, origin="stored")
    assert describe_origin(stored, one.run_name) == "It was trained on this server before."
    other = f"{one.run_key}-{round(10_000 * share) + 12}"
    assert describe_origin(one, other) == f"It is right in {share:.2%}; the link's network was in {share + 0.0012:.2%}."


@pytest.mark.usefixtures("one_experiment_at_a_time")
def test_a_link_opens_the_network_for_a_classmate_and_after_a_reload() -> None:
    app = measured(training_page())
    assert "The link restores it" in captions(app)
    before: TrainedNetwork = app.session_state[OWN].trained
    name = before.run_name
    again = open_page("training", run=name)
    assert f"Validation loss {before.results.validation_loss:.6f} nats" in captions(again)
    assert "It was trained on this server before." in captions(again)
    assert values(press(again, "training_look"), "weights", "run") == {"weights": "trained here", "run": name}
    other = open_page("attention", weights="trained here", run=name, text=before.example)
    assert other.session_state[OWN].trained.key == before.key
    assert f"trained for {before.results.kept_step:,} steps" in captions(other)
    assert not sentences(other)


def test_where_the_store_has_it_no_more_the_page_says_so_and_start_trains_it_again() -> None:
    one = trained()
    for page in ("training", "attention"):
        app = open_page(page, weights="trained here", run=one.run_name)
        assert "This server has not kept what the link's network has learnt" in sentences(app)
        assert app.session_state[OWN].runs == ()


@pytest.mark.usefixtures("one_experiment_at_a_time")
def test_an_earlier_run_opens_again() -> None:
    app = measured(training_page())
    first: TrainedNetwork = app.session_state[OWN].trained
    measured(choose(app, training_lr=0.01))
    press(app, f"training_open_{first.run_key}")
    assert values(app, "weights", "run") == {"weights": "trained here", "run": first.run_name}
    assert f"Validation loss {first.results.validation_loss:.6f} nats" in captions(app)
    assert "changed since this run" not in prose(app)


@pytest.mark.usefixtures("one_experiment_at_a_time")
def test_a_newer_run_does_not_replace_the_one_that_the_sidebar_shows() -> None:
    app = press(measured(training_page()), "training_look")
    name = values(app, "run")["run"]
    app.session_state[OWN].put(trained("sort"))
    assert values(working(app.run()), "weights", "run") == {"weights": "trained here", "run": name}
    assert values(choose(app, weights="random"), "run")["run"] == trained("sort").run_name


@pytest.mark.long
@pytest.mark.usefixtures("one_experiment_at_a_time")
def test_what_learnt_a_visitors_own_text_is_lost_with_a_reload_which_the_page_says() -> None:
    app = measured(training_page(**OWN_TEXT))
    assert "A reload loses it." in captions(app)
