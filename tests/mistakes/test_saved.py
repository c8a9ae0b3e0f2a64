"""Tensors of strangers: files of NumPy and safetensors, printed ones; and whatever else somebody may bring."""

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

from playground.errors import InputError
from playground.mistakes import saved
from playground.mistakes.saved import read_arrays, read_printed

ARRAYS = {"final": np.arange(6.0).reshape(1, 2, 3), "layers.0.attn.q": np.ones((1, 2, 2, 1), np.float16)}


def npz(**arrays: object) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def archive(name: str, data: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as opened:
        opened.writestr(name, data)
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
        (b"no file at all", "no readable file"),
        (pickle.dumps({"final": 1}), "no readable file"),
        (pickle.dumps(Trap()), "no readable file"),
        (torch_file(), "no readable file"),
        (npz(final=np.array([Trap()], object)), "no readable file"),
        (npz(**ARRAYS)[:-30], "no readable file"),
        (archive("final.npy", b"\x93NUMPY\x01\x00 nothing"), "no readable file"),
        (
            archive("final.npy", np.lib.format.MAGIC_PREFIX + b"\x01\x00" + b"\x76\x00{'descr': exec}"),
            "no readable file",
        ),
        (archive("final.npy", np.lib.format.MAGIC_PREFIX + b"\x01\x00" + b"\x05\x00((((\n"), "no readable file"),
        (archive("final.npy", bytes(30 * 2**20)), "unpacks to more"),
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


PRINTED = np.round(np.random.default_rng(0).normal(size=(2, 3, 4)), 4)


def test_what_torch_and_numpy_print_is_read() -> None:
    tensor = torch.tensor(PRINTED, requires_grad=True)
    for text in (repr(tensor), str(PRINTED), repr(PRINTED), repr(tensor.float()), str(PRINTED.tolist())):
        array, rounding = read_printed(text)
        assert array.shape == PRINTED.shape
        np.testing.assert_allclose(array, PRINTED, atol=1e-4)
        assert 1e-9 < rounding <= 1e-4 or text == str(PRINTED.tolist())
    array, _ = read_printed("tensor([[1.5000e+00, -inf], [nan, 2e-3]], device='cuda:0', dtype=torch.float64)")
    np.testing.assert_array_equal(array, [[1.5, -np.inf], [np.nan, 2e-3]])


@pytest.mark.parametrize(
    ("text", "half", "largest"),
    [
        ("tensor([0.1234, -0.5678])", 0.00005, 1),
        ("[1234.5 0.1]", 0.05, 1234.5),
        ("[[12.25, 3.  ]]", 0.005, 12.25),
        ("tensor([1.2345e+03, 1.0000e-01])", 0.05, 1234.5),
        ("[1.25e-05 2.50e-07]", 0.5e-7, 1),
        ("[0.5, 1.25e-05]", 0.005, 1),
        ("[12.  3.]", 0, 12),
        ("[1.e+06 1.e-03]", 0, 1e6),
        ("[[nan, -inf, 20.5]]", 0.05, 20.5),
        ("[0.0e999 1.5e999]", None, None),
    ],
)
def test_rounding_is_a_share_of_the_largest_number(text: str, half: float | None, largest: float) -> None:
    _, rounding = read_printed(text)
    assert half is None or rounding == pytest.approx(half / max(1, largest - half))
    assert not np.isnan(rounding)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no complete tensor"),
        ("hello", "no complete tensor"),
        ("[1, 2, __import__('os')]", "no complete tensor"),
        ("[[1, 2], [3", "no complete tensor"),
        ("1, 2]", "no complete tensor"),
        ("[[1, 2], [3]]", "no complete tensor"),
        ("[1, 2, ..., 9]", "left out"),
        ("[" * 5_000, "no complete tensor"),
        ("1 " * 200_000, "at most"),
        ("[" + " " * 15_000 + "x", "no complete tensor"),
    ],
)
def test_what_is_no_printed_tensor_is_told(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_printed(text)


@given(st.text(st.sampled_from("[]-+.,e 0123456789nainft()rsoedv=\n"), max_size=80))
def test_any_text_is_read_or_told(text: str) -> None:
    with suppress(InputError):
        assert read_printed(text)[0].dtype == np.float64
