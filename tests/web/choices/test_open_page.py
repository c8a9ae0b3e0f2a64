"""The steps before a page is drawn, one by one: a link is read, and what had to change is written back."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from playground.link.params import SHARED, page_parameters
from playground.link.query import LinkReading
from playground.web.choices.open_page import restore_page_values, write_back
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

    def __init__(self, monkeypatch: pytest.MonkeyPatch, session: dict[str, Any], **address: list[str]) -> None:
        super().__init__(session_state=session, query_params=self.Address(address))
        monkeypatch.setattr("playground.web.choices.open_page.st", self)

    def rerun(self) -> None:
        raise RerunError


# --- writing back


@pytest.mark.parametrize(
    ("session", "settled", "written"),
    [
        ({}, {}, {}),
        ({"n_heads": 12}, {"n_heads": 16}, {"n_heads": 16}),
        ({}, {"d_ff": 13}, {"d_ff": 13}),  # between the slider's stops: a link could not say it
    ],
)
def test_a_widget_takes_its_settled_value_and_the_link_stays(
    session: dict[str, Any], settled: dict[str, Any], written: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(monkeypatch, session, seed=["3"])
    values = VALUES | {"seed": 3}
    write_back(LinkReading({"seed": 3}, [], is_exact=True), values, values | settled)
    assert (browser.session_state, browser.query_params) == (written, {"seed": ["3"]})


def test_without_a_widget_the_link_takes_it_and_the_script_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(monkeypatch, {}, v=["0"], d_model=["512"], attention_other=["4"], utm=["x"])
    reading = LinkReading({"d_model": 512, "attention_other": 4}, [], is_exact=False)
    with pytest.raises(RerunError):
        write_back(reading, VALUES | {"d_model": 512}, VALUES | {"d_model": 512, "n_heads": 16})
    assert browser.session_state == {}
    assert browser.query_params == {"utm": ["x"], "d_model": ["512"], "n_heads": ["16"], "attention_other": ["4"]}


# --- a step back in the browser's history


@pytest.mark.parametrize(
    ("opened", "is_step_back", "address"),
    [("norms", True, ["5"]), ("norms", False, None), ("attention", True, None)],
)
def test_a_step_back_to_a_page_brings_its_values_back_into_the_link(
    opened: str, is_step_back: bool, address: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = {OPEN_PAGE: opened, "attention_other": 5, "attention_view": "lines", "norms_layer": 2}
    browser = Browser(monkeypatch, session)
    context = SimpleNamespace(is_history_navigation=is_step_back)
    monkeypatch.setattr("playground.web.choices.open_page.get_script_run_ctx", lambda: context)
    with pytest.raises(RerunError) if address else nullcontext():
        restore_page_values("attention")
    assert browser.query_params == ({"attention_other": address} if address else {})
    assert session[OPEN_PAGE] == "attention"


def test_a_pages_parameters_start_with_its_name() -> None:
    assert {"step_path", "step_stage"} <= set(page_parameters("step-by-step"))
    assert "overview_batch" in page_parameters("")
