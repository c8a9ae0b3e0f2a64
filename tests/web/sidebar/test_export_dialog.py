"""The dialog behind "Take it with you": its code runs, and its arrays are the model's."""

import io
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig
from playground.export.data import weights_sha256
from playground.export.written import FILE_NAME, save_weights
from playground.training.recipe import Recipe
from playground.training.trained_network import load_translator
from playground.training.trainer import Trainer
from playground.web.views import exports
from tests.export.code.written import run_here
from tests.web.app_test import SMALL, SMALL_CONFIG, captions, open_page, press, sentences, small_trace, trained_trace


def open_dialog(page: str = "attention", **query: object) -> AppTest:
    return press(open_page(page, **query), "export")


def written(app: AppTest) -> str:
    """The Python file that the dialog shows."""
    (code,) = [code.value for code in app.code if code.value.startswith('"""')]
    return str(code)


def test_the_file_has_the_pages_weights_and_the_focus() -> None:
    text, focus = "one more\nabc", {"layer": "1", "head": "3", "query": "2"}
    code = written(open_dialog(**SMALL, text=text, sentence=2, seed=5, causal=True, **focus))
    assert "of layer 1, head 3, query 2" in code
    names = run_here(code)
    assert "".join(names["tokens"]) == "abc"
    assert torch.equal(names["mask"], torch.ones(8, 8, dtype=torch.bool).tril() & (torch.arange(8) < 3))


@pytest.mark.parametrize("query", [{**SMALL, "seed": 5}, pytest.param({}, marks=pytest.mark.long)])
def test_the_file_gives_the_numbers_of_the_run(query: dict[str, object]) -> None:
    names = run_here(written(open_dialog("norms", **query, text="It works.")))
    trace = small_trace("It works.", seed=5) if query else trained_trace("It works.")
    torch.testing.assert_close(names["output"], trace["final"], atol=1e-5, rtol=0)


def test_without_a_sentence_it_says_what_to_do() -> None:
    app = open_dialog(text=" ")
    assert not app.code
    assert "Type a sentence" in sentences(app)


def test_the_decoder_pages_own_pair_has_the_pages_scores() -> None:
    query = {"encdec_source": "your text", "encdec_layer": 1, "encdec_head": 2, "encdec_target": "ba\nabc"}
    code = written(open_dialog("encoder_decoder", **SMALL, text="one\nabc", sentence=2, seed=5, **query))
    assert "layer 1, head 2:" in code
    names = run_here(code)
    assert "".join(names["src_tokens"]) == "abc" == "".join(names["tgt_tokens"])
    assert names["logits"].shape[:2] == (1, 3)


def test_the_translators_file_reads_its_weights_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_dialog("encoder_decoder", encdec_example="the black cat sees a house")
    monkeypatch.chdir(tmp_path)
    (tmp_path / FILE_NAME).write_bytes(save_weights(load_translator().network))
    assert run_here(written(app))["tgt_tokens"][1:3] == ["le", "chat"]
    (tmp_path / FILE_NAME).write_bytes(b"other")
    with pytest.raises(AssertionError, match="not the weights"):
        run_here(written(app))


def test_the_training_pages_run_takes_the_same_steps() -> None:
    names = run_here(written(open_dialog("training", **SMALL, training_steps=10, seed=4)))
    trainer = Trainer(ModelConfig(**SMALL_CONFIG | {"max_len": 512}), Recipe(steps=10, seed=4), watch=False)
    for _ in trainer.run():
        pass
    assert names["losses"] == trainer.history.loss


def open_data(**query: object) -> tuple[AppTest, dict[str, Any]]:
    """The dialog with the tab of the data alone, and what each button would save."""
    files: dict[str, Any] = {}

    def collect(_label: str, make: Any, name: str, *_: Any, disabled: bool = False, **_options: Any) -> None:
        files[name] = None if disabled else make

    tabs = patch.dict(exports.TABS, {"Data": exports.draw_data}, clear=True)
    with tabs, patch.object(st, "download_button", collect):
        return open_dialog("norms", **query), files


def test_the_usual_arrays_are_those_of_the_model() -> None:
    text = "it was tired"
    app, files = open_data(**SMALL, text=text, seed=4)
    stored = np.load(io.BytesIO(files["run_random_seed4.npz"]()), allow_pickle=False)
    trace = small_trace(text, seed=4)
    assert sorted(stored.files) == ["about", "final", "layers.0.attn.pattern", "layers.1.attn.pattern"]
    for name in stored.files[1:]:
        np.testing.assert_allclose(stored[name], trace[name][0].numpy(), atol=1e-6)
    about = json.loads(str(stored["about"]))
    assert about["sha256"] == weights_sha256(Encoder(ModelConfig(**SMALL_CONFIG), seed=4))
    assert about["config"] | SMALL_CONFIG == about["config"]
    assert about["link"].endswith("&v=2")
    assert "text=it+was+tired" in about["link"]
    assert f"{2 * 4 * 144 + 12 * 16:,} numbers" in captions(app)


def test_what_is_too_large_has_no_button_that_works() -> None:
    _, files = open_data(**{**SMALL, "n_layers": 16, "n_heads": 8, "max_len": 256, "text": "x" * 250})
    assert files["run_random_seed0.npz"] is None
