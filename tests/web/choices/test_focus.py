"""The focus: what was asked for stays, what is shown is in the run, and old links still say the same."""

from types import SimpleNamespace
from typing import Any

import pytest

from playground import open_link
from playground.link.opening import Focus
from playground.link.params import DEFAULT_TEXT, FOCUS
from playground.web.choices import setup
from playground.web.choices.setup import current_focus, moved_places
from playground.web.choices.shortcuts import move_focus
from playground.weights import checkpoint
from tests.web.app_test import SMALL, choose, component_data, open_page, shown_focus, trained_trace

DEFAULT = {place: param.default for place, param in FOCUS.items()}


def last(n_layers: int, n_heads: int, n_tokens: int) -> Any:
    """A run, as far as the focus asks."""
    config = SimpleNamespace(n_layers=n_layers, n_heads=n_heads)
    return SimpleNamespace(config=config, tokens=["a"] * n_tokens, n_real=max(1, n_tokens - 2))


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The session that the focus lies in."""
    values: dict[str, Any] = {}
    monkeypatch.setattr(setup, "st", SimpleNamespace(session_state=values))
    return values


# --- in one run


def test_what_a_run_has_not_is_shown_at_the_nearest_and_not_forgotten(session: dict[str, Any]) -> None:
    session.update(layer=5, head=1, query=9)
    assert current_focus(last(2, 4, 7)) == Focus(1, 1, 4, 2), "padding is asked, and asks nothing"
    assert moved_places(last(2, 4, 7)) == ["layer", "query"]
    assert current_focus(last(12, 4, 30)) == Focus(5, 1, 9, 2)
    assert moved_places(last(12, 4, 30)) == []
    assert current_focus(last(1, 1, 1)) == Focus(0, 0, 0, 0)
    assert "key" not in moved_places(last(1, 1, 1)), "nobody asked for a default"


@pytest.mark.parametrize("junk", ["3", 1.5, -1, 10**30, None, True, [], {}, "<b>", float("nan")])
def test_what_a_browser_sends_is_a_place_or_nothing(junk: object, session: dict[str, Any]) -> None:
    move_focus(layer=2, query=7)
    move_focus(layer=junk, colour=junk)
    assert session.pop(setup.CHOICES).pair == (DEFAULT_TEXT, True)
    assert session == {"layer": 3 if junk == "3" else 2, "query": 7}


# --- on the pages


def trained_tokens(text: str) -> list[str]:
    """The trained tokenizer's."""
    tokens: list[str] = checkpoint.load("minilm")[1].encode_batch([text]).tokens[0]
    return tokens


NURSE = "The nurse told the doctor that she had washed her hands."


@pytest.mark.sampled(2)
@pytest.mark.parametrize("page", ["overview", "attention", "norms", "step-by-step", "what-if"])
def test_the_pair_of_a_text_in_which_nobody_chose_one_is_the_selection_of_every_page(page: str) -> None:
    app = open_page(page.replace("-", "_"), text=NURSE)
    chosen = open_link(f"{page}?text={NURSE}").focus
    pattern = trained_trace(NURSE)["layers.3.attn.pattern"][0, 1]
    weights = {key: float(pattern[7, key]) for key in range(1, 12) if key != 7}
    assert (chosen.query, chosen.key) == (7, max(weights, key=weights.__getitem__)), "she, and its word"
    assert shown_focus(app) == {"layer": 3, "head": 1, "query": chosen.query, "key": chosen.key}
    written = component_data(app, "address_guard")["parameters"]
    assert (written["query"], written["key"]) == ([str(chosen.query)], [str(chosen.key)])
    assert shown_focus(choose(app, layer=0))["key"] == chosen.key, "once chosen, it stays"


@pytest.mark.long
def test_words_that_were_chosen_stay_chosen_in_another_text_where_they_still_stand() -> None:
    app = open_page("attention", text=NURSE, query=10, key=5)  # her, doctor
    longer = "Later the nurse told the tired doctor and the other doctor that she had washed her hands."
    assert shown_focus(choose(app, text=longer)) == {"layer": 3, "head": 1, "query": 16, "key": 7}
    assert shown_focus(choose(app, text=NURSE)) == {"layer": 3, "head": 1, "query": 10, "key": 5}
    only_query = shown_focus(choose(app, text="They washed her car."))
    assert only_query["query"] == 3
    assert only_query["key"] in (1, 2, 4)
    assert shown_focus(choose(app, text="He saw it."))["query"] == 3


def test_a_link_names_the_pair_of_every_text_but_the_default_one() -> None:
    app = open_page("attention", **SMALL, text="a cat sat on", query=10, key=2)
    written = component_data(app, "address_guard")["parameters"]
    assert (written["query"], written["key"]) == (["10"], ["2"]), "else a link would open at another pair"
    assert shown_focus(app)["query"] == 10
    written = component_data(choose(app, text=DEFAULT_TEXT, query=10, key=2), "address_guard")["parameters"]
    assert not {"query", "key"} & written.keys()
