"""A weights file from a stranger: read if it is one, refused in one sentence if not, and never believed."""

import io
import json
import pickle
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save

from playground.errors import WeightsError
from playground.weights import MAX_BYTES, first_not_finite, read_tensors
from playground.weights.files import MAX_HEADER_BYTES, MAX_TENSORS

TENSORS = {"layers.0.weight": torch.arange(6.0).view(2, 3), "layers.0.bias": torch.tensor([0.5, -1.0])}
GOOD = save(TENSORS)


def file_of(header: Any, numbers: bytes = b"", length: int | None = None) -> bytes:
    """A file in the format's layout, whatever its header says."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + numbers


def entry(dtype: Any = "F32", shape: Any = (1,), offsets: Any = (0, 4)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def test_a_file_is_read_from_bytes_and_from_a_path(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(GOOD)
    for found in (read_tensors(GOOD), read_tensors(path)):
        assert found.keys() == TENSORS.keys()
        assert all(torch.equal(found[name], tensor) for name, tensor in TENSORS.items())


def test_what_is_not_finite_is_named() -> None:
    tensors = {"a": torch.ones(2), "b": torch.tensor([1.0, float("nan")])}
    found = read_tensors(save(tensors))
    assert first_not_finite(found) == "b"
    assert first_not_finite({"a": found["a"]}) is None


def torch_file(*, new: bool) -> bytes:
    buffer = io.BytesIO()
    torch.save(TENSORS, buffer, _use_new_zipfile_serialization=new)
    return buffer.getvalue()


PICKLES = [torch_file(new=True), torch_file(new=False), *(pickle.dumps({"a": 1}, protocol=n) for n in (2, 3, 4, 5))]


@pytest.mark.parametrize("data", PICKLES)
def test_a_pickle_is_answered_with_how_to_save(data: bytes) -> None:
    with pytest.raises(WeightsError, match=r"This is a pickle, .*safetensors\.torch\.save_file"):
        read_tensors(data)


DAMAGED = "The file is damaged"
REFUSED = {
    "empty": (b"", "no safetensors file"),
    "another format": (b"\x93NUMPY" + bytes(200), "no safetensors file"),
    "an endless header": (file_of({"a": entry()}, length=2**64 - 1), "no safetensors file"),
    "a shorter header": (file_of({"a": entry()}, length=5), DAMAGED),
    "a header nested without end": (file_of(b'{"a":' * 100_000), DAMAGED),
    "a huge number": (file_of(b'{"a":' + b"9" * 5_000 + b"}"), DAMAGED),
    "bytes that are no text": (file_of(b"{\xff\xfe}"), DAMAGED),
    "a huge header": (file_of(b"{" + bytes(MAX_HEADER_BYTES)), "The header has 4,194,305 bytes"),
    "no tensors": (save({}), "holds 0 tensors"),
    "many tensors": (save({f"t{i}": torch.zeros(0) for i in range(MAX_TENSORS + 1)}), "2,001 tensors; from 1 to 2,000"),
    "a path for a name": (save({"../../etc/passwd": torch.zeros(1)}), r"called “../../etc/passwd”"),
    "markup for a name": (save({"<b>[x](y)</b>": torch.zeros(1)}), "called “bxy/b”"),
    "a long name": (save({"a" * 300: torch.zeros(1)}), "called “a{60}…”"),
    "doubles": (save({"a": torch.zeros(1, dtype=torch.float64)}), r"a holds torch\.float64 numbers"),
    "an unknown type": (file_of({"a": entry(dtype="F99")}, bytes(4)), DAMAGED),
    "no shape": (file_of({"a": {"dtype": "F32"}}, bytes(4)), DAMAGED),
    "a negative shape": (file_of({"a": entry(shape=[-1])}, bytes(4)), DAMAGED),
    "a shape beyond all bounds": (file_of({"a": entry(shape=[2**70, 0], offsets=[0, 0])}), DAMAGED),
    "a larger shape than there are bytes": (file_of({"a": entry(shape=[2**40])}, bytes(4)), DAMAGED),
    "a cut file": (GOOD[:-1], DAMAGED),
    "something after the end": (GOOD + b"x", DAMAGED),
    "overlapping tensors": (file_of({"a": entry(offsets=[0, 4]), "b": entry(offsets=[0, 4])}, bytes(8)), DAMAGED),
    "offsets beyond the end": (file_of({"a": entry(offsets=[4, 8])}, bytes(4)), DAMAGED),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_weights_file_is_refused_in_one_sentence(name: str) -> None:
    data, reason = REFUSED[name]
    with pytest.raises(WeightsError, match=reason) as caught:
        read_tensors(data)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert len(sentence) < 300


def test_a_file_that_is_too_large_is_not_even_opened(tmp_path: Path) -> None:
    path = tmp_path / "large.safetensors"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 2**20)  # a hole: it takes no room on the disk
    with pytest.raises(WeightsError, match=r"The file has 201\.0 MB; at most 200 MB"):
        read_tensors(path)


@given(
    changes=st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), max_size=8),
    end=st.integers(0, len(GOOD)),
)
def test_a_damaged_file_is_read_or_refused(changes: list[tuple[int, int]], end: int) -> None:
    damaged = bytearray(GOOD)
    for place, byte in changes:
        damaged[place] = byte
    with suppress(WeightsError):
        found = read_tensors(bytes(damaged[:end]))
        assert sum(tensor.nbytes for tensor in found.values()) <= 2 * len(GOOD)
