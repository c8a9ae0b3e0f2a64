"""What Streamlit has not: functions in Python, and a folder of files each that run in the browser.

Here a component's files are loaded, once, as the module that draws it is imported.
"""

import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.bidi_component.state import ComponentResult

_FOLDER = Path(__file__).parent


def load_component(name: str, *, draws: bool = False) -> Callable[..., ComponentResult]:
    """Declare the component whose files `<name>.js`, `.css` and `.html` lie in the folder of its name.

    The front end imports every script from memory, where no script can import another. So `elements.js`, the helpers
    that several of them share, is put in front of those that draw.

    What is drawn travels as a list's only item, which a script takes as `data: [data]`: in a mapping Streamlit would
    look for data frames, value by value.

    Args:
        name: the folder's, and the one under which Streamlit knows the component; `.css` and `.html` may be missing.
        draws: whether the script uses the helpers.
    """
    texts = {file.suffix: file.read_text(encoding="utf-8") for file in sorted((_FOLDER / name).glob(f"{name}.*"))}
    helpers = (_FOLDER / "elements.js").read_text(encoding="utf-8") if draws else ""
    mount = st.components.v2.component(name, html=texts.get(".html"), css=texts.get(".css"), js=helpers + texts[".js"])

    def draw(*, data: Any = None, **options: Any) -> ComponentResult:
        return mount(data=None if data is None else [data], **options)

    return draw


_PROCESS = secrets.token_hex(4)
"""This server's, as the clocks of two servers have nothing to do with each other."""


def moment() -> dict[str, str | float]:
    """The moment as JSON: `process`, and its `time` in seconds, which rises however the machine's clock is set."""
    return {"process": _PROCESS, "time": time.monotonic()}
