"""A visitor's tensors from a file of NumPy or safetensors, never from a pickle; and code that saves them."""

import io
import zipfile
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import InputError

MAX_BYTES = 8 * 2**20
"""Of a file, and of all that it unpacks to."""

MAX_ARRAYS = 1_000

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
    except Exception as error:  # a damaged file raises what zipfile, NumPy's own parser and safetensors think of
        raise InputError(
            f"This is no readable file of tensors: save it with {HOW_TO_SAVE}. Pickles are not opened."
        ) from error
    if len(arrays) > MAX_ARRAYS:
        raise InputError(f"The file has {len(arrays):,} tensors; at most {MAX_ARRAYS:,} are read.")
    return arrays


def _read_npz(data: bytes) -> dict[str, NDArray[Any]]:
    entries = zipfile.ZipFile(io.BytesIO(data)).infolist()
    if len(entries) > MAX_ARRAYS or sum(entry.file_size for entry in entries) > MAX_BYTES:
        raise InputError(f"The file unpacks to more than {MAX_ARRAYS:,} tensors or {MAX_BYTES:,} bytes. Save fewer.")
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files if name != "about"}  # which files of this app have
    if not all(isinstance(each, np.ndarray) for each in arrays.values()):  # as in a file of torch.save
        raise ValueError("not only arrays")
    return arrays


def write_saving_code(config: ModelConfig, ids: Tensor, mask: Tensor | None) -> str:
    """Return code that saves what an `encoder` computes, by the names of a trace.

    Its module tree is that of the code that the app writes; a module may return a tuple, its output first. `ids` are
    (1, T) int64; vectors (1, T, d_model) are called `x`.
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
