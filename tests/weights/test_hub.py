import json
from pathlib import Path
from typing import Any
from unittest import mock

import httpx2
import huggingface_hub
import pytest
from huggingface_hub import constants, errors
from huggingface_hub.hf_api import ModelInfo, RepoSibling

from playground.errors import InputError, PretrainedError
from playground.pretrained import load
from playground.text import describe_wordpiece, published_tokenizer
from playground.weights import checkpoint, hub
from tests.weights.hub_cache import FAMILIES, NAME, REVISION, fill, use_cache


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return use_cache(tmp_path, monkeypatch)


def test_without_a_network_the_cache_has_the_model(place: Path) -> None:
    fill(place, "roberta")
    (place / "model.safetensors").rename(place / "model-00001-of-00001.safetensors")
    encoder, tokenizer = load(NAME)
    assert (encoder.config, tokenizer.vocab_size) == (checkpoint.load(FAMILIES / "roberta")[0].config, 64)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("model.safetensors", "pytorch_model.bin", r"has only a pickle, not read: `model\.save_pretrained\(folder\)`"),
        ("model.safetensors", "model.h5", r"has no model\.safetensors"),
        ("tokenizer.json", "spiece.model", r"has no tokenizer\.json, nor BERT's vocab\.txt"),
        ("tokenizer.json", "vocab.txt", r"vocab\.txt can't be used: it has .* words and no \[UNK\]"),
        ("config.json", "hparams.json", f"^There is no folder {NAME}, downloads .*, and the cache's copy is missing"),
    ],
)
def test_what_the_cache_lacks_is_named(old: str, new: str, message: str, place: Path) -> None:
    fill(place)
    (place / old).rename(place / new)
    with pytest.raises(PretrainedError, match=message):
        load(NAME)


@pytest.mark.parametrize("name", ["a/b..c", "/etc_", "a b/c", "no-slash"])
def test_nothing_is_asked_about_a_name_that_no_model_has(name: str) -> None:
    with pytest.raises((InputError, PretrainedError), match=r"is no folder, and no name on|is owner/name"):
        load(name)


@pytest.fixture
def asked(place: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which files were downloaded from a hub that has a BERT."""
    files: list[str] = []
    sizes = {path.name: path.stat().st_size for path in (FAMILIES / "bert").iterdir()} | {"pytorch_model.bin": 9**9}
    files_there = [RepoSibling(rfilename=file, size=size) for file, size in sizes.items()]
    info = mock.Mock(return_value=mock.Mock(spec=ModelInfo, siblings=files_there))

    def download(_: str, file: str, *, token: object, revision: str = "main", **__: Any) -> str:
        assert (revision, token) == (REVISION if files else "main", False)
        fill(place)
        files.append(file)
        return str(place / file)

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("PLAYGROUND_DOWNLOAD", raising=False)
    monkeypatch.setattr(huggingface_hub, "model_info", info)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    return files


def test_only_what_is_read_is_downloaded(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PretrainedError, match=rf"{NAME} has 0\.1 MB; at most 0\.0 MB can be opened here"):
        hub.fetch(NAME, max_bytes=10)
    assert asked == []
    load(NAME)
    assert set(asked) == {"config.json", "model.safetensors", "tokenizer.json"}
    n = len(asked)
    monkeypatch.setenv("PLAYGROUND_DOWNLOAD", "0")
    load(NAME)
    assert len(asked) == n


ANSWER = httpx2.Response(403, request=httpx2.Request("GET", "https://hub"))


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (errors.GatedRepoError("403", response=ANSWER), "the hub has no model of this name that everybody may read"),
        (errors.HfHubHTTPError("503", response=ANSWER), "the hub can't be reached"),
        (httpx2.ConnectTimeout("slow"), "the hub can't be reached"),
        (KeyError("x"), "the hub can't be reached"),
    ],
)
@pytest.mark.usefixtures("asked")
def test_a_failure_of_the_hub_has_a_sentence_unless_the_cache_has_the_model(
    error: Exception, message: str, place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(huggingface_hub, "model_info", mock.Mock(side_effect=error))
    with pytest.raises(PretrainedError, match=f"^There is no folder {NAME}, {message}, and the cache's") as it:
        load(NAME)
    assert (it.value.__context__, len(caplog.records)) == (None, isinstance(error, KeyError))
    fill(place)
    assert load(NAME)[0].config.d_model == 32


def test_a_vocabulary_alone_cuts_as_the_published_tokenizer() -> None:
    folder = checkpoint.minilm_path()
    assert folder is not None
    published = (folder / "tokenizer.json").read_bytes()
    ids = json.loads(published)["model"]["vocab"]
    words = "\r\n".join(sorted(ids, key=ids.__getitem__)).encode()
    text = "Naïve tokenisers can't cut ÄÖÜ 東京 unaffordably well: x" + "y" * 101
    ours, theirs = (published_tokenizer(each) for each in (describe_wordpiece(words, {}), published))
    assert ours.encode_batch([text]).tokens == theirs.encode_batch([text]).tokens
    cased = published_tokenizer(describe_wordpiece(words, {"do_lower_case": False}))
    assert cased.encode_batch(["Is"]).tokens[0] == ["[CLS]", "[UNK]", "[SEP]"]
    with pytest.raises(InputError, match="belongs to a “BertJapaneseTokenizer”"):
        describe_wordpiece(words, {"tokenizer_class": "BertJapaneseTokenizer"})
