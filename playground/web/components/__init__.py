"""What Streamlit lacks: functions in Python, and for each component a folder of files that run in the browser."""

import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.bidi_component.state import ComponentResult

_FOLDER = Path(__file__).parent

_PROCESS = secrets.token_hex(4)


def load_component(name: str) -> Callable[..., ComponentResult]:
    """Declare the component of the files `<name>.js`, `.css` and `.html` in its folder.

    `elements.js` is put in front, as no script can import another. What is drawn travels as a list's only item: in a
    mapping Streamlit would look for data frames, value by value.
    """
    texts = {file.suffix: file.read_text(encoding="utf-8") for file in sorted((_FOLDER / name).glob(f"{name}.*"))}
    js = (_FOLDER / "elements.js").read_text(encoding="utf-8") + texts[".js"]
    mount = st.components.v2.component(name, html=texts.get(".html"), css=texts.get(".css"), js=js)

    def draw(*, data: Any = None, **options: Any) -> ComponentResult:
        return mount(data=None if data is None else [data], **options)

    return draw


def moment() -> dict[str, str | float]:
    """Return the moment as JSON: `process`, as clocks differ, and its `time`, which only rises."""
    return {"process": _PROCESS, "time": time.monotonic()}
