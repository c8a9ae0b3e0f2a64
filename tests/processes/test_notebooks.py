"""Notebooks in Jupyter's own client: the exported one, the shipped one, and `show`, which needs no Streamlit."""

import re
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from playground import count_parameters, open_link

LINK = "weights=random&tokenizer=word&d_model=16&n_heads=4&n_layers=2&text=one+two+three"


def execute(notebook: Any, folder: Path) -> Any:
    """Run a notebook where the package is found without being installed."""
    resources = {"metadata": {"path": str(folder)}}
    return nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()


@pytest.fixture
def shipped(repository: Path) -> Any:
    return nbformat.read(repository / "notebooks" / "open_a_link.ipynb", as_version=nbformat.NO_CONVERT)


def paste_and_run(notebook: Any, repository: Path, link: str | None = None) -> dict[str, str]:
    """What each cell writes and shows, by the cell's id, after a link was pasted."""
    (pasted,) = [cell for cell in notebook.cells if cell["id"] == "link"]
    if link is not None:
        assert re.fullmatch('LINK = ".+"', pasted["source"])
        pasted["source"] = f"LINK = {link!r}"
    cells = execute(notebook, repository).cells
    return {cell["id"]: "".join(map(written, cell.get("outputs", []))) for cell in cells}


def written(output: Any) -> str:
    """An output's text, or the names of the forms that it is shown in."""
    data = output.get("data", {})
    chart = "a chart" if "application/vnd.plotly.v1+json" in data else ""
    return str(output.get("text", "")) + str(data.get("text/plain", "")) + chart


def test_as_shipped_it_holds_no_run_and_shows_the_trained_encoder(shipped: Any, repository: Path) -> None:
    nbformat.validate(shipped)
    code = [cell for cell in shipped.cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    shown = paste_and_run(shipped, repository)
    assert "'minilm'" in shown["open"]
    assert f"{count_parameters(open_link('?').config).total:,}" in shown["parameters"]
    assert re.search(r"^ +2 animal +key$", shown["tokens"], re.MULTILINE)
    assert re.search(r"^'it' looks at\n.*%  animal$", shown["query"], re.MULTILINE)
    assert "a chart" in shown["head"]
    assert "a chart" in shown["grid"]
    assert "pins nothing" in shown["pinned"]


def test_a_pasted_link_with_a_pinned_side_and_a_mistake(shipped: Any, repository: Path) -> None:
    link = f"https://host/norms?{LINK}&n_heads=3&query=1&b_n_layers=3&final_norm=true"
    shown = paste_and_run(shipped, repository, link)
    assert "n_heads=3 does not divide" in shown["open"]
    assert re.search(r"^ +1 two +query", shown["tokens"], re.MULTILINE)
    assert "n_layers: 3 is pinned, 2 is shown" in shown["pinned"]
    view = open_link(link)
    weights = view.run.pattern(view.focus.layer)[view.focus.head][view.focus.query]
    assert f"{weights.max():.1%}" in shown["query"]
