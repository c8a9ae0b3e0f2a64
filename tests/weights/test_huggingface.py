"""Checkpoints of eight kinds as Hugging Face saves them: equal to what transformers 5.23 computes with them."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch

from playground import Trace, count_parameters
from playground.errors import PretrainedError, WeightsError
from playground.pretrained import load
from playground.weights.huggingface import FAMILIES, read_config
from playground.weights.recognise import recognise

FOLDER = Path(__file__).parents[1] / "data" / "families"
KINDS = sorted(path.name for path in FOLDER.iterdir())


def test_every_family_has_an_example() -> None:
    kinds = {json.loads((FOLDER / kind / "config.json").read_text())["model_type"] for kind in KINDS}
    assert kinds == set(FAMILIES)
    assert len(KINDS) == 8


@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_computes_what_its_authors_code_does(kind: str) -> None:
    encoder, _ = load(FOLDER / kind)
    expected = np.load(FOLDER / kind / "expected.npz")
    ids, mask, real = torch.tensor(expected["ids"]), torch.tensor(expected["mask"]), expected["mask"]
    trace = Trace()
    out = encoder(ids, mask, trace)
    torch.testing.assert_close(out, encoder(ids, mask), atol=1e-4, rtol=0)
    np.testing.assert_allclose(out.numpy()[real], expected["output"][real], atol=1e-4, rtol=0)
    for i, theirs in enumerate(expected["attentions"]):
        ours = (
            trace[f"layers.{i}.attn.pattern"].numpy().transpose(0, 2, 1, 3)
        )  # by query: those of padding mean nothing
        np.testing.assert_allclose(ours[real], theirs.transpose(0, 2, 1, 3)[real], atol=1e-5, rtol=0)
    streams = [trace["embed.out"], *(trace[f"layers.{i}.out"] for i in range(encoder.config.n_layers))]
    if encoder.config.final_norm:  # theirs ends with the norm's output
        streams[-1] = trace["final"]
    for stream, theirs in zip(streams, expected["hidden"], strict=True):
        np.testing.assert_allclose(stream.numpy()[real], theirs[real], atol=1e-4, rtol=0)
    assert count_parameters(encoder.config).total == expected["n_parameters"]
    assert sum(parameter.numel() for parameter in encoder.parameters()) == expected["n_parameters"]


@pytest.mark.parametrize("kind", KINDS)
def test_padding_may_stand_anywhere(kind: str) -> None:
    encoder, _ = load(FOLDER / kind)
    ids = torch.tensor(np.load(FOLDER / kind / "expected.npz")["ids"])[:1, :6]
    padded, mask = torch.cat([ids, torch.full((1, 3), 5)], dim=1), torch.arange(9)[None] < 6
    torch.testing.assert_close(encoder(padded, mask)[:, :6], encoder(ids), atol=1e-4, rtol=0)
    if encoder.config.position_offset:
        before, mask = torch.cat([torch.full((1, 3), 5), ids], dim=1), torch.arange(9)[None] >= 3
        torch.testing.assert_close(encoder(before, mask)[:, 3:], encoder(ids), atol=1e-4, rtol=0)


def copied(
    kind: str, target: Path, prefix: str = "", extra: dict[str, torch.Tensor] | None = None, **change: Any
) -> Path:
    """A copy of an example with another config, names that begin otherwise, and tensors that are not the encoder's."""
    shutil.copytree(FOLDER / kind, target / kind)
    config = json.loads((target / kind / "config.json").read_text()) | change
    kept = {key: value for key, value in config.items() if value != "left out"}
    (target / kind / "config.json").write_text(json.dumps(kept))
    tensors = safetensors.torch.load_file(target / kind / "model.safetensors")
    named = {f"{prefix}{name}": tensor for name, tensor in tensors.items()} | (extra or {})
    safetensors.torch.save_file(named, target / kind / "model.safetensors")
    return target / kind


HEADS = {
    "albert": ("albert.", ["albert.pooler.weight", "predictions.dense.weight"]),
    "bert": ("bert.", ["bert.pooler.dense.weight", "cls.predictions.bias"]),
    "distilbert": ("distilbert.", ["vocab_transform.weight", "vocab_projector.bias"]),
    "electra": ("electra.", ["discriminator_predictions.dense.weight"]),
    "modernbert": ("model.", ["head.dense.weight", "decoder.bias"]),
    "roberta": ("roberta.", ["lm_head.dense.weight", "classifier.dense.weight"]),
    "t5": ("", ["decoder.block.0.layer.0.SelfAttention.q.weight", "lm_head.weight", "encoder.embed_tokens.weight"]),
}


@pytest.mark.parametrize("kind", HEADS)
def test_heads_poolers_and_decoders_are_left_out(kind: str, tmp_path: Path) -> None:
    prefix, names = HEADS[kind]
    folder = copied(kind, tmp_path, prefix, {name: torch.ones(3, 3) for name in names})
    ids = torch.tensor(np.load(FOLDER / kind / "expected.npz")["ids"])
    assert torch.equal(load(folder)[0](ids), load(FOLDER / kind)[0](ids))


ODD: list[tuple[str, dict[str, Any], str]] = [
    ("bert", {"model_type": "gpt2"}, "type 'gpt2'; the types that open here are BERT, RoBERTa, DistilBERT"),
    ("bert", {"position_embedding_type": "relative_key_query"}, "positions of the type 'relative_key_query'"),
    ("roberta", {"is_decoder": True}, "a decoder, which this encoder has not"),
    ("electra", {"hidden_act": "mish"}, "activation function 'mish'"),
    ("albert", {"num_hidden_groups": 2}, "num_hidden_groups=2"),
    ("albert", {"inner_group_num": 3}, "inner_group_num=3"),
    ("distilbert", {"dim": "left out"}, "has no 'dim'"),
    ("distilbert", {"dim": "wide"}, "d_model='wide' is not a whole number"),
    ("t5", {"feed_forward_proj": "gated-swiglu"}, "feed-forward network 'gated-swiglu'"),
    ("t5", {"feed_forward_proj": 3}, "wrong type"),
    ("modernbert", {"mlp_bias": True}, "biases in some parts and none in others"),
    ("modernbert", {"layer_types": ["sliding_attention"] * 4}, "windows in other layers"),
    (
        "modernbert",
        {"rope_parameters": {"full_attention": {"rope_type": "yarn", "rope_theta": 10_000.0}}},
        "rotary positions of the type 'yarn'",
    ),
]


@pytest.mark.parametrize(("kind", "change", "sentence"), ODD)
def test_what_is_not_here_is_named(kind: str, change: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(PretrainedError, match=sentence) as caught:
        load(copied(kind, tmp_path, **change))
    assert str(caught.value).count("\n") == 0


def test_older_files_of_modernbert_name_their_bases_otherwise(tmp_path: Path) -> None:
    older: dict[str, Any] = {"rope_parameters": "left out", "layer_types": "left out"}
    bases: dict[str, Any] = {"global_rope_theta": 160000.0, "local_rope_theta": 10000.0}
    folder = copied("modernbert", tmp_path, **older, **bases)
    assert load(folder)[0].config == load(FOLDER / "modernbert")[0].config


def test_newer_files_of_modernbert_name_each_layers_kind_alone(tmp_path: Path) -> None:
    folder = copied("modernbert", tmp_path, global_attn_every_n_layers="left out")
    assert load(folder)[0].config == load(FOLDER / "modernbert")[0].config


def test_what_is_no_object_is_refused() -> None:
    given: Any
    for given in (None, [], "bert", 3):
        with pytest.raises(PretrainedError):
            read_config(given)


@pytest.mark.parametrize("kind", ["t5", "modernbert", "albert", "distilbert"])
def test_tensors_alone_ask_for_their_config(kind: str) -> None:
    tensors = safetensors.torch.load_file(FOLDER / kind / "model.safetensors")
    with pytest.raises(WeightsError, match=r"add its config\.json"):
        recognise({name: tuple(tensor.shape) for name, tensor in tensors.items()})
