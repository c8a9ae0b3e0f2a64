"""A visitor's tensors: from a file of NumPy or safetensors, or as they were printed. Never from a pickle."""

import io
import json
import re
import sys
import tokenize
import zipfile
import zlib
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import InputError

MAX_BYTES = 8 * 2**20
"""Of a file, and of all that it unpacks to."""

MAX_ARRAYS = 1_000
MAX_PRINTED = 20_000
"""Characters of a printed tensor."""

_MARK = re.compile(r"\[|\]|[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,4})?|nan|inf)")

_DAMAGED = (
    ValueError, OSError, EOFError, KeyError, RuntimeError, MemoryError, SyntaxError, TypeError, tokenize.TokenError,
    zipfile.BadZipFile, zlib.error, safetensors.SafetensorError,
)  # fmt: skip
"""What reading a damaged file raises."""

HOW_TO_SAVE = "np.savez(file, **tensors), or safetensors.numpy.save_file(tensors, file)"


def read_arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file by name: `.npz` or safetensors.

    Raises:
        InputError: it is neither, is damaged, or is larger than `MAX_BYTES`.
    """
    if len(data) > MAX_BYTES:
        raise InputError(f"The file has {len(data):,} bytes; at most {MAX_BYTES:,} are read. Save fewer tensors.")
    try:
        arrays = _read_npz(data) if data[:4] == b"PK\x03\x04" else safetensors.numpy.load(data)
    except InputError:
        raise
    except _DAMAGED as error:
        raise InputError(
            f"This is no readable file of tensors: save it with {HOW_TO_SAVE}. Pickles are not opened."
        ) from error
    if len(arrays) > MAX_ARRAYS:
        raise InputError(f"The file has {len(arrays):,} tensors; at most {MAX_ARRAYS:,} are read.")
    return arrays


def _read_npz(data: bytes) -> dict[str, NDArray[Any]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
    if len(entries) > MAX_ARRAYS or sum(entry.file_size for entry in entries) > MAX_BYTES:
        raise InputError(f"The file unpacks to more than {MAX_ARRAYS:,} tensors or {MAX_BYTES:,} bytes. Save fewer.")
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files if name != "about"}  # which files of this app have
    if not all(isinstance(each, np.ndarray) for each in arrays.values()):  # as in a file of torch.save
        raise ValueError("not only arrays")
    return arrays


def read_printed(text: str) -> tuple[NDArray[np.float64], float]:
    """Return a tensor from how torch or NumPy prints it, and how far its numbers may be off due to rounding.

    That is a share of the largest number, or of 1 if that is smaller.

    Raises:
        InputError: it is no tensor, or not all of it.
    """
    if len(text) > MAX_PRINTED:
        raise InputError(f"This has {len(text):,} characters; at most {MAX_PRINTED:,} are read. Save a file instead.")
    if "..." in text:
        raise InputError(
            "Numbers are left out of this (“...”): print all of them with torch.set_printoptions(threshold=10_000) or "
            "np.set_printoptions(threshold=10_000)."
        )
    body = text[max(text.find("["), 0) : text.rfind("]") + 1]
    marks = _MARK.findall(body)
    parts = [mark if mark in "[]" else json.dumps(float(mark)) for mark in marks]
    nested = re.sub(r"(?<!\[) (?!\])", ", ", " ".join(parts))
    try:
        if re.sub(r"[\s,]", "", _MARK.sub("", body)):
            raise ValueError(body)
        array = np.array(json.loads(nested), dtype=np.float64)
    except (ValueError, RecursionError) as error:
        raise InputError(
            "This is no complete tensor: paste it from its first bracket to its last, with rows of equal length."
        ) from error
    return array, _share_rounded_off([mark for mark in marks if mark not in "[]"], array)


def _share_rounded_off(numbers: list[str], array: NDArray[np.float64]) -> float:
    """Return half a unit of the last printed place, as a share of the largest number, or of 1 if that is smaller.

    All numbers have as many decimals as the longest: NumPy leaves out zeros at the end. If none has any, they are
    whole, which torch and NumPy print as `3.`, and nothing was rounded.
    """
    written = [number.lower().partition("e") for number in numbers]  # digits, "e", power of ten
    decimals = max((len(digits.partition(".")[2]) for digits, _, _ in written), default=0)
    if not decimals:
        return 0.0
    powers = [int(power or 0) for digits, _, power in written if 0 < abs(float(digits)) < np.inf]
    half = 0.5 * 10.0 ** (min(max(powers, default=0), sys.float_info.max_10_exp) - decimals)
    largest = float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
    return half / max(1.0, largest - half)  # the number that was printed may be smaller by as much


def write_saving_code(config: ModelConfig, ids: Tensor, mask: Tensor | None) -> str:
    """Return code that saves what an `encoder` computes, by the names of a trace.

    Its module tree is that of the code that the app writes; a module may return a tuple, its output first.

    Args:
        config: of the encoder.
        ids: (1, T) int64; vectors (1, T, d_model) are called `x` in the code.
        mask: as `Encoder.forward` takes it.
    """
    norms = [] if config.norm == "none" else [*["norm1"] * config.has_norm1(0), "norm2"]
    hooks = "\n".join(f'keep("layers.0.{part}.out", encoder.layers[0].{part})' for part in ("attn", "ffn", *norms))
    is_text = not ids.is_floating_point()
    given = f"ids = torch.tensor({ids.tolist()})" if is_text else "# x: the words' vectors, from the exported code."
    if mask is not None:
        given += f"\nmask = torch.tensor({mask.int().tolist()}).bool()"
    call = f"encoder({'ids' if is_text else 'x'}{'' if mask is None else ', mask'})"
    return f"""import numpy as np
import torch

tensors = {{}}


def keep(name, module):
    def hook(module, inputs, output):
        output = output[0] if isinstance(output, tuple) else output
        tensors.setdefault(name, output.detach().float().cpu().numpy())

    module.register_forward_hook(hook)


# On the right: where these are in your own encoder.
{hooks}
keep("layers.0.out", encoder.layers[0])
keep("final", encoder)
{given}
{call}
np.savez("mine.npz", **tensors)
"""
