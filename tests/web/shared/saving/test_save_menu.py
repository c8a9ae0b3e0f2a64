"""The menu of a chart: nothing until it is opened, then files of what the page shows, named after it."""

import csv
import io
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from playground.export.tables import MOST_WEIGHTS
from playground.web.components import drawings as components
from playground.web.shared.saving import file_name
from tests.web.app_test import SMALL, captions, new_page, small_trace, working


def saved_files(page: str, *menus: str, **query: object) -> tuple[AppTest, dict[str, Any], list[dict[str, str]]]:
    """A page with these menus open: what makes each CSV file, by the files' names, and what pictures are offered."""
    files: dict[str, Any] = {}
    pictures: list[dict[str, str]] = []
    button, draw = st.download_button, components._picture_buttons

    def collect(label: str, make: Any, name: str, *rest: Any, **options: Any) -> bool:
        files[name] = make
        return button(label, make, name, *rest, **options)

    def collect_picture(*, data: dict[str, str], **options: Any) -> Any:
        pictures.append(data)
        return draw(data=data, **options)

    app = working(new_page(page, **query).run())
    for menu in menus:
        app.session_state[menu] = True
    with patch.object(st, "download_button", collect), patch.object(components, "_picture_buttons", collect_picture):
        working(app.run())
    return app, files, pictures


def read(file: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(file.decode("utf-8-sig"))))


def test_a_heads_files_are_named_by_the_focus_and_hold_its_weights() -> None:
    text = "it was =1+1"
    query = {**SMALL, "text": text, "layer": 1, "head": 2, "seed": 3}
    _, files, pictures = saved_files("attention", "attention_pattern_save_menu", **query)
    assert list(files) == ["attention_layer1_head2.csv"]
    assert pictures == [{"chart": "attention_pattern", "name": "attention_layer1_head2"}]
    weights = small_trace(text, seed=3)["layers.1.attn.pattern"][0, 2].numpy()
    _, *rows = read(files["attention_layer1_head2.csv"]())
    np.testing.assert_allclose(np.array([row[1:] for row in rows], np.float32), weights, rtol=1e-5)
    assert [row[0] for row in rows][7:] == ["'=₇", "1₈", "'+₉", "1₁₀"]


def test_all_heads_weights_are_saved() -> None:
    text = "a sentence of thirty letters, no less"
    _, files, _ = saved_files("attention", "attention_grid_save_menu", **SMALL, text=text)
    n = len(text)
    rows = read(files["attention_all_heads.csv"]())
    weights = small_trace(text)
    np.testing.assert_allclose(
        np.array([row[3:] for row in rows[1 + 5 * n : 1 + 6 * n]], np.float32),
        weights["layers.1.attn.pattern"][0, 1].numpy(),
        rtol=1e-5,
    )


def test_more_weights_than_a_table_takes_are_said_to_be_too_many() -> None:
    app, files, pictures = saved_files(
        "attention", "attention_grid_save_menu", **{**SMALL, "n_layers": 6, "max_len": 256}, text="y" * 250
    )
    assert (list(files), len(pictures)) == ([], 1)
    assert MOST_WEIGHTS < 6 * 4 * 250**2
    assert "1,500,000 weights are too many" in captions(app)


def test_an_open_table_is_a_file() -> None:
    _, files, _ = saved_files("norms", "norms_by_layer_open", **SMALL)
    assert "norms_by_layer_numbers.csv" in files


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("layer 3, head 1", "layer3_head1"),
        ("../../etc/passwd", "etc_passwd"),
        ("A|b<c>:ü", "a_b_c"),
        ("step_12", "step_12"),
    ],
)
def test_a_files_name_has_small_letters_digits_and_underscores(name: str, file: str) -> None:
    assert file_name(name) == file
