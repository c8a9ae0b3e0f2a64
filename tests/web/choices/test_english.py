"""The small English in the app: a move away from MiniLM and back, hidden words, encoders that nobody has trained."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from playground.language.family import change, load_shipped
from playground.language.network import Spec
from playground.link import open_link, params
from playground.link.params import ARCHITECTURE, DEFAULT_TEXT, SHARED
from playground.web.choices import setup
from playground.web.session.services import ResultCache, other_services
from playground.web.sidebar import weights_panels
from playground.weights.store import NetworkStore
from tests.web.app_test import SESSION, captions, open_page, press, sentences, shown_focus, values, without_error, words

MASKED = "[MASK]".join(params.ENGLISH_TEXT.rsplit("animal", 1))


@pytest.fixture
def own_store(tmp_path: Path) -> Iterator[NetworkStore]:
    """A store in which nothing is kept, of this test's own."""
    store = NetworkStore(tmp_path)
    with other_services(store=store, results=ResultCache(10**9)):
        yield store
    clear_session_resource_cache(SESSION)  # every AppTest has the same session


def offer(app: AppTest, key: str, value: Any) -> AppTest:
    """Move one of MiniLM's controls, as a visitor does."""
    own = f"minilm_{key}"
    found = next(each for kind in (app.select_slider, app.selectbox, app.toggle) for each in kind if each.key == own)
    return without_error(found.set_value(value).run())


@pytest.mark.parametrize("moved", [{"n_layers": 1}, {"residual": False}])
def test_moving_one_of_minilms_controls_opens_the_base_with_that_one_change_and_back(moved: dict[str, Any]) -> None:
    app = open_page("attention", layer=2, head=3)
    ((key, value),) = moved.items()
    offer(app, key, value)
    wanted = params.values_of(change(**moved))
    assert values(app) == {each: wanted[each] for each in ARCHITECTURE}
    assert (app.session_state["weights"], app.session_state["text"]) == ("english", params.ENGLISH_TEXT)
    without_error(press(app, "back_to_minilm"))
    assert (app.session_state["weights"], app.session_state["text"]) == ("minilm", DEFAULT_TEXT)
    assert values(app) == {each: SHARED[each].default for each in ARCHITECTURE}
    assert shown_focus(app) == {"layer": 2, "head": 3, "query": 10, "key": 2}


def test_a_text_that_it_knows_stays_and_one_that_it_does_not_know_comes_back() -> None:
    known = "The dog bit the man near the old house."
    app = offer(open_page("norms", text=known), "n_layers", 3)
    assert app.session_state["text"] == known
    for back in ("undo", "back_to_minilm"):
        app = offer(open_page("norms", text="Cats purr."), "n_layers", 3)
        assert (app.session_state["text"], "**Undo**" in sentences(app)) == (params.ENGLISH_TEXT, True)
        assert without_error(press(app, back)).session_state["text"] == "Cats purr."
    app.button_group(key="weights").set_value("english")
    assert without_error(app.run()).session_state["text"] == params.ENGLISH_TEXT
    assert without_error(press(app, "back_to_minilm")).session_state["text"] == "Cats purr."


def test_what_follows_a_setting_moves_with_it_unless_it_was_set() -> None:
    app = open_page("norms", weights="english")
    app.select_slider(key="d_model").set_value(16).run()
    assert (app.session_state["d_ff"], app.session_state["final_norm"]) == (32, True)
    app.selectbox(key="norm_placement").set_value("post").run()
    assert without_error(app).session_state["final_norm"] is False
    own = open_page("norms", weights="english", d_ff=16)
    own.select_slider(key="d_model").set_value(32).run()
    assert own.session_state["d_ff"] == 16


@pytest.mark.parametrize("link", [{"norm_placement": "post"}, {"causal": "true"}])
def test_the_answer_line_says_what_the_network_predicts(link: dict[str, Any]) -> None:
    app = without_error(open_page("attention", weights="english", **link))
    network = load_shipped(change(**{key: True if value == "true" else value for key, value in link.items()}))
    best = network.predict(MASKED)
    assert f"{best[0][0]} {best[0][1]:.2f}" in words(app)
    told = open_link("?weights=english&" + "&".join(f"{key}={value}" for key, value in link.items()))
    assert told.batch.tokens[0][params.ENGLISH_PLACE] == "[MASK]"
    assert told.config == network.spec.config
    assert told.notices == ()


def test_where_nobody_has_trained_it_the_nearest_is_shown_and_the_wish_stays(own_store: NetworkStore) -> None:
    app = without_error(open_page("attention", weights="english", n_layers=5))
    assert app.session_state["n_layers"] == 5
    assert "nobody has trained this one yet" in captions(app)
    (nearest,) = (n for n in (4, 6) if f"the nearest that is there: **{n} layers**" in captions(app))
    assert f"{nearest} layers × 4 heads" in captions(app)
    assert "(base: " not in words(app), "the nearest one's numbers are not this one's"
    assert "train_english" in {button.key for button in app.button}, "a link starts nothing by itself"
    large = without_error(open_page("attention", weights="english", n_layers=32, d_model=8))
    assert "Training would take about 16 min; this server trains for 10 min at most." in captions(large)
    assert "train_english" not in {button.key for button in large.button}
    larger = open_page("norms", weights="english", d_model=1024, n_layers=12)
    assert (larger.session_state["d_model"], larger.session_state["n_layers"]) == (64, 2)
    assert "more than the 1,000,000 that are trained here" in sentences(larger)
    assert not own_store.folder.exists() or not list(own_store.folder.iterdir())


@pytest.mark.parametrize(
    ("moves", "waits", "starts"),
    [(True, (1.0,), False), (True, (1.0, 1.0), True), (True, (40.0,), False), (False, (2.0, 40.0), False)],
    ids=["just moved", "stays", "comes back later", "link alone"],
)
def test_a_training_starts_by_itself_once_the_visitor_stays_after_a_move(
    own_store: NetworkStore, monkeypatch: pytest.MonkeyPatch, moves: bool, waits: tuple[float, ...], starts: bool
) -> None:
    seconds, started = [100.0], []

    def start(spec: Spec) -> Mock:
        started.append(spec)
        return Mock(inputs=spec, active=True, ended=False, state=None, status="running", progress=0.25)

    monkeypatch.setattr(setup, "monotonic", lambda: seconds[0])
    monkeypatch.setattr(weights_panels, "join_learning", start)
    app = open_page("attention", weights="english", seed=9, n_layers=2 if moves else 3)
    if moves:
        without_error(app.select_slider(key="n_layers").set_value(3).run())
    for wait in waits:
        assert not started
        seconds[0] += wait
        without_error(app.run())
    buttons = {button.key for button in without_error(app.run()).button}
    assert started == [change(n_layers=3, seed=9)] * starts
    assert buttons & {"stop_english", "train_english"} == {"stop_english" if starts else "train_english"}


def test_unknown_words_are_named_and_its_own_sentences_offered() -> None:
    app = without_error(open_page("attention", weights="english", text="The dog chased a purple cat."))
    assert "2 of" in captions(app)
    assert "a, purple" in captions(app)
    without_error(press(app, "known_sentence_0"))
    assert "are new to it" not in captions(app)
    assert "[?]" in words(app)
