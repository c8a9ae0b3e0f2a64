"""Who goes next: whoever has had least of late, the first to come among equals, and nobody waits for ever."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from playground.errors import BusyError
from playground.web.session.turns import HALF_LIFE, FairQueue
from tests.waiting import until

LONG = 30.0
"""Seconds that no test waits, unless it fails."""


class Clock:
    """Shows what it is set to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Visits:
    """Visitors in threads of their own, who note when they come in, and leave when they are told to."""

    def __init__(self, queue: FairQueue) -> None:
        self.queue = queue
        self.inside: list[str] = []
        """Everybody who came in, in this order."""
        self.refused: list[str] = []
        self._leave: dict[str, threading.Event] = {}
        self._threads: list[threading.Thread] = []

    def come(self, name: str, cost: float = 0.0) -> None:
        """A visit, whose visitor is the name's first letter; returns once it is inside, waits or was refused."""
        self._leave[name] = threading.Event()
        before = self._settled
        thread = threading.Thread(target=self._visit, args=(name, cost))
        self._threads.append(thread)
        thread.start()
        until(lambda: self._settled > before)

    def leave(self, name: str) -> None:
        """Let a visit end; returns once the next is inside, if any waits."""
        waiting, n_inside = self.queue.n_waiting, len(self.inside)
        self._leave[name].set()
        until(lambda: not waiting or len(self.inside) > n_inside)

    def end(self) -> None:
        for leave in self._leave.values():
            leave.set()
        for thread in self._threads:
            thread.join(LONG)

    @property
    def _settled(self) -> int:
        return self.queue.n_waiting + len(self.inside) + len(self.refused)

    def _visit(self, name: str, cost: float) -> None:
        try:
            with self.queue.take(name[0], LONG, cost=cost):
                self.inside.append(name)
                assert self._leave[name].wait(LONG)
        except BusyError:
            self.refused.append(name)


@contextmanager
def visits(queue: FairQueue) -> Iterator[Visits]:
    made = Visits(queue)
    try:
        yield made
    finally:
        made.end()


def test_visitors_take_turns_however_many_times_one_of_them_asks() -> None:
    clock = Clock()
    with visits(FairQueue(clock=clock)) as made:
        for name in ("a1", "a2", "a3", "b1", "b2", "c1"):
            made.come(name)
        assert made.inside == ["a1"]
        for name in ("a1", "b1", "c1", "a2", "b2"):
            clock.now += 1.0
            made.leave(name)
        assert made.inside == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_who_has_had_much_lets_others_go_first_until_that_is_forgotten() -> None:
    clock = Clock()
    with visits(FairQueue(clock=clock)) as made:
        made.come("a1")
        clock.now += 4.0
        made.leave("a1")
        made.come("b1")
        made.come("a2")
        made.come("c1")
        clock.now += 1.0
        made.leave("b1")
        assert made.inside == ["a1", "b1", "c1"]
        clock.now += 20 * HALF_LIFE
        made.come("c2")
        made.leave("c1")  # who has just had twenty half-lives
        assert made.inside[-1] == "a2"


def test_what_is_short_goes_before_what_is_long() -> None:
    with visits(FairQueue(clock=Clock())) as made:
        for name, cost in (("a", 3.0), ("b", 3.0), ("c", 3.0), ("d", 0.3)):
            made.come(name, cost)
        for name in ("a", "d", "b"):
            made.leave(name)
        assert made.inside == ["a", "d", "b", "c"]


def test_where_too_many_wait_the_one_who_would_go_last_is_sent_away() -> None:
    with visits(FairQueue(most_waiting=2, clock=Clock())) as made:
        for name, cost in (("a", 1.0), ("b", 1.0), ("c", 3.0)):
            made.come(name, cost)
        made.come("d", 2.0)
        until(lambda: made.refused == ["c"])
        made.come("e", 4.0)
        until(lambda: made.refused == ["c", "e"])
        assert made.queue.n_waiting == 2


def test_as_many_as_allowed_are_in_at_once_of_different_visitors_first() -> None:
    with visits(FairQueue(2, clock=Clock())) as made:
        for name in ("a1", "b1", "a2", "c1"):
            made.come(name)
        assert made.inside == ["a1", "b1"]
        made.leave("b1")
        assert made.inside == ["a1", "b1", "c1"]


def test_who_is_wanted_no_more_leaves_the_queue() -> None:
    queue, unwanted = FairQueue(), threading.Event()

    class LeftError(Exception):
        """As what Streamlit ends a run with."""

    def check() -> None:
        if unwanted.is_set():
            raise LeftError

    def wait() -> None:
        with pytest.raises(LeftError), queue.take("b", LONG, check):
            pytest.fail("came in")

    with queue.take("a", LONG):
        thread = threading.Thread(target=wait)
        thread.start()
        until(lambda: queue.n_waiting == 1)
        unwanted.set()
        thread.join(LONG)
        assert not thread.is_alive()
        assert queue.n_waiting == 0
    with pytest.raises(LeftError), queue.take("b", LONG, check):  # the place is free, and wanted no more
        pytest.fail("came in")
    with queue.take("a", LONG):
        pass


def test_a_place_comes_back_after_an_error_and_nobody_waits_for_ever() -> None:
    queue = FairQueue()
    for _ in range(3):
        with pytest.raises(RuntimeError, match="inside"), queue.take("a", LONG):
            raise RuntimeError("inside")
    with queue.take("a", LONG), ExitStack() as more:
        with pytest.raises(BusyError, match="try again"):
            more.enter_context(queue.take("b", 0.01))
        assert queue.n_waiting == 0


def test_nobody_is_remembered_for_ever() -> None:
    clock = Clock()
    queue = FairQueue(clock=clock)
    for visitor in range(1_000):
        with queue.take(visitor, LONG):
            clock.now += 1.0
    assert len(queue._had) < 20 * HALF_LIFE
