"""A stranger's JSON is read here only once another process, with limits, has found it small enough."""

import json
import subprocess
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import safetensors.torch
import torch

from playground.errors import InputError, PlaygroundError
from playground.text import foreign_json, published_tokenizer
from playground.text.foreign_json import SMALL, read_json
from playground.training.trained_network import FORMAT, read_description
from playground.web.session.own_models import read_upload
from playground.weights import read_tensors

LISTS = b"[" + b"[[]]," * 190_000 + b"[]]"


def never(*_: object, **__: object) -> Any:
    pytest.fail("this process reads it")


def test_small_json_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", never)
    assert read_json(b'{"a": [1, null]}') == read_json('{"a": [1, null]}') == {"a": [1, None]}
    for broken in ("{", "[" * SMALL, "9" * 5_000):
        with pytest.raises(ValueError, match=r"Expecting|nested|digits"):
            read_json(broken)


@pytest.mark.parametrize(("content", "n_values"), [({"a": 1, "b": [1, 2]}, 7), ([[], [[]], "x"], 5)])
def test_large_json_may_hold_so_many_values(content: Any, n_values: int) -> None:
    data = json.dumps(content) + " " * SMALL
    assert read_json(data, n_values) == content
    with pytest.raises(InputError, match=f"more than {n_values - 1} values"):
        read_json(data, n_values - 1)


def header(data: bytes) -> bytes:
    return len(data).to_bytes(8, "little") + data


TENSORS = safetensors.torch.save({"a": torch.zeros(2)})

READERS: dict[str, Callable[[bytes], object]] = {
    "tokenizer.json": lambda data: published_tokenizer(data * 4),
    "header": lambda data: read_tensors(header(b'{"a":' + data + b"}")),
    "config.json": lambda data: read_upload("a", [TENSORS], config_json=data),
    "recipe": lambda data: read_description({"format": FORMAT, "recipe": data.decode()}),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("reader", READERS)
def test_no_file_of_millions_of_lists_is_built_here(reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = SimpleNamespace(loads=lambda data: never() if len(data) > SMALL else json.loads(data))
    monkeypatch.setattr(foreign_json, "json", loads)
    with pytest.raises(PlaygroundError):
        READERS[reader](LISTS)
