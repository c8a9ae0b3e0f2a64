"""A notebook is valid, runs from top to bottom, and compares another encoder."""

import re

import nbclient
import nbformat
import pytest

from tests.export.code.setups import export
from tests.export.code.test_python_file import SMALL
from tests.export.code.written import code_cells


@pytest.fixture(scope="module")
def notebook() -> str:
    return export(SMALL).notebook()


def test_it_runs_from_top_to_bottom(notebook: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec("\n".join(code_cells(notebook)), {})
    assert "are those of the page" in capsys.readouterr().out


def test_one_concept_has_one_explanation_and_one_cell(notebook: str) -> None:
    node = nbformat.reads(notebook, as_version=4)
    kinds = [cell.cell_type for cell in node.cells]
    assert kinds[:3] == ["markdown", "code", "code"]
    assert kinds[3:] == ["markdown", "code"] * ((len(kinds) - 3) // 2)
    assert all(len(cell.source.split("\n\n", 1)[1]) > 40 for cell in node.cells[3:] if cell.cell_type == "markdown")


def test_file_and_notebook_have_the_same_code(notebook: str) -> None:
    code = export(SMALL).python()
    cells = code_cells(notebook)
    assert all(cell in code for cell in cells[2:-1])
    imports = set(code.partition('"""\n\n')[2].split("\n\n\n")[0].splitlines())
    assert {line for line in imports if "import" in line} <= set(cells[1].splitlines())
    defined = set(re.findall(r"^(?:class|def) (\w+)", code, re.MULTILINE))
    assert defined == set(re.findall(r"^(?:class|def) (\w+)", "\n".join(cells[:-1]), re.MULTILINE))


@pytest.mark.long
def test_another_encoder_is_compared_with_it_and_its_mistake_is_named(notebook: str) -> None:
    node = nbformat.reads(notebook, as_version=4)
    nbclient.NotebookClient(node, timeout=120, kernel_name="python3").execute()
    printed = "".join(output.get("text", "") for output in node.cells[-1].outputs)
    agree, _, named = printed.partition("\n")
    assert agree == "0 of 6 tensors differ from the model's."
    assert "`activation-forgotten`" in named
