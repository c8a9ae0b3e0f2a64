"""The exported notebook in Jupyter's own client: its exercises are open, and then right."""

import re

import nbclient
import nbformat
from tests.export.code.test_exercises import LENGTHS, PLAIN, POST_NORM, SHARES

from playground.export import as_notebook
from tests.export.code.test_python_file import SMALL


def execute(node: nbformat.NotebookNode) -> list[str]:
    """What each code cell prints."""
    nbclient.NotebookClient(node, timeout=120, kernel_name="python3").execute()
    cells = [cell for cell in node.cells if cell.cell_type == "code"]
    return ["".join(output.get("text", "") for output in cell.outputs) for cell in cells]


def test_exercises_are_open_and_right_answers_are_called_right() -> None:
    node = nbformat.reads(as_notebook(SMALL), as_version=4)
    printed = execute(node)
    assert any("are those of the page" in text for text in printed)
    assert [text.strip() for text in printed[-6:-1:2]] == [f"Exercise {n} is open." for n in (1, 2, 3)]
    cells = [cell for cell in node.cells if cell.cell_type == "code"][-7:-1]
    loss, _, _ = cells[4].source.partition("def gradient_lengths")
    cells[0].source, cells[2].source, cells[4].source = SHARES, POST_NORM, loss + LENGTHS + PLAIN
    told = "\n".join(execute(node)[-6:-1:2])
    assert told.count("right") == 4 + 6 + 2
    assert not re.search("not yet|open", told)
    assert len(re.findall(r"layer \d: \S+ as on the page", told)) == SMALL.n_layers
