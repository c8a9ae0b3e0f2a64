"""A page of the app without a browser: Streamlit's AppTest, and the arrays of its charts."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from playground import Encoder, ModelConfig, Trace
from playground.link.params import ARCHITECTURE, DEFAULT_TEXT, FOCUS, FOLDS, write_all
from playground.text import characters
from playground.web.choices.setup import CHOICES
from playground.web.sidebar.controls import EXPERT
from playground.weights import checkpoint

SESSION = "test session id"
"""What AppTest calls every session."""

_ROOT = Path(__file__).resolve().parents[2]
_MAIN = _ROOT / "playground" / "web" / "app.py"

PAGES = sorted(path.stem for path in (_ROOT / "pages").glob("*.py"))
"""Every page, by the name of its file."""
SMALL = {"weights": "random", "tokenizer": "char", "d_model": "16", "n_heads": "4", "n_layers": "2", "d_ff": "32",
         "positions": "sinusoidal"}  # fmt: skip
"""A link to a small encoder with random weights."""

SMALL_CONFIG: dict[str, Any] = {
    "vocab_size": characters().vocab_size, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32,
    "positions": "sinusoidal", "norm_eps": 1e-12, "activation": "gelu", "scale_embeddings": False,
    "embedding_norm": True, "n_segments": 2,
}  # fmt: skip
"""The configuration behind SMALL; what the link does not name is the trained model's."""


ODD_TEXT = "one\n<script>$x$ [a](b) `c` € \u202e عربى 🧭</script>\nx"
"""Three sentences: short, full of markup and scripts, and one token."""


def small_trace(text: str, seed: int = 0, mask: torch.Tensor | None = None, **changes: Any) -> Trace:
    """What the encoder behind SMALL computes from one sentence, without the app."""
    trace = Trace()
    with torch.inference_mode():
        Encoder(ModelConfig(**SMALL_CONFIG | changes), seed)(characters().encode_batch([text]).ids, mask, trace)
    return trace


def trained_trace(*sentences: str) -> Trace:
    """What the trained encoder computes from sentences, or from the default one, without the app."""
    encoder, tokenizer = checkpoint.load()
    batch, trace = tokenizer.encode_batch(list(sentences) or [DEFAULT_TEXT]), Trace()
    with torch.inference_mode():
        encoder(batch.ids, batch.mask, trace)
    return trace


def new_page(page: str = "overview", **query: object) -> AppTest:
    """A link to a page that has not been followed yet."""
    app = AppTest.from_file(_MAIN, default_timeout=60)
    for key, value in query.items():
        app.query_params[key] = write_all(value)
    app.switch_page(f"../../pages/{page}.py")
    app._page_hash = calc_hash(page.replace("_", "-"))  # of its path in the address; AppTest takes the file's name
    return app


def open_page(page: str = "overview", **query: object) -> AppTest:
    """Follow a link to a page."""
    return working(new_page(page, **query).run())


def open_panels(app: AppTest, *keys: str) -> AppTest:
    """Open expanders, whose content is made only then."""
    for key in keys:
        app.session_state[key] = True
    return without_error(app.run())


def widgets(app: AppTest) -> dict[str, Any]:
    """The widgets that hold a choice, by their keys."""
    choices = (app.segmented_control, app.select_slider, app.radio)
    kinds = (app.text_area, app.toggle, app.number_input, app.slider, *choices)
    return {widget.key: widget for kind in (*kinds, app.selectbox) for widget in kind if widget.key}


def choose(app: AppTest, **values: Any) -> AppTest:
    """Set one widget after the other, as a visitor does, or move the focus."""
    for key, value in values.items():
        if key in FOCUS:
            app.session_state[key] = value
            working(app.run())
        else:
            if key not in widgets(app):
                open_panels(app, FOLDS.get(key, EXPERT))
            working(widgets(app)[key].set_value(value).run())
    return app


def values(app: AppTest, *keys: str) -> dict[str, Any]:
    """What widgets and the focus line stand at, or the session keeps: of the architecture, or of others."""
    shown = widgets(app)

    def value(key: str) -> Any:
        if key in FOCUS:
            return shown_focus(app)[key]
        return shown[key].value if key in shown else chosen(app, key)

    return {key: value(key) for key in keys or ARCHITECTURE}


def chosen(app: AppTest, key: str) -> Any:
    """Return a parameter's value: the session's, or else the last moment's."""
    return app.session_state[key] if key in app.session_state else app.session_state[CHOICES].moments[-1].values[key]


def shown_focus(app: AppTest) -> dict[str, int]:
    """Where the focus line stands."""
    return dict(component_data(app, "focus_line")["places"])


def locked(app: AppTest) -> set[str]:
    """The widgets that can't be moved, those for experts among them."""
    open_panels(app, EXPERT)
    return {key for key, widget in widgets(app).items() if widget.disabled}


def charts(app: AppTest) -> dict[str, Any]:
    """The traces of every chart, by the name of its container."""
    drawn = components(app, "plot")
    return {name.removesuffix("_chart"): json.loads(data["figure"])["data"] for name, data in drawn.items()}


def drawn_data(component: Any) -> dict[str, Any]:
    """What a component's message has the browser draw from."""
    (data,) = json.loads(component.json)
    return dict(data)


def components(app: AppTest, name: str) -> dict[str, dict[str, Any]]:
    """What the browser draws each component of ours of this name from, by the name of its container."""
    drawings = [one.proto for one in app.get("bidi_component") if one.proto.component_name.endswith(name)]
    return {one.id.rsplit("-", 1)[-1].removesuffix("_drawing"): drawn_data(one) for one in drawings}


def component_data(app: AppTest, name: str) -> dict[str, Any]:
    """What the browser draws the first of them from; nothing where there is none."""
    return next(iter(components(app, name).values()), {})


def drawn_bars(app: AppTest) -> dict[str, dict[str, Any]]:
    """What the browser draws bars of ours from."""
    return components(app, "labelled_bars")


def drawn_lines(app: AppTest) -> dict[str, Any]:
    """What the browser draws a head's lines from; nothing where there are none."""
    return component_data(app, "head_lines")


def array(traces: list[dict[str, Any]], trace: int = 0, name: str = "z") -> NDArray[Any]:
    """One array of a chart, as it travels: base64, or a list."""
    value = traces[trace][name]
    if not isinstance(value, dict):
        numbers = np.array(value)  # None stands for NaN
        return numbers.astype(float) if numbers.dtype == object else numbers
    shape = [int(n) for n in value["shape"].split(",")] if "shape" in value else [-1]
    return np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"]).reshape(shape)


def sentences(app: AppTest) -> str:
    """What the page's boxes say, as it is read: without the marks that keep markdown from acting."""
    boxes = "\n".join(box.value for kind in (app.info, app.warning, app.error) for box in kind)
    return re.sub(r"\\([\W_])", r"\1", boxes)


def captions(app: AppTest) -> str:
    """What the captions say, one a line."""
    return "\n".join(caption.value for caption in app.caption)


def prose(app: AppTest) -> str:
    """What the markdown says."""
    return "\n".join(text.value for text in app.markdown)


def answer(app: AppTest) -> str:
    """What stands in the place of the page's answer, which is one sentence or two."""

    def find(block: Any) -> list[str]:
        children = block.children.values()
        if str(getattr(getattr(block, "proto", None), "id", "")).endswith("-answer"):
            return [child.value for child in children]
        return [text for child in children if hasattr(child, "children") for text in find(child)]

    (text,) = find(app.main)
    return str(text)


def table(app: AppTest, column: str) -> Any:
    """The one table that has a column of this name."""
    (found,) = (frame.value for frame in app.dataframe if column in frame.value)
    return found


def parameter_count(app: AppTest) -> str:
    """The number of parameters in the answer of the page Parameters."""
    (count,) = re.findall(r"Of ([\d,]+) parameters", prose(app))
    return str(count)


def words(app: AppTest) -> str:
    """What captions and markdown say."""
    return f"{captions(app)}\n{prose(app)}"


def formulas(app: AppTest) -> list[str]:
    """The formulas, as they are written in TeX."""
    return [formula.value.strip("$\n") for formula in app.latex]


def working(app: AppTest) -> AppTest:
    """The app, which has raised nothing."""
    assert not app.exception
    return app


def without_error(app: AppTest) -> AppTest:
    """The app, which has raised nothing and shows no error."""
    assert not app.error
    return working(app)


def press(app: AppTest, key: str) -> AppTest:
    """Click a button."""
    return working(app.button(key=key).click().run())


def grey_buttons(app: AppTest, page: str) -> set[str]:
    """The buttons of a page's experiment that can't be pressed."""
    keys = {f"{page}_{name}": name for name in ("start", "stop")}
    return {keys[button.key] for button in app.button if button.disabled and button.key in keys}


def status_text(app: AppTest) -> str:
    """The sentence at the progress bar."""
    (bar,) = app.get("progress")
    return str(bar.proto.text)


def uploader(app: AppTest, name: str) -> Any:
    """The one uploader whose key begins with a name."""
    (found,) = (each for each in app.file_uploader if (each.key or "").startswith(name))
    return found


def upload(app: AppTest, name: str, data: bytes, file: str = "mine.safetensors") -> AppTest:
    """Give an uploader a file."""
    return working(uploader(app, name).set_value((file, data, "application/octet-stream")).run())
