"""The Python that the documents show runs as it stands there, with the numbers that it prints or its comments name."""

import doctest
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import torch

from playground.command_line import main

ROOT = Path(__file__).resolve().parent.parent


def blocks(document: str, kind: str = "python") -> list[str]:
    """The Python of a document, block by block; `pycon` is what a session prints too."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def run(code: str, **names: Any) -> dict[str, Any]:
    exec(compile(code, "documented", "exec"), names)
    return names


def block_with(document: str, words: str) -> str:
    (found,) = (each for each in blocks(document) if words in each)
    return found


def test_every_block_is_run_by_a_test_here() -> None:
    documents = ("README.md", "docs/package.md", "docs/small_english.md")
    assert [len(blocks(document)) for document in documents] == [1, 1, 1]


@pytest.mark.long
def test_the_sessions_of_the_package_print_what_the_document_says() -> None:
    sessions = "\n".join(blocks("docs/package.md", "pycon"))
    code = sessions.replace("path/to/ModernBERT-base", str(ROOT / "tests/data/families/modernbert"))
    asked = doctest.DocTestParser().get_doctest(code, {}, "package.md", None, 0)
    printed: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    results = runner.run(asked, out=printed.append)
    assert (results.failed, results.attempted) == (0, sessions.count(">>> ")), "".join(printed)


def check_tour(names: dict[str, Any]) -> None:
    assert names["out"].shape == (*names["batch"].ids.shape, 384)
    torch.testing.assert_close(names["trace"]["layers.3.attn.pattern"][0, 1].sum(-1), torch.ones(names["out"].shape[1]))
    assert names["count_parameters"](names["encoder"].config).total == 22_565_376
    own = names["pre_norm"]
    assert (own.config.norm_placement, own(names["batch"].ids).shape[:2]) == ("pre", names["out"].shape[:2])


def test_the_readme() -> None:
    names = run(block_with("README.md", "load("))
    check_tour(names)
    assert names["view"].run.pattern(3)[1][10].argmax() == names["view"].focus.key == 2
    assert names["run"].effect_of("heads").shape == (6, 12)


def test_the_small_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAYGROUND_NETWORKS", str(tmp_path))
    code = block_with("docs/small_english.md", "load(")
    names = run(code)
    assert names["network"].predict("the keys near the old box [MASK] rusty .")[0] == (
        "are",
        pytest.approx(0.9999, abs=1e-4),
    )
    assert names["no_positions"].encoder.config.positions == "none"
    assert f'answer  # "{names["CAPABILITIES"]["recall"].examples(3, seed=1)[0].answer}"' in code
    assert not list(tmp_path.iterdir())  # both come with the package


@pytest.mark.long
def test_a_training() -> None:
    names = run(block_with("docs/package.md", "Trainer("))
    assert names["trainer"].history.evaluations[-1].validation.accuracy > 0.95


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs/package.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^    playground (\".*)$", text, re.MULTILINE)
    assert main(shlex.split(line)) == 0
    assert "Attention of layer 1, head 2" in capsys.readouterr().out
