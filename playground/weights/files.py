"""Read a stranger's weights file into tensors: checked first, and never a pickle."""

import re
from collections.abc import Mapping
from pathlib import Path

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from playground.errors import WeightsError
from playground.text.foreign_json import read_json
from playground.text.wording import quote_text

MAX_BYTES = 200 * 2**20
"""Of one file."""

MAX_TENSORS = 2_000
"""BERT large has 391."""

MAX_HEADER_BYTES = 4 * 2**20
"""Far more than `MAX_TENSORS` need."""

_DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int64)

_PICKLES = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
"""How they begin."""


def read_tensors(source: bytes | Path) -> dict[str, Tensor]:
    """Read a safetensors file, given as its bytes or its path; floats become float32, and masks are left out.

    Raises:
        WeightsError: the file can't be read, is too large, damaged, of another format, or no model's weights.
    """
    data = source if isinstance(source, bytes) else _read_file(source)
    check_size(len(data))
    _check_header(data)
    try:
        metadata = read_metadata(data)
        tensors = safetensors.torch.load(data)
    except (SafetensorError, RuntimeError, ValueError, KeyError) as error:
        raise WeightsError("The file is damaged: its header does not describe what follows it.") from error
    if not 0 < len(tensors) <= MAX_TENSORS:
        raise WeightsError(f"The file holds {len(tensors):,} tensors; from 1 to {MAX_TENSORS:,} can be opened.")
    tensors = {name: tensor for name, tensor in tensors.items() if tensor.dtype != torch.bool}
    for name, tensor in tensors.items():
        if not re.fullmatch(r"[\w.-]{1,200}", name):
            raise WeightsError(f"A tensor is called {quote_text(name)}, which is no name of a state_dict.")
        if tensor.dtype not in _DTYPES:
            raise WeightsError(f"{name} holds {tensor.dtype} numbers; only float32, float16 and bfloat16 can be read.")
    tensors = {name: each.float() if each.is_floating_point() else each for name, each in tensors.items()}
    return name_aliases(tensors, metadata)


def name_aliases(tensors: dict[str, Tensor], metadata: Mapping[str, str]) -> dict[str, Tensor]:
    """Return the tensors, with those again that `save_model` stored once under another name."""
    return {name: tensors[kept] for name, kept in metadata.items() if kept in tensors} | tensors


def read_metadata(data: bytes) -> dict[str, str]:
    """Return the text beside a safetensors file's tensors; nothing vouches for it."""
    length = int.from_bytes(data[:8], "little")
    metadata = read_json(data[8 : 8 + length]).get("__metadata__")
    if not isinstance(metadata, dict):
        return {}
    return {name: text for name, text in metadata.items() if isinstance(text, str)}


def first_not_finite(tensors: Mapping[str, Tensor]) -> str | None:
    """Return the name of the first tensor that holds NaN or an infinite number."""
    return next((name for name, tensor in tensors.items() if not torch.isfinite(tensor).all()), None)


def _read_file(path: Path) -> bytes:
    try:
        check_size(path.stat().st_size)
        return path.read_bytes()
    except OSError as error:
        raise WeightsError(f"{quote_text(path.name)} can't be read: {error.strerror}.") from error


def check_size(n_bytes: int) -> None:
    """Raise WeightsError for more bytes than can be opened."""
    if n_bytes > MAX_BYTES:
        raise WeightsError(f"The file has {n_bytes / 2**20:,.1f} MB; at most {MAX_BYTES // 2**20} MB can be opened.")


def _check_header(data: bytes) -> None:
    """Raise WeightsError unless the file begins with a header's length and JSON."""
    length = int.from_bytes(data[:8], "little")
    if length > len(data) - 8 or data[8:9] != b"{":
        what = "This is a pickle, which may run any code and is never opened"
        if not data.startswith(_PICKLES):
            what = "This is no safetensors file, or a damaged one"
        how = 'safetensors.torch.save_file(model.state_dict(), "model.safetensors")'
        raise WeightsError(f"{what}; `{how}` writes one.")
    if length > MAX_HEADER_BYTES:
        raise WeightsError(f"The header has {length:,} bytes; at most {MAX_HEADER_BYTES:,} are read.")
