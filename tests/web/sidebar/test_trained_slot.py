"""What was trained in a session is that session's alone: its memory is freed with it, and others never see it."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from playground import Encoder
from playground.runs.encoder_run import Run
from playground.training.after import trained_network
from playground.training.after.trained_network import TrainedNetwork
from playground.web.server.settings import Settings
from playground.web.session import memory_budget, trained_slot
from playground.web.session.trained_slot import TrainedSlot
from tests.training.after.test_trained_network import trained, trainer
from tests.web.app_test import SESSION, captions
from tests.web.sidebar.test_trained_panel import opened, put, switch


def another_visitor() -> None:
    import streamlit as st

    from playground import ModelConfig
    from playground.errors import PlaygroundError
    from playground.web.session import caches

    for compute in (
        lambda: caches.encoder("0" * 64, ModelConfig(vocab_size=5), 0),
        lambda: caches.encoder("trained-0", ModelConfig(vocab_size=5), 0),
        lambda: caches.tokenizer(caches.TextKey("trained-0", 0, 5, ("a",))),
        lambda: caches.encoder("initial-0", ModelConfig(vocab_size=5), 0),
    ):
        try:
            compute()
        except PlaygroundError as error:
            st.error(str(error))


def test_what_others_trained_or_opened_is_nobody_elses() -> None:
    upload, *networks = (error.value for error in AppTest.from_function(another_visitor).run().error)
    assert "not open in your session" in upload
    assert networks == [trained_slot.NOT_IN_SESSION] * 3


def fresh(**changes: Any) -> TrainedNetwork:
    """A network that no test holds on to."""
    return trained_network.from_trainer(trainer(**changes))


def test_everything_is_freed_with_the_session(n_memory_users: Callable[[], int]) -> None:
    one = fresh()
    seen, encoder = weakref.ref(one), weakref.ref(one.encoder)
    app = opened(one, "attention")
    switch(app)
    assert n_memory_users() == 1
    del app, one
    clear_session_resource_cache(SESSION)
    assert (n_memory_users(), seen(), encoder()) == (0, None, None)


def test_a_newer_network_takes_the_place_of_the_first_everywhere() -> None:
    one = fresh()
    seen = weakref.ref(one)
    app = opened(one, "attention")
    switch(app)
    del one
    put(app, fresh(steps=4)).run()  # Streamlit keeps the value before until the run after
    gc.collect()
    assert seen() is None
    assert "before training (random)" in captions(app)
    assert "trained here: Reverse, 4 steps" in captions(switch(app))


def test_nothing_of_it_is_computed_for_other_sessions(passes: list[tuple[Encoder, Run]]) -> None:
    app = opened(trained(), "attention")
    app.run()
    n_passes = len(passes)
    clear_session_resource_cache(SESSION)
    app.run()
    assert len(passes) == n_passes + 1, "the run was still cached somewhere else"


def test_a_server_that_is_full_keeps_the_network_that_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    slot, first = TrainedSlot(), fresh()
    slot.put(first)
    monkeypatch.setattr(memory_budget, "settings", lambda: Settings(max_own_weights=1_000))
    slot.put(fresh(seed=1))
    assert slot.trained is first
    assert slot.problem.startswith("This server holds as many visitors' weights as it can")
    monkeypatch.undo()
    slot.put(second := fresh(seed=1))
    assert (slot.trained, slot.problem) == (second, "")


def test_on_another_device_it_is_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    one = trained()
    monkeypatch.setattr(trained_slot, "shown_network", lambda: one)
    assert trained_slot.network_on_device(one.key) is one.network
    monkeypatch.setattr(trained_slot, "choose_device", lambda _: torch.device("meta"))
    for key in (one.key, one.initial_key):
        placed = trained_slot._copy_on_device.__wrapped__(key)  # type: ignore[attr-defined]
        assert {parameter.device.type for parameter in placed.parameters()} == {"meta"}
    assert {parameter.device.type for parameter in one.network.parameters()} == {"cpu"}
