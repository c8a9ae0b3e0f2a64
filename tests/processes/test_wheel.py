"""The package as others install it: what is in the wheel, and that what it asks for is enough."""

import os
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import pytest

import playground
from tests.test_package import by_name, project, requirements_of

__all__ = ["project"]  # a fixture


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of what it is made of."""
    folder = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        (folder / name).write_bytes((repository / name).read_bytes())
    for name in ("playground", "pages", "deploy", "benchmarks"):
        copytree(repository / name, folder / name, ignore=ignore_patterns("__pycache__"))
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, "-w", folder / "out", folder], check=True)
    (built,) = (folder / "out").glob("*.whl")
    return built


def test_the_wheel_holds_the_package_with_its_data_and_nothing_else(repository: Path, wheel: Path) -> None:
    files = (path for path in (repository / "playground").rglob("*") if path.is_file())
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith("/METADATA"))
    held = {name for name in names if not name.startswith("transformer_encoder_playground-")}
    assert f"\nVersion: {playground.__version__}\n" in metadata
    assert "License-Expression: Apache-2.0\n" in metadata
    assert {Path(name).name for name in names if "/licenses/" in name} == {"LICENSE", "NOTICE"}
    assert held == {str(path.relative_to(repository)) for path in files if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def clean_python(wheel: Path, project: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has the wheel and what it asks for, by links to what is installed here, and nothing else."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in requirements_of(by_name(project["dependencies"])):
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(str(found.locate_file(top))))
    python = folder / "bin" / "python"
    options = ["--no-deps", "--no-index", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", *options, wheel], check=True)
    return python


def run_clean(command: list[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command away from the repository, without the environment's variables that Python and torch read."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PLAYGROUND"))}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=kept)


EVERYTHING = """
import importlib, pkgutil, sys
import playground
assert "site-packages" in playground.__file__, playground.__file__
for module in pkgutil.walk_packages(playground.__path__, "playground."):
    if not module.name.startswith("playground.web"):
        importlib.import_module(module.name)
assert "streamlit" not in sys.modules
try:
    import playground.web.app
except ModuleNotFoundError as error:
    print("without", error.name)

from playground import open_link
from playground.charts.heads import head_grid
view = open_link("https://host/attention?weights=random&tokenizer=word&d_model=16&n_heads=4&n_layers=2&text=a+b+c")
assert view.run.pattern(1).shape == (4, 3, 3)
assert len(head_grid(view.run.patterns())["data"]) > 0
"""


def test_the_package_needs_nothing_but_what_it_asks_for(clean_python: Path, tmp_path: Path) -> None:
    run = run_clean([clean_python, "-I", "-c", EVERYTHING], tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "without streamlit\n"


def test_the_command_is_installed_and_names_what_is_missing(clean_python: Path, tmp_path: Path) -> None:
    command = clean_python.parent / "playground"
    run = run_clean([command, "a b c", "--preset", "tutorial-b"], tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert "Attention of layer 0, head 1" in run.stdout
    run = run_clean([command, "--link", "https://host/?weights=minilm"], tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert "pip install" in run.stderr
    assert list(tmp_path.iterdir()) == [], "nothing is written"
