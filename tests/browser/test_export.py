"""A student takes the setup on the screen along: both files arrive, and the Python one runs."""

import json
from pathlib import Path

import nbformat

from tests.browser.visitor import Visitor
from tests.export.code.written import run_apart

LINK = "/norms?weights=random&tokenizer=char&n_layers=2&d_model=64&n_heads=4&seed=3&causal=true"


def test_both_files_are_downloaded_and_the_python_file_runs(visitor: Visitor, tmp_path: Path) -> None:
    """The file of the trained encoder: tests/web/sidebar/test_export_dialog.py."""
    visitor.open(LINK)
    visitor.unfold("More")
    visitor.widget("export").get_by_role("button").click()
    dialog = visitor.page.get_by_role("dialog")
    with visitor.page.expect_download() as python:
        dialog.get_by_role("button", name="Download encoder.py").click()
    python.value.save_as(tmp_path / python.value.suggested_filename)
    assert "are those of the page" in run_apart(tmp_path / "encoder.py")

    with visitor.page.expect_download() as notebook:
        dialog.get_by_role("button", name="Download encoder.ipynb").click()
    notebook.value.save_as(tmp_path / notebook.value.suggested_filename)
    nbformat.validate(json.loads((tmp_path / "encoder.ipynb").read_text(encoding="utf-8")))
    visitor.page.keyboard.press("Escape")
    visitor.settled()
