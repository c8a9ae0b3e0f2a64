"""The question on the overview and above the answer: true for its weight, about two tokens that somebody meant."""

import pytest
from streamlit.testing.v1 import AppTest

from playground.weights import checkpoint
from tests.web.app_test import choose, open_page, press, shown_focus, trained_trace

NURSE = "The nurse told the doctor that she had already washed her hands."
SHE, HER = 7, 11


def question(app: AppTest) -> str:
    """What the overview's door asks."""
    return app.button(key="overview_why").label


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("query", "key"), [(10, 2), (HER, 2), (SHE, 2), (SHE, 9), (2, 3)])
@pytest.mark.parametrize("page", ["overview", "attention"])
def test_a_weight_that_is_not_the_largest_is_not_called_a_look(page: str, query: int, key: int) -> None:
    app = open_page(page, text=NURSE, query=query, key=key)
    asked = question(app) if page == "overview" else app.header[0].value
    weights = trained_trace(NURSE)["layers.3.attn.pattern"][0, 1, query].numpy()
    tokens = checkpoint.load("minilm")[1].encode_batch([NURSE]).tokens[0]
    words = [place for place, token in enumerate(tokens) if token.isalnum()]
    others = words if key in words else list(range(len(tokens)))
    rival = max(weights[other] for other in others if other != key)
    assert ("not look more" in asked) == (weights[key] < rival)
    assert shown_focus(app) | {"query": query, "key": key} == shown_focus(app)


def test_in_a_text_that_was_typed_the_overview_asks_about_the_pair_that_is_the_selection() -> None:
    app = choose(open_page("overview"), text=NURSE)
    chosen = shown_focus(app)
    assert chosen["query"] == SHE
    asked = question(app)
    assert asked.startswith("Why does `she`₇ ")
    assert asked.endswith(f"{'₀₁₂₃₄₅₆₇₈₉'[chosen['key'] % 10]}?")
    press(app, "overview_why")
    assert (app.session_state["query"], app.session_state["key"]) == (SHE, chosen["key"])
