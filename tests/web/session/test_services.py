"""What a server has one of: built of its settings when it is first asked for, and replaced by a test in one place."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from playground.web.server.settings import Settings
from playground.web.session.services import Services, build_services, other_services, services
from playground.web.session.turns import Turns

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


def test_they_follow_from_the_settings_and_share_nothing() -> None:
    settings = Settings(max_sessions=3, max_own_weights=5, max_cached_weights=7, max_cached_results=11)
    one, other = build_services(settings), build_services(settings)
    assert (one.visitors.limit, one.memory.max_bytes, one.random_weights.max_bytes) == (3, 5, 7)
    for field in fields(Services):
        if field.name != "settings":
            assert getattr(one, field.name) is not getattr(other, field.name), field.name


def test_a_test_replaces_some_for_as_long_as_it_likes() -> None:
    before, turns = services(), Turns(1, 1.0)
    with other_services(turns=turns) as changed:
        assert services() is changed
        assert (changed.turns, changed.results) == (turns, before.results)
        with other_services(settings=Settings(threads=3)):
            assert (services().settings.threads, services().turns) == (3, turns)
        assert services() is changed
    assert services() is before
