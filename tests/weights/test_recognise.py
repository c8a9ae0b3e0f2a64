"""Names and shapes say which model a file is of; what they do not say is asked; the rest is refused by name."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from safetensors.torch import load_file
from torch import Tensor

from playground import Encoder, ModelConfig
from playground.errors import WeightsError
from playground.presets import PRESETS
from playground.weights import build_encoder
from playground.weights.recognise import recognise
from playground.weights.schemes import Shape
from tests.model.strategies import configs
from tests.test_oracles import FILES, read

ANSWERS = {"n_heads": 4}
"""What the oracles' files leave open and their tutorials' own examples do not settle."""


def header(tensors: dict[str, Tensor]) -> dict[str, Shape]:
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def fields(config: ModelConfig, *without: str) -> dict[str, Any]:
    return {name: getattr(config, name) for name in ModelConfig.__dataclass_fields__ if name not in without}


def bert_header(prefix: str = "", gain: str = "weight") -> dict[str, Shape]:
    shapes = header(load_file(Path(__file__).parents[1] / "data" / "families" / "bert" / "model.safetensors"))
    return {prefix + name.replace("LayerNorm.weight", f"LayerNorm.{gain}"): shape for name, shape in shapes.items()}


@pytest.mark.parametrize(("prefix", "gain"), [("", "weight"), ("bert.", "gamma")])
def test_berts_spellings_are_recognised(prefix: str, gain: str) -> None:
    found = recognise(bert_header(prefix, gain) | {"cls.predictions.bias": (30,)})
    assert found.scheme == "bert"
    sizes = {"d_model": 32, "d_ff": 48, "n_layers": 4, "max_len": 48, "n_heads": 8}
    usual = fields(PRESETS["minilm-l6"].config, "vocab_size")
    assert fields(found.config(), "vocab_size") == usual | sizes
    assert not {"positions", "max_len"} & found.open_settings.keys()


@given(config=configs())
def test_our_own_models_are_recognised_and_come_back_the_same(config: ModelConfig) -> None:
    model = Encoder(config, seed=3)
    tensors = dict(model.state_dict())
    found = recognise(header(tensors))
    # A norm without parameters leaves no trace, wherever it stands.
    traceless = ["dropout", "initialisation"]
    if config.norm == "none":
        traceless += ["final_norm", "embedding_norm", "norm_placement"]
    if config.positions == "learned":
        assert found.table_rows == config.max_len + config.position_offset
    assert found.scheme == ("playground-fused" if config.fused_qkv else "playground")
    answers = {key: getattr(config, key) for key in found.open_settings}
    if config.n_heads * config.head_width == config.d_model and config.kv_heads == config.n_heads:
        traceless += ["d_head", "n_kv_heads"]  # the same model, said in other words
    assert fields(found.config(**answers), *traceless) == fields(config, *traceless)
    again = build_encoder(tensors, found, found.config(**answers))
    assert all(torch.equal(tensor, tensors[name]) for name, tensor in again.state_dict().items())


def test_without_a_token_table_one_is_drawn_from_the_seed() -> None:
    oracle = read(FILES["tutorial-b"])
    found = recognise(header(oracle.weights))
    config = ModelConfig(**fields(found.config(**ANSWERS)) | {"vocab_size": 7})
    one, same, other = (build_encoder(oracle.weights, found, config, seed) for seed in (0, 0, 1))
    drawn = Encoder(config, seed=0)
    table, *tables = (model.state_dict()["embed.tokens.weight"] for model in (one, same, drawn, other))
    assert table.shape == (7, 16)
    assert [torch.equal(table, again) for again in tables] == [True, True, False]
    name = "layers.1.feed_forward.2.weight"
    assert torch.equal(other.state_dict()["layers.1.ffn.down.weight"], oracle.weights[name])


# --- files that do not fit


def oracle_with(tutorial: str, **changes: Tensor | None) -> dict[str, Tensor]:
    weights = read(FILES[tutorial]).weights | changes
    return {name: tensor for name, tensor in weights.items() if tensor is not None}


def build(weights: dict[str, Tensor]) -> Encoder:
    found = recognise(header(weights))
    return build_encoder(weights, found, found.config(**ANSWERS))


MISFITS: list[tuple[str, str, Tensor | None, str]] = [
    ("tutorial-a", "encoder.norm.bias", None, r"encoder\.norm\.bias is missing; the model needs it with shape \(1,\)"),
    ("tutorial-a", "embedding.embedding.weight", torch.zeros(11), r"embedding\.embedding\.weight has shape \(11,\)"),
    ("tutorial-b", "layers.0.feed_forward.0.weight", torch.tensor(1.0), r"feed_forward\.0\.weight is missing or no"),
    ("tutorial-b", "layers.999999999.norm2.bias", torch.zeros(16), r"layers\.2\.\S+ is missing"),
    ("tutorial-c", "encoder.layers.0.ffn.linear2.bias", torch.arange(16), r"linear2\.bias holds torch\.int64 numbers"),
    ("tutorial-d", "pos_encoding.pe", torch.zeros(1, 6, 8), r"pos_encoding\.pe has shape \(1, 6, 8\)"),
    ("tutorial-e", "decoder_embedding.weight", None, r"decoder_embedding\.weight is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("tutorial", "name", "tensor", "reason"), MISFITS)
def test_the_first_tensor_that_does_not_fit_is_named(
    tutorial: str, name: str, tensor: Tensor | None, reason: str
) -> None:
    weights = oracle_with(tutorial, **{name: tensor})
    with pytest.raises(WeightsError, match=reason):
        build(weights)


@pytest.mark.parametrize("names", [[], ["x"], ["sublayer.norm.weight", "ffn.linear1.weight"], ["../../etc/passwd"]])
def test_names_of_no_known_model_are_refused(names: list[str]) -> None:
    with pytest.raises(WeightsError, match="of no model that is known here"):
        recognise(dict.fromkeys(names, (2, 2)))


# --- a small file must not ask for a large model


@pytest.mark.parametrize(
    ("tutorial", "name", "shape"),
    [
        ("tutorial-d", "pos_encoding.pe", (1, 300_000, 0)),
        ("tutorial-d", "pos_encoding.pe", (1, 300_000, 16)),
        ("tutorial-e", "decoder_embedding.weight", (2**62, 0)),
        ("bert", "embeddings.position_embeddings.weight", (2**31 - 1, 0)),
    ],
)
def test_a_table_as_wide_as_no_vector_or_too_long_is_refused(tutorial: str, name: str, shape: Shape) -> None:
    shapes = bert_header() if tutorial == "bert" else header(read(FILES[tutorial]).weights)
    assert recognise(shapes).scheme == tutorial
    with pytest.raises(WeightsError, match=re.escape(name)) as refused:
        recognise(shapes | {name: shape})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "shapes",
    [
        {"layers.0.ffn.up.weight": (1, 2**31 - 1)},
        {"layers.0.ffn.up.weight": (2**31 - 1, 1)},
        {f"layers.{i}.ffn.up.weight": (2, 2) for i in range(2_000)},
        {"layers.0.ffn.up.weight": (64, 64)} | {f"layers.{i}.norm1.gain": (64,) for i in range(2_000)},
    ],
)
def test_a_model_most_of_which_is_missing_is_refused(shapes: dict[str, Shape]) -> None:
    with pytest.raises(WeightsError, match=r"encoder of [0-9,]+ parameters, and the file holds [0-9,]+\."):
        recognise(shapes)
