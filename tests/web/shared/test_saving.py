"""Files out and in: the menu of a chart, and a visitor's file, which is taken once and kept nowhere."""

import csv
import io
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from playground.charts.names import escape_markdown
from playground.errors import OUT_OF_MEMORY, UNEXPECTED, BusyError, InputError, PlaygroundError
from playground.web import components
from playground.web.shared.saving import file_name
from tests.web import app_test
from tests.web.app_test import SMALL, captions, new_page, small_trace, working


def saved_files(page: str, menu: str, **query: object) -> tuple[AppTest, dict[str, Any], list[dict[str, str]]]:
    """A page with this menu open: what makes each CSV file, by the files' names, and what pictures are offered."""
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
    rows = read(files["attention_all_heads.csv"]())[1 + 5 * n : 1 + 6 * n]
    weights = small_trace(text)["layers.1.attn.pattern"][0, 1].numpy()
    np.testing.assert_allclose(np.array([row[3:] for row in rows], np.float32), weights, rtol=1e-5)


def test_more_weights_than_a_table_takes_are_said_to_be_too_many() -> None:
    query = {**SMALL, "n_layers": 6, "max_len": 256, "text": "y" * 250}
    app, files, pictures = saved_files("attention", "attention_grid_save_menu", **query)
    assert (list(files), len(pictures)) == ([], 1)
    assert "too many for a CSV file" in captions(app)


@pytest.mark.parametrize(
    ("name", "file"), [("layer 3, head 1", "layer3_head1"), ("../../etc/passwd", "etc_passwd"), ("A|b<c>:ü", "a_b_c")]
)
def test_a_files_name_has_small_letters_digits_and_underscores(name: str, file: str) -> None:
    assert file_name(name) == file


def page() -> None:
    """A page with one uploader, which says what became of the file."""
    from typing import Any

    import streamlit as st

    from playground.web.shared import saving

    def use(upload: Any) -> None:
        if "error" in st.session_state:
            raise st.session_state["error"]
        st.session_state["read"] = upload.getvalue()

    saving.draw_uploader("a file", "a_file", use)


def given(error: Exception | None = None) -> AppTest:
    app = AppTest.from_function(page)
    if error is not None:
        app.session_state["error"] = error
    return upload(app.run())


def upload(app: AppTest) -> AppTest:
    return app_test.upload(app, "a_file", b"numbers")


def test_a_file_is_read_and_its_uploader_is_a_new_one() -> None:
    app = given()
    assert app.session_state["read"] == b"numbers"
    assert not app.error
    assert (app.file_uploader[0].key, app.file_uploader[0].value) == ("a_file_1", None)
    assert upload(app).file_uploader[0].key == "a_file_2"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (InputError("It holds *x*."), r"“mine.safetensors” can't be used. It holds \*x\*\."),
        (MemoryError(), f"“mine.safetensors” can't be used. {escape_markdown(OUT_OF_MEMORY)}"),
        (KeyError("a name of ours"), f"“mine.safetensors” can't be used. {escape_markdown(UNEXPECTED)}"),
        (BusyError("busy"), "Many people are computing right now; open “mine.safetensors” again in a few seconds."),
    ],
)
def test_what_can_not_be_read_is_one_sentence_until_another_file_can(
    error: Any, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = given(error)
    tracebacks = [record.exc_info[1] for record in caplog.records if record.exc_info]
    assert tracebacks == ([] if isinstance(error, PlaygroundError) else [error])
    assert [each.value for each in app.error] == [sentence]
    del app.session_state["error"]
    assert not upload(app).error
