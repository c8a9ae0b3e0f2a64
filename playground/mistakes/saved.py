"""A stranger's tensors: from a file of NumPy or safetensors, or as they were printed. Never from a pickle."""

import io
import re
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Sequence, Sized
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

_MAX_DEPTH = 6
_MARK = re.compile(r"\[|\]|[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|nan|inf)")
_BEFORE = re.compile(r"(?:torch\.tensor|np\.array|tensor|array)?\s*\(?")
_BEHIND = re.compile(r"(?:,\s*(?:dtype|device|grad_fn|requires_grad)=[^\])]*)?\)?")
_LONGEST_NUMBER = 60
"""Characters of a printed number."""

_DAMAGED = (
    ValueError, OSError, EOFError, KeyError, RuntimeError, MemoryError, SyntaxError, tokenize.TokenError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What Python raises of an archive that is none."""

HOW_TO_SAVE = "np.savez(file, **tensors), or safetensors.numpy.save_file(tensors, file)"


def read_arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of a file by name: `.npz` or safetensors.

    Raises:
        InputError: it is neither, is damaged, or is larger than `MAX_BYTES`.
    """
    if len(data) > MAX_BYTES:
        raise InputError(f"The file has {len(data):,} bytes; at most {MAX_BYTES:,} are read. Save fewer tensors.")
    if data[:2] in (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"):
        raise InputError(f"This is a pickle, which can run code when it is opened. Save it with {HOW_TO_SAVE}.")
    if data[:4] == b"PK\x03\x04":
        return _read_npz(data)
    try:
        arrays: dict[str, NDArray[Any]] = safetensors.numpy.load(data)
    except (safetensors.SafetensorError, *_DAMAGED, TypeError) as error:
        raise InputError(f"This is neither a file of NumPy nor of safetensors: save it with {HOW_TO_SAVE}.") from error
    _check_number(arrays)
    return arrays


def _read_npz(data: bytes) -> dict[str, NDArray[Any]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
        if any(entry.filename.endswith(".pkl") for entry in entries):
            raise InputError(
                f"This is a file of torch.save, which can run code when it is opened. Save it with {HOW_TO_SAVE}."
            )
        _check_number(entries)
        if sum(entry.file_size for entry in entries) > MAX_BYTES:
            raise InputError(f"The file unpacks to more than {MAX_BYTES:,} bytes. Save fewer tensors.")
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files if name != "about"}  # which files of this app have
    except InputError:
        raise
    except _DAMAGED as error:
        raise InputError(
            f"The file can't be read: it is damaged, or holds more than numbers. Save it with {HOW_TO_SAVE}."
        ) from error


def _check_number(arrays: Sized) -> None:
    if len(arrays) > MAX_ARRAYS:
        raise InputError(f"The file has {len(arrays):,} tensors; at most {MAX_ARRAYS:,} are read.")


def read_printed(text: str) -> tuple[NDArray[np.float64], float]:
    """A tensor as torch or NumPy prints it, and how far its numbers may be off, as they were rounded.

    That is a share of the largest number, or of 1 where that is smaller.

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
    text = text.strip()
    start = _BEFORE.match(text).end()  # type: ignore[union-attr]  # it matches any text
    end = text.rfind(",", 0, text.index("=")) if "=" in text else len(text)
    body = text[start:end].removesuffix(")")
    marks = _MARK.findall(body)
    left = re.sub(r"[\s,]", "", _MARK.sub("", body))
    if not marks or left or not _BEHIND.fullmatch(text[end:]):
        raise InputError("This is no printed tensor: paste it from its first bracket to its last one.")
    if max(map(len, marks)) > _LONGEST_NUMBER:
        raise InputError(f"A number of this has more than {_LONGEST_NUMBER} characters.")
    stack: list[list[Any]] = [[]]
    for mark in marks:
        if mark == "[":
            stack.append([])
            if len(stack) > _MAX_DEPTH:
                raise InputError(f"A tensor here has at most {_MAX_DEPTH - 1} axes.")
        elif mark == "]":
            if len(stack) == 1:
                raise InputError("A bracket is missing at the beginning.")
            inner = stack.pop()
            stack[-1].append(inner)
        else:
            stack[-1].append(float(mark))
    if len(stack) > 1:
        raise InputError("A bracket is missing at the end.")
    values = stack[0][0] if len(stack[0]) == 1 else stack[0]
    try:
        array = np.array(values, dtype=np.float64)
    except ValueError as error:
        raise InputError("The rows of this tensor are not equally long.") from error
    return array, _share_rounded_off(marks, array)


def _share_rounded_off(marks: Sequence[str], array: NDArray[np.float64]) -> float:
    """Half a unit of the last printed place, as a share of the largest number, or of 1 where that is smaller.

    All numbers have as many decimals as the longest: NumPy leaves out zeros at the end. Where none has any, they are
    whole, which torch and NumPy print as `3.`, and nothing was rounded.
    """
    written = [mark.lower().partition("e") for mark in marks if mark not in ("[", "]")]  # digits, "e", power of ten
    decimals = max((len(digits.partition(".")[2]) for digits, _, _ in written), default=0)
    if not decimals:
        return 0.0
    powers = [int(power or 0) for digits, _, power in written if 0 < abs(float(digits)) < np.inf]
    half = 0.5 * 10.0 ** (min(max(powers, default=0), sys.float_info.max_10_exp) - decimals)
    largest = float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
    return half / max(1.0, largest - half)  # the number that was printed may be smaller by as much


def write_saving_code(config: ModelConfig, ids: Tensor, mask: Tensor | None) -> str:
    """Return code that keeps what an `encoder` computes by the names of a trace, and saves it.

    Its module tree is that of the code that the app writes; each module may return a tuple, its output first.

    Args:
        config: of the encoder.
        ids: (1, T) int64; of vectors (1, T, d_model) the code calls them `x`.
        mask: as `Encoder.forward` takes it.
    """
    norms = [] if config.norm == "none" else [*["norm1"] * config.has_norm1(0), "norm2"]
    given = "x" if ids.is_floating_point() else "ids"
    hooks = [f'keep("layers.0.{part}.out", encoder.layers[0].{part})' for part in ("attn", "ffn", *norms)]
    lines = [
        "import numpy as np\nimport torch\n\ntensors = {}\n\n",
        "def keep(name, module):\n    def hook(module, inputs, output):",
        "        output = output[0] if isinstance(output, tuple) else output",
        "        tensors.setdefault(name, output.detach().float().cpu().numpy())",
        "\n    module.register_forward_hook(hook)\n\n",
        "# On the right: where these are in your own encoder.",
        *hooks,
        'keep("layers.0.out", encoder.layers[0])\nkeep("final", encoder)',
        "# x: the words' vectors, as the code of “Take it with you” draws them."
        if given == "x"
        else f"ids = torch.tensor({ids.tolist()})",
        *([] if mask is None else [f"mask = torch.tensor({mask.int().tolist()}).bool()"]),
        f'encoder({given}{"" if mask is None else ", mask"})\nnp.savez("mine.npz", **tensors)\n',
    ]
    return "\n".join(lines)
