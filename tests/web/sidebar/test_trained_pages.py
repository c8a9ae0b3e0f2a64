"""What was trained in a session is what every page shows, before training and after, and nobody else ever sees."""

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from playground import Encoder, Trace
from playground.link.params import DEFAULT_TEXT
from playground.model import causal_mask
from playground.runs.encoder_run import Run
from playground.training import trained_network
from playground.training.tasks import TASKS
from playground.training.trained_network import TrainedNetwork
from playground.web.session import own_models
from playground.web.session.own_models import OwnModels
from playground.web.session.services import MemoryBudget, Services, other_services
from tests.training.trained import trained, trainer
from tests.web.app_test import (
    PAGES,
    SESSION,
    array,
    captions,
    charts,
    choose,
    component_data,
    press,
    prose,
    table,
    without_error,
)  # fmt: skip
from tests.web.sidebar.test_trained_panel import KINDS, opened, switch


def shown_pattern(app: AppTest) -> Any:
    """The large chart's numbers; what is masked is left blank there."""
    return np.nan_to_num(array(charts(app)["attention_pattern"], name="customdata"))


def patterns(encoder: Encoder, one: TrainedNetwork) -> torch.Tensor:
    """Attention on the example, computed apart from every page: (layers, H, T, T)."""
    ids, trace = one.tokenizer.encode_batch([one.example]).ids, Trace()
    encoder(ids, causal_mask(ids.shape[1]) if one.task.predicts_next else None, trace)
    return torch.stack([trace[f"layers.{i}.attn.pattern"][0].detach() for i in range(one.config.n_layers)])


@pytest.mark.sweep
@pytest.mark.parametrize(("page", "task"), [(page, KINDS[i % 3]) for i, page in enumerate(PAGES)])
def test_every_page_works_before_and_after_training_and_if_no_token_is_known(page: str, task: str) -> None:
    app = without_error(opened(trained(task), page, gradient_layers=3))
    without_error(switch(app))
    without_error(choose(app, text=DEFAULT_TEXT))


@pytest.mark.parametrize("task", KINDS)
def test_attention_is_that_of_the_trained_network_and_of_the_same_seed_before(task: str) -> None:
    one = trained(task)
    app = opened(one, "attention", layer="1", head="1")
    assert f"trained here: {TASKS[one.recipe.task].title}, 6 steps" in captions(app)
    expected, before = patterns(one.encoder, one)[1, 1], patterns(Encoder(one.config, one.recipe.seed), one)[1, 1]
    np.testing.assert_allclose(shown_pattern(app), expected, atol=1e-6)
    assert ":orange-badge[before training (random)]" in captions(switch(app))
    np.testing.assert_allclose(shown_pattern(app), before, atol=1e-6)
    assert (before - expected).abs().max() > 1e-3


def test_a_trained_pair_is_what_the_page_shows() -> None:
    one = trained("seq2seq-reverse")
    app = opened(one, "encoder_decoder", encdec_target="[BOS] a b a", encdec_position=2)
    assert " + 4 tokens" in captions(app), "what begins with the beginning needs no second one"
    batches = [one.tokenizer.encode_batch([text]).ids for text in (one.example, "[BOS] a b a")]
    for network, told in ((one.network, "trained here"), (one.initial(), "random weights")):
        assert told in captions(app)
        probabilities = network(*batches)[0, 2].softmax(-1).detach()
        best = probabilities.argsort(descending=True)[:5]
        shown = table(app, "next token")
        assert list(shown["next token"]) == [one.labels[i] for i in best.tolist()]
        np.testing.assert_allclose(shown["probability, %"], 100 * probabilities[best], rtol=1e-4)
        switch(app)


def test_before_training_is_pinned_beside_after_it_and_neither_is_computed_twice(
    passes: list[tuple[Encoder, Run]],
) -> None:
    one = trained()
    app = press(switch(opened(one, "attention", layer="1", head="1")), "pin")
    switch(app)
    before, after = (patterns(encoder, one)[1, 1] for encoder in (Encoder(one.config, one.recipe.seed), one.encoder))
    np.testing.assert_allclose(array(charts(app)["head_difference"]), after - before, atol=1e-6)
    assert "pinned \\(before training on\\) and now \\(before training off\\)" in prose(app)
    n_passes = len(passes)
    choose(app, attention_view="entropy")
    assert len(passes) == n_passes
    assert component_data(app, "copy_link")["more"], "a classmate can train the same"


# --- sessions, memory, devices


def another_visitor() -> None:
    import streamlit as st

    from playground import ModelConfig
    from playground.errors import PlaygroundError
    from playground.link.state import TextKey
    from playground.web.session import caches

    for compute in (
        lambda: caches.encoder("0" * 64, ModelConfig(vocab_size=5), 0),
        lambda: caches.encoder("trained-0", ModelConfig(vocab_size=5), 0),
        lambda: caches.tokenizer(TextKey("trained-0", 0, 5, ("a",))),
    ):
        try:
            compute()
        except PlaygroundError as error:
            st.error(str(error))


def test_what_others_trained_or_opened_is_nobody_elses() -> None:
    upload, *networks = (error.value for error in AppTest.from_function(another_visitor).run().error)
    assert "not open in your session" in upload
    assert networks == [own_models.NOT_IN_SESSION] * 2


def fresh(**changes: Any) -> TrainedNetwork:
    """A network that no test holds on to."""
    return trained_network.from_trainer(trainer(**changes))


@pytest.mark.long
def test_everything_is_freed_with_the_session(n_memory_users: Callable[[], int], passes: list[Any]) -> None:
    one = fresh()
    seen, encoder = weakref.ref(one), weakref.ref(one.encoder)
    app = opened(one, "attention")
    assert n_memory_users() == 1
    n_passes = len(passes)
    clear_session_resource_cache(SESSION)
    app.run()
    assert len(passes) > n_passes, "the run was still cached somewhere else"
    passes.clear()
    del app, one
    clear_session_resource_cache(SESSION)
    assert (n_memory_users(), seen(), encoder()) == (0, None, None)


def test_a_server_that_is_full_keeps_the_network_that_was_there() -> None:
    slot, first = OwnModels(), fresh()
    slot.put(first)
    with other_services(memory=MemoryBudget(1_000)):
        slot.put(fresh(seed=1))
    assert slot.trained is first
    assert slot.problem.startswith("This server holds as many visitors' weights as it can")
    slot.put(second := fresh(seed=1))
    assert (slot.trained, slot.problem) == (second, "")


def test_on_another_device_it_is_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    one = trained()
    slot = OwnModels()
    slot.shown = (one,)
    monkeypatch.setattr(own_models, "session_models", lambda: slot)
    assert own_models.network_on_device(one.key) is one.network
    monkeypatch.setattr(Services, "device", torch.device("meta"))
    for key in (one.key, one.initial_key):
        placed = own_models._copy_on_device.__wrapped__(key)  # type: ignore[attr-defined]
        assert {parameter.device.type for parameter in placed.parameters()} == {"meta"}
    assert {parameter.device.type for parameter in one.network.parameters()} == {"cpu"}
