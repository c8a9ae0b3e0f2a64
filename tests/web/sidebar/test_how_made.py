"""How a view was made: the table and the link are those of what is on the screen."""

from unittest.mock import patch

from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig, open_link
from playground.export.data import weights_sha256
from playground.web.sidebar import export_dialog
from tests.web.app_test import SMALL, SMALL_CONFIG, open_page, press


def how_made(page: str, **query: object) -> AppTest:
    """The page's dialog with this tab alone."""
    with patch.dict(export_dialog.TABS, {"How this was made": lambda _: export_dialog.draw_how_made()}, clear=True):
        return press(open_page(page, **query), "export")


def test_random_weights_have_their_seed_and_their_hash() -> None:
    app = how_made("norms", **SMALL, text="a sentence", seed=5)
    (frame,) = [frame.value for frame in app.dataframe if list(frame.value.columns) == ["what", "value"]]
    made = dict(zip(frame["what"], frame["value"], strict=True))
    assert (made["weights"], made["seed"], made["tokens"]) == ("random", "5", "10")
    assert made["SHA-256 of all parameters"] == weights_sha256(Encoder(ModelConfig(**SMALL_CONFIG), seed=5))
    link, lines = [code.value for code in app.code]
    assert link in lines
    view = open_link(link)
    assert (view.values["seed"], view.text) == (5, ("a sentence",))
