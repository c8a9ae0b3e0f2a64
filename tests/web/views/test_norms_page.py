"""The Norms page, its numbers against ones computed here."""

import numpy as np
import torch
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground import Trace
from tests.web import app_test
from tests.web.app_test import SMALL, choose, without_error, words


def page(**query: object) -> AppTest:
    return without_error(app_test.open_page("norms", **{"norms_closer": True, **query}))


def stream_lengths(trace: Trace, n_layers: int) -> NDArray[np.float64]:
    """Median over the tokens of a single sentence without padding, by depth."""
    names = ["embed.out", *(f"layers.{i}.out" for i in range(n_layers))]
    return np.array([float(np.median(torch.linalg.vector_norm(trace[name][0], dim=-1))) for name in names])


def test_the_norm_by_hand_opens_at_the_chosen_layer_and_at_the_one_that_a_link_names() -> None:
    app = page(**SMALL, text="abc", layer=1)
    choose(app, norms_view="by hand")
    assert "`layers.1.norm1` of" in words(app)
    choose(app, norms_norm=2, norms_view="tokens")
    choose(app, norms_view="by hand")
    assert "`layers.0.norm2` of" in words(app), "what was chosen stays"
    assert "`embed.norm` of" in words(page(**SMALL, text="abc", layer=1, norms_view="by hand")), "an older link"
