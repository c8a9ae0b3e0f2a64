"""What a follower of each tutorial has in hand: `state_dict()`s as they are saved, and what their code computes."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from playground import Encoder, EncoderDecoder, ModelConfig, Trace
from playground.presets import PRESETS
from playground.weights import load_weights

FOLDER = Path(__file__).parents[1] / "data" / "as_saved"
NAMES = sorted(path.stem for path in FOLDER.glob("*.safetensors"))
ON_ATTENTION, ON_OUTPUTS = 1e-5, 5e-5

SIZES = {"d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32, "max_len": 6}
VOCABULARY, TARGET_VOCABULARY = 11, 13


@dataclass(frozen=True)
class SavedState:
    """One file: the object's tensors by their names, inputs and outputs, and the architecture that it is of."""

    tutorial: str
    tensors: dict[str, Tensor]
    arrays: dict[str, Tensor]
    config: ModelConfig

    def mask(self) -> Tensor | None:
        """Tutorial E's source is padded with 0; the others have no mask, or one that hides nothing."""
        return self.arrays["ids"] != 0 if self.tutorial == "tutorial-e" else None


@cache
def read(name: str) -> SavedState:
    """Read `NAME.safetensors` and `NAME.npz`."""
    tutorial = f"tutorial-{name[0]}"
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as file:
        arrays = {key: torch.from_numpy(array) for key, array in file.items()}
    sizes: dict[str, Any] = {**SIZES, "vocab_size": VOCABULARY if "ids" in arrays else 0}
    if name == "b_block":
        sizes |= {"n_layers": 1, "d_ff": 64}
    tensors = safetensors.torch.load_file(FOLDER / f"{name}.safetensors")
    return SavedState(tutorial, tensors, arrays, replace(PRESETS[tutorial].config, **sizes))


def load(name: str, **changes: Any) -> Encoder | EncoderDecoder:
    """The model of a file, with its weights."""
    state = read(name)
    config = replace(state.config, **changes)
    has_decoder = state.tutorial == "tutorial-e"
    model = EncoderDecoder(config, TARGET_VOCABULARY, seed=None) if has_decoder else Encoder(config, seed=None)
    load_weights(model, state.tensors, state.tutorial)
    return model


def compute(model: Encoder | EncoderDecoder, state: SavedState) -> tuple[Tensor, Trace]:
    """The output for the file's own input, and the trace: ids are embedded, vectors enter the first block as given."""
    trace, arrays = Trace(), state.arrays
    if isinstance(model, EncoderDecoder):
        return model(arrays["ids"], arrays["tgt"], state.mask(), arrays["tgt"] != 0, trace), trace
    if "ids" in arrays:
        return model(arrays["ids"], None, trace), trace
    return model.encode(arrays["x"], None, trace), trace
