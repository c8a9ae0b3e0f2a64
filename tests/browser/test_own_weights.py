"""A student opens a file of weights: in a real browser it travels through the upload, the policy and the sliders."""

from pathlib import Path

import numpy as np
import torch
from playwright.sync_api import expect
from safetensors.torch import save_file

from playground import Encoder, ModelConfig
from playground.runs.encoder_run import run
from playground.text import words
from tests.browser.visitor import Visitor

TEXT = "this is an example sentence"


def test_a_file_is_opened_shown_and_forgotten(visitor: Visitor, tmp_path: Path) -> None:
    config = ModelConfig(vocab_size=5, d_model=20, n_heads=5, n_layers=2, d_ff=24)
    model = Encoder(config, seed=7)
    save_file(dict(model.state_dict()), tmp_path / "mine.safetensors")
    torch.save(model.state_dict(), tmp_path / "pickle.safetensors")

    visitor.open(f"/attention?text={TEXT.replace(' ', '+')}&head=3")
    visitor.choose("weights", "mine")
    upload = visitor.page.locator("[class*=st-key-own_file_] input[type=file]")
    upload.set_input_files(tmp_path / "pickle.safetensors")
    expect(visitor.page.get_by_test_id("stSidebar").get_by_test_id("stAlert")).to_contain_text("This is a pickle")
    visitor.settled()

    upload.set_input_files(tmp_path / "mine.safetensors")
    expect(visitor.page.get_by_test_id("stMain")).to_contain_text("your own weights")
    visitor.settled()
    expect(visitor.slider("n_layers")).to_have_count(0)
    assert visitor.query()["d_model"] == ["20"]  # no stop of its slider
    while visitor.query()["n_heads"] != ["5"]:
        visitor.press("n_heads", "ArrowLeft")
        visitor.settled()
    pattern = run(model, words([TEXT]).encode_batch([TEXT])).patterns()
    np.testing.assert_allclose(visitor.array("attention_pattern", name="customdata"), pattern[1, 3], atol=1e-5)

    visitor.go_to("Start")
    expect(visitor.page.get_by_test_id("stMain")).to_contain_text("your own weights")
    visitor.widget("own_close").get_by_role("button").click()
    expect(visitor.page.get_by_test_id("stMain")).to_contain_text("random weights")
    visitor.settled()
    expect(visitor.slider("n_layers")).to_be_enabled()

    upload.set_input_files(tmp_path / "mine.safetensors")  # the same file once more
    expect(visitor.page.get_by_test_id("stMain")).to_contain_text("your own weights")
    visitor.settled()
    visitor.page.reload()
    visitor.settled()
    assert "A link can't carry a weights file" in visitor.notices()
    expect(visitor.page.get_by_test_id("stMain")).to_contain_text("random weights")
