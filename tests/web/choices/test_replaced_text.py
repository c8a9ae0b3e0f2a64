"""A text that a button brings stays, however late the browser's fields report the old one."""

from collections.abc import Collection

import pytest
from streamlit.testing.v1 import AppTest

from playground.web.choices import shortcuts
from tests.web.app_test import SMALL, open_page, press, working

FIELDS = {"text", "phone_text"}
OLD = "The man saw it"


def say(app: AppTest, fields: Collection[str], text: str) -> str:
    """The text of the sidebar after one request in which these fields say something."""
    for key in fields:
        app.text_area(key=key).set_value(text)
    return str(working(app.run()).session_state["text"])


def with_example() -> tuple[AppTest, str]:
    """The page What if after a press that added sentences, and its text."""
    app = open_page("what_if", whatif_view="where the difference sits", text=OLD, **SMALL)
    press(app, "whatif_example")
    return app, app.session_state["text"]


@pytest.mark.parametrize("fields", [["text"], ["phone_text"], sorted(FIELDS)], ids="-".join)
def test_late_fields_do_not_undo_what_a_button_brought(
    fields: Collection[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shortcuts, "LATE", 60.0)
    app, new = with_example()
    assert new.startswith(f"{OLD}\n")
    for _ in range(3):
        assert say(app, fields, OLD) == new
    assert {app.text_area(key=key).value for key in FIELDS} == {new}


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_another_text_is_the_visitors_at_once_and_the_old_one_a_while_later(
    field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shortcuts, "LATE", 60.0)
    app, _ = with_example()
    assert say(app, {field}, "typed") == "typed"
    assert say(app, {field}, OLD) == OLD, "after another text, the old one is nobody's late report"
    app, _ = with_example()
    monkeypatch.setattr(shortcuts, "LATE", 0.0)
    working(app.run())
    assert say(app, {field}, OLD) == OLD
