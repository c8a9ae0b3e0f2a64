"""The architecture, read from the source: who may import whom, and what a module may hold."""

import ast
import re
from collections.abc import Collection
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(
    path.relative_to(ROOT)
    for path in (ROOT / "streamlit_app.py", *ROOT.glob("playground/**/*.py"), *ROOT.glob("pages/**/*.py"))
)
MAX_LINES = 250

# A module imports from its own level and from lower ones. What has no line here is one of the parts between
# the model and the pages: figures, engine, training, text, accounting, pretrained, interop, presets.
LEVELS = {
    "playground.config": 0,
    "playground.limits": 0,
    "playground.model": 1,
    "playground.web": 4,
    "pages": 5,
    "streamlit_app": 5,
}
PARTS_LEVEL = 2
PACKAGE_LEVEL = 3  # playground/__init__.py gathers the public names; the parts may not import them from there


def module_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


MODULES = frozenset(map(module_name, SOURCES))


def level(module: str) -> int:
    if module == "playground":
        return PACKAGE_LEVEL
    parents = (module, *(module.rsplit(".", cut)[0] for cut in range(1, module.count(".") + 1)))
    return next((LEVELS[parent] for parent in parents if parent in LEVELS), PARTS_LEVEL)


def imported(path: Path, source: str, modules: Collection[str] = MODULES) -> set[str]:
    """The modules that `source`, the text of `path`, imports; `from a import b` is a.b where that is a module."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # One dot is the folder of the file, each further dot the folder around it.
            folder = path.parts[: len(path.parts) - node.level] if node.level else ()
            base = ".".join((*folder, *((node.module,) if node.module else ())))
            inner = (f"{base}.{alias.name}" for alias in node.names)
            names.update(name if name in modules else base for name in inner)
    return names


def reverse_edges(path: Path, source: str, modules: Collection[str] = MODULES) -> list[str]:
    """The project's modules above the level of `path` that its text imports."""
    own = {
        name
        for name in imported(path, source, modules)
        if name.split(".")[0] in {"playground", "pages", "streamlit_app"}
    }
    return sorted(name for name in own if level(name) > level(module_name(path)))


def imports_streamlit(path: Path, source: str) -> bool:
    return any(name.split(".")[0] == "streamlit" for name in imported(path, source))


def read(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_imports_point_downwards(path: Path) -> None:
    assert not reverse_edges(path, read(path))


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_streamlit_stays_in_the_web_layer(path: Path) -> None:
    if level(module_name(path)) < LEVELS["playground.web"]:
        assert not imports_streamlit(path, read(path))


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_modules_stay_small_and_silent(path: Path) -> None:
    source = read(path)
    assert len(source.splitlines()) <= MAX_LINES
    calls = (node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    assert not [call for call in calls if isinstance(call, ast.Name) and call.id == "print"]


@pytest.mark.parametrize("path", [path for path in SOURCES if path.parts[0] == "pages" or "web" in path.parts], ids=str)
def test_no_session_holds_on_to_a_run(path: Path) -> None:
    """A session keeps its fragments' arguments, and all globals of a page that defines a function."""
    tree = ast.parse(read(path))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    fragments = [node for node in functions if "fragment" in {ast.unparse(mark) for mark in node.decorator_list}]
    assert "st.fragment" not in {ast.unparse(mark) for node in functions for mark in node.decorator_list}, (
        "see ended.py"
    )
    handed = [ast.unparse(argument) for node in fragments for argument in node.args.args]
    assert not [argument for argument in handed if argument.endswith("Run")]
    kept = [ast.unparse(node.value) for node in tree.body if isinstance(node, ast.Assign)] if functions else []
    assert not [value for value in kept if "current_run(" in value or "shown_run(" in value]


def test_readme_begins_with_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^(?: {4}|`{3}\w*\n)(\S.*)\n\s*(\S.*)$", readme, re.MULTILINE)
    first, second = commands[0]
    assert first.startswith("make run")
    assert second.startswith("make test")


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("playground/model/norms.py", "import playground.engine", ["playground.engine"]),
        ("playground/model/norms.py", "from playground import engine", ["playground.engine"]),
        ("playground/model/norms.py", "from .. import engine", ["playground.engine"]),
        ("playground/model/norms.py", "from ..engine import Run", ["playground.engine"]),
        ("playground/model/norms.py", "from . import masks", []),
        ("playground/model/norms.py", "from playground.config import ModelConfig", []),
        ("playground/config.py", "from playground.model.norms import LayerNorm", ["playground.model.norms"]),
        ("playground/engine.py", "from playground import Encoder", ["playground"]),
        ("playground/engine.py", "from playground.text.batch import Batch", []),
        ("playground/engine.py", "def run():\n    from playground.web.cache import load", ["playground.web.cache"]),
        ("playground/__init__.py", "from playground.model import Encoder", []),
        ("playground/web/cache.py", "import pages.attention", ["pages.attention"]),
        ("pages/attention.py", "from playground import Encoder, web", []),
    ],
)  # fmt: skip
def test_a_reverse_edge_is_found(path: str, source: str, found: list[str]) -> None:
    modules = {"playground.engine", "playground.model.masks", "playground.web", "pages.attention"}
    assert reverse_edges(Path(path), source, modules) == found


@pytest.mark.parametrize("source", ["import streamlit as st", "from streamlit.testing.v1 import AppTest"])
def test_an_import_of_streamlit_is_found(source: str) -> None:
    assert imports_streamlit(Path("playground/engine.py"), source)
