"""Files of strangers: of NumPy, of safetensors, and whatever else somebody may bring."""

import io
import pickle
import zipfile
from contextlib import suppress

import numpy as np
import pytest
import safetensors.numpy
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground import diagnosis as saved
from playground.diagnosis import read_arrays
from playground.errors import InputError

ARRAYS = {"final": np.arange(6.0).reshape(1, 2, 3), "layers.0.attn.q": np.ones((1, 2, 2, 1), np.float16)}


def npz(**arrays: object) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def archive(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("final.npy", data)
    return file.getvalue()


@pytest.mark.parametrize("data", [npz(**ARRAYS), safetensors.numpy.save(ARRAYS)])
def test_both_kinds_of_files_are_read(data: bytes) -> None:
    read = read_arrays(data)
    assert set(read) == set(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(read[name], array)


def torch_file() -> bytes:
    file = io.BytesIO()
    torch.save({"final": torch.zeros(3)}, file)
    return file.getvalue()


class Trap:
    """Ends the tests when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit('a pickle was run')",)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no readable file"),
        (pickle.dumps(Trap()), "no readable file"),
        (torch_file(), "no readable file"),
        (npz(final=np.array([Trap()], object)), "no readable file"),
        (npz(**ARRAYS)[:-30], "no readable file"),
        (archive(np.lib.format.MAGIC_PREFIX + b"\x01\x00" + b"\x76\x00{'descr': exec}"), "no readable file"),
        (archive(np.lib.format.MAGIC_PREFIX + b"\x01\x00" + b"\x05\x00((((\n"), "no readable file"),
        (archive(bytes(30 * 2**20)), "unpacks to more"),
        (b"x" * (saved.MAX_BYTES + 1), "at most"),
        (npz(**{str(n): np.zeros(1) for n in range(saved.MAX_ARRAYS + 1)}), "tensors or"),
        ((8).to_bytes(8, "little") + b"{}      ", ""),
    ],
)
def test_what_is_no_file_of_tensors_is_told_and_never_run(data: bytes, says: str) -> None:
    if not says:
        assert read_arrays(data) == {}
        return
    with pytest.raises(InputError, match=says):
        read_arrays(data)


@given(st.binary(max_size=300), st.sampled_from([b"", b"PK\x03\x04", b"\x93NUMPY", (64).to_bytes(8, "little")]))
def test_any_bytes_are_read_or_told(data: bytes, begin: bytes) -> None:
    with suppress(InputError):
        assert isinstance(read_arrays(begin + data), dict)
