"""What a hostile visitor may cost others, with real processes: seconds of a student's waits, and the server's memory.

Each attack lasts some seconds here, and as many as ATTACK_SECONDS says in `make soak`.
"""

import os
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from benchmarks import environment
from benchmarks.attacks import ATTACKS, attack, promised_bytes
from tests.browser.server import STREAMLIT, Server, serve
from tests.waiting import run_coroutine

SECONDS = float(os.environ.get("ATTACK_SECONDS", "4"))

LONGEST = {"a click": 10.0, "a sentence": 10.0, "a CSV file": 30.0}
"""Seconds, twice what a busy machine took; without fair turns a click took up to 40, a sentence and a file up to 48."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("attacked"), *STREAMLIT, port=0, **environment.SERVER) as started:
        yield started


@pytest.mark.parametrize("name", [name for name in ATTACKS if name != "nothing"])
def test_a_student_is_answered_and_the_memory_is_as_promised(name: str, server: Server) -> None:
    port = urlsplit(server.url).port or 0
    damage = run_coroutine(attack(port, server.process_id, ATTACKS[name], SECONDS))
    assert not damage.failures
    assert set(damage.seconds) == set(LONGEST)
    slow = {what: max(seconds) for what, seconds in damage.seconds.items() if max(seconds) > LONGEST[what]}
    assert not slow
    assert damage.most_bytes <= promised_bytes()
