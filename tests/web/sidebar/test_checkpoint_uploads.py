"""Hugging Face checkpoints as visitors have them: three files at once in the sidebar, and the pages run their model."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.web.app_test import charts, open_page, uploader, values, without_error, working

FOLDER = Path(__file__).parents[2] / "data" / "families"
TEXT = "w5 w6 w7 w8 w9 w10"


def give(app: AppTest, kind: str, *names: str, **other: bytes) -> AppTest:
    files = {name: (FOLDER / kind / name).read_bytes() for name in names}
    files |= {name.replace("_", ".", 1): data for name, data in other.items()}
    listed = [(name, data, "application/octet-stream") for name, data in files.items()]
    return working(uploader(app, "own_file").set_value(listed).run())


def opened(kind: str, page: str = "attention") -> AppTest:
    app = open_page(page, weights="mine", text=TEXT)
    names, others = ("model.safetensors", "config.json", "tokenizer.json"), {"README_md": b"# A model"}
    return without_error(give(app, kind, *names, **others))  # a whole folder may be chosen


@pytest.mark.parametrize("kind", ["bert", "t5"])
def test_a_checkpoint_opens_with_its_config_and_its_tokenizer(kind: str) -> None:
    app = opened(kind)
    assert "_own_file_problem" not in app.session_state
    assert values(app, "d_model", "n_heads", "n_layers", "d_ff") == {
        "d_model": 32, "n_heads": 4, "n_layers": 4, "d_ff": 48,
    }  # fmt: skip
    assert "attention_pattern" in charts(app)


def test_tensors_alone_ask_for_their_config() -> None:
    app = give(open_page("attention", weights="mine", text=TEXT), "modernbert", "model.safetensors")
    assert "These names are of ModernBERT" in app.session_state["_own_file_problem"]
    app = without_error(give(app, "modernbert", "model.safetensors", "config.json"))
    assert "_own_file_problem" not in app.session_state
    assert values(app, "positions", "window") == {"positions": "rotary", "window": 6}


def albert(**change: object) -> bytes:
    """A config of layers that share their weights, so that any number of them has few parameters."""
    return json.dumps(json.loads((FOLDER / "albert" / "config.json").read_text()) | change).encode()


@pytest.mark.parametrize(
    ("names", "other", "sentence"),
    [
        (("config.json",), {}, "Choose a safetensors file"),
        (("model.safetensors",), {"config_json": b"[" * 100_000}, "can't be read as JSON"),
        (("model.safetensors", "config.json"), {"tokenizer_json": b"{}"}, "no tokenizer can be read"),
        (("model.safetensors",), {"config_json": albert(num_hidden_layers=2**31 - 1)}, "whole number from 1 to 96"),
    ],
)
def test_what_cannot_be_opened_is_told_in_a_sentence_and_loses_nothing(
    names: tuple[str, ...], other: dict[str, bytes], sentence: str
) -> None:
    app = opened("roberta")
    app = give(app, "bert", *names, **other)
    assert sentence in app.session_state["_own_file_problem"]
    assert values(app, "position_offset") == {"position_offset": 2}, "the one before stays open"


def test_a_tokenizer_with_more_tokens_than_rows_is_another_models() -> None:
    tokenizer = json.loads((FOLDER / "bert" / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["one more"] = 64
    app = open_page("attention", weights="mine", text=TEXT)
    app = give(app, "bert", "model.safetensors", "config.json", tokenizer_json=json.dumps(tokenizer).encode())
    assert "65 tokens, and the token table 64 rows" in app.session_state["_own_file_problem"]
