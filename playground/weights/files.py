"""A stranger's weights file into tensors: checked before it is believed, and never a pickle; how to save one."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from playground.errors import WeightsError
from playground.presets import PRESETS
from playground.text.foreign_json import read_json
from playground.text.wording import quote_text

MAX_BYTES = 200 * 2**20
"""Of one file."""

MAX_TENSORS = 2_000
"""Of one file; BERT large has 391."""

MAX_HEADER_BYTES = 4 * 2**20
"""Of the description in front of the numbers: far more than `MAX_TENSORS` need."""

HOW_TO_SAVE = 'safetensors.torch.save_file(model.state_dict(), "model.safetensors")'

_BYTES = {"F32": 4, "F16": 2, "BF16": 2, "I64": 8, "BOOL": 1}
"""Bytes a number, by the format's name for it. Integers and masks are some models' buffers; no parameter is loaded from
them."""

_PICKLES = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
"""How the files of `torch.save` begin, new and old, and pickles in general."""


def read_tensors(source: bytes | Path) -> dict[str, Tensor]:
    """Read a safetensors file, given as its bytes or its path; every float becomes float32.

    A tensor's name is a key of the dictionary and nothing else: it is never taken for a path.

    Raises:
        WeightsError: the file can't be read, is too large, damaged or of another format, or holds more tensors, other
            names or other numbers than a model's weights do.
    """
    data = source if isinstance(source, bytes) else read_file(source)
    check_size(len(data))
    names = _checked_names(data)
    try:
        tensors = safetensors.torch.load(data)
    except (SafetensorError, RuntimeError) as error:  # the second is torch's, for shapes that no tensor can have
        raise WeightsError("The file's header does not describe what follows it: the file is damaged.") from error
    tensors = {name: tensors[name] for name in names if tensors[name].dtype != torch.bool}
    tensors = {name: each.float() if each.is_floating_point() else each for name, each in tensors.items()}
    return name_aliases(tensors, read_metadata(data))


def name_aliases(tensors: dict[str, Tensor], metadata: Mapping[str, str]) -> dict[str, Tensor]:
    """The tensors, and again those that `safetensors.torch.save_model` stored once for several names.

    Its metadata has the name that was left out and the one that was kept.
    """
    return {name: tensors[kept] for name, kept in metadata.items() if kept in tensors} | tensors


def read_metadata(data: bytes) -> dict[str, str]:
    """What stands in a safetensors file beside its tensors: text by name, which nothing vouches for.

    For the bytes of a file that `read_tensors` takes.
    """
    length = int.from_bytes(data[:8], "little")
    metadata = read_json(data[8 : 8 + length]).get("__metadata__")
    if not isinstance(metadata, dict):
        return {}
    return {name: text for name, text in metadata.items() if isinstance(text, str)}


def first_not_finite(tensors: Mapping[str, Tensor]) -> str | None:
    """The name of the first tensor that holds NaN or an infinite number, if there is one."""
    return next((name for name, tensor in tensors.items() if not torch.isfinite(tensor).all()), None)


def read_file(path: Path) -> bytes:
    """A file's bytes; WeightsError if it is too large or can't be read."""
    try:
        check_size(path.stat().st_size)
        return path.read_bytes()
    except OSError as error:
        raise WeightsError(f"{quote_text(path.name)} can't be read: {error.strerror}.") from error


def check_size(n_bytes: int) -> None:
    """Raise WeightsError if files have more bytes than can be opened."""
    if n_bytes > MAX_BYTES:
        raise WeightsError(f"The file has {n_bytes / 2**20:,.1f} MB; at most {MAX_BYTES // 2**20} MB can be opened.")


def _checked_names(data: bytes) -> list[str]:
    """The tensors' names, in the header's order, if the header can describe what follows it.

    The layout of the format: the header's length in 8 bytes, the header in JSON, numbers.
    """
    if not data:
        raise WeightsError("The file is empty.")
    length = int.from_bytes(data[:8], "little")
    room = max(0, len(data) - 8)
    if length > room or data[8:9] != b"{":
        if data.startswith(_PICKLES):
            raise WeightsError(
                "This is a pickle, as torch.save writes it, which may run any code and is never opened; "
                f"save the weights with `{HOW_TO_SAVE}` instead."
            )
        raise WeightsError(
            f"This is no safetensors file, or a damaged one: it announces a header of {length:,} bytes, and "
            f"{room:,} follow; `{HOW_TO_SAVE}` writes one."
        )
    if length > MAX_HEADER_BYTES:
        raise WeightsError(f"The header has {length:,} bytes; at most {MAX_HEADER_BYTES:,} are read.")
    entries = _entries(data[8 : 8 + length])
    needed = sum(_checked_bytes(name, entry) for name, entry in entries.items())
    if needed != room - length:
        raise WeightsError(
            f"The header describes {needed:,} bytes of numbers, and {room - length:,} follow it: the file is damaged."
        )
    return list(entries)


def _entries(header: bytes) -> dict[str, Any]:
    """What the header says of each tensor, by its name."""
    try:
        entries = read_json(header)
    except ValueError as error:
        raise WeightsError("The file's header is not valid JSON, or says too much: the file is damaged.") from error
    entries.pop("__metadata__", None)  # an object, since it begins with a brace
    if not entries:
        raise WeightsError("There are no tensors in the file.")
    if len(entries) > MAX_TENSORS:
        raise WeightsError(f"The file holds {len(entries):,} tensors; at most {MAX_TENSORS:,} can be opened.")
    return dict(entries)


def _checked_bytes(name: str, entry: Any) -> int:
    """The bytes that a tensor takes, as its entry in the header says."""
    if not re.fullmatch(r"[\w.-]{1,200}", name):
        raise WeightsError(
            f"A tensor is called {quote_text(name)}; a state_dict's names have letters, digits, “_”, “-” and “.”, "
            "200 at most."
        )
    if not isinstance(entry, dict) or not _is_shape(entry.get("shape")):
        raise WeightsError(f"The header gives no shape for {name}: the file is damaged.")
    dtype = entry.get("dtype")
    if not isinstance(dtype, str) or dtype not in _BYTES:
        raise WeightsError(
            f"{name} holds {quote_text(str(dtype))} numbers; only F32, F16 and BF16 can be read, see `model.float()`."
        )
    return math.prod(entry["shape"]) * _BYTES[dtype]


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, list) and len(shape) <= 8 and all(type(n) is int and 0 <= n < 2**63 for n in shape)


_IMPORT = "from safetensors.torch import save_file"


def _save(variable: str, file: str) -> str:
    return f'{_IMPORT}\n\nsave_file({variable}.state_dict(), "{file}.safetensors")'


_ALL_OF_A = f"""{_IMPORT}
from torch.nn import ModuleDict

parts = {{"embedding": embedding, "pos_encoding": pos_encoding, "encoder": encoder}}
save_file(ModuleDict(parts).state_dict(), "tutorial-a.safetensors")"""

_CELLS = {
    ("Embedding, positions and encoder", "tutorial-a"): _ALL_OF_A,
    ("Encoder alone", "tutorial-a"): _save("encoder", "tutorial-a"),
    ("One block", "tutorial-b"): _save("block", "tutorial-b"),
    ("Encoder", "tutorial-c"): _save("encoder", "tutorial-c"),
    ("Whole model", "tutorial-d"): _save("model", "tutorial-d"),
    ("Encoder alone", "tutorial-d"): _save("model.encoder", "tutorial-d"),
    ("Whole Transformer", "tutorial-e"): _save("transformer", "tutorial-e"),
}

SAVING_CELLS = {f"{part} · {PRESETS[tutorial].title}": cell for (part, tutorial), cell in _CELLS.items()} | {
    "Another encoder (torch.nn, BERT, …)": "from safetensors.torch import save_model  # also of shared weights\n\n"
    'save_model(model, "model.safetensors")'
}
"""Python to copy, by what it saves; the variables are called as the tutorials' parts are."""
