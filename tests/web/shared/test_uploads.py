"""A file that a visitor brings is taken once, kept nowhere, and told in one sentence where it can't be used."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.charts.markdown import escape_markdown
from playground.errors import OUT_OF_MEMORY, UNEXPECTED, BusyError, InputError, PlaygroundError
from tests.web import app_test


def page() -> None:
    """A page with one uploader, which says what became of the file."""
    import streamlit as st

    from playground.web.shared import saving

    def use() -> None:
        upload = saving.take_file("a_file")
        if upload is not None:
            with saving.explain_failure("problem", "this file"):
                if "error" in st.session_state:
                    raise st.session_state["error"]
                st.session_state["read"] = upload.getvalue()

    st.file_uploader("a file", key=saving.uploader_key("a_file"), on_change=use)


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
    assert "problem" not in app.session_state
    assert app.file_uploader[0].key == "a_file_1"
    assert app.file_uploader[0].value is None
    assert upload(app).file_uploader[0].key == "a_file_2"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (InputError("It holds *x*."), r"This file can't be used. It holds \*x\*\."),
        (MemoryError(), f"This file can't be used. {escape_markdown(OUT_OF_MEMORY)}"),
        (RuntimeError("can't allocate memory"), f"This file can't be used. {escape_markdown(OUT_OF_MEMORY)}"),
        (RuntimeError("a shape of ours"), f"This file can't be used. {escape_markdown(UNEXPECTED)}"),
        (KeyError("a name of ours"), f"This file can't be used. {escape_markdown(UNEXPECTED)}"),
        (BusyError("busy"), "Many people are computing right now; open this file again in a few seconds."),
    ],
)
def test_what_can_not_be_read_is_one_sentence_until_another_file_can(
    error: Any, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = given(error)
    tracebacks = [record.exc_info[1] for record in caplog.records if record.exc_info]
    assert tracebacks == ([] if isinstance(error, PlaygroundError) else [error])
    assert app.session_state["problem"] == sentence
    assert app.file_uploader[0].key == "a_file_1"
    del app.session_state["error"]
    assert "problem" not in upload(app).session_state
