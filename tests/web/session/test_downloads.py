"""Files that visitors ask for: made in turns, short ones beside long ones, and not for who has left."""

import asyncio
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from streamlit import runtime

from playground.errors import BusyError, UnavailableError
from playground.web.session.downloads import LONG, give_downloads_threads, in_turn
from playground.web.session.services import MOST_WAITING, other_services, services
from playground.web.session.turns import FairQueue
from tests.waiting import run_coroutine, until


@pytest.fixture(autouse=True)
def _own_queues() -> Iterator[None]:
    with other_services(short_files=FairQueue(1, MOST_WAITING), long_files=FairQueue(1, MOST_WAITING)):
        yield


def test_a_file_is_made_beside_a_long_one_and_not_beside_a_short_one() -> None:
    entered, leave, made = threading.Event(), threading.Event(), []

    def hold() -> str:
        entered.set()
        assert leave.wait(30)
        return "long"

    threads = [threading.Thread(target=lambda: made.append(in_turn(hold, LONG)()))]
    threads[0].start()
    assert entered.wait(30)
    assert in_turn(lambda: "short")() == "short"
    threads.append(threading.Thread(target=lambda: made.append(in_turn(lambda: "next", LONG)())))
    threads[1].start()
    until(lambda: services().long_files.n_waiting == 1)
    assert made == []
    leave.set()
    for thread in threads:
        thread.join(30)
    assert made == ["long", "next"]


def test_nothing_is_made_for_who_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {str(threading.get_ident())}
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: SimpleNamespace(is_active_session=here.__contains__))
    make = in_turn(lambda: b"a file")
    assert make() == b"a file"
    here.clear()
    with pytest.raises(UnavailableError):
        make()


def test_only_so_many_wait_and_each_has_a_thread() -> None:
    leave = threading.Event()

    def hold() -> bool:
        return leave.wait(30)

    async def ask_for_many() -> list[bool | BaseException]:
        give_downloads_threads()
        asked = [asyncio.create_task(asyncio.to_thread(in_turn(hold))) for _ in range(MOST_WAITING + 3)]
        while sum(task.done() for task in asked) < 2 or services().short_files.n_waiting < MOST_WAITING:
            await asyncio.sleep(0.01)
        leave.set()
        return await asyncio.gather(*asked, return_exceptions=True)

    outcomes = run_coroutine(ask_for_many())
    assert [type(outcome) for outcome in outcomes if outcome is not True] == [BusyError, BusyError]
