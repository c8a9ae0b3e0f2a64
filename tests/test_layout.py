"""The architecture, read from the source: who may import whom, and what a module may do."""

import ast
import re
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(
    path.relative_to(ROOT)
    for path in (ROOT / "streamlit_app.py", *ROOT.glob("playground/**/*.py"), *ROOT.glob("pages/**/*.py"))
)

FLOORS: tuple[frozenset[str], ...] = (
    frozenset({"playground.errors", "playground.limits", "playground.pages"}),
    frozenset({"playground.config"}),
    frozenset(
        {"playground.accounting", "playground.jobs", "playground.model", "playground.presets", "playground.text"}
    ),
    frozenset({"playground.mistakes", "playground.runs", "playground.weights", "playground.words"}),
    frozenset({"playground.diagnosis"}),
    frozenset({"playground.testing"}),
    frozenset({"playground.analysis", "playground.training", "playground.tutorials"}),
    frozenset({"playground.language"}),
    frozenset({"playground.link"}),
    frozenset({"playground.charts"}),
    frozenset({"playground.views"}),
    frozenset({"playground.learn"}),
    frozenset({"playground.notebook"}),
    frozenset({"playground.interop", "playground.pretrained"}),
    frozenset({"playground.reading"}),
    frozenset({"playground"}),  # the public names
    frozenset({"playground.command_line", "playground.export"}),
    frozenset({"playground.__main__", "playground.web.components", "playground.web.server"}),
    frozenset({"playground.web.session"}),
    frozenset({"playground.web.choices"}),
    frozenset({"playground.web.shared"}),
    frozenset({"playground.web.sidebar", "playground.web.views"}),
    frozenset({"playground.web", "playground.web.app", "playground.web.start"}),
    frozenset({"pages", "streamlit_app"}),
)
"""From the ground up: a module imports from its own package and from lower floors, never from a neighbour's."""


def module_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


MODULES = frozenset(map(module_name, SOURCES))


def package_of(module: str) -> str:
    """The entry of `FLOORS` that a module belongs to."""
    parents = (module, *(module.rsplit(".", cut)[0] for cut in range(1, module.count(".") + 1)))
    entries = frozenset().union(*FLOORS)
    found = next((parent for parent in parents if parent in entries), None)
    assert found is not None, f"{module} has no floor"
    assert found != "playground" or module == "playground", f"{module} has no floor"
    return found


def floor(package: str) -> int:
    return next(number for number, packages in enumerate(FLOORS) if package in packages)


@cache
def parse(path: Path, source: str) -> ast.Module:
    """The tree of `source`, the text of `path`."""
    return ast.parse(source, str(path))


def imported(path: Path, source: str) -> set[str]:
    """The modules that `source`, the text of `path`, imports; `from a import b` is a.b where that is a module."""
    names: set[str] = set()
    for node in ast.walk(parse(path, source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # One dot is the folder of the file, each further dot the folder around it.
            folder = path.parts[: len(path.parts) - node.level] if node.level else ()
            base = ".".join((*folder, *((node.module,) if node.module else ())))
            inner = (f"{base}.{alias.name}" for alias in node.names)
            names.update(name if name in MODULES else base for name in inner)
    return names


def own_imports(path: Path, source: str) -> set[str]:
    """The project's modules among those that a text imports."""
    tops = {"playground", "pages", "streamlit_app"}
    return {name for name in imported(path, source) if name.split(".")[0] in tops}


def reverse_edges(path: Path, source: str) -> list[str]:
    """The project's modules that a text imports from its own floor or from a higher one, its own package left out."""
    own = package_of(module_name(path))
    return sorted(
        name for name in own_imports(path, source) if package_of(name) != own and floor(package_of(name)) >= floor(own)
    )


def folder_edges(folder: str) -> dict[str, set[str]]:
    """Which modules and folders directly inside a package import which others of them."""
    edges: dict[str, set[str]] = defaultdict(set)
    inside = f"{folder}."
    for path in SOURCES:
        if module_name(path).startswith(inside):
            part = module_name(path).removeprefix(inside).split(".")[0]
            targets = own_imports(path, read(path))
            edges[part] |= {name.removeprefix(inside).split(".")[0] for name in targets if name.startswith(inside)}
            edges[part] -= {part}
    return edges


@cache
def read(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.long
def test_imports_point_downwards_and_streamlit_stays_in_the_web_layer() -> None:
    edges = {str(path): reverse_edges(path, read(path)) for path in SOURCES}
    assert {path: found for path, found in edges.items() if found} == {}
    below = (path for path in SOURCES if not module_name(path).startswith(("playground.web", "pages", "streamlit_app")))
    tops = {path: {name.split(".")[0] for name in imported(path, read(path))} for path in below}
    assert [path for path, names in tops.items() if "streamlit" in names] == []


def test_durations_are_measured_with_clocks_that_nobody_sets() -> None:
    set_by_hand = re.compile(r"\btime\.(time|time_ns|localtime|strftime)\(|\bdatetime\.(now|today|utcnow)\(")
    found = [str(path) for path in SOURCES if set_by_hand.search(read(path))]
    assert found == ["playground/web/views/results.py"]  # when a code was made


def kept_for_a_session(path: Path) -> list[str]:
    """What a session keeps of a module: its fragments' arguments, and all globals of a page that defines a function."""
    tree = parse(path, read(path))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    fragments = [node for node in functions if "fragment" in {ast.unparse(mark) for mark in node.decorator_list}]
    assert "st.fragment" not in {ast.unparse(mark) for node in functions for mark in node.decorator_list}, (
        f"{path}: see panels.py"
    )
    handed = [ast.unparse(argument) for node in fragments for argument in node.args.args]
    return handed + ([ast.unparse(node.value) for node in tree.body if isinstance(node, ast.Assign)] * bool(functions))


def test_no_session_holds_on_to_a_run() -> None:
    drawn = {path: kept_for_a_session(path) for path in SOURCES if path.parts[0] == "pages" or "web" in path.parts}
    assert len(drawn) > 50
    runs = {
        str(path): [each for each in kept if each.endswith("Run") or "draw_run_line(" in each or "shown_run(" in each]
        for path, kept in drawn.items()
    }
    assert {path: kept for path, kept in runs.items() if kept} == {}


def test_no_modules_of_a_folder_import_each_other_in_a_circle() -> None:
    for folder in sorted({path.parent for path in SOURCES if path.parts[0] == "playground"} - {Path("playground")}):
        TopologicalSorter(folder_edges(".".join(folder.parts))).prepare()  # fails on a cycle


def test_long_work_in_the_background_knows_neither_torch_nor_streamlit() -> None:
    for path in SOURCES:
        if path.is_relative_to("playground/jobs"):
            assert not {name.split(".")[0] for name in imported(path, read(path))} & {"torch", "streamlit"}


@pytest.mark.parametrize(
    "document",
    ["README.md", "CONTRIBUTING.md", "deploy/README.md", *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))],
)
def test_documents_name_only_what_is_there(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:playground|pages|tests|benchmarks|deploy|docs)/[\w/.-]*)`", text))
    named |= set(re.findall(r"\]\(([\w/.-]+)(?:#[\w-]+)?\)", text))
    invented = {name for name in named if "my_" in name}
    folder = (ROOT / document).parent
    missing = [name for name in named - invented if not (ROOT / name).exists() and not (folder / name).exists()]
    assert not missing


BUDGETS = {
    "playground/accounting": 600,
    "playground/analysis": 2_290,
    "playground/charts": 1_800,
    "playground/export": 930,
    "playground/jobs": 470,
    "playground/language": 1_140,
    "playground/learn": 1_720,
    "playground/link": 1_700,
    "playground/mistakes": 860,
    "playground/model": 1_900,
    "playground/runs": 830,
    "playground/text": 1_060,
    "playground/training": 1_950,
    "playground/views": 5_360,
    "playground/weights": 1_230,
    "playground/words": 60,
    "playground/web/choices": 940,
    "playground/web/components": 360,
    "playground/web/session": 1_000,
    "playground/web/shared": 1_420,
    "playground/web/sidebar": 560,
    "playground/web/views": 1_720,
    "playground/web": 6_390,
    "playground": 32_490,
    "pages": 470,
    "tests": 25_000,
}
"""Lines of Python in a folder and all below it; a number only falls. The house's are 33,800, and 25,000 of tests."""


@pytest.mark.parametrize("folder", BUDGETS)
def test_a_folder_keeps_to_its_budget_of_lines(folder: str) -> None:
    n_lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / folder).rglob("*.py"))
    assert n_lines <= BUDGETS[folder], "say it in fewer lines, or strike a case"
    assert n_lines > BUDGETS[folder] - 200, "lower the budget to what is there"
