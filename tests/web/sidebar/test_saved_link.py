"""A link that was too long for an address, opened from its file."""

import pytest
from streamlit.testing.v1 import AppTest

from playground.link.params import DEFAULT_TEXT, PARAMS
from playground.link.query import write_query
from playground.web.choices.setup import CHOICES
from tests.web.app_test import SMALL, choose, open_page, sentences, shown_focus, upload, values

LONG = "\n".join(f"Sentence {n} " + "日本語 " * 60 for n in range(6))
SET = {
    "text": LONG, "weights": "random", "tokenizer": "word", "d_model": 64, "n_heads": 4, "n_layers": 2, "sentence": 3,
    "norms_view": "statistics",
}  # fmt: skip
FOCUS = {"layer": 1, "head": 2, "query": 3, "key": 2}


def give(app: AppTest, link: str) -> AppTest:
    """Open a file with this text."""
    return upload(app, "saved_link", link.encode(), "playground-link.txt")


def saved(page: str, values: dict[str, object], pinned: dict[str, object] | None = None) -> str:
    """What the button for copying saves."""
    every = {key: param.default for key, param in PARAMS.items()} | values
    return f"https://somewhere.example/{page}?{write_query(every, pinned and every | pinned)}"


@pytest.mark.long
def test_it_opens_its_page_and_sets_everything_as_the_link_itself() -> None:
    app = choose(open_page("attention", seed=3, weights="random"), causal=True)
    app = give(app, saved("norms", SET | FOCUS, {"n_layers": 4}))
    assert values(app, *SET, "causal", "seed") == SET | {"causal": False, "seed": 0}
    assert shown_focus(app) == FOCUS
    assert app.title[0].value == open_page("norms").title[0].value
    assert app.session_state[CHOICES].pinned["n_layers"] == 4
    assert sentences(app) == ""
    again = give(app, saved("norms", {}))
    assert values(again, "text", "n_layers") == {"text": DEFAULT_TEXT, "n_layers": 6}
    assert again.session_state[CHOICES].pinned is None


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", ["", "x = 1  # d_model=64?\nweights=minilm", "\udcff".join("ab"), "x" * 300_000])
def test_a_file_that_is_none_is_refused_in_one_sentence_and_changes_nothing(text: str) -> None:
    app = open_page("attention", **SMALL, seed=3)
    upload(app, "saved_link", text.encode(errors="surrogateescape"), "notes.txt")
    (error,) = app.sidebar.error
    assert error.value.startswith("“notes.txt” can't be used. ")
    assert values(app, "weights", "seed") == {"weights": "random", "seed": 3}
    assert not give(app, saved("attention", {})).sidebar.error
