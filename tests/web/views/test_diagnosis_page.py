"""The page Diagnosis without a browser: a file with a mistake, a right one and broken ones."""

import io
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground.link.opening import LinkedView, open_link
from playground.mistakes.registry import MISTAKES
from playground.mistakes.saved import read_arrays
from playground.web.session import turns
from tests.mistakes.plain_pass import plain_pass
from tests.web.app_test import (
    answer,
    array,
    charts,
    open_page,
    press,
    prose,
    sentences,
    upload,
    values,
    without_error,
    working,
)

LINK = {
    "weights": "random", "tokenizer": "word", "text": "the cat sat on the mat", "d_model": "16", "n_heads": "4",
    "n_layers": "2", "d_ff": "32", "positions": "sinusoidal", "norm_eps": "1e-05", "embedding_norm": "false",
    "n_segments": "0", "activation": "relu",
}  # fmt: skip


def linked() -> LinkedView:
    return open_link("diagnosis?" + "&".join(f"{key}={value.replace(' ', '+')}" for key, value in LINK.items()))


def tensors(*made: str) -> dict[str, torch.Tensor]:
    view = linked()
    return plain_pass(view.encoder.state_dict(), view.config, view.batch.ids, made=made)


def file(*made: str) -> bytes:
    saved = io.BytesIO()
    np.savez(saved, **{name: tensor.numpy() for name, tensor in tensors(*made).items()})  # type: ignore[arg-type]
    return saved.getvalue()


def give(app: AppTest, data: bytes) -> AppTest:
    return upload(app, "diagnosis_file", data, "mine.npz")


def test_a_file_with_a_mistake_is_read_beside_the_model() -> None:
    app = give(without_error(open_page("diagnosis", **LINK)), file("scale-by-d-model"))
    assert "**scores are divided by √d_model**" in answer(app)
    assert MISTAKES["scale-by-d-model"].write_lines(linked().config)[1] in app.code[0].value
    assert set(charts(app)) == {"diagnosis_yours", "diagnosis_ours", "diagnosis_difference"}
    assert sentences(app) == ""
    app.session_state["n_layers"] = 3
    assert "has changed since" in sentences(working(app.run()))


def test_who_has_no_code_at_hand_tries_a_wrong_encoder() -> None:
    app = press(without_error(open_page("diagnosis", **LINK)), "diagnosis_example")
    assert MISTAKES["softmax-over-queries"].title in answer(without_error(app))
    assert charts(app)
    app.session_state["n_layers"] = 3
    app = without_error(app.run())
    assert not charts(app), "what was found in an example goes with the model that it was made of"
    assert sentences(app) == ""


def test_the_maps_show_the_quoted_place() -> None:
    wide = {**LINK, "d_model": "96", "d_ff": "128"}
    view = open_link("diagnosis?" + "&".join(f"{key}={value.replace(' ', '+')}" for key, value in wide.items()))
    theirs = view.run.arrays["final"].copy()
    theirs[2, 90] += 1
    saved = io.BytesIO()
    np.savez(saved, final=theirs)
    app = without_error(give(open_page("diagnosis", **wide), saved.getvalue()))
    assert "sentence 0, token 2, number 90" in prose(app)
    columns = array(charts(app)["diagnosis_yours"], name="x")
    assert (columns.min(), columns.max()) == (32, 95)
    assert "`embed.tokens`" in answer(app), "what to bring next"


def test_whoever_has_no_code_yet_takes_a_small_random_encoder() -> None:
    app = press(without_error(open_page("diagnosis")), "diagnosis_small")
    assert values(without_error(app), "weights", "n_layers", "d_model") == {
        "weights": "random", "n_layers": 2, "d_model": 16,
    }  # fmt: skip


def test_two_mistakes_and_none() -> None:
    app = give(open_page("diagnosis", **LINK), file("doubled-exponent", "activation-forgotten"))
    assert "exponent counts i twice" in answer(app)
    assert "no activation" in answer(app)
    app = without_error(give(app, file()))
    assert answer(app).startswith("No mistake shows")
    assert not charts(app)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 nothing", b"\x80\x04.", b"x" * 100])
def test_a_broken_file_is_one_sentence(data: bytes) -> None:
    app = give(open_page("diagnosis", **LINK), data)
    (error,) = app.error
    assert "mine" in error.value
    assert "Something went wrong" not in error.value


def test_names_and_shapes_that_are_not_the_models_are_told() -> None:
    saved = io.BytesIO()
    np.savez(saved, encoder_output=np.zeros((1, 6, 16)))
    app = give(open_page("diagnosis", **LINK), saved.getvalue())
    assert "No tensor of this model is called “encoder_output”" in sentences(app)
    assert "Step 2 has every name" in sentences(app)
    saved = io.BytesIO()
    np.savez(saved, final=np.zeros((1, 6, 15)))
    assert "no order of its axes fits" in sentences(give(app, saved.getvalue()))


def test_a_file_is_read_in_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    held = []

    def read(data: bytes) -> dict[str, NDArray[Any]]:
        held.append(turns._HELD.get() is not None)
        return read_arrays(data)

    monkeypatch.setattr("playground.mistakes.saved.read_arrays", read)
    give(open_page("diagnosis", **LINK), file())
    assert held == [True]


def test_a_long_sentence_is_told() -> None:
    long = " ".join(["cat"] * 80)
    assert "shorten it" in sentences(open_page("diagnosis", **LINK | {"text": long}))


def test_a_causal_mask_is_the_models_too() -> None:
    view = linked()
    n = view.batch.ids.shape[1]
    mask = torch.ones(1, n, n).tril().bool()
    plain = plain_pass(view.encoder.state_dict(), view.config, view.batch.ids, mask, ["mask-forgotten"])
    saved = io.BytesIO()
    np.savez(saved, **{name: tensor.numpy() for name, tensor in plain.items()})  # type: ignore[arg-type]
    app = give(open_page("diagnosis", **LINK | {"causal": "true"}), saved.getvalue())
    assert "the mask is not handed on" in answer(app)
