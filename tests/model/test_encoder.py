"""What the encoder promises as a module: modes, copies, parameter names, refusals."""

import copy
from typing import Any

import pytest
import torch

from playground import Encoder, ModelConfig, Trace
from tests.model.reference import vectors


def config_of(**fields: Any) -> ModelConfig:
    sizes = {"vocab_size": 9, "d_model": 8, "n_heads": 2, "n_layers": 2, "d_ff": 12, "max_len": 6}
    return ModelConfig(**sizes | fields)


IDS = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])


def test_it_starts_in_eval_mode_and_repeats_itself() -> None:
    model = Encoder(config_of(dropout=0.5))
    assert not any(module.training for module in model.modules())
    assert torch.equal(model(IDS), model(IDS))


@pytest.mark.parametrize("traced", [False, True])
def test_training_drops_numbers_reproducibly(traced: bool) -> None:
    model = Encoder(config_of(dropout=0.5))
    still = model(IDS)
    model.train()
    outputs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        outputs.append(model(IDS, trace=Trace() if traced else None))
    assert torch.equal(outputs[0], outputs[1])
    assert not torch.equal(outputs[0], outputs[2])
    assert not torch.equal(outputs[0], still)
    assert torch.equal(model.eval()(IDS), still)


def test_a_copy_is_independent() -> None:
    model = Encoder(config_of(fused_qkv=True, embedding_norm=True, final_norm=True))
    before = model(IDS)
    twin = copy.deepcopy(model)
    assert torch.equal(twin(IDS), before)
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.add_(1)
    assert torch.equal(model(IDS), before)
    assert not torch.equal(twin(IDS), before)


BLOCK = [f"attn.{p}.{kind}" for p in "qkvo" for kind in ("weight", "bias")]
FUSED = [f"attn.{p}.{kind}" for p in ("qkv", "o") for kind in ("weight", "bias")]
FFN = [f"ffn.{p}.{kind}" for p in ("up", "down") for kind in ("weight", "bias")]
NORMS = [f"norm{n}.{kind}" for n in (1, 2) for kind in ("gain", "bias")]


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({}, ["embed.tokens.weight", *(f"layers.{i}.{name}" for i in (0, 1) for name in BLOCK + FFN + NORMS)]),
        ({"vocab_size": 0, "n_layers": 1, "norm": "none"}, [f"layers.0.{name}" for name in BLOCK + FFN]),
        (
            {"vocab_size": 0, "n_layers": 1, "fused_qkv": True, "norm": "rms", "final_norm": True},
            [*(f"layers.0.{name}" for name in [*FUSED, *FFN, "norm1.gain", "norm2.gain"]), "final_norm.gain"],
        ),
        (
            {"n_layers": 1, "positions": "learned", "n_segments": 2, "embedding_norm": True, "norm": "scalar"},
            [
                *(f"embed.{table}.weight" for table in ("tokens", "positions", "segments")),
                *("embed.norm.gain", "embed.norm.bias"),
                *(f"layers.0.{name}" for name in BLOCK + FFN + NORMS),
            ],
        ),
    ],
)
def test_parameters_have_the_names_others_rely_on(fields: dict[str, Any], names: list[str]) -> None:
    assert set(Encoder(config_of(**fields)).state_dict()) == set(names)


def test_one_feature_and_one_head_are_enough() -> None:
    out = Encoder(config_of(d_model=1, n_heads=1))(IDS)
    assert out.shape == (2, 4, 1)
    assert out.isfinite().all()


def test_it_runs_in_double_precision_as_well() -> None:
    model = Encoder(config_of())
    single = model(IDS)
    torch.testing.assert_close(model.double()(IDS), single.double(), atol=1e-5, rtol=1e-5)


def test_ids_without_a_token_table_are_refused() -> None:
    with pytest.raises(ValueError, match=r"vocab_size=0.*embed_vectors"):
        Encoder(config_of(vocab_size=0))(IDS)


@pytest.mark.parametrize("shape", [(4,), (2, 4, 8), ()])
def test_ids_of_another_shape_are_named(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="sentences, tokens") as caught:
        Encoder(config_of())(torch.zeros(shape, dtype=torch.int64))
    assert str(shape) in str(caught.value)


@pytest.mark.parametrize("positions", ["sinusoidal", "sinusoidal-doubled", "learned"])
def test_a_sentence_over_the_table_is_refused(positions: str) -> None:
    model = Encoder(config_of(positions=positions))
    assert model(torch.zeros(1, 6, dtype=torch.int64)).shape == (1, 6, 8)
    with pytest.raises(ValueError, match=r"7 tokens .* max_len=6 .* raise max_len to 7"):
        model(torch.zeros(1, 7, dtype=torch.int64))


def test_without_positions_a_sentence_may_be_any_length() -> None:
    assert Encoder(config_of(positions="none"))(torch.zeros(1, 20, dtype=torch.int64)).shape == (1, 20, 8)


@pytest.mark.parametrize("x", [vectors(4, 8), vectors(2, 4, 7), torch.zeros(2, 4, 8, dtype=torch.int64)])
@pytest.mark.parametrize("half", ["encode", "embed_vectors"])
def test_vectors_of_another_shape_or_kind_are_refused(half: str, x: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="sentences, tokens, 8") as caught:
        getattr(Encoder(config_of()), half)(x)
    assert str(tuple(x.shape)) in str(caught.value)


def test_a_mask_for_another_batch_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\(2, 3\) fits neither keys \(2, 4\)"):
        Encoder(config_of())(IDS, torch.ones(2, 3, dtype=torch.bool))
