"""The menu of a chart: nothing until it is opened, then files of what the page shows, named after it."""

import base64
import csv
import io
import json
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import streamlit as st
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground.export.print_figure import MOST_NUMBERS
from playground.link.query import VERSION
from playground.web.components import charts as components
from playground.web.shared import saving
from playground.web.shared.saving import file_name
from tests.web.app_test import SMALL, captions, new_page, small_trace, working


def saved_files(page: str, *menus: str, **query: object) -> tuple[AppTest, dict[str, Any], dict[str, Any]]:
    """A page with these menus open, what makes each file of their buttons, and what browsers draw, by files' names."""
    files: dict[str, Any] = {}
    pictures: dict[str, Any] = {}
    button, draw = st.download_button, components._picture_buttons

    def collect(label: str, make: Any, name: str, *rest: Any, **options: Any) -> bool:
        files[name] = make
        return button(label, make, name, *rest, **options)

    def collect_picture(*, data: dict[str, Any], **options: Any) -> Any:
        pictures[data["name"]] = {**data, "figure": json.loads(data["figure"])}
        return draw(data=data, **options)

    app = working(new_page(page, **query).run())
    for menu in menus:
        app.session_state[menu] = True
    with (
        patch.object(st, "download_button", collect),
        patch.object(components, "_picture_buttons", collect_picture),
        patch.object(components, "offer_file", lambda key, text: text),
    ):
        working(app.run())
    return app, files, pictures


def array(values: dict[str, str]) -> NDArray[Any]:
    """An array as Plotly's JSON has it."""
    shape = [int(n) for n in values["shape"].split(",")]
    return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).reshape(shape)


def test_a_heads_files_are_named_by_the_focus_and_hold_its_weights() -> None:
    text = "it was =1+1"
    query = {**SMALL, "text": text, "layer": 1, "head": 2, "seed": 3}
    _, files, pictures = saved_files("attention", "attention_pattern_save_menu", **query)
    assert list(files) == ["attention_layer1_head2.csv"]
    (picture,) = pictures.values()
    assert picture["name"] == "attention_layer1_head2"
    weights = small_trace(text, seed=3)["layers.1.attn.pattern"][0, 2].numpy()
    _, *rows = csv.reader(io.StringIO(files["attention_layer1_head2.csv"]().decode("utf-8-sig")))
    np.testing.assert_allclose(np.array([row[1:] for row in rows], np.float32), weights, rtol=1e-5)
    assert [row[0] for row in rows][7:] == ["'=₇", "1₈", "'+₉", "1₁₀"]
    drawn = picture["figure"]["data"][0]
    np.testing.assert_allclose(array(drawn["z"]), np.sqrt(weights), atol=1 / 256)
    assert "customdata" not in drawn, "what only a pointer asks for stays here"
    assert picture["caption"].startswith("layer 1, head 2.")
    assert "lick" not in picture["caption"]
    assert picture["figure"]["layout"]["shapes"], "the frame of the chosen cell"
    link = picture["link"]
    asked = parse_qs(urlsplit(link).query)
    assert asked["v"] == [VERSION]
    assert {key: asked[key] for key in ("text", "layer", "head", "seed", "n_heads")} == {
        "text": [text], "layer": ["1"], "head": ["2"], "seed": ["3"], "n_heads": ["4"],
    }  # fmt: skip


def test_all_heads_are_saved_whole() -> None:
    text = "a sentence of thirty letters, no less"
    _, files, pictures = saved_files("attention", "attention_grid_save_menu", **SMALL, text=text)
    cells, n = array(pictures["attention_all_heads"]["figure"]["data"][0]["z"]), len(text)
    apart = round(0.06 * n)
    assert cells.shape == (2 * n + apart, 4 * n + 3 * apart)
    assert (cells[n : n + apart] == 0).all()
    assert (cells[:n, :n] > 0).all()
    rows = list(csv.reader(io.StringIO(files["attention_all_heads.csv"]().decode("utf-8-sig"))))
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
    assert (list(files), list(pictures)) == ([], ["attention_all_heads"])
    assert MOST_NUMBERS < 6 * 4 * 250**2
    assert "1,500,000 weights are too many" in captions(app)


def test_own_drawings_have_their_menus_too() -> None:
    menus = ("attention_lines_save_menu", "why_parts_save_menu")
    _, files, pictures = saved_files(
        "attention", *menus, **SMALL, text="it was", layer=1, head=1, attention_closer=True, attention_steps=True
    )
    assert {"attention_lines_layer1_head1", "why_parts"} <= set(pictures)
    names = pictures["attention_lines_layer1_head1"]["figure"]["data"][-1]["text"]
    assert {"i₀", "s₅"} <= set(names)
    rows = list(csv.reader(io.StringIO(files["attention_lines_layer1_head1.csv"]().decode("utf-8-sig"))))
    assert rows[0][0] == "query \\ key [weight]"
    weights = small_trace("it was")["layers.1.attn.pattern"][0, 1].numpy()
    np.testing.assert_allclose(np.array([row[1:] for row in rows[1:]], np.float32), weights, rtol=1e-5)


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


def test_a_picture_of_too_many_cells_is_not_offered_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving, "MOST_CELLS", 10)
    app, files, pictures = saved_files("attention", "attention_grid_save_menu", **SMALL, text="one two three")
    assert (list(files), list(pictures)) == (["attention_all_heads.csv"], [])
    assert "cells are too many for a picture" in captions(app)
