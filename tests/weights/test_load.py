from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.errors import WeightsError
from playground.model import Encoder
from playground.model.positions import sinusoids
from playground.pretrained import load
from playground.weights import build_encoder, load_weights, recognise_tensors
from tests.model.reference import scramble, torch_layer

D_MODEL, N_HEADS, N_LAYERS, D_FF = 16, 4, 2, 32


def config(**changes: Any) -> ModelConfig:
    sizes = {"vocab_size": 7, "d_model": D_MODEL, "n_heads": N_HEADS, "n_layers": N_LAYERS, "d_ff": D_FF}
    return ModelConfig(**(sizes | {"max_len": 9} | changes))


def torch_encoder(
    *, norm_first: bool = False, final_norm: bool = False, activation: str = "relu"
) -> nn.TransformerEncoder:
    """torch.nn's encoder with every parameter, norms' too, moved off its initial value."""
    torch.manual_seed(3)
    layer = torch_layer(config(activation=activation, norm_placement="pre" if norm_first else "post", dropout=0.0))
    norm = nn.LayerNorm(D_MODEL) if final_norm else None
    return scramble(nn.TransformerEncoder(layer, N_LAYERS, norm, enable_nested_tensor=False).eval())


@pytest.mark.parametrize("fused_qkv", [False, True])
@pytest.mark.parametrize(("placement", "activation", "final_norm"), [("post", "relu", False), ("pre", "gelu", True)])
def test_torchs_weights_give_torchs_output(placement: str, activation: str, final_norm: bool, fused_qkv: bool) -> None:
    reference = torch_encoder(norm_first=placement == "pre", final_norm=final_norm, activation=activation)
    model = Encoder(config(norm_placement=placement, activation=activation, final_norm=final_norm, fused_qkv=fused_qkv))
    load_weights(model, reference.state_dict(), "torch")
    x = torch.randn((2, 5, D_MODEL), generator=torch.Generator().manual_seed(3))
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    with torch.no_grad():
        ours, theirs = model.encode(x, mask), reference(x, src_key_padding_mask=~mask)
    torch.testing.assert_close(ours[mask], theirs[mask], rtol=0, atol=1e-5)


FOLDER = Path(__file__).parents[1] / "data" / "families" / "bert"
KEY = "encoder.layer.1.attention.self.key.weight"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({KEY: None}, rf"{KEY} is missing; the model needs it with shape \(32, 32\)"),
        ({KEY: torch.zeros(32, 15)}, rf"{KEY} has shape \(32, 15\); the model needs \(32, 32\)"),
        ({KEY: torch.zeros(32, 32, dtype=torch.int8)}, rf"{KEY} holds torch.int8 numbers"),
        ({"decoder.weight": torch.zeros(1)}, "decoder.weight is not a part of this model"),
    ],
)
def test_a_tensor_that_does_not_fit_is_named_and_nothing_changes(
    change: dict[str, Tensor | None], message: str
) -> None:
    model, _ = load(FOLDER)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    tensors = {
        name: tensor
        for name, tensor in (load_file(FOLDER / "model.safetensors") | change).items()
        if tensor is not None
    }
    with pytest.raises(WeightsError, match=message):
        load_weights(model, tensors, "bert")
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


@pytest.mark.parametrize("wrapper", ["", "module."])
def test_torchs_other_classes_open_under_their_own_names(wrapper: str) -> None:
    x = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(4)
    whole = nn.Transformer(16, 4, 2, 2, 32, batch_first=True).eval()
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval()
    inside = nn.ModuleDict({"transformer": whole})  # as in PyTorch's tutorial on translation
    compiled = nn.ModuleDict({"transformer_encoder": nn.ModuleDict({"_orig_mod": torch_encoder()})})
    modules: list[tuple[nn.Module, nn.Module]] = [(whole, whole.encoder), (layer, layer), (inside, whole.encoder)]
    for module, encoder in (*modules, (compiled, torch_encoder()), (torch_encoder(), torch_encoder())):
        tensors = {f"{wrapper}{name}": tensor for name, tensor in module.state_dict().items()}
        found = recognise_tensors(tensors)
        ours = build_encoder(tensors, found, found.config(n_heads=4, positions="none", scale_embeddings=False))
        torch.testing.assert_close(ours.encode(x), encoder(x), atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("table", ["encoder.weight", "embedding.weight"])
def test_the_language_model_of_torchs_tutorial_opens_under_its_own_names(table: str) -> None:
    layers, rows = torch_encoder(), torch.randn(20, 16, generator=torch.Generator().manual_seed(1))
    pe = sinusoids(30, 16)[:, None]  # (L, 1, d_model), as printed there
    tensors = {f"transformer_encoder.{name}": tensor for name, tensor in layers.state_dict().items()}
    tensors |= {table: rows, "pos_encoder.pe": pe, "linear.weight": torch.zeros(20, 16), "linear.bias": torch.zeros(20)}
    tensors["src_mask"] = torch.zeros(5, 5)
    found = recognise_tensors(tensors)
    assert found.scheme == "torch-tutorial"
    trained = {f"module.{name}": tensor for name, tensor in tensors.items()} | {"module.pos_encoder.pe": pe + 1}
    assert recognise_tensors(trained).settings["positions"] == "learned"
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    ours = build_encoder(tensors, found, found.config(n_heads=4, positions="sinusoidal", scale_embeddings=True))
    torch.testing.assert_close(ours(ids), layers(rows[ids] * 4 + pe[:5, 0]), atol=2e-6, rtol=1e-5)
