import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import httpx2
import huggingface_hub
import numpy as np
import pytest

from playground.errors import PretrainedError
from playground.model import Encoder, Trace
from playground.presets import PRESETS
from playground.text import Tokenizer
from playground.weights import checkpoint
from playground.weights.checkpoint import load, minilm_path

Trained = tuple[Encoder, Tokenizer]
Oracle = dict[str, Any]


@pytest.fixture(scope="module")
def minilm() -> Trained:
    return load("minilm")


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    """What Hugging Face's BertModel computed from the same weights."""
    with np.load(Path(__file__).parents[1] / "data" / "f_minilm_hf_bert.npz", allow_pickle=False) as file:
        return dict(file)


@pytest.mark.long
def test_tokens_attention_and_hidden_states_are_those_of_the_reference(minilm: Trained, oracle: Oracle) -> None:
    encoder, tokenizer = minilm
    batch = tokenizer.encode_batch([str(sentence) for sentence in oracle["sentences"]])
    assert batch.ids.tolist() == oracle["ids"].tolist()
    assert batch.mask.tolist() == (oracle["mask"] == 1).tolist()
    trace = Trace()
    out = encoder(batch.ids, batch.mask, trace)
    layers = range(encoder.config.n_layers)
    patterns = np.stack([trace[f"layers.{i}.attn.pattern"].numpy() for i in layers])
    states = np.stack([trace[name].numpy() for name in ("embed.out", *(f"layers.{i}.out" for i in layers))])
    np.testing.assert_allclose(patterns, oracle["attention"], rtol=0, atol=1e-5)
    np.testing.assert_allclose(states, oracle["hidden_states"], rtol=0, atol=2e-5)
    np.testing.assert_array_equal(out.numpy(), states[-1])
    np.testing.assert_allclose(encoder(batch.ids, batch.mask).numpy(), states[-1], rtol=0, atol=1e-5)


def test_the_trained_model_is_what_its_preset_says_and_read_only(minilm: Trained) -> None:
    encoder, tokenizer = minilm
    assert encoder.config == PRESETS["minilm-l6"].config
    assert tokenizer.vocab_size == encoder.config.vocab_size
    assert not encoder.training
    assert not any(parameter.requires_grad for parameter in encoder.parameters())


FAMILIES = Path(__file__).parents[1] / "data" / "families"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small BERT on disk, to be damaged."""
    return Path(shutil.copytree(FAMILIES / "bert", tmp_path / "bert"))


DAMAGED = (None, b"", b"half", b"\xff" * 99)
BROKEN: dict[str, tuple[bytes | None, ...]] = {
    "config.json": (*DAMAGED, b"[]", b"[" * 100_000),
    "tokenizer.json": DAMAGED,
    "model.safetensors": (*DAMAGED, (2**60).to_bytes(8, "little") + b"{}"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_missing_or_damaged_file_is_named(folder: Path, name: str) -> None:
    path = folder / name
    whole = path.read_bytes()
    for content in BROKEN[name]:
        path.unlink()
        if content is not None:
            path.write_bytes(whole[: len(whole) // 2] if content == b"half" else content)
        with pytest.raises(PretrainedError, match=name) as caught:
            load(folder)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
        path.write_bytes(whole)
    with pytest.raises(PretrainedError, match=f"{name} is a file: give its folder"):
        load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden_size": None}, "has no 'hidden_size'"),
        ({"hidden_size": 9}, "n_heads=4"),
        ({"hidden_size": 16}, r"has shape \(\d+, 32\); the model needs \(\d+, 16\)"),
        ({"vocab_size": 5}, "tokens, more than the 5"),
    ],
)
def test_a_config_that_does_not_fit_is_explained(folder: Path, change: dict[str, Any], message: str) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text()) | change
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))
    with pytest.raises(PretrainedError, match=message):
        load(folder)


@pytest.fixture
def published(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small BERT, in the place of the one that was published."""
    hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in checkpoint.MINILM_SHA256}
    monkeypatch.setattr(checkpoint, "MINILM_SHA256", hashes)
    monkeypatch.setattr(checkpoint, "minilm_path", lambda: folder)
    return folder


@pytest.mark.parametrize("name", BROKEN)
def test_other_files_than_the_published_ones_are_refused_unread(published: Path, name: str) -> None:
    (published / name).write_bytes(b"something else")
    with pytest.raises(PretrainedError, match=rf"{name} is not the file .* SHA-256 begins [0-9a-f]{{12}}, not"):
        load("minilm")
    if name != "model.safetensors":
        with pytest.raises(PretrainedError, match=f"{name} is not the file"):
            checkpoint.read_minilm_tokenizer(published)


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the weights' package, with an empty cache, and without a network."""
    monkeypatch.setattr(checkpoint, "MINILM_PACKAGE", "no_such_package")
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *_, **__: None)


@pytest.mark.usefixtures("no_package")
@pytest.mark.parametrize(
    ("download", "error", "logged", "message"),
    [
        ("0", KeyError("unasked"), 0, "this machine; `pip"),
        ("1", httpx2.ConnectTimeout("slow"), 0, "could not be downloaded; `pip"),
        ("1", KeyError("x"), 1, "could not be downloaded; `pip"),
    ],
)
def test_absent_weights_say_how_to_get_them_and_an_unexpected_failure_is_logged(
    download: str, error: Exception, logged: int, message: str,
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setenv("PLAYGROUND_DOWNLOAD", download)
    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", fail)
    assert minilm_path() is None
    with pytest.raises(PretrainedError, match=message):
        load("minilm")
    assert [record.exc_info is not None for record in caplog.records] == [True] * logged


@pytest.mark.usefixtures("no_package")
def test_the_hub_is_the_last_place_to_look(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []

    def download(_: str, name: str, *, revision: str, **__: object) -> str:
        assert revision == checkpoint.MINILM_REVISION
        fetched.append(name)
        return str(folder / name)

    monkeypatch.delenv("PLAYGROUND_DOWNLOAD", raising=False)
    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", lambda *_, **__: None)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    with pytest.raises(PretrainedError, match="SHA-256"):
        load("minilm")
    assert sorted(fetched) == ["config.json", "model.safetensors", "tokenizer.json"]
