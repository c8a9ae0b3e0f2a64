"""An encoder–decoder's file runs in every configuration, and gives the page's numbers."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import ModelConfig
from playground.errors import InputError
from playground.export import as_notebook, as_python
from tests.export.code.setups import TOKENIZERS, arguments
from tests.export.code.test_python_file import SMALL
from tests.export.code.written import code_cells, complaints, run_here
from tests.model.strategies import configs

SOURCE = "the cat sees\nthe big cat sees a small house"
TARGETS = "le chat voit", "le chat voit\nle grand chat voit une petite maison", "une\nle grand"


def write(config: ModelConfig, target: str, tokenizer: str, sentence: int, seed: int) -> str:
    options = arguments(config, SOURCE, tokenizer, sentence=sentence, seed=seed)
    return as_python(options.config, target=target, **options.options)


@pytest.mark.long
@settings(max_examples=15, deadline=None, derandomize=True)
@given(configs(max_len=64), st.sampled_from(TARGETS), st.sampled_from(TOKENIZERS[:3]), st.integers(0, 1))
def test_any_pair_runs_and_gives_the_pages_numbers(
    config: ModelConfig, target: str, tokenizer: str, sentence: int
) -> None:
    names = run_here(write(config, target, tokenizer, sentence, seed=11))
    rows = arguments(config, SOURCE, tokenizer).config.vocab_size
    assert names["config"] == replace(config, vocab_size=rows)
    assert names["logits"].isfinite().all()


def test_padding_has_positions_of_its_own_where_they_do_not_begin_at_zero() -> None:
    run_here(write(replace(SMALL, positions="learned", position_offset=2), TARGETS[0], "word", 0, seed=11))


def test_files_need_no_formatter_and_no_linter(tmp_path: Path) -> None:
    variants = [
        SMALL,
        replace(SMALL, norm_placement="pre", norm="rms", final_norm=True, fused_qkv=True),
        replace(SMALL, norm="none", residual=False, initialisation="torch", positions="learned"),
    ]
    paths = [tmp_path / f"pair_{i}.py" for i in range(2 * len(variants))]
    for i, path in enumerate(paths):
        path.write_text(write(variants[i // 2], TARGETS[1], "word", i % 2, seed=0), encoding="utf-8")
    assert complaints(*paths) == ""


def test_the_notebook_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec("\n".join(code_cells(as_notebook(SMALL, text=SOURCE, target=TARGETS[0]))), {})
    assert "are those of the page" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "options", "word"),
    [("", {}, "target"), ("le", {"weights": "minilm"}, "random"), ("le", {"causal": True}, "whole source"),
     ("le", {"tokenizer": "vectors"}, "vocab_size")],
)  # fmt: skip
def test_what_cannot_be_written_is_one_sentence(target: str, options: dict[str, object], word: str) -> None:
    with pytest.raises(InputError, match=word):
        as_python(SMALL, text=SOURCE, target=target, **options)
