"""What was trained in a session, on every page: its numbers, its shape, its tokens, its session, and nobody else's."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig, Trace
from playground.model import causal_mask
from playground.runs.encoder_run import Run
from playground.training.after import trained_network
from playground.training.after.trained_network import TrainedNetwork
from playground.training.tasks import TASKS
from playground.web.choices.architecture_params import ARCHITECTURE, SIZES
from playground.web.choices.link import model_config, settle
from playground.web.choices.params import DEFAULT_TEXT, LOCKED
from playground.web.server.settings import Settings
from playground.web.session import caches, memory_budget, trained_slot
from playground.web.session.trained_slot import SLOT, TrainedSlot, recognised_settings
from playground.web.sidebar import trained_panel
from tests.training.after.trained import CONFIG, trained, trainer
from tests.web.app_test import (
    PAGES,
    SESSION,
    array,
    captions,
    charts,
    choose,
    locked,
    new_page,
    open_page,
    press,
    prose,
    sentences,
    values,
    widgets,
    working,
)
from tests.web.choices.test_link import values_of_the_sidebar
from tests.web.sidebar.test_upload_panel import upload

KINDS = ("reverse", "characters", "seq2seq-reverse")


def put(app: AppTest, one: TrainedNetwork) -> AppTest:
    """Put a network into the session's slot, as a training thread does, and draw the page again."""
    if SLOT not in app.session_state:
        app.session_state[SLOT] = TrainedSlot()
    app.session_state[SLOT].put(one)
    return working(app.run())


def opened(one: TrainedNetwork, page: str = "overview", *, example: bool = True, **query: str) -> AppTest:
    """A page that shows a network, on an example of its task or on the text that everybody starts with."""
    app = new_page(page, **({"text": one.example} if example else {}), **query, weights="trained here")
    return put(app, one)


def shown_pattern(app: AppTest) -> Any:
    """The large chart's numbers; what is masked is left blank there."""
    return np.nan_to_num(array(charts(app)["attention_pattern"]))


def switch(app: AppTest, key: str = "untrained") -> AppTest:
    return choose(app, **{key: not values(app, key)[key]})


def patterns(encoder: Encoder, one: TrainedNetwork) -> torch.Tensor:
    """Attention on the example, computed apart from every page: (layers, H, T, T)."""
    ids, trace = one.tokenizer.encode_batch([one.example]).ids, Trace()
    encoder(ids, causal_mask(ids.shape[1]) if one.task.predicts_next else None, trace)
    return torch.stack([trace[f"layers.{i}.attn.pattern"][0].detach() for i in range(one.config.n_layers)])


# --- every page


@pytest.mark.parametrize(
    ("page", "task"), [(page, KINDS[(i + j) % 3]) for i, page in enumerate(PAGES) for j in range(2)]
)
def test_every_page_works_before_and_after_training(page: str, task: str) -> None:
    app = opened(trained(task), page)
    assert not app.error
    assert not switch(app).error


@pytest.mark.parametrize("page", PAGES)
def test_every_page_works_where_no_token_is_known(page: str) -> None:
    assert not opened(trained("seq2seq-reverse" if page == "encoder_decoder" else "sort"), page, example=False).error


@pytest.mark.parametrize("task", KINDS)
def test_attention_is_that_of_the_trained_network_and_of_the_same_seed_before(task: str) -> None:
    one = trained(task)
    app = opened(one, "attention", attention_layer="1", attention_head="1")
    assert f"trained here: {TASKS[one.recipe.task].title}, 6 steps" in captions(app)
    expected = patterns(one.encoder, one)[1, 1]
    np.testing.assert_allclose(shown_pattern(app), expected, atol=1e-6)
    switch(app)
    assert ":orange-badge[before training (random)]" in captions(app)
    before = patterns(Encoder(one.config, one.recipe.seed), one)[1, 1]
    np.testing.assert_allclose(shown_pattern(app), before, atol=1e-6)
    assert (before - expected).abs().max() > 1e-3
    switch(app)
    np.testing.assert_allclose(shown_pattern(app), expected, atol=1e-6)


def test_the_parameters_are_those_of_its_encoder() -> None:
    one = trained()
    app = opened(one, "parameters")
    n = sum(parameter.numel() for parameter in one.encoder.parameters())
    assert app.metric[0].value == f"{n:,}"


def test_a_table_from_before_training_is_called_random() -> None:
    one = trained_network.from_trainer(trainer(ModelConfig(**{**vars(CONFIG), "positions": "learned"})))
    app = opened(one, "positions")
    assert "random: nothing is trained yet" not in prose(app)
    switch(app)
    assert "random: nothing is trained yet" in prose(app)


# --- the sidebar


def test_its_shape_is_locked_and_its_tokens_are_its_own() -> None:
    one = trained()
    app = opened(one, n_layers="5", d_model="32", n_heads="8", tokenizer="char", causal="true", seed="5")
    assert values(app) == {key: getattr(one.config, key) for key in ARCHITECTURE}
    assert "tokenizer" not in widgets(app)
    assert values(app, "causal", "seed") == {"causal": True, "seed": one.recipe.seed}
    assert locked(app) == {*ARCHITECTURE, "seed"}


def test_the_visitors_own_shape_comes_back() -> None:
    app = open_page(weights="random", n_layers="5", d_model="32", n_heads="8", tokenizer="char", norm="rms", seed="7")
    put(app, trained("characters"))
    own = values(app, *ARCHITECTURE, "tokenizer", "causal", "seed")
    choose(app, weights="trained here")
    assert values(app) != {key: own[key] for key in ARCHITECTURE}
    assert values(app, "causal", "seed") == {"causal": True, "seed": 0}
    for weights, seed in (("minilm", 7), ("trained here", 0), ("random", 7)):
        assert values(choose(app, weights=weights), "seed") == {"seed": seed}
    assert values(app, *own) == own
    assert not sentences(app)


def test_a_causal_switch_moved_elsewhere_is_left_alone() -> None:
    app = put(open_page(), trained("characters"))
    switch(app, "causal")
    assert values(choose(app, weights="random"), "causal") == {"causal": True}
    switch(choose(choose(app, weights="trained here"), weights="minilm"), "causal")
    assert values(choose(app, weights="random"), "causal") == {"causal": False}


@pytest.mark.parametrize("causal", [True, False])
def test_where_the_next_character_is_learnt_the_mask_is_the_trainings(causal: bool) -> None:
    one = trained_network.from_trainer(trainer(task="characters", causal=causal))
    app = opened(one, "attention", causal=str(not causal))
    assert "causal" in locked(app)
    assert values(app, "causal") == {"causal": causal}


def test_the_sidebar_says_what_was_learnt() -> None:
    one = trained("sort")
    app = opened(one)
    assert (
        f"**Sort**, trained for 6 steps: {one.results.validation_accuracy:.1%} of the validation set is right; a "
        f"simple rule reaches {one.results.baseline:.1%}."
    ) in captions(app)


def test_an_unknown_text_is_told_and_stays_until_the_button_is_pressed() -> None:
    app = choose(put(open_page(), trained()), weights="trained here")
    assert "knows no token of this sentence" in sentences(app)
    assert ":orange-badge[not a token known] It knows `a` `b` `c` `d` `e` `f` `g` `h` `i` `j`." in captions(app)
    assert values(app, "text") == {"text": DEFAULT_TEXT}
    choose(app, text="a x b y")
    assert "2 of 4 tokens are unknown to it and read as [UNK]." in captions(app)
    assert not sentences(app)
    press(app, trained_panel.EXAMPLE)
    assert values(app, "text") == {"text": trained().example}
    assert "unknown to it" not in captions(app)
    assert trained_panel.EXAMPLE not in {button.key for button in app.button}


def test_a_text_is_read_letter_by_letter_where_letters_were_learnt() -> None:
    app = choose(opened(trained("characters"), example=False), text="it's ñ")
    assert "1 of 6 tokens are unknown to it and read as [UNK]. It knows 95 characters." in captions(app)
    assert "6 tokens · 2 layers × 2 heads" in captions(app)


def test_a_text_that_is_too_long_is_cut_and_an_empty_one_asks_for_a_sentence() -> None:
    app = choose(opened(trained(), example=False), text="a b " * 20)
    assert "The sentence is cut after 20 tokens; 20 more are left out." in sentences(app)
    assert "Type a sentence in the sidebar" in sentences(choose(app, text="  \n "))


# --- nothing trained yet


@pytest.mark.parametrize("page", ["overview", "attention", "training", "encoder_decoder"])
def test_a_link_opens_on_random_weights_of_its_shape(page: str) -> None:
    app = open_page(page, weights="trained here", untrained="true", d_model="64", n_heads="4", n_layers="3")
    assert "A link can't carry what was trained, so these are random weights of the same architecture" in sentences(app)
    assert "Nothing was trained in this session yet." in captions(app)
    assert ":orange-badge[random weights]" in captions(app)
    assert "trained here:" not in captions(app)
    assert values(app, "weights", "n_layers") == {"weights": "trained here", "n_layers": 3}
    assert not {*ARCHITECTURE, "seed"} & locked(app)
    assert "untrained" not in widgets(app)


def test_by_hand_it_is_chosen_without_a_sentence_about_links() -> None:
    app = choose(open_page(), weights="trained here")
    assert not sentences(app)
    assert "Nothing was trained in this session yet." in captions(app)


def test_what_is_trained_later_shows_at_the_next_look() -> None:
    app = choose(open_page("attention"), weights="trained here")
    assert "trained here: Reverse" in captions(put(app, trained()))
    assert "trained here: Sort" in captions(put(app, trained("sort")))


def test_it_needs_no_trained_sentence_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "checkpoint_available", lambda: False)
    app = opened(trained(), "attention")
    assert not app.error
    assert "tokenizer is not on this server" not in sentences(app)
    assert "trained here: Reverse" in captions(app)


# --- the encoder–decoder page


def pair_logits(one: TrainedNetwork, target: str) -> torch.Tensor:
    batches = [one.tokenizer.encode_batch([text]).ids for text in (one.example, f"[BOS] {target}")]
    logits: torch.Tensor = one.network(*batches)[0]
    return logits


def next_words(app: AppTest) -> Any:
    (table,) = (each.value for each in app.dataframe if "next token" in each.value)
    return table


def test_a_trained_pair_is_what_the_page_shows() -> None:
    one = trained("seq2seq-reverse")
    app = opened(one, "encoder_decoder", encdec_target="a b a", encdec_position="2")
    assert "trained here: Reverse, with a decoder, 6 steps" in captions(app)
    assert "untrained: random weights" not in captions(app)
    assert "None of your target" not in sentences(app)
    probabilities = pair_logits(one, "a b a")[2].softmax(-1)
    best = probabilities.argsort(descending=True)[:10]
    table = next_words(app)
    assert list(table["next token"]) == [one.labels[i] for i in best.tolist()]
    np.testing.assert_allclose(table["probability, %"], 100 * probabilities[best], rtol=1e-4)
    switch(app)
    assert "before training (random)" in captions(app)
    before = one.initial()(*(one.tokenizer.encode_batch([text]).ids for text in (one.example, "[BOS] a b a")))[0, 2]
    np.testing.assert_allclose(next_words(app)["probability, %"].max(), 100 * before.softmax(-1).max(), rtol=1e-4)


def test_where_the_target_is_unknown_the_decoder_says_its_own() -> None:
    one = trained("seq2seq-reverse")
    app = opened(one, "encoder_decoder")
    said: list[int] = []
    ids = one.tokenizer.encode_batch([one.example]).ids
    while len(said) < one.config.max_len - 1:
        given = torch.tensor([[one.labels.index("[BOS]"), *said]])
        said.append(int(one.network(ids, given)[0, -1].argmax()))
        if one.labels[said[-1]] == "[EOS]":
            break
    words = " ".join(one.labels[i] for i in said if i > one.labels.index("[EOS]"))
    assert f"at every step: `{words or '[EOS]'}`." in sentences(app)
    assert str(app.text_area(key="encdec_target").value).startswith("Het dier")
    app = opened(one, "encoder_decoder", encdec_source="trained example")
    assert "decoder that you trained is one switch away" in captions(app)


def test_what_begins_with_the_beginning_needs_no_second_one() -> None:
    app = opened(trained("seq2seq-copy"), "encoder_decoder", encdec_target="[BOS] a b\nc")
    assert "· 3 target tokens ·" in captions(app)


@pytest.mark.parametrize("task", ["reverse", "characters"])
def test_an_encoder_alone_has_no_decoder(task: str) -> None:
    assert "trained example" in captions(opened(trained(task), "encoder_decoder"))
    app = opened(trained(task), "encoder_decoder", encdec_source="your text")
    assert ":orange-badge[untrained: random weights]" in captions(app)
    assert "trained here:" not in captions(app)


# --- sessions, memory, devices


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


# --- a button for it, and files


def button_for_it() -> None:
    import streamlit as st

    from playground.web.choices import shortcuts

    st.text_area("text", key="text")
    st.segmented_control("weights", ["minilm", "random", "trained here"], key="weights")
    st.button("Look at it", key="look", on_click=shortcuts.choose_trained_network)


@pytest.mark.parametrize(
    ("task", "typed", "text"),
    [("reverse", "Some words", None), ("reverse", "b a x", "b a x"), ("characters", "x", "x")],
)
def test_one_button_shows_it_on_a_text_that_it_knows(task: str, typed: str, text: str | None) -> None:
    app = AppTest.from_function(button_for_it)
    app.session_state["text"], app.session_state["weights"] = typed, "random"
    press(app.run(), "look")
    assert app.session_state["weights"] == "random", "there is nothing to look at"
    put(app, trained(task))
    press(app, "look")
    assert app.session_state["weights"] == "trained here"
    assert app.session_state["text"] == (trained(task).example if text is None else text)


@pytest.mark.parametrize("task", ["reverse", "seq2seq-copy"])
def test_its_file_opens_among_the_visitors_own_weights_too(task: str) -> None:
    one = trained(task)
    app = upload(open_page("attention", weights="mine", text="a b c"), trained_network.save(one))
    assert "can't be used" not in sentences(app)
    assert "the playground's own names" in captions(app)
    sizes = {key: getattr(one.config, key) for key in ("d_model", "n_layers", "d_ff")}
    assert values(app, *sizes) == sizes
    assert sizes.keys() <= locked(app)
    assert "3 tokens · 2 layers" in captions(app)


# --- values that go together


@given(chosen=values_of_the_sidebar(), task=st.sampled_from(KINDS), asked=st.sets(st.sampled_from(LOCKED)))
def test_any_settings_go_together_with_it(chosen: dict[str, Any], task: str, asked: set[str]) -> None:
    one = trained(task)
    own, chosen = recognised_settings(one), chosen | {"weights": "trained here"}
    settled, notices = settle(chosen, asked, recognised=own)
    assert settle(settled, asked, recognised=own) == (settled, [])
    assert model_config(settled, one.config.vocab_size) == one.config
    assert task != "characters" or settled["causal"] is True
    assert settled["seed"] == one.recipe.seed
    free = {key: chosen[key] for key in ("text", "tokenizer", "vocab_size", "untrained")}
    assert {key: settled[key] for key in free} == free
    assert not [notice for notice in notices if "sentence" not in notice]
    away, _ = settle(settled | {"weights": "random"})
    assert all(away[key] in size.options for key, size in SIZES.items())
