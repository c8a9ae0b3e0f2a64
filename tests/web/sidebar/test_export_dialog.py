"""The dialog behind "Take it with you": what it shows is what the page computed, and it runs."""

import torch
from streamlit.testing.v1 import AppTest

from tests.export.written import run_here
from tests.web.app_test import SMALL, open_page, shown_focus, small_trace, trained_trace, working


def open_dialog(page: str = "attention", **query: object) -> AppTest:
    app = open_page(page, **query)
    (button,) = [button for button in app.button if button.key == "export"]
    return working(button.click().run())


def written(app: AppTest) -> str:
    """The Python file that the dialog shows."""
    (code,) = [code.value for code in app.code if code.value.startswith('"""')]
    return str(code)


def test_the_file_has_the_pages_weights_and_the_focus() -> None:
    app = open_dialog(**SMALL, text="one more\nabc", sentence=2, seed=5, layer=1, head=3, query=2, causal=True)
    focus = shown_focus(app)
    names = run_here(written(app))
    assert "".join(names["tokens"]) == "abc"
    mask = torch.ones(8, 8, dtype=torch.bool).tril() & (torch.arange(8) < 3)
    assert torch.equal(names["mask"], mask)
    assert f"of layer {focus['layer']}, head {focus['head']}, query {focus['query']}" in written(app)


def test_the_file_gives_the_numbers_of_the_run() -> None:
    names = run_here(written(open_dialog(**SMALL, text="a sentence", seed=5)))
    torch.testing.assert_close(names["output"], small_trace("a sentence", seed=5)["final"], atol=1e-5, rtol=0)


def test_the_file_of_the_trained_encoder_gives_its_numbers() -> None:
    names = run_here(written(open_dialog("norms", text="It works.")))
    torch.testing.assert_close(names["output"], trained_trace("It works.")["final"], atol=1e-5, rtol=0)


def test_without_a_sentence_it_says_what_to_do() -> None:
    app = open_dialog(text=" ")
    assert not app.code
    assert any("Type a sentence" in info.value for info in app.info)
