"""An exported file, run beside the trained weights."""

from pathlib import Path

import pytest

from playground.export import Place, as_python
from playground.presets import PRESETS
from playground.weights.checkpoint import MINILM_SHA256, VOCABULARY, WEIGHTS
from tests.export.code.setups import TEXTS
from tests.export.code.written import complaints, run_apart, run_here


def test_trained_weights_are_checked_by_hash_and_give_the_pages_numbers(tmp_path: Path) -> None:
    code = as_python(PRESETS["minilm-l6"].config, weights="minilm", place=Place(2, 7, 5), text=TEXTS[1])
    path = tmp_path / "trained.py"
    path.write_text(code, encoding="utf-8")
    assert complaints(path) == ""
    assert "are those of the page" in run_apart(path)
    for name in (WEIGHTS, VOCABULARY):
        with pytest.raises(AssertionError, match=f"{name} is not the file that was published"):
            run_here(code.replace(MINILM_SHA256[name], MINILM_SHA256[name][::-1]))
