"""The steps before a page is drawn, one by one: a link is read, and what had to change is written back."""

from types import SimpleNamespace
from typing import Any

import pytest

from playground.web.choices import open_page
from playground.web.choices.open_page import (
    LinkReading,
    page_parameters,
    read_link,
    restore_page_values,
    write_back,
)
from playground.web.choices.params import SHARED
from playground.web.choices.setup import OPEN_PAGE

VALUES: dict[str, Any] = {key: param.default for key, param in SHARED.items()}


class RerunError(Exception):
    """What `st.rerun` does to a script."""


class Browser(SimpleNamespace):
    """What a page reads and writes of Streamlit, without a server: the session and the address."""

    class Address(dict[str, list[str]]):
        get_all = dict.__getitem__

        def from_dict(self, texts: dict[str, list[str]]) -> None:
            self.clear()
            self.update(texts)

    def __init__(self, session: dict[str, Any], **address: list[str]) -> None:
        super().__init__(session_state=session, query_params=self.Address(address))

    def rerun(self) -> None:
        raise RerunError


# --- reading


def test_a_link_is_read_but_for_what_has_a_widget_or_is_no_parameter() -> None:
    reading = read_link({"seed": ["3"], "n_layers": ["junk"], "utm": ["x"]}, with_widgets=["n_layers"])
    assert reading == LinkReading({"seed": 3}, [], is_exact=True)


@pytest.mark.parametrize(
    ("texts", "n_sentences"),
    [({"seed": ["junk"]}, 1), ({"causal": ["TRUE"]}, 0), ({"v": ["0"]}, 1), ({"v": ["1"], "seed": ["1", "2"]}, 0)],
)
def test_a_link_that_another_hand_wrote_is_not_exact(texts: dict[str, list[str]], n_sentences: int) -> None:
    reading = read_link(texts, with_widgets=[])
    assert not reading.is_exact
    assert len(reading.sentences) == n_sentences


def test_an_exact_link_is_of_this_version() -> None:
    assert read_link({"v": ["1"], "seed": ["2"]}, with_widgets=[]).is_exact


# --- writing back


def test_nothing_is_written_where_nothing_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser({}, seed=["3"])
    monkeypatch.setattr(open_page, "st", browser)
    write_back(LinkReading({"seed": 3}, [], is_exact=True), VALUES | {"seed": 3}, VALUES | {"seed": 3})
    assert browser == Browser({}, seed=["3"])


def test_a_widget_takes_its_settled_value(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser({"n_heads": 12})
    monkeypatch.setattr(open_page, "st", browser)
    write_back(LinkReading({}, [], is_exact=True), VALUES, VALUES | {"n_heads": 16})
    assert browser == Browser({"n_heads": 16})


def test_without_a_widget_the_link_takes_it_and_the_script_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser({}, v=["0"], d_model=["512"], attention_head=["4"], utm=["x"])
    monkeypatch.setattr(open_page, "st", browser)
    reading = LinkReading({"d_model": 512, "attention_head": 4}, [], is_exact=False)
    with pytest.raises(RerunError):
        write_back(reading, VALUES | {"d_model": 512}, VALUES | {"d_model": 512, "n_heads": 16})
    assert browser == Browser({}, utm=["x"], d_model=["512"], n_heads=["16"], attention_head=["4"])


def test_a_size_between_the_stops_goes_past_the_link(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser({})
    monkeypatch.setattr(open_page, "st", browser)
    write_back(LinkReading({}, [], is_exact=True), VALUES, VALUES | {"d_ff": 13})
    assert browser == Browser({"d_ff": 13})


# --- a step back in the browser's history


@pytest.mark.parametrize(
    ("opened", "is_step_back", "address"),
    [("norms", True, ["5"]), ("norms", False, None), ("attention", True, None)],
)
def test_a_step_back_to_a_page_brings_its_values_back_into_the_link(
    opened: str, is_step_back: bool, address: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = {OPEN_PAGE: opened, "attention_head": 5, "attention_layer": 3, "norms_layer": 2}
    browser = Browser(session)
    monkeypatch.setattr(open_page, "st", browser)
    context = SimpleNamespace(is_history_navigation=is_step_back)
    monkeypatch.setattr(open_page, "get_script_run_ctx", lambda: context)
    if address:
        with pytest.raises(RerunError):
            restore_page_values("attention")
    else:
        restore_page_values("attention")
    assert browser.query_params == ({"attention_head": address} if address else {})
    assert session[OPEN_PAGE] == "attention"


def test_a_pages_parameters_start_with_its_name() -> None:
    assert {"step_layer", "step_stage"} <= set(page_parameters("step-by-step"))
    assert "overview_batch" in page_parameters("")
