"""The exported notebook in Jupyter's own client."""

import nbclient
import nbformat

from playground.export import as_notebook
from tests.export.code.test_python_file import SMALL


def test_it_runs_and_its_numbers_are_those_of_the_page() -> None:
    node = nbformat.reads(as_notebook(SMALL), as_version=4)
    nbclient.NotebookClient(node, timeout=120, kernel_name="python3").execute()
    cells = [cell for cell in node.cells if cell.cell_type == "code"]
    printed = ["".join(output.get("text", "") for output in cell.outputs) for cell in cells]
    assert any("are those of the page" in text for text in printed)
