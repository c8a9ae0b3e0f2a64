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
from playground.weights.huggingface import FAMILIES, read_config
from playground.weights.recognise import recognise, recognise_tensors

FOLDER = Path(__file__).parents[1] / "data" / "families"
KINDS = sorted(path.name for path in FOLDER.iterdir())


def test_every_family_has_an_example() -> None:
    kinds = {json.loads((FOLDER / kind / "config.json").read_text())["model_type"] for kind in KINDS}
    assert kinds == set(FAMILIES) - {"xlm-roberta", "camembert", "mt5"}, (
        "which are RoBERTa's and T5's under other names"
    )
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


_CLASSIFIER = ["classifier.weight", "classifier.bias"]
_ANSWERS = ["qa_outputs.weight", "qa_outputs.bias"]
_CLS = ["cls.predictions.bias", "cls.predictions.transform.LayerNorm.weight", "cls.predictions.decoder.weight"]
_DEEP = ["classifier.dense.weight", "classifier.dense.bias", "classifier.out_proj.weight"]
_DECODER = [
    "decoder.block.0.layer.0.SelfAttention.q.weight",
    "decoder.embed_tokens.weight",
    "decoder.final_layer_norm.weight",
]
CLASSES: dict[str, tuple[str, dict[str, list[str]]]] = {
    "bert": ("bert.", {
        "PreTraining": [*_CLS, "cls.seq_relationship.weight", "bert.pooler.dense.weight"],
        "MaskedLM": _CLS,
        "NextSentencePrediction": ["cls.seq_relationship.bias"],
        "SequenceClassification, MultipleChoice, TokenClassification": _CLASSIFIER,
        "QuestionAnswering": _ANSWERS,
        "of older files": ["bert.embeddings.position_ids"],
    }),
    "roberta": ("roberta.", {
        "MaskedLM": ["lm_head.bias", "lm_head.dense.weight", "lm_head.layer_norm.weight", "lm_head.decoder.weight"],
        "SequenceClassification": _DEEP,
        "TokenClassification, MultipleChoice": _CLASSIFIER,
        "QuestionAnswering": _ANSWERS,
    }),
    "electra": ("electra.", {
        "PreTraining": ["discriminator_predictions.dense.weight", "discriminator_predictions.dense_prediction.bias"],
        "MaskedLM": ["generator_predictions.LayerNorm.weight", "generator_lm_head.weight"],
        "SequenceClassification": _DEEP,
        "MultipleChoice": [*_CLASSIFIER, "sequence_summary.summary.weight"],
        "TokenClassification": _CLASSIFIER,
        "QuestionAnswering": _ANSWERS,
    }),
    "albert": ("albert.", {
        "PreTraining": ["predictions.dense.weight", "sop_classifier.classifier.weight", "albert.pooler.weight"],
        "MaskedLM": ["predictions.bias", "predictions.decoder.weight"],
        "SequenceClassification, TokenClassification, MultipleChoice": _CLASSIFIER,
        "QuestionAnswering": _ANSWERS,
    }),
    "distilbert": ("distilbert.", {
        "MaskedLM": ["vocab_transform.weight", "vocab_layer_norm.bias", "vocab_projector.bias"],
        "SequenceClassification, MultipleChoice": ["pre_classifier.weight", *_CLASSIFIER],
        "TokenClassification": _CLASSIFIER,
        "QuestionAnswering": _ANSWERS,
    }),
    "t5": ("", {
        "ConditionalGeneration": [*_DECODER, "lm_head.weight", "encoder.embed_tokens.weight"],
        "TokenClassification": _CLASSIFIER,
        "QuestionAnswering": [*_DECODER, *_ANSWERS],
    }),
    "t5-relu": ("transformer.", {
        "SequenceClassification": [f"transformer.{name}" for name in _DECODER]
        + ["classification_head.dense.weight", "classification_head.out_proj.bias"],
    }),
    "modernbert": ("model.", {
        "MaskedLM": ["head.dense.weight", "head.norm.weight", "decoder.weight", "decoder.bias"],
        "SequenceClassification, TokenClassification, MultipleChoice": ["head.dense.weight", *_CLASSIFIER],
        "QuestionAnswering": ["head.norm.weight", *_ANSWERS],
    }),
}  # fmt: skip
"""What each of Hugging Face's classes has beside the encoder: how the encoder's names begin, and the other names."""


@pytest.mark.parametrize(("kind", "title"), [(kind, title) for kind, (_, each) in CLASSES.items() for title in each])
@pytest.mark.parametrize("wrapper", ["", "module.", "_orig_mod.module."])
def test_of_every_class_the_encoder_is_taken(kind: str, title: str, wrapper: str, tmp_path: Path) -> None:
    prefix, classes = CLASSES[kind]
    folder = copied(kind, tmp_path, wrapper + prefix, {wrapper + name: torch.ones(3, 3) for name in classes[title]})
    ids = torch.tensor(np.load(FOLDER / kind / "expected.npz")["ids"])
    assert torch.equal(load(folder)[0](ids), load(FOLDER / kind)[0](ids))


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


def test_weights_in_several_files_are_found_by_their_index(tmp_path: Path) -> None:
    folder = copied("bert", tmp_path)
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names, parts = list(tensors), [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    for i, part in enumerate(parts):
        safetensors.torch.save_file({name: tensors[name] for name in names[i::2]}, folder / part)
    index = {"weight_map": {name: parts[i % 2] for i, name in enumerate(names)}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert same(folder, "bert")
    for broken in ("[]", "{}", '{"weight_map": {"a": 3}}', "{"):
        (folder / "model.safetensors.index.json").write_text(broken)
        with pytest.raises(PretrainedError, match="does not list files of weights"):
            load(folder)


MISSING = {
    "bert": ("layer_norm_eps", "type_vocab_size", "hidden_act", "max_position_embeddings"),
    "roberta": ("layer_norm_eps", "pad_token_id"),
    "t5": ("relative_attention_num_buckets", "relative_attention_max_distance", "layer_norm_epsilon"),
    "modernbert": ("norm_eps", "global_attn_every_n_layers", "layer_types"),
}
"""Of each family, entries that Hugging Face's code has a default for."""


@pytest.mark.parametrize(("kind", "entry"), [(kind, entry) for kind, names in MISSING.items() for entry in names])
def test_an_entry_with_a_default_may_be_missing(kind: str, entry: str) -> None:
    given = json.loads((FOLDER / kind / "config.json").read_text())
    given.pop(entry, None)
    config, _ = read_config(given)
    expected = {
        "layer_norm_eps": ("norm_eps", 1e-12), "type_vocab_size": ("n_segments", 2),
        "hidden_act": ("activation", "gelu"),
        "max_position_embeddings": ("max_len", 512), "pad_token_id": ("position_offset", 2),
        "relative_attention_num_buckets": ("relative_buckets", 32), "layer_norm_epsilon": ("norm_eps", 1e-6),
        "relative_attention_max_distance": ("relative_distance", 128), "norm_eps": ("norm_eps", 1e-5),
        "global_attn_every_n_layers": ("global_every", 3), "layer_types": ("global_every", 3),
    }  # fmt: skip
    field, value = expected[entry]
    assert getattr(config, field) == value


@pytest.mark.parametrize(
    ("change", "offset"),
    [
        ({"model_type": "xlm-roberta"}, 2),
        ({"model_type": "camembert"}, 2),
        ({"model_type": "left out", "architectures": ["RobertaForMaskedLM"]}, 2),
        ({"model_type": "left out", "architectures": ["XLMRobertaModel"]}, 2),
        ({"model_type": "left out", "architectures": ["CamembertForTokenClassification"]}, 2),
    ],
)
def test_robertas_relatives_have_its_positions(change: dict[str, Any], offset: int, tmp_path: Path) -> None:
    folder = copied("roberta", tmp_path, **change)
    assert load(folder)[0].config.position_offset == offset
    assert same(folder, "roberta")


def test_shapes_of_roberta_under_names_of_bert_ask_for_the_config() -> None:
    tensors = safetensors.torch.load_file(FOLDER / "bert" / "model.safetensors")
    assert recognise_tensors(tensors).scheme == "bert"
    for name, rows in (("token_type_embeddings", 1), ("position_embeddings", 514)):
        table = f"embeddings.{name}.weight"
        with pytest.raises(WeightsError, match=r"RoBERTa.*add the config\.json"):
            recognise_tensors(tensors | {table: torch.zeros(rows, tensors[table].shape[1])})


def test_a_config_that_might_be_of_roberta_has_to_say_so() -> None:
    given = json.loads((FOLDER / "roberta" / "config.json").read_text())
    unnamed = {name: value for name, value in given.items() if name not in ("model_type", "architectures")}
    with pytest.raises(PretrainedError, match="add the model_type"):
        read_config(unnamed | {"type_vocab_size": 1})


def test_mt5_is_t5(tmp_path: Path) -> None:
    assert same(copied("t5", tmp_path, model_type="mt5"), "t5")


def test_word_pieces_stand_for_a_tokenizer(tmp_path: Path) -> None:
    folder = copied("bert", tmp_path)
    (folder / "tokenizer.json").unlink()
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "key", "##s", "été"]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    _, tokenizer = load(folder)
    assert tokenizer.encode_batch(["The keys zzz"]).tokens == [["[CLS]", "the", "key", "##s", "[UNK]", "[SEP]"]]
    (folder / "vocab.txt").write_text("\n".join([*pieces, "Key"]), encoding="utf-8")
    assert load(folder)[1].encode_batch(["Key key"]).tokens == [["[CLS]", "Key", "key", "[SEP]"]]
    (folder / "vocab.txt").write_bytes(b"\xff")
    with pytest.raises(PretrainedError, match="no tokenizer can be read"):
        load(folder)


def test_what_is_no_folder_of_weights_gets_the_line_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(PretrainedError, match=r'snapshot_download\("google/bert_uncased"\)'):
        load("google/bert_uncased")
    snapshot = tmp_path / "models--some--model" / "snapshots" / "0123abcd"
    snapshot.mkdir(parents=True)
    shutil.copy(FOLDER / "bert" / "config.json", snapshot)
    with pytest.raises(PretrainedError, match="0123abcd'\\) has the files"):
        load(snapshot.parents[1])
    folder = copied("bert", tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(PretrainedError, match=r"torch\.load\(.*weights_only=True\); save_file"):
        load(folder)


def test_a_number_that_is_none_is_named(tmp_path: Path) -> None:
    folder = copied("bert", tmp_path)
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    name = next(iter(tensors))
    safetensors.torch.save_file(tensors | {"classifier.bias": torch.tensor([math.nan])}, folder / "model.safetensors")
    assert same(folder, "bert"), "a head is left out, whatever it holds"
    tensors[name][0] = math.nan
    safetensors.torch.save_file(tensors, folder / "model.safetensors")
    with pytest.raises(PretrainedError, match=f"{name} holds NaN"):
        load(folder)


ODD: list[tuple[str, dict[str, Any], str]] = [
    ("bert", {"model_type": "gpt2"}, "type 'gpt2'; the types that open here are BERT, XLM-R, CamemBERT, RoBERTa"),
    ("bert", {"position_embedding_type": "relative_key_query"}, "positions of the type 'relative_key_query'"),
    ("roberta", {"is_decoder": True}, "a decoder, which this encoder has not"),
    ("electra", {"hidden_act": "mish"}, "activation function 'mish'"),
    ("albert", {"num_hidden_groups": 2}, "num_hidden_groups=2"),
    ("albert", {"inner_group_num": 3}, "inner_group_num=3"),
    ("distilbert", {"dim": "left out"}, "has no 'dim'"),
    ("distilbert", {"dim": "wide"}, "dim is 'wide'; it has to be a whole number"),
    ("t5", {"feed_forward_proj": "gated-swiglu"}, "feed-forward network 'gated-swiglu'"),
    ("t5", {"feed_forward_proj": 3}, "feed_forward_proj is 3"),
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
            assert config.n_layers <= 1_000


class Recorder(dict[str, Any]):
    """A config.json that remembers which entries were read."""

    def __init__(self, given: dict[str, Any], read: set[str]) -> None:
        super().__init__(given)
        self.read = read

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().get(name, default)


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_that_is_read_has_bounds_and_is_named(kind: str) -> None:
    given = json.loads((FOLDER / kind / "config.json").read_text(encoding="utf-8"))
    read: set[str] = set()
    FAMILIES[given["model_type"]].read(Recorder(given, read))
    numbers = [name for name in sorted(read) if type(given.get(name)) in (int, float)]
    assert len(numbers) >= 7
    for name in numbers:
        fraction, may_be_zero = type(given[name]) is float, "drop" in name or name == "pad_token_id"
        values: list[Any] = [10**9, 10**30, -1, math.inf, -math.inf, math.nan, None, True, "many", [], {}]
        for value in [*values, *([] if fraction else [1.5]), *([] if may_be_zero else [0])]:
            with pytest.raises(PretrainedError, match=rf"^{name} is .*; it has to be a .*from .* to "):
                read_config(given | {name: value})


@pytest.mark.parametrize("value", [0, math.inf, math.nan, True, "many", 10**30])
def test_a_base_of_rotary_positions_has_bounds(value: object) -> None:
    given = json.loads((FOLDER / "modernbert" / "config.json").read_text(encoding="utf-8"))
    for change in ({"rope_parameters": None, "global_rope_theta": value}, {
        "rope_parameters": {"full_attention": {"rope_theta": value}}
    }):  # fmt: skip
        with pytest.raises(PretrainedError, match="rope_theta is "):
            read_config(given | change)
