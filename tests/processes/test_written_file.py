"""An exported file, run where there is no playground: by itself, and beside the trained weights."""

import re
from pathlib import Path

import pytest

from playground import ModelConfig
from playground.export import Place, as_python
from playground.presets import PRESETS
from playground.weights.checkpoint import MINILM_SHA256, VOCABULARY, WEIGHTS
from tests.export.code.setups import TEXTS, TOKENIZERS, arguments
from tests.export.code.written import complaints, run_apart, run_here


def test_a_file_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    config = ModelConfig(vocab_size=100, d_model=16, n_heads=4, n_layers=2, d_ff=24, max_len=64)
    given, path = arguments(config, TEXTS[0], TOKENIZERS[0]), tmp_path / "written.py"
    path.write_text(as_python(given.config, **given.options), encoding="utf-8")
    assert "are those of the page" in run_apart(path)
    imported = set(re.findall(r"^(?:import|from) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    assert imported <= {"hashlib", "math", "functools", "torch"}


def test_trained_weights_are_checked_by_hash_and_give_the_pages_numbers(tmp_path: Path) -> None:
    code = as_python(PRESETS["minilm-l6"].config, weights="minilm", place=Place(2, 7, 5), text=TEXTS[1])
    path = tmp_path / "trained.py"
    path.write_text(code, encoding="utf-8")
    assert complaints(path) == ""
    assert "are those of the page" in run_apart(path)
    for name in (WEIGHTS, VOCABULARY):
        with pytest.raises(AssertionError, match=f"{name} is not the file that was published"):
            run_here(code.replace(MINILM_SHA256[name], MINILM_SHA256[name][::-1]))
