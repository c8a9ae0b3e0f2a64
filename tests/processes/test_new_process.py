"""What shows only in a process of its own: what an import loads, what the command and the log print, the end."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line.test_run_command import SMALL

# --- the command


def test_the_module_prints_plain_text_where_no_terminal_is(repository: Path) -> None:
    command = [sys.executable, "-m", "playground", *SMALL]
    run = subprocess.run(
        command, capture_output=True, text=True, cwd=repository, env={"PYTHONIOENCODING": "ascii", "FORCE_COLOR": ""}
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.isascii()
    assert "\x1b" not in run.stdout
    assert "Attention of layer 1, head 1" in run.stdout


def test_a_reader_that_leaves_early_is_no_error(repository: Path) -> None:
    command = f"set -o pipefail; {sys.executable} -m playground {' '.join(map(repr, SMALL))} | head -n 1"
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=repository)
    assert (run.returncode, run.stderr) == (0, "")
    assert len(run.stdout.splitlines()) == 1


@pytest.mark.parametrize("arguments", [SMALL, [*SMALL, "--json"]])
def test_a_full_disk_is_one_sentence(arguments: list[str], repository: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "playground", *arguments]
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=repository)
    assert (run.returncode, run.stderr) == (2, "The output can't be written: No space left on device.\n")


@pytest.mark.parametrize("word", ["lesson"])
def test_a_group_of_commands_alone_is_a_usage_error(word: str, repository: Path) -> None:
    run = subprocess.run([sys.executable, "-m", "playground", word], capture_output=True, text=True, cwd=repository)
    assert (run.returncode, run.stdout) == (2, "")
    assert f"usage: playground {word}" in run.stderr


# --- what an import brings along


def test_the_package_brings_neither_pages_nor_tables_nor_charts_along() -> None:
    loaded = "import sys, playground; print({'streamlit', 'pandas', 'plotly', 'rich'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_no_visitor_waits_for_what_only_trainings_need(repository: Path) -> None:
    program = """
import asyncio, sys
from playground.web import start
start.prepare()
before = "torch._dynamo" in sys.modules
asyncio.run(start.prepare_training(after=0))
print(before, "torch._dynamo" in sys.modules)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines()[-1] == "False True"


IN_A_NEW_PROCESS = """
import importlib, pkgutil, threading
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
"""


def test_no_import_builds_them_and_those_who_ask_at_once_get_the_same(repository: Path) -> None:
    command = [sys.executable, "-c", IN_A_NEW_PROCESS]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines()[-1] == "0 1"


# --- its log


LOG_LINES = """
import logging, warnings
import streamlit_app
from streamlit.logger import get_logger
logging.getLogger("playground.web").error("one of ours")
get_logger("streamlit.web").error("one of Streamlit's")
get_logger("uvicorn.error").error("one of the server's")
warnings.warn("a warning")
"""


def test_a_line_of_a_copys_log_has_its_time_and_level(repository: Path) -> None:
    environ = {**os.environ, "PLAYGROUND_MAX_SESSIONS": "many", "PLAYGROUND_MAX_TOKENS": "few"}
    done = subprocess.run(
        [sys.executable, "-W", "always::UserWarning", "-c", LOG_LINES],
        env=environ, cwd=repository, capture_output=True, text=True, check=True,
    )  # fmt: skip
    stamp = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3} "
    lines = done.stderr.splitlines()
    for level, text in (("WARNING", "PLAYGROUND_MAX_SESSIONS"), ("WARNING", "PLAYGROUND_MAX_TOKENS"),
                        ("ERROR", "one of ours"), ("ERROR", "one of Streamlit's"), ("ERROR", "one of the server's"),
                        ("WARNING", "a warning")):  # fmt: skip
        found = [line for line in lines if text in line]
        assert found, text
        assert all(re.match(rf"{stamp}{level} [\w.]+: ", line) for line in found[:1]), found
