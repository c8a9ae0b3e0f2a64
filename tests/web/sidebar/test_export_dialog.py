"""The dialog behind "Take it with you": what it shows is what the page computed, and it runs."""

from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from playground import ModelConfig
from playground.export.written import FILE_NAME, save_weights
from playground.training.recipe import Recipe
from playground.training.shipped_network import load_translator
from playground.training.trainer import Trainer
from tests.export.code.written import run_here
from tests.web.app_test import SMALL, SMALL_CONFIG, open_page, shown_focus, small_trace, trained_trace, working


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


@pytest.mark.long
def test_the_file_of_the_trained_encoder_gives_its_numbers() -> None:
    names = run_here(written(open_dialog("norms", text="It works.")))
    torch.testing.assert_close(names["output"], trained_trace("It works.")["final"], atol=1e-5, rtol=0)


def test_without_a_sentence_it_says_what_to_do() -> None:
    app = open_dialog(text=" ")
    assert not app.code
    assert any("Type a sentence" in error.value for error in app.error)


def test_the_decoder_pages_own_pair_has_the_pages_scores() -> None:
    query = {"encdec_source": "your text", "encdec_layer": 1, "encdec_head": 2, "encdec_target": "ba\nabc"}
    app = open_dialog("encoder_decoder", **SMALL, text="one\nabc", sentence=2, seed=5, **query)
    names = run_here(written(app))
    assert "".join(names["src_tokens"]) == "abc" == "".join(names["tgt_tokens"])
    assert "layer 1, head 2:" in written(app)
    assert names["logits"].shape[:2] == (1, 3)


def test_the_translators_file_reads_its_weights_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_dialog("encoder_decoder", encdec_example="the black cat sees a house")
    monkeypatch.chdir(tmp_path)
    (tmp_path / FILE_NAME).write_bytes(save_weights(load_translator().network).data)
    names = run_here(written(app))
    assert names["tgt_tokens"][1:3] == ["le", "chat"]
    (tmp_path / FILE_NAME).write_bytes(b"other")
    with pytest.raises(AssertionError, match="not the weights"):
        run_here(written(app))


def test_the_training_pages_run_takes_the_same_steps() -> None:
    app = open_dialog("training", **SMALL, training_steps=10, seed=4)
    names = run_here(written(app))
    recipe, config = Recipe(steps=10, seed=4), ModelConfig(**SMALL_CONFIG | {"max_len": 512})
    trainer = Trainer(config, recipe, watch=False)
    for _ in trainer.run():
        pass
    assert names["losses"] == trainer.history.loss


def test_every_page_has_the_dialog_and_can_choose_another_kind() -> None:
    app = open_dialog("norms", **SMALL)
    (choice,) = [one for one in app.segmented_control if str(one.key).startswith("export_variant")]
    assert choice.options == ["encoder", "encoder–decoder", "training run"]
