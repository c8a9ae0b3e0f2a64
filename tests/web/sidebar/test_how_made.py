"""How a view was made: the table, the link and the references are those of what is on the screen."""

from unittest.mock import patch

from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig, open_link
from playground.export.data import weights_sha256
from playground.web.sidebar import export_dialog
from playground.web.sidebar.export_dialog import draw_how_made
from tests.web.app_test import SMALL, SMALL_CONFIG, open_page, working


def how_made(page: str, **query: object) -> AppTest:
    """The page's dialog with this tab alone."""
    with patch.dict(export_dialog.TABS, {"How this was made": lambda _: draw_how_made()}, clear=True):
        app = open_page(page, **query)
        (button,) = [button for button in app.button if button.key == "export"]
        return working(button.click().run())


def table(app: AppTest) -> dict[str, str]:
    (made,) = [frame.value for frame in app.dataframe if list(frame.value.columns) == ["what", "value"]]
    return dict(zip(made["what"], made["value"], strict=True))


def test_random_weights_have_their_seed_and_their_hash() -> None:
    app = how_made("norms", **SMALL, text="a sentence", seed=5)
    made = table(app)
    assert (made["weights"], made["seed"]) == ("random", "5")
    assert made["SHA-256 of all parameters"] == weights_sha256(Encoder(ModelConfig(**SMALL_CONFIG), seed=5))
    assert made["tokens"] == "10"
    link, lines, citations = [code.value for code in app.code]
    assert link in lines
    assert link in citations
    view = open_link(link)
    assert (view.values["seed"], view.text) == (5, ("a sentence",))
    assert "wang2020minilm" not in citations


def test_trained_weights_are_cited() -> None:
    app = how_made("attention")
    assert "wang2020minilm" in app.code[-1].value


def test_without_a_sentence_it_says_what_to_do() -> None:
    app = how_made("norms", text=" ")
    assert not app.code
    assert any("sentence" in info.value for info in app.info)
