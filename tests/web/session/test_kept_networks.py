"""A trained network outlives a reload: for its owner alone, for an hour, and within bounds of number and bytes."""

from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.errors import WeightsError
from playground.training.trained_network import TrainedNetwork
from playground.web.server.settings import Settings
from playground.web.session.experiments import EXPERIMENTS
from playground.web.session.memory_budget import KeptNetworks, MemoryReservation
from playground.web.session.services import build_services, other_services, services
from playground.web.session.trained_slot import SLOT, TrainedSlot
from tests.training.trained import trained
from tests.web.app_test import captions, charts, component_data, open_page, press, sentences, working
from tests.web.experiment_pages import measured, training_page


class Clock:
    """Says the time that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def network(**changes: Any) -> TrainedNetwork:
    return replace(trained(), **changes)


def test_a_network_is_kept_for_its_owner_alone_and_the_latest_of_them() -> None:
    kept = KeptNetworks(3, 10**9, 60)
    one, other, later = network(), network(), network()
    kept.keep("a", one)
    kept.keep("b", other)
    assert (kept.find("a"), kept.find("b"), kept.find("")) == (one, other, None)
    kept.keep("a", later)
    assert (kept.find("a"), kept.find("b")) == (later, other)
    kept.forget()
    assert (kept.find("a"), kept.find("b")) == (None, None)


def test_it_is_dropped_after_its_time_which_begins_anew_when_it_is_kept_again() -> None:
    clock = Clock()
    kept, one = KeptNetworks(3, 10**9, 3600, clock), network()
    kept.keep("a", one)
    clock.now = 3000
    kept.keep("b", one)
    clock.now = 3599
    assert kept.find("a") is one
    clock.now = 3601
    assert (kept.find("a"), kept.find("b")) == (None, one)
    clock.now = 7000
    kept.drop_expired()
    assert not kept._networks


def test_number_and_bytes_are_bounded_and_the_one_used_longest_ago_goes_first() -> None:
    one = network()
    kept = KeptNetworks(3, 10**9, 60)
    for owner in "abc":
        kept.keep(owner, one)
    assert kept.find("a") is one
    kept.keep("d", one)
    assert [owner for owner in "abcd" if kept.find(owner)] == ["a", "c", "d"]
    small = KeptNetworks(100, 2 * one.n_bytes + 1, 60)
    for owner in "abc":
        small.keep(owner, one)
    assert [owner for owner in "abc" if small.find(owner)] == ["b", "c"]
    tiny = KeptNetworks(100, one.n_bytes - 1, 60)
    tiny.keep("a", one)
    assert tiny.find("a") is None


def test_one_too_large_takes_the_place_of_the_one_before_all_the_same() -> None:
    one = network()
    kept = KeptNetworks(3, one.n_bytes, 60)
    kept.keep("a", one)

    class Large(TrainedNetwork):
        n_bytes = one.n_bytes + 1

    kept.keep("a", Large(**{name: getattr(one, name) for name in TrainedNetwork.__dataclass_fields__}))
    assert kept.find("a") is None, "a reload would bring back what was not trained last"


def test_where_memory_is_short_what_is_kept_gives_way() -> None:
    here = build_services(Settings(max_own_weights=1_000_000_000))
    with other_services(memory=here.memory, kept_networks=here.kept_networks):
        TrainedSlot().put(network())
        assert here.kept_networks._networks
        with pytest.raises(WeightsError):
            here.memory.reserve(MemoryReservation(2_000_000_000))
        assert not here.kept_networks._networks


def reload(app: AppTest, page: str, **query: object) -> tuple[AppTest, str]:
    """A page in a new session, as a reload of the tab opens it, and the name that the tab remembers."""
    return open_page(page, **query), str(app.session_state[SLOT].owner)


@pytest.mark.long
@pytest.mark.usefixtures("one_experiment_at_a_time")
def test_a_reload_brings_the_network_back_to_every_page_and_nobody_else_gets_it() -> None:
    app = measured(training_page())
    press(app, "training_look")
    before: TrainedNetwork = app.session_state[SLOT].trained
    again, owner = reload(app, "attention", weights="trained here")
    assert component_data(again, "network_owner") == {"owner": again.session_state[SLOT].owner, "hasNetwork": False}
    assert "A link can't carry what was trained" in sentences(again), "another visitor's page stays like this"
    for wrong in ("", "x" * 32, app.session_state[SLOT].owner[:-1]):
        again.session_state[SLOT].take_back(wrong)
    assert again.session_state[SLOT].trained is None

    again.session_state[SLOT].take_back(owner)
    working(again.run())
    assert again.session_state[SLOT].trained is before
    assert "A link can't carry" not in sentences(again)
    assert f"trained for {before.results.kept_step:,} steps" in captions(again)
    assert component_data(again, "network_owner") == {"owner": owner, "hasNetwork": True}

    once_more, same = reload(again, "norms", weights="trained here")
    assert same == owner
    once_more.session_state[SLOT].take_back(owner)
    assert once_more.session_state[SLOT].trained is before


@pytest.mark.usefixtures("one_experiment_at_a_time")
def test_after_a_reload_the_curves_are_there_where_the_server_has_them_and_else_said_to_be_lost() -> None:
    app = measured(training_page())
    drawn = charts(app)["training_loss"]
    for has_curves in (True, False):
        again, owner = reload(app, "training")
        again.session_state[SLOT].take_back(owner)
        working(again.run())
        which = "it" if has_curves else "“Reverse”, trained before,"
        assert f"What does {which} answer?" in [header.value for header in again.header]
        assert charts(again).get("training_loss") == (drawn if has_curves else None)
        lost = component_data(again, "lost_experiment")
        assert (lost["hasExperiment"], lost["hasNetwork"]) == (has_curves, True)
        app.session_state[EXPERIMENTS].discard("training")
        services().runs.forget_results()


@pytest.mark.usefixtures("one_experiment_at_a_time")
def test_a_network_that_is_there_is_not_replaced_by_an_earlier_one() -> None:
    slot, other = TrainedSlot(), TrainedSlot()
    slot.put(network())
    other.put(network())
    before = other.trained
    other.take_back(slot.owner)
    assert other.trained is before
    assert other.owner != slot.owner
    assert "brings the network back" not in captions(training_page())
