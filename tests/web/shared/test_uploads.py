"""A file that a visitor brings is taken once, kept nowhere, and told in one sentence where it can't be used."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.errors import BusyError, InputError


def page() -> None:
    """A page with one uploader, which says what became of the file."""
    import streamlit as st

    from playground.web.shared import uploads

    def use() -> None:
        upload = uploads.take("a_file")
        if upload is not None:
            with uploads.explained("problem", "this file"):
                if "error" in st.session_state:
                    raise st.session_state["error"]
                st.session_state["read"] = upload.getvalue()

    st.file_uploader("a file", key=uploads.uploader_key("a_file"), on_change=use)


def given(error: Exception | None = None) -> AppTest:
    app = AppTest.from_function(page)
    if error is not None:
        app.session_state["error"] = error
    return upload(app.run())


def upload(app: AppTest) -> AppTest:
    app.file_uploader[0].set_value(("one.bin", b"numbers", "application/octet-stream")).run()
    assert not app.exception
    return app


def test_a_file_is_read_and_its_uploader_is_a_new_one() -> None:
    app = given()
    assert app.session_state["read"] == b"numbers"
    assert "problem" not in app.session_state
    assert app.file_uploader[0].key == "a_file_1"
    assert app.file_uploader[0].value is None
    assert upload(app).file_uploader[0].key == "a_file_2"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (InputError("It holds *x*."), r"This file can't be used. It holds \*x\*\."),
        (MemoryError(), "This file can't be used. This server is too short of memory to read it."),
        (RuntimeError("alloc"), "This file can't be used. This server is too short of memory to read it."),
        (BusyError("busy"), "Many people are computing right now; open this file again in a few seconds."),
    ],
)
def test_what_can_not_be_read_is_one_sentence_until_another_file_can(error: Any, sentence: str) -> None:
    app = given(error)
    assert app.session_state["problem"] == sentence
    assert app.file_uploader[0].key == "a_file_1"
    del app.session_state["error"]
    assert "problem" not in upload(app).session_state
