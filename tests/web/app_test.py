"""A page of the app without a browser: Streamlit's AppTest, and the arrays of its charts."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

_MAIN = Path(__file__).resolve().parents[2] / "playground" / "web" / "app.py"


def new_page(page: str = "overview", **query: str) -> AppTest:
    """A link to a page that has not been followed yet."""
    app = AppTest.from_file(_MAIN, default_timeout=60)
    for key, text in query.items():
        app.query_params[key] = text
    app.switch_page(f"../../pages/{page}.py")
    app._page_hash = calc_hash(page.replace("_", "-"))  # of its path in the address; AppTest takes the file's name
    return app


def open_page(page: str = "overview", **query: str) -> AppTest:
    """Follow a link to a page."""
    return new_page(page, **query).run()


def charts(app: AppTest) -> dict[str, Any]:
    """The traces of every chart, by the name of its container."""
    found = {}
    for element in app.get("plotly_chart"):
        name = element.proto.id.rsplit("-", 1)[-1].removesuffix("_chart")
        found[name] = json.loads(element.proto.spec)["data"]
    return found


def array(traces: list[dict[str, Any]], trace: int = 0, name: str = "z") -> NDArray[Any]:
    """One array of a chart, as it travels: base64, or a list."""
    value = traces[trace][name]
    if not isinstance(value, dict):
        return np.array(value)
    shape = [int(n) for n in value["shape"].split(",")] if "shape" in value else [-1]
    return np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"]).reshape(shape)


def sentences(app: AppTest) -> str:
    """What the page's boxes say, as it is read: without the marks that keep markdown from acting."""
    boxes = "\n".join(box.value for kind in (app.info, app.warning, app.error) for box in kind)
    return re.sub(r"\\([\W_])", r"\1", boxes)


def captions(app: AppTest) -> str:
    """What the captions say, one a line."""
    return "\n".join(caption.value for caption in app.caption)
