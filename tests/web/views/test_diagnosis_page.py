"""The page Diagnosis without a browser: a file with a mistake, a right one and broken ones."""

import io
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground.diagnosis import read_arrays
from playground.link.opening import LinkedView, open_link
from playground.mistakes.registry import MISTAKES
from playground.web.session import services as services_module
from tests.mistakes.plain_pass import plain_pass
from tests.web.app_test import answer, charts, open_page, press, sentences, upload, values, without_error

LINK = {
    "weights": "random", "tokenizer": "word", "text": "the cat sat on the mat", "d_model": "16", "n_heads": "4",
    "n_layers": "2", "d_ff": "32", "positions": "sinusoidal", "norm_eps": "1e-05", "embedding_norm": "false",
    "n_segments": "0", "activation": "relu",
}  # fmt: skip


def linked(**changes: str) -> LinkedView:
    return open_link(f"diagnosis?{urlencode(LINK | changes)}")


def npz(**arrays: Any) -> bytes:
    saved = io.BytesIO()
    np.savez(saved, **arrays)
    return saved.getvalue()


def file(*made: str, mask: torch.Tensor | None = None) -> bytes:
    view = linked()
    plain = plain_pass(view.encoder.state_dict(), view.config, view.batch.ids, mask, made)
    return npz(**{name: tensor.numpy() for name, tensor in plain.items()})


def give(data: bytes, **changes: str) -> AppTest:
    return upload(without_error(open_page("diagnosis", **LINK | changes)), "diagnosis_file", data, "mine.npz")


def test_a_file_with_a_mistake_is_read_beside_the_model() -> None:
    app = give(file("scale-by-d-model"))
    assert "**scores are divided by √d_model**" in answer(app)
    assert MISTAKES["scale-by-d-model"].write_lines(linked().config)[1] in app.code[0].value
    assert set(charts(app)) == {"diagnosis_yours", "diagnosis_ours", "diagnosis_difference"}
    assert sentences(app) == ""
    app.session_state["n_layers"] = 3
    app = without_error(app.run())
    assert not charts(app), "what was found goes with the model that it was made of"


def test_who_has_no_code_at_hand_tries_a_wrong_encoder_of_a_small_size() -> None:
    app = press(press(without_error(open_page("diagnosis")), "diagnosis_small"), "diagnosis_example")
    assert values(app, "weights", "n_layers", "d_model") == {"weights": "random", "n_layers": 2, "d_model": 16}
    assert MISTAKES["softmax-over-queries"].title in answer(without_error(app))
    assert charts(app)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"PK\x03\x04 nothing", "no readable file"),
        (npz(encoder_output=np.zeros((1, 6, 16))), "No tensor of this model is called"),
        (npz(final=np.zeros((1, 6, 15))), "no order of its axes fits"),
    ],
)
def test_what_cannot_be_read_or_compared_is_one_sentence(data: bytes, says: str) -> None:
    (error,) = give(data).error
    assert "mine" in error.value
    assert says in error.value


def test_a_file_is_read_in_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    held = []

    def read(data: bytes) -> dict[str, NDArray[Any]]:
        held.append(services_module._HELD.get() is not None)
        return read_arrays(data)

    monkeypatch.setattr("playground.diagnosis.read_arrays", read)
    app = give(file())
    assert held == [True]
    assert answer(app).startswith("No mistake shows")
    assert not charts(app)


def test_a_long_sentence_is_told() -> None:
    long = " ".join(["cat"] * 80)
    assert "shorten it" in sentences(open_page("diagnosis", **LINK | {"text": long}))


def test_a_causal_mask_is_the_models_too() -> None:
    n = linked().batch.ids.shape[1]
    app = give(file("mask-forgotten", mask=torch.ones(1, n, n).tril().bool()), causal="true")
    assert "the mask is not handed on" in answer(app)
