"""What was written, run: in a fresh namespace, or in a process of its own."""

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


def run_here(code: str) -> dict[str, Any]:
    """The names that a file leaves behind; its assertions hold, or this raises."""
    names: dict[str, Any] = {"__name__": "written"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "written.py", "exec"), names)
    return names


def run_apart(path: Path) -> str:
    """What a file prints, run in its own folder by a Python that cannot import the playground."""
    result = subprocess.run(
        [sys.executable, "-I", "-W", "error", path.name], cwd=path.parent, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def complaints(*files: Path) -> str:
    """What ruff's formatter and linter say of files, by the project's rules; a script may assert and print."""
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--config", str(ROOT / "pyproject.toml")]
    names = [str(path) for path in files]
    formatted = subprocess.run([*ruff, "format", "--diff", *options, *names], capture_output=True, text=True)
    checked = subprocess.run(
        [*ruff, "check", "--no-cache", "--output-format", "concise", "--extend-ignore", "S101,T201", *options, *names],
        capture_output=True,
        text=True,
    )
    return (formatted.stdout if formatted.returncode else "") + (checked.stdout if checked.returncode else "")


def code_cells(notebook: str) -> list[str]:
    """A notebook's code, cell by cell."""
    return ["".join(cell["source"]) for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]
