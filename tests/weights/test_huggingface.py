"""Checkpoints of eight kinds as Hugging Face saves them: equal to what transformers 5.23 computes with them."""

import json
import math
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
from playground.weights.files import read_tensors
from playground.weights.huggingface import read_config
from playground.weights.recognise import recognise

FOLDER = Path(__file__).parents[1] / "data" / "families"
KINDS = sorted(path.name for path in FOLDER.iterdir())


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
        ours = trace[f"layers.{i}.attn.pattern"].numpy().transpose(0, 2, 1, 3)  # by query: padding's mean nothing
        np.testing.assert_allclose(ours[real], theirs.transpose(0, 2, 1, 3)[real], atol=1e-5, rtol=0)
    streams = [trace["embed.out"], *(trace[f"layers.{i}.out"] for i in range(encoder.config.n_layers))]
    if encoder.config.final_norm:  # theirs ends with the norm's output
        streams[-1] = trace["final"]
    for stream, theirs in zip(streams, expected["hidden"], strict=True):
        np.testing.assert_allclose(stream.numpy()[real], theirs[real], atol=1e-4, rtol=0)
    assert count_parameters(encoder.config).total == expected["n_parameters"]
    assert sum(parameter.numel() for parameter in encoder.parameters()) == expected["n_parameters"]


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


CLASSES = {
    "bert": ("bert.", ["cls.predictions.bias", "bert.pooler.dense.weight", "bert.embeddings.position_ids"]),
    "roberta": ("roberta.", ["lm_head.bias", "classifier.dense.weight", "qa_outputs.weight"]),
    "electra": ("electra.", ["discriminator_predictions.dense.weight", "generator_lm_head.weight"]),
    "albert": ("albert.", ["predictions.bias", "sop_classifier.classifier.weight", "albert.pooler.weight"]),
    "distilbert": ("distilbert.", ["vocab_transform.weight", "vocab_layer_norm.bias", "pre_classifier.weight"]),
    "t5": ("", ["decoder.embed_tokens.weight", "lm_head.weight", "encoder.embed_tokens.weight"]),
    "t5-relu": ("transformer.", ["transformer.decoder.final_layer_norm.weight", "classification_head.dense.weight"]),
    "modernbert": ("model.", ["head.dense.weight", "decoder.bias", "classifier.weight"]),
}
"""How the encoder's names begin in Hugging Face's classes, and tensors beside the encoder."""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("wrapper", ["", "_orig_mod.module."])
def test_of_every_class_the_encoder_is_taken(kind: str, wrapper: str, tmp_path: Path) -> None:
    prefix, beside = CLASSES[kind]
    folder = copied(kind, tmp_path, wrapper + prefix, {wrapper + name: torch.ones(3, 3) for name in beside})
    assert same(folder, kind)


def same(folder: Path, kind: str) -> bool:
    ids = torch.tensor(np.load(FOLDER / kind / "expected.npz")["ids"])
    return torch.equal(load(folder)[0](ids), load(FOLDER / kind)[0](ids))


def test_a_tensor_that_was_stored_once_for_two_names_is_found(tmp_path: Path) -> None:
    folder = copied("t5", tmp_path)
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    tensors["lm_head.weight"] = tensors.pop("shared.weight")
    metadata = {"format": "pt", "shared.weight": "lm_head.weight"}
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata)
    assert same(folder, "t5")
    assert read_tensors(folder / "model.safetensors")["shared.weight"].shape == tensors["lm_head.weight"].shape


def test_weights_in_several_files_are_found(tmp_path: Path) -> None:
    folder = copied("bert", tmp_path)
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names, parts = list(tensors), [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    for i, part in enumerate(parts):
        safetensors.torch.save_file({name: tensors[name] for name in names[i::2]}, folder / part)
    assert same(folder, "bert")


def test_robertas_relatives_have_its_positions(tmp_path: Path) -> None:
    folder = copied("roberta", tmp_path, model_type="xlm-roberta")
    assert load(folder)[0].config.position_offset == 2
    assert same(folder, "roberta")


def test_a_folder_with_a_pickle_gets_the_line_that_makes_another(tmp_path: Path) -> None:
    folder = copied("bert", tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(PretrainedError, match=r"model\.save_pretrained\(folder\)"):
        load(folder)


ODD: list[tuple[str, dict[str, Any], str]] = [
    ("bert", {"hidden_act": "mish"}, "asks for hidden_act='mish', which"),
    ("bert", {"model_type": "gpt2"}, "describes a model of the type 'gpt2'"),
    ("bert", {"position_embedding_type": "relative_key_query"}, "position_embedding_type='relative_key_query'"),
    ("roberta", {"is_decoder": True}, "is_decoder=True, which this encoder does not"),
    ("distilbert", {"dim": "left out"}, "has no 'dim'"),
    ("t5", {"feed_forward_proj": "gated-swiglu"}, "feed_forward_proj='gated-swiglu'"),
    ("modernbert", {"layer_types": ["sliding_attention"] * 4}, "layer_types="),
    ("modernbert", {"rope_parameters": {"full_attention": {"rope_type": "yarn"}}}, "rope_type='yarn'"),
]


@pytest.mark.parametrize(("kind", "change", "sentence"), ODD)
def test_what_is_not_here_is_named(kind: str, change: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(PretrainedError, match=sentence) as caught:
        load(copied(kind, tmp_path, **change))
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize("kind", ["t5", "distilbert"])
def test_tensors_alone_ask_for_their_config(kind: str) -> None:
    tensors = safetensors.torch.load_file(FOLDER / kind / "model.safetensors")
    with pytest.raises(WeightsError, match=r"add its config\.json"):
        recognise({name: tuple(tensor.shape) for name, tensor in tensors.items()})


NASTY: list[Any] = [
    10**9, 2**31, 10**30, 1e30, 0, -1, 1.5, math.inf, -math.inf, math.nan, None, True, "many", "", [], [None], {}
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_any_value_of_any_entry_is_a_model_or_a_sentence(kind: str) -> None:
    given = json.loads((FOLDER / kind / "config.json").read_text(encoding="utf-8"))
    nested = [name for name, value in given.items() if isinstance(value, dict)]
    changed = [given | {name: value} for name in given for value in NASTY]
    changed += [given | {"rope_parameters": {"full_attention": {"rope_theta": value}}} for value in NASTY]
    changed += [given | {name: dict.fromkeys(given[name], value)} for name in nested for value in NASTY]
    for each in changed:
        try:
            config, _ = read_config(each)
        except PretrainedError as error:
            assert len(str(error)) < 400  # noqa: PT017 - either may happen
        else:
            assert config.n_layers <= 96
