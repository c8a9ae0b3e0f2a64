"""An upload is read with the student's own vocabulary, or with typed ids: in its session alone, never in the link."""

import weakref
from collections.abc import Callable

import pytest
import torch
from streamlit.testing.v1 import AppTest

from playground import Encoder
from playground.runs.encoder_run import Run
from playground.web.session.own_models import OWN
from playground.web.sidebar import weights_panels
from tests.web import app_test
from tests.web.app_test import captions, choose, locked, open_page, press, sentences, uploader, values
from tests.web.sidebar.own_files import upload
from tests.weights.as_saved import FOLDER

WORDS = ["<pad>", "<unk>", "this", "is", "an", "example", "sentence", "the", "cat", "sat", "."]
LINES = "\n".join(WORDS).encode()
TEXT = "this cat is an example."
TEXT_IDS = [2, 8, 3, 4, 5, 10]


def open_words(page: str = "norms", text: str = TEXT, **query: str) -> AppTest:
    """Open tutorial A's embedding, positions and encoder, with 11 rows, to be read with an own vocabulary."""
    app = upload(open_page(page, weights="mine", text=text, **query), (FOLDER / "a_whole.safetensors").read_bytes())
    return choose(app, n_heads=4, own_reading="vocabulary")


def open_vocabulary(app: AppTest, data: bytes, name: str = "words.txt") -> AppTest:
    app_test.upload(app, "own_vocabulary", data, name)
    assert uploader(app, "own_vocabulary").value is None, "the uploader still keeps its copy"
    return app


def ids_of(run: Run, encoder: Encoder) -> list[int]:
    """The rows of the token table that a run has read."""
    table = 4 * encoder.state_dict()["embed.tokens.weight"]  # 4 is the square root of d_model
    return [int((table - row).abs().sum(-1).argmin()) for row in torch.tensor(run.arrays["embed.tokens"])]


def test_the_vocabulary_tokenises_the_text(passes: list[tuple[Encoder, Run]]) -> None:
    app = open_vocabulary(open_words(), LINES)
    assert not app.error
    encoder, run = passes[-1]
    assert run.tokens == ("this", "cat", "is", "an", "example", ".")
    assert ids_of(run, encoder) == TEXT_IDS
    assert "11 words for 11 rows" in captions(app)
    assert "tokenizer" in locked(app)


def test_typed_ids_are_rows_of_the_table(passes: list[tuple[Encoder, Run]]) -> None:
    app = choose(open_words(), own_reading="ids")
    assert "“this” is no id of your file's token table: write whole numbers from 0 to 10" in sentences(app)
    choose(app, text="7 10 0\n4, 3")
    assert not app.error
    assert ids_of(passes[-1][1], passes[-1][0]) == [7, 10, 0]
    choose(app, text="7 11")
    assert "“11” is no id" in sentences(app)


def test_a_vocabulary_that_can_not_be_used_says_why_and_loses_nothing(passes: list[tuple[Encoder, Run]]) -> None:
    app = open_vocabulary(open_vocabulary(open_words(), LINES), b"*a* <b>", "../<b>.txt")
    assert len(app.error) == 1
    assert "“../b.txt” can't be used. Line 1, “*a* <b>”, is not one word" in sentences(app)
    assert "11 words for 11 rows" in captions(app)
    assert ids_of(passes[-1][1], passes[-1][0]) == TEXT_IDS
    assert not open_vocabulary(app, LINES).error


@pytest.mark.sampled(1)
@pytest.mark.parametrize("close", ["button", "file"])
def test_the_vocabulary_goes_with_its_file(close: str, n_memory_users: Callable[[], int]) -> None:
    app = open_vocabulary(open_words(), LINES)
    vocabulary = weakref.ref(app.session_state[OWN].upload.tokenizer)
    if close == "button":
        press(app, weights_panels.CLOSE)
    else:
        upload(app, (FOLDER / "d_model.safetensors").read_bytes())
        assert values(app, "own_reading") == {"own_reading": "tokenizer"}
    opened = app.session_state[OWN].upload
    assert opened is None or opened.tokenizer is None
    assert n_memory_users() == (0 if close == "button" else 1)
    assert vocabulary() is None
