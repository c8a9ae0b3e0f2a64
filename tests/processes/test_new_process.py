"""What shows only in a process of its own: what an import loads, what the command and the log print, the end."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.command_line.test_run_command import SMALL


def run_python(repository: Path, *arguments: str, env: dict[str, str] | None = None, **options: Any) -> Any:
    """Run this Python with arguments in the repository; what it prints."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    env = {**os.environ, **(env or {})}
    return subprocess.run([sys.executable, *arguments], cwd=repository, env=env, text=True, timeout=120, **streams)


# --- the command


def test_the_module_prints_plain_text_where_no_terminal_is(repository: Path) -> None:
    run = run_python(repository, "-m", "playground", *SMALL, env={"PYTHONIOENCODING": "ascii", "FORCE_COLOR": ""})
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.isascii()
    assert "\x1b" not in run.stdout
    assert "Attention of layer 1, head 1" in run.stdout


def test_a_full_disk_is_one_sentence(repository: Path) -> None:
    with Path("/dev/full").open("w") as full:
        run = run_python(repository, "-m", "playground", *SMALL, stdout=full)
    assert (run.returncode, run.stderr) == (2, "The output can't be written: No space left on device.\n")


# --- what an import brings along


def test_the_package_brings_neither_pages_nor_tables_nor_charts_along(repository: Path) -> None:
    loaded = "import sys, playground; print({'streamlit', 'pandas', 'plotly', 'rich'} & set(sys.modules))"
    assert run_python(repository, "-c", loaded).stdout.strip() == "set()"


IN_A_NEW_PROCESS = """
import asyncio, importlib, pkgutil, sys, threading
from concurrent.futures import ThreadPoolExecutor
import playground
from playground.web.session import services as module
for each in pkgutil.walk_packages(playground.__path__, "playground."):
    if not each.name.startswith(("playground.__main__", "playground.web.app", "playground.export.pictures.")):
        importlib.import_module(each.name)
built_by_imports = len(module._in_use)
together = threading.Barrier(8)
def ask(_):
    together.wait()
    return id(module.services())
with ThreadPoolExecutor(8) as pool:
    print(built_by_imports, len(set(pool.map(ask, range(8)))))
from playground.web import start
start.prepare()
print("torch._dynamo" in sys.modules)
asyncio.run(start.prepare_training(after=0))
print("torch._dynamo" in sys.modules)
"""


def test_no_import_builds_services_and_no_visitor_waits_for_what_only_trainings_need(repository: Path) -> None:
    done = run_python(repository, "-c", IN_A_NEW_PROCESS)
    assert done.stdout.splitlines()[-3:] == ["0 1", "False", "True"], done.stderr
