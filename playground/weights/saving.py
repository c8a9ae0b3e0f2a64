"""The cell of a notebook that saves what a follower of each tutorial has in hand, as a file that opens here."""

from playground.presets import PRESETS

_IMPORT = "from safetensors.torch import save_file"


def _save(variable: str, file: str) -> str:
    return f'{_IMPORT}\n\nsave_file({variable}.state_dict(), "{file}.safetensors")'


_ALL_OF_A = f"""{_IMPORT}
from torch.nn import ModuleDict

parts = {{"embedding": embedding, "pos_encoding": pos_encoding, "encoder": encoder}}
save_file(ModuleDict(parts).state_dict(), "tutorial-a.safetensors")"""

_CELLS = {
    ("tutorial-a", "embedding, positions and encoder"): _ALL_OF_A,
    ("tutorial-a", "the encoder alone"): _save("encoder", "tutorial-a"),
    ("tutorial-b", "one block"): _save("block", "tutorial-b"),
    ("tutorial-c", "the encoder"): _save("encoder", "tutorial-c"),
    ("tutorial-d", "the whole model"): _save("model", "tutorial-d"),
    ("tutorial-d", "the encoder alone"): _save("model.encoder", "tutorial-d"),
    ("tutorial-e", "the whole Transformer"): _save("transformer", "tutorial-e"),
}

SAVING_CELLS = {f"{PRESETS[tutorial].title} · {part}": cell for (tutorial, part), cell in _CELLS.items()} | {
    "Another encoder (torch.nn, BERT, …)": _save("model", "model")
}
"""Python to copy, by what it saves; the variables are called as the tutorials' parts are."""
