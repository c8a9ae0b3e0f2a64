"""The menu's pages, which Streamlit looks for once."""

import pytest
import streamlit as st

from playground.web.shared.navigation import page_named
from tests.web.app_test import SMALL, open_page


def test_a_page_is_looked_for_at_the_first_run_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    open_page("norms", **SMALL)
    monkeypatch.setattr(st, "Page", lambda *_, **__: pytest.fail("It was looked for already."))
    open_page("parameters", **SMALL)


def test_every_caller_has_a_page_of_its_own() -> None:
    """Streamlit notes on it whether it is to run, for one visitor; another's menu must not see that."""
    assert page_named("norms") is not page_named("norms")
