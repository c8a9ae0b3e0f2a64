"""Each cell that the upload panel shows saves the file that opens here, when it is run as it stands."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from playground.weights import SAVING_CELLS, read_tensors
from tests.weights.as_saved import NAMES, read


def module_of(tensors: dict[str, Tensor]) -> nn.Module:
    """A module whose state dict has these tensors by these names."""
    root = nn.Module()
    for name, tensor in tensors.items():
        *folders, last = name.split(".")
        inner = root
        for folder in folders:
            if folder not in dict(inner.named_children()):
                inner.add_module(folder, nn.Module())
            inner = inner.get_submodule(folder)
        inner.register_buffer(last, tensor)
    return root


def variables_of(name: str) -> dict[str, Any]:
    """What a follower of the tutorial has in a notebook."""
    module = module_of(read(name).tensors)
    variables: dict[str, dict[str, Any]] = {
        "a_whole": dict(module.named_children()),
        "a_encoder": {"encoder": module},
        "b_block": {"block": module},
        "c_encoder": {"encoder": module},
        "d_model": {"model": module},
        "d_encoder": {"model": SimpleNamespace(encoder=module)},
        "e_transformer": {"transformer": module},
    }
    return variables[name]


OBJECTS = ["a_whole", "a_encoder", "b_block", "c_encoder", "d_model", "d_encoder", "e_transformer"]
"""In the order of the cells; the last cell is for any other model."""


def test_there_is_a_cell_for_each_object() -> None:
    assert sorted(OBJECTS) == NAMES
    assert len(SAVING_CELLS) == len(OBJECTS) + 1


@pytest.mark.parametrize(("name", "title"), list(zip(OBJECTS, SAVING_CELLS, strict=False)))
def test_a_cell_saves_the_state_that_opens(
    name: str, title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(SAVING_CELLS[title], variables_of(name))
    (file,) = tmp_path.glob("*.safetensors")
    opened, saved = read_tensors(file), read(name).tensors
    assert opened.keys() == saved.keys()
    assert all(torch.equal(opened[key], tensor) for key, tensor in saved.items())
