"""What the app shows to be copied runs beside the files that it writes, and opens where the app says."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from playground import Encoder
from playground.diagnosis import diagnose, read_arrays, write_saving_code
from playground.web.sidebar.weights_panels import HOW_TO_SAVE
from playground.weights import read_tensors
from tests.export.code.setups import arguments, export
from tests.export.code.test_python_file import SMALL
from tests.export.code.written import run_here

ARCHITECTURES: list[dict[str, Any]] = [
    {"norm_placement": "pre", "final_norm": True, "first_norm": False, "positions": "rotary", "n_kv_heads": 2},
    {"norm_placement": "both", "norm": "rms", "activation": "silu", "gated": True, "bias": False, "qk_norm": True},
    {"norm": "none", "residual": False, "positions": "alibi", "window": 2, "global_every": 2},
    {"norm": "scalar", "share_layers": True, "positions": "learned", "embedding_norm": True},
    {"positions": "rotary", "tied": "merged", "d_head": 6},
    {"positions": "relative", "relative_buckets": 8, "fused_qkv": True, "d_embedding": 8, "n_segments": 2},
]

JOINED = {"positions": "learned", "tied": "shared", "position_join": "concatenate", "position_offset": 2}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run_file(fields: dict[str, Any], tokenizer: str, *, causal: bool) -> tuple[dict[str, Any], Encoder]:
    """The names that a file leaves behind, and the app's encoder."""
    given = arguments(replace(SMALL, **fields), "the cat sat on the mat", tokenizer, causal=causal, seed=1)
    return run_here(export(**given).python()), Encoder(given["config"], seed=1)


@pytest.mark.parametrize(("tokenizer", "causal"), [("word", False), ("vectors", True)])
@pytest.mark.parametrize("fields", ARCHITECTURES, ids=str)
def test_the_code_of_diagnosis_saves_what_an_exported_encoder_computes(
    fields: dict[str, Any], tokenizer: str, causal: bool
) -> None:
    names, encoder = run_file(fields, tokenizer, causal=causal)
    ids = names["ids" if tokenizer == "word" else "x"]
    mask = names["mask"][None] if causal else None
    exec(write_saving_code(encoder.config, ids, mask), names)
    saved = read_arrays(Path("mine.npz").read_bytes())
    assert {"final", "layers.0.attn.out", "layers.0.ffn.out", "layers.0.out"} <= saved.keys()
    assert ("layers.0.norm2.out" in saved) == (encoder.config.norm != "none")
    assert diagnose(encoder, ids, saved, mask).first is None


@pytest.mark.parametrize("fields", [*ARCHITECTURES, JOINED], ids=str)
def test_the_cell_for_another_encoder_saves_an_exported_one(fields: dict[str, Any]) -> None:
    names, encoder = run_file(fields, "word", causal=False)
    exec(HOW_TO_SAVE, {"model": names["encoder"]})
    opened = read_tensors(Path("model.safetensors"))
    assert opened.keys() == encoder.state_dict().keys()  # what is shared stands there once, with its aliases
