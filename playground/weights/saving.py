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
    ("Embedding, positions and encoder", "tutorial-a"): _ALL_OF_A,
    ("Encoder alone", "tutorial-a"): _save("encoder", "tutorial-a"),
    ("One block", "tutorial-b"): _save("block", "tutorial-b"),
    ("Encoder", "tutorial-c"): _save("encoder", "tutorial-c"),
    ("Whole model", "tutorial-d"): _save("model", "tutorial-d"),
    ("Encoder alone", "tutorial-d"): _save("model.encoder", "tutorial-d"),
    ("Whole Transformer", "tutorial-e"): _save("transformer", "tutorial-e"),
}

SAVING_CELLS = {f"{part} · {PRESETS[tutorial].title}": cell for (part, tutorial), cell in _CELLS.items()} | {
    "Another encoder (torch.nn, BERT, …)": _save("model", "model")
}
"""Python to copy, by what it saves; the variables are called as the tutorials' parts are."""
