"""The package as others install it: what is in the wheel, what it asks for, and that this is enough."""

import ast
import hashlib
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OWN_NAME = "transformer-encoder-playground"
OPTIONAL = {"app": "playground/web", "cluster": "playground/jobs", "notebook": "playground/notebook.py"}
"""Extras, and where what they bring may be imported."""


@pytest.fixture(scope="module")
def project(repository: Path) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def by_name(lines: list[str]) -> dict[str, Requirement]:
    requirements = map(Requirement, lines)
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


def pinned(file: Path) -> dict[str, Requirement]:
    """The pinned requirements of a file, without those of files that it includes."""
    lines = [line.partition("#")[0].strip() for line in file.read_text(encoding="utf-8").splitlines()]
    return by_name([line for line in lines if line and not line.startswith("-r")])


# --- one list, in bounds and in pins


def test_every_pin_is_asked_for_once_and_lies_within_its_bounds(repository: Path, project: dict[str, Any]) -> None:
    extras = project["optional-dependencies"]
    assert set(extras) == {"app", "train", "notebook", "cluster"}
    core, app, cluster = (by_name(lines) for lines in (project["dependencies"], extras["app"], extras["cluster"]))
    assert not core.keys() & app.keys()
    pins = pinned(repository / "requirements.txt")
    assert pins.keys() == core.keys() | app.keys()
    assert pinned(repository / "requirements-cluster.txt").keys() == cluster.keys()
    pins |= pinned(repository / "requirements-cluster.txt")
    for name, wanted in (core | app | cluster).items():
        (pin,) = pins[name].specifier
        assert pin.operator == "=="
        assert pin.version in wanted.specifier, name
        assert {bound.operator for bound in wanted.specifier} == {">=", "<"}, name


def third_party(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every module and the name of each distribution that it imports, wherever in it."""
    names = packages_distributions()
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules = [node.module]
            tops = {module.partition(".")[0] for module in modules} - sys.stdlib_module_names - {"playground"}
            for top in tops:
                yield path, canonicalize_name(names[top][0])


def test_every_import_is_asked_for_where_it_stands(repository: Path, project: dict[str, Any]) -> None:
    core = requirements_of(by_name(project["dependencies"]))
    for path, name in third_party(repository / "playground"):
        inside = path.relative_to(repository)
        extras = [extra for extra, folder in OPTIONAL.items() if inside.is_relative_to(folder)]
        more = [by_name(project["optional-dependencies"][extra]) for extra in extras]
        assert name in core or any(name in allowed for allowed in more), f"{inside} imports {name}"


def requirements_of(wanted: dict[str, Requirement]) -> set[str]:
    """The names of distributions, and of all that they ask for in turn on this machine."""
    names: set[str] = set()
    open_ = list(wanted.values())
    while open_:
        requirement = open_.pop()
        name = canonicalize_name(requirement.name)
        if name in names or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        try:
            further = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        names.add(name)
        open_ += map(Requirement, further)
    return names


# --- the licence

APACHE = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
"""SHA-256 of the text of the Apache License 2.0."""


def test_the_licence_is_the_one_that_the_package_names(repository: Path, project: dict[str, Any]) -> None:
    assert project["license"] == "Apache-2.0"
    assert project["license-files"] == ["LICENSE", "NOTICE"]
    assert hashlib.sha256((repository / "LICENSE").read_bytes()).hexdigest() == APACHE
    assert "Licence\n\nApache-2.0" in (repository / "README.md").read_text(encoding="utf-8")


def test_the_notice_names_what_is_shipped_and_every_package_that_is_asked_for(
    repository: Path, project: dict[str, Any]
) -> None:
    notice = (repository / "NOTICE").read_text(encoding="utf-8")
    assert "Apache License, Version 2.0" in notice
    asked = by_name(project["dependencies"]).keys() | by_name(project["optional-dependencies"]["app"]).keys()
    assert asked <= {canonicalize_name(word) for word in re.findall(r"[\w-]+", notice)}
    weights = [path.name for path in (repository / "playground").rglob("*.safetensors")]
    assert weights == [name for name in weights if name in notice] != []


# --- the wheel


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
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not name.startswith("transformer_encoder_playground-")}
    files = (path for path in (repository / "playground").rglob("*") if path.is_file())
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith("/METADATA"))
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

from playground import ModelConfig, open_link
from playground.figures.attention import head_grid
from playground.training import Recipe, Trainer
view = open_link("https://host/attention?weights=random&tokenizer=word&d_model=16&n_heads=4&n_layers=2&text=a+b+c")
assert view.run.pattern(1).shape == (4, 3, 3)
assert len(head_grid(view.run.patterns()).data) > 0
recipe = Recipe(task="reverse", length=4, n_train=64, n_validation=16, steps=5, batch_size=16)
config = ModelConfig(vocab_size=0, d_model=16, n_heads=2, n_layers=1, d_ff=16)
trainer = Trainer(config, recipe)
print("steps", sum(1 for _ in trainer.run()))
"""


def test_the_package_needs_nothing_but_what_it_asks_for(clean_python: Path, tmp_path: Path) -> None:
    run = run_clean([clean_python, "-I", "-c", EVERYTHING], tmp_path)
    assert run.returncode == 0, run.stderr
    without, steps = run.stdout.split("\n")[:2]
    assert without == "without streamlit"
    assert re.fullmatch("steps [1-9][0-9]*", steps)


def test_the_command_is_installed_and_names_what_is_missing(clean_python: Path, tmp_path: Path) -> None:
    command = clean_python.parent / "playground"
    run = run_clean([command, "a b c", "--preset", "tutorial-b"], tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert "Attention of layer 0, head 1" in run.stdout
    run = run_clean([command, "--link", "https://host/?weights=minilm"], tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert "pip install" in run.stderr
    assert list(tmp_path.iterdir()) == [], "nothing is written"
