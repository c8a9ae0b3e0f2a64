"""What the tests of uploads share: files, and an app that opens one."""

from typing import Any

from safetensors.torch import save
from streamlit.testing.v1 import AppTest
from torch import Tensor

from playground import Encoder, ModelConfig
from tests.web import app_test
from tests.web.app_test import choose, open_page, uploader

IDS = "a b c d e f g h i j k\ng d c h e i\ni k j c"
"""The oracles' ids, typed: words count from 0 in order of appearance, so lines 2 and 3 are their two sentences."""

REAL = (6, 4)
"""Tokens of the oracles' two sentences."""


def upload(app: AppTest, data: bytes, name: str = "model.safetensors") -> AppTest:
    app_test.upload(app, "own_file", data, name)
    assert not uploader(app, "own_file").value, "the uploader still keeps its copy"
    return app


def open_mine(weights: dict[str, Tensor], page: str = "overview", text: str = IDS, **query: str) -> AppTest:
    """Choose `mine`, open a file, and say what oracles' files leave open."""
    app = upload(open_page(page, weights="mine", text=text, **query), save(weights))
    return choose(app, n_heads=4)


def own_model(**changes: Any) -> dict[str, Tensor]:
    sizes = {"vocab_size": 40, "d_model": 20, "n_heads": 4, "n_layers": 2, "d_ff": 24}
    return dict(Encoder(ModelConfig(**{**sizes, **changes}), seed=5).state_dict())
