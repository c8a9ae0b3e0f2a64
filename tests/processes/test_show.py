"""`show` draws a page's charts in a notebook, as the page does, without Streamlit."""

from pathlib import Path

import nbclient
import nbformat
import pytest

from playground import show
from playground.errors import InputError

SMALL = "weights=random&tokenizer=word&d_model=16&n_heads=4&n_layers=2&text=one+two+three"

SHOW = """
import sys
from playground import open_link, show
show({link!r})
assert "streamlit" not in sys.modules
"""


def run_notebook(repository: Path, link: str) -> list[nbformat.NotebookNode]:
    """The outputs of one cell that shows a link."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SHOW.format(link=link))])
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(repository)}}
    ).execute()
    outputs: list[nbformat.NotebookNode] = notebook.cells[0].outputs
    return outputs


def test_a_notebook_shows_the_charts_captions_and_tables_of_both_settings(repository: Path) -> None:
    outputs = run_notebook(repository, f"http://host/norms?{SMALL}&norms_closer=true&b_seed=3")
    charts = [
        each.data["application/vnd.plotly.v1+json"] for each in outputs if "application/vnd.plotly.v1+json" in each.data
    ]
    assert [chart["data"][0]["type"] for chart in charts] == ["scatter", *["heatmap"] * 5]
    words = " ".join(each.data.get("text/markdown", "") for each in outputs)
    assert words.count("In the same colours.") == 1
    tables = [each.data["text/html"] for each in outputs if "<table" in each.data.get("text/html", "")]
    assert len(tables) == 6
    assert "now − pinned" in tables[0]


@pytest.mark.parametrize(("link", "reason"), [("http://host/training", "can't be shown in a notebook"), ("", "no")])
def test_what_cannot_be_shown_is_said_in_a_sentence(link: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        show(link)
