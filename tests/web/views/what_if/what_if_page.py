"""The page What if, with everything measured, and encoders whose parts are cut out of the weights by hand."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig
from playground.runs.arrays import Array
from playground.text import characters
from playground.web.views.what_if import measuring
from tests.web.app_test import SMALL, SMALL_CONFIG, component_data, open_page, without_error, working

PARTS, PLACES = "which parts matter", "where the difference sits"
PAIR = "a cat sat\na dog sat"
CONFIG = ModelConfig(**SMALL_CONFIG)


def progress(app: AppTest) -> str:
    """What the last bar of a measurement says."""
    return str(app.get("progress")[-1].proto.text)


@contextmanager
def measuring_all_at_once() -> Iterator[None]:
    """Whatever is shown is measured before it is drawn, however busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        for limit in ("SLICE", "BY_ITSELF"):
            patch.setattr(measuring, limit, float("inf"))
        yield


def measured(app: AppTest) -> AppTest:
    """The page once all is measured, and what is measured next because of that."""
    with measuring_all_at_once():
        working(app.run())
    assert progress(app).endswith("runs done.")
    assert not component_data(app, "ask_again")
    return without_error(app)


def open_view(view: str, text: str = PAIR, **query: object) -> AppTest:
    """A view of the page, for the encoder behind SMALL, with everything measured."""
    with measuring_all_at_once():
        return measured(open_page("what_if", whatif_view=view, text=text, **SMALL | query))


def vector(encoder: Encoder, text: str) -> Array:
    """A sentence's vector: the mean of what leaves the encoder, in plain torch."""
    with torch.inference_mode():
        mean: Array = encoder(characters().encode_batch([text]).ids)[0].mean(0).numpy()
    return mean


def without_heads(heads: Sequence[tuple[int, int]], config: ModelConfig = CONFIG, seed: int = 0) -> Encoder:
    """The encoder whose W_O reads nothing of these heads, (layer, head)."""
    encoder = Encoder(config, seed)
    with torch.no_grad():
        for layer, head in heads:
            columns = slice(head * config.head_width, (head + 1) * config.head_width)
            encoder.get_parameter(f"layers.{layer}.attn.o.weight")[:, columns] = 0
    return encoder


def cosine(one: Array, two: Array) -> float:
    """Of the angle between two vectors."""
    return float(one @ two / (np.linalg.norm(one) * np.linalg.norm(two)))
