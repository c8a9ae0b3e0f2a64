"""A weights file from a stranger: read if it is one, refused in one sentence if not, and never believed."""

import io
import json
import pickle
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from safetensors.torch import save
from torch import Tensor

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


def outcome(data: bytes) -> tuple[str, dict[str, Tensor]]:
    """Why a file is refused, or what it holds; any other error fails the test."""
    try:
        return "", read_tensors(data)
    except WeightsError as error:
        return str(error), {}


def assert_same(found: dict[str, Tensor], wanted: dict[str, Tensor]) -> None:
    assert found.keys() == wanted.keys()
    for name, tensor in wanted.items():
        assert torch.equal(found[name], tensor)


def test_a_file_is_read_from_bytes_and_from_a_path(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(GOOD)
    assert_same(read_tensors(GOOD), TENSORS)
    assert_same(read_tensors(path), TENSORS)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_floats_become_float32(dtype: torch.dtype) -> None:
    found = read_tensors(save({"a": torch.tensor([1.5, -2.0], dtype=dtype)}))["a"]
    assert found.dtype == torch.float32
    assert found.tolist() == [1.5, -2.0]


def test_a_buffer_of_integers_stays_one() -> None:
    assert read_tensors(save({"position_ids": torch.arange(3)}))["position_ids"].dtype == torch.int64


def test_metadata_and_tensors_without_axes_or_numbers_are_read() -> None:
    tensors = {"scale": torch.tensor(2.0), "nothing": torch.zeros(0, 4)}
    assert_same(read_tensors(save(tensors, metadata={"format": "pt", "../x": "../y"})), tensors)


def test_what_is_not_finite_is_named() -> None:
    tensors = {"a": torch.ones(2), "b": torch.tensor([1.0, float("nan")]), "c": torch.tensor(float("inf"))}
    found = read_tensors(save(tensors))
    assert first_not_finite(found) == "b"
    assert first_not_finite({"a": found["a"]}) is None
    assert first_not_finite({"c": found["c"]}) == "c"


def torch_file(*, new: bool) -> bytes:
    buffer = io.BytesIO()
    torch.save(TENSORS, buffer, _use_new_zipfile_serialization=new)
    return buffer.getvalue()


PICKLES = [
    torch_file(new=True),
    torch_file(new=False),
    *(pickle.dumps({"a": 1}, protocol=protocol) for protocol in (2, 3, 4, 5)),
]


@pytest.mark.parametrize("data", PICKLES)
def test_a_pickle_is_answered_with_how_to_save(data: bytes) -> None:
    with pytest.raises(WeightsError, match=r"This is a pickle, .*safetensors\.torch\.save_file\(model\.state_dict\(\)"):
        read_tensors(data)


def test_a_header_whose_length_looks_like_a_pickle_is_no_pickle() -> None:
    data = file_of(json.dumps({"a": entry()}).encode().ljust(0x280), b"\0\0\0\0")
    assert data.startswith(b"\x80\x02")
    assert_same(read_tensors(data), {"a": torch.zeros(1)})


REFUSED = {
    "empty": (b"", "The file is empty"),
    "short": (b"abc", "no safetensors file, or a damaged one"),
    "another format": (b"\x93NUMPY" + bytes(200), "no safetensors file"),
    "only a length": (struct.pack("<Q", 0), "no safetensors file"),
    "a longer header than there are bytes": (file_of({"a": entry()}, length=10**6), "announces a header of 1,000,000"),
    "an endless header": (file_of({"a": entry()}, length=2**64 - 1), "a header of 18,446,744,073,709,551,615"),
    "a shorter header": (file_of({"a": entry()}, length=5), "not valid JSON"),
    "a header without end": (file_of(b"{" * 100_000), "not valid JSON"),
    "a header nested without end": (file_of(b'{"a":' * 100_000), "not valid JSON"),
    "a huge number": (file_of(b'{"a":' + b"9" * 5_000 + b"}"), "not valid JSON"),
    "bytes that are no text": (file_of(b"{\xff\xfe}"), "not valid JSON"),
    "a huge header": (file_of(b"{" + bytes(MAX_HEADER_BYTES)), "The header has 4,194,305 bytes"),
    "no tensors": (save({}), "There are no tensors"),
    "10,000 tensors": (file_of(dict.fromkeys(map(str, range(10_000)), entry())), "10,000 tensors; at most 2,000"),
    "a path for a name": (save({"../../etc/passwd": torch.zeros(1)}), r"called “../../etc/passwd”; a state_dict's"),
    "markup for a name": (save({"<b>[x](y)</b>": torch.zeros(1)}), "called “bxy/b”"),
    "a long name": (save({"a" * 300: torch.zeros(1)}), "called “a{60}…”"),
    "no name": (save({"": torch.zeros(1)}), "called “”"),
    "doubles": (save({"a": torch.zeros(1, dtype=torch.float64)}), "a holds “F64” numbers"),
    "an unknown type": (file_of({"a": entry(dtype="F99")}, bytes(4)), "a holds “F99” numbers"),
    "a type that is no word": (file_of({"a": entry(dtype=["F32"])}, bytes(4)), "a holds “F32” numbers"),
    "no shape": (file_of({"a": {"dtype": "F32"}}, bytes(4)), "no shape for a"),
    "a negative shape": (file_of({"a": entry(shape=[-1])}, bytes(4)), "no shape for a"),
    "a shape of switches": (file_of({"a": entry(shape=[True])}, bytes(4)), "no shape for a"),
    "a shape beyond all bounds": (file_of({"a": entry(shape=[2**70, 0])}), "no shape for a"),
    "no entry": (file_of({"a": 1}, bytes(4)), "no shape for a"),
    "a larger shape than there are bytes": (file_of({"a": entry(shape=[2**40])}, bytes(4)), "4,398,046,511,104 bytes"),
    "a cut file": (GOOD[:-1], "describes 32 bytes of numbers, and 31 follow it"),
    "something after the end": (GOOD + b"x", "describes 32 bytes of numbers, and 33 follow it"),
    "overlapping tensors": (
        file_of({"a": entry(offsets=[0, 4]), "b": entry(offsets=[0, 4])}, bytes(8)),
        "does not describe what follows it",
    ),
    "offsets beyond the end": (file_of({"a": entry(offsets=[4, 8])}, bytes(4)), "does not describe what follows it"),
    "no offsets": (file_of({"a": {"dtype": "F32", "shape": [1]}}, bytes(4)), "does not describe what follows it"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_weights_file_is_refused_in_one_sentence(name: str) -> None:
    data, reason = REFUSED[name]
    with pytest.raises(WeightsError, match=reason) as caught:
        read_tensors(data)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert len(sentence) < 300


def test_as_many_tensors_as_there_may_be_are_read() -> None:
    assert len(read_tensors(save({f"t{i}": torch.zeros(1) for i in range(MAX_TENSORS)}))) == MAX_TENSORS


def test_a_file_that_is_too_large_is_not_even_opened(tmp_path: Path) -> None:
    path = tmp_path / "large.safetensors"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 2**20)  # a hole: it takes no room on the disk
    with pytest.raises(WeightsError, match=r"The file has 201\.0 MB; at most 200 MB"):
        read_tensors(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"“gone\.safetensors” can't be read: No such file"):
        read_tensors(tmp_path / "gone.safetensors")


@given(data=st.binary(max_size=200))
@example(data=b"{" * 50)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with pytest.raises(WeightsError):
        read_tensors(data)


@given(
    changes=st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), max_size=8),
    end=st.integers(0, len(GOOD)),
)
def test_a_damaged_file_is_read_or_refused(changes: list[tuple[int, int]], end: int) -> None:
    damaged = bytearray(GOOD)
    for place, byte in changes:
        damaged[place] = byte
    sentence, found = outcome(bytes(damaged[:end]))
    assert len(sentence) < 400
    assert sum(tensor.nbytes for tensor in found.values()) <= 2 * len(GOOD)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    header=st.dictionaries(
        st.sampled_from(["a", "b", "__metadata__", "../c"]),
        json_values | st.fixed_dictionaries({"dtype": st.sampled_from(["F32", "I64"]) | json_values,
                                             "shape": st.lists(st.integers(-1, 3), max_size=2) | json_values,
                                             "data_offsets": st.lists(st.integers(-1, 16), max_size=3)}),
    ),
    numbers=st.binary(max_size=16),
)  # fmt: skip
def test_any_header_is_read_or_refused(header: dict[str, Any], numbers: bytes) -> None:
    sentence, found = outcome(file_of(header, numbers))
    assert len(sentence) < 400
    assert bool(sentence) != bool(found)
    assert sentence or sum(tensor.nbytes for tensor in found.values()) == len(numbers)
