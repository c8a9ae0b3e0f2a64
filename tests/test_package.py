"""The package as others install it: what it asks for, and its licence."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


@pytest.mark.long
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


def test_the_notice_names_what_is_shipped_and_every_package_that_is_asked_for(
    repository: Path, project: dict[str, Any]
) -> None:
    notice = (repository / "NOTICE").read_text(encoding="utf-8")
    assert "Apache License, Version 2.0" in notice
    asked = by_name(project["dependencies"]).keys() | by_name(project["optional-dependencies"]["app"]).keys()
    assert asked <= {canonicalize_name(word) for word in re.findall(r"[\w-]+", notice)}
    weights = {path.relative_to(repository) for path in (repository / "playground").rglob("*.safetensors")}
    assert weights
    assert not [path for path in weights if str(path) not in notice and f"in {path.parent}" not in notice]
