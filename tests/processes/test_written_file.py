"""An exported file, run beside the trained weights."""

from pathlib import Path
from urllib.parse import urlencode

import pytest

from playground import open_link
from playground.export import as_python
from playground.weights.checkpoint import MINILM_SHA256, VOCABULARY, WEIGHTS
from tests.export.code.setups import TEXTS
from tests.export.code.written import complaints, run_apart, run_here


def test_trained_weights_are_checked_by_hash_and_give_the_pages_numbers(tmp_path: Path) -> None:
    code = as_python(open_link(urlencode({"weights": "minilm", "layer": 2, "head": 7, "query": 5, "text": TEXTS[1]})))
    path = tmp_path / "trained.py"
    path.write_text(code, encoding="utf-8")
    assert complaints(path) == ""
    assert "are those of the page" in run_apart(path)
    for name in (WEIGHTS, VOCABULARY):
        with pytest.raises(AssertionError, match=f"{name} is not the file that was published"):
            run_here(code.replace(MINILM_SHA256[name], MINILM_SHA256[name][::-1]))
