"""An encoder–decoder's script runs, and gives the page's numbers."""

from dataclasses import replace
from pathlib import Path

import pytest

from playground import EncoderDecoder, ModelConfig
from playground.errors import InputError
from playground.export.code import export_pair
from playground.export.written import Export
from playground.link.opening import Focus
from playground.runs.pair_run import run_pair
from playground.text import words
from tests.export.code.test_python_file import SMALL
from tests.export.code.written import complaints, run_here

SOURCE, TARGET = ["the cat sees", "the big cat sees a small house"], ["le chat voit"]
VARIANTS = [
    SMALL,
    replace(SMALL, norm_placement="pre", norm="rms", final_norm=True, fused_qkv=True),
    replace(SMALL, norm="none", residual=False, initialisation="torch", positions="learned", position_offset=2),
]


def export(config: ModelConfig, sentence: int = 0, target: list[str] = TARGET) -> Export:
    tokenizer = words(target)
    run = run_pair(
        EncoderDecoder(config, tokenizer.vocab_size, 11),
        words(SOURCE).encode_batch(SOURCE), tokenizer.encode_batch(target), sentence, 0,
    )  # fmt: skip
    return export_pair(run, tokenizer.vocab_size, seed=11, focus=Focus(1, 2, 1, 0))


@pytest.mark.parametrize("config", VARIANTS)
@pytest.mark.parametrize("sentence", [0, 1])
def test_a_pair_runs_and_gives_the_pages_numbers(config: ModelConfig, sentence: int, tmp_path: Path) -> None:
    code = export(config, sentence).python()
    assert run_here(code)["config"] == config
    (tmp_path / "pair.py").write_text(code, encoding="utf-8")
    assert complaints(tmp_path / "pair.py") == ""


def test_without_a_token_there_is_nothing_to_write() -> None:
    with pytest.raises(InputError, match="no token"):
        export(SMALL, target=["", "le"])
