"""The choice of a run's arrays: sizes first, files that hold them, and nothing that is too large."""

import io
import json
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import numpy as np
import streamlit as st
from streamlit.testing.v1 import AppTest

from playground.web.shared.page_end import PageEndError
from playground.web.sidebar import controls, export_dialog
from tests.web.app_test import SMALL, SMALL_CONFIG, captions, new_page, sentences, small_trace, working


def open_export(**query: object) -> tuple[AppTest, dict[str, Any]]:
    """A page whose sidebar also has the export, and what each button would save."""
    files: dict[str, Any] = {}
    button, draw_expanders = st.download_button, controls.draw

    def collect(label: str, make: Any, name: str, *rest: Any, **options: Any) -> bool:
        files[name] = None if options.get("disabled") else make
        return button(label, make, name, *rest, **options)

    def draw(variants: Any) -> Any:
        after = draw_expanders(variants)
        with suppress(PageEndError):
            export_dialog.draw_data()
        return after

    with patch.object(st, "download_button", collect), patch.object(controls, "draw", draw):
        app = working(new_page("norms", **query).run())
    return app, files


def test_the_usual_arrays_are_those_of_the_model() -> None:
    text = "it was tired"
    app, files = open_export(**SMALL, text=text, seed=4)
    stored = np.load(io.BytesIO(files["run_random_seed4.npz"]()), allow_pickle=False)
    trace = small_trace(text, seed=4)
    assert sorted(stored.files) == ["about", "final", "layers.0.attn.pattern", "layers.1.attn.pattern"]
    for name in stored.files[1:]:
        np.testing.assert_allclose(stored[name], trace[name][0].numpy(), atol=1e-6)
    about = json.loads(str(stored["about"]))
    assert about["config"] | SMALL_CONFIG == about["config"]
    assert about["link"].endswith("&v=2")
    assert "text=it+was+tired" in about["link"]
    assert f"{2 * 4 * 144 + 12 * 16:,} numbers" in captions(app)


def test_what_is_too_large_has_no_button_that_works() -> None:
    _, files = open_export(**{**SMALL, "n_layers": 16, "n_heads": 8, "max_len": 256, "text": "x" * 250})
    assert files["run_random_seed0.npz"] is None


def test_without_a_sentence_it_asks_for_one() -> None:
    app, files = open_export(**SMALL, text="")
    assert not files
    assert "can be saved here" in sentences(app)
