"""Turns: who computes when, and what services they belong to."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import fields

import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.errors import BusyError
from playground.runs.budget import check_interrupted, interruptible
from playground.web.server.settings import Settings
from playground.web.session import turns as turns_module
from playground.web.session.result_cache import CacheKey, ResultCache
from playground.web.session.services import Services, build_services, other_services, services
from playground.web.session.turns import A_SECOND, AT_ONCE, HALF_LIFE, RUNS, FairQueue, Pace, Turns, current_visitor
from playground.web.shared import page_end
from tests.waiting import until
from tests.web.app_test import open_page, without_error

HEAVY = {
    "weights": "random", "n_layers": "12", "d_model": "768", "d_ff": "3072", "n_heads": "12", "tokenizer": "char",
    "text": "\n".join("x" * 248 for _ in range(8)),
}  # fmt: skip


class StoppedError(Exception):
    """Ends a computation that nobody waits for."""


def test_a_short_turn_comes_beside_a_long_one_and_a_second_long_one_waits() -> None:
    turns, entered, leave = Turns(n=1, timeout=0.01), threading.Event(), threading.Event()

    def compute_long() -> None:
        with turns.hold_long_place(), turns.take():
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=compute_long)
    thread.start()
    assert entered.wait(30)
    with turns.take():  # the long one needs no other turn
        with pytest.raises(BusyError), turns.take():
            pytest.fail("two short ones at once")
        with pytest.raises(BusyError), turns.hold_long_place():
            pytest.fail("two long ones at once")
    leave.set()
    thread.join(30)
    with turns.hold_long_place(), turns.hold_long_place(), turns.take(), turns.take():
        pass


def test_a_computation_ends_where_its_visitor_wants_it_no_more() -> None:
    done: list[int] = []

    def check() -> None:
        if len(done) == 3:
            raise StoppedError

    def compute() -> None:
        for n in range(5):
            check_interrupted()
            done.append(n)

    with pytest.raises(StoppedError), interruptible(check):
        compute()
    assert done == [0, 1, 2]
    check_interrupted()  # outside nothing ends


def test_who_breaks_off_runs_waits_and_who_waits_for_answers_does_not() -> None:
    now = 1000.0
    pace = Pace(clock=lambda: now)

    def ask_again() -> None:
        raise StoppedError

    for _ in range(100):  # each comes to its end
        pace.begin(ask_again)
        pace.end()
    for _ in range(int(AT_ONCE) + 1):
        pace.begin(ask_again)
    for _ in range(100):  # the next ones wait; they count no more, however many ask
        with pytest.raises(StoppedError):
            pace.begin(ask_again)
    now += 1.0
    for _ in range(int(A_SECOND)):
        pace.begin(ask_again)
    with pytest.raises(StoppedError):
        pace.begin(ask_again)
    now += AT_ONCE / A_SECOND + 1.0
    pace.begin(ask_again)
    assert pace.left == AT_ONCE  # no more than that is saved up


def test_a_run_that_waits_begins_by_itself() -> None:
    pace = Pace(left=-0.1, counted_at=time.monotonic())
    pace.begin()
    assert pace.is_running
    assert 0.0 <= pace.left < AT_ONCE


def test_outside_of_pages_every_thread_is_a_visitor() -> None:
    assert get_script_run_ctx(suppress_warning=True) is None
    visitor, check = current_visitor()
    assert visitor == threading.get_ident()
    check()


@pytest.mark.parametrize(
    ("page", "query", "long"),
    [
        ("attention", {}, False),
        ("what_if", {}, False),
        ("gradient_flow", {}, False),
        ("similarity", {}, False),
        ("attention", {"text": "", "tokenizer": "word", "weights": "random"}, False),
        ("attention", HEAVY, True),
        ("attention", {"text": " ".join(["again"] * 240)}, True),  # its 72 maps of 240 × 240
        ("attention", {"b_text": " ".join(["again"] * 240)}, True),
        ("parameters", HEAVY, False),
        ("gradient_flow", {"gradient_layers": "48"}, True),
        ("attention", HEAVY | {"n_layers": "96", "d_model": "4096"}, False),  # is refused
    ],
)
def test_a_page_is_long_by_what_it_computes(
    page: str, query: dict[str, str], long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    is_long = page_end.is_long

    def spy(path: str) -> bool:
        seen.append(is_long(path))
        raise BusyError("enough is seen")

    monkeypatch.setattr(page_end, "is_long", spy)
    open_page(page, **query)
    assert seen == [long]


def test_a_long_page_waits_for_the_long_place_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_end, "is_long", lambda page: page == "norms")
    with other_services(turns=Turns(n=1, timeout=0.01)) as here:
        with here.turns.hold_long_place():
            app = open_page("norms", text="a sentence of a page that is long")
            assert len(app.error) == 1
            without_error(open_page("attention", text="another one, of a page that is short"))
        without_error(app.run())
        with here.turns.take():  # which the long page does not need
            without_error(open_page("norms", text="one more sentence of a page that is long"))


def test_a_few_runs_are_drawn_at_once_and_one_that_waits_for_the_long_place_takes_none() -> None:
    turns, leave = Turns(n=1, timeout=30.0), threading.Event()
    drawn: list[str] = []

    def run(name: str, *, is_long: bool = False) -> None:
        with turns.hold_run(), turns.hold_long_place() if is_long else nullcontext():
            drawn.append(name)
            leave.wait(30)

    def start(name: str, *, is_long: bool = False) -> threading.Thread:
        thread = threading.Thread(target=run, args=(name,), kwargs={"is_long": is_long})
        thread.start()
        return thread

    threads = []
    with turns.hold_long_place():
        threads += [start("long", is_long=True) for _ in range(RUNS + 1)]
        until(lambda: turns._long.n_waiting == RUNS + 1)
        threads += [start("short") for _ in range(RUNS + 1)]
        until(lambda: drawn == RUNS * ["short"] and turns._runs.n_waiting == 1)
    until(lambda: drawn == [*RUNS * ["short"], "long"])
    leave.set()
    for thread in threads:
        thread.join(30)
    assert sorted(drawn) == (RUNS + 1) * ["long"] + (RUNS + 1) * ["short"]


def test_the_one_who_waits_for_anothers_result_computes_it_where_that_one_leaves() -> None:
    computing, leaves, results = threading.Event(), threading.Event(), []

    cache = ResultCache(1_000)

    def compute() -> int:
        if not computing.is_set():
            computing.set()
            assert leaves.wait(30)
            raise StoppedError
        return 7

    key = CacheKey(compute, 7)

    def first() -> None:
        with pytest.raises(StoppedError):
            cache.find(key, compute)

    def second() -> None:
        results.append(cache.find(key, compute))

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    threads[0].start()
    assert computing.wait(30)
    threads[1].start()
    leaves.set()
    for thread in threads:
        thread.join(30)
    assert results == [7]


def test_the_run_that_waits_for_anothers_result_ends_where_its_visitor_wants_it_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns, cache, key = Turns(n=1, timeout=30.0), ResultCache(1_000), CacheKey(abs, 7)
    computing, leaves, waits, ended = (threading.Event() for _ in range(4))

    def compute() -> int:
        computing.set()
        assert leaves.wait(30)
        return 7

    def check() -> None:
        if waits.is_set():
            raise StoppedError

    def find() -> int:
        waits.set()
        return cache.find(key, compute)

    def run() -> None:
        with pytest.raises(StoppedError), turns.hold_run():
            find()
        ended.set()

    monkeypatch.setattr(turns_module, "current_visitor", lambda: ("somebody", check))
    threads = [threading.Thread(target=cache.find, args=(key, compute)), threading.Thread(target=run)]
    threads[0].start()
    assert computing.wait(30)
    threads[1].start()
    assert ended.wait(10), "it waits for the result of the other"
    leaves.set()
    for thread in threads:
        thread.join(30)
    assert cache.find(key, compute) == 7, "the other's result is kept"
    assert cache.hits == 1


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
        self._threads: dict[str, threading.Thread] = {}

    def come(self, name: str, cost: float = 0.0) -> None:
        """A visit, whose visitor is the name's first letter; returns once it is inside, waits or was refused."""
        self._leave[name] = threading.Event()
        before = self._settled
        self._threads[name] = threading.Thread(target=self._visit, args=(name, cost))
        self._threads[name].start()
        until(lambda: self._settled > before)

    def leave(self, name: str) -> None:
        """Let a visit end; returns once it has, and the next is inside, if any waits."""
        waiting, n_inside = self.queue.n_waiting, len(self.inside)
        self._leave[name].set()
        self._threads[name].join(LONG)
        until(lambda: not waiting or len(self.inside) > n_inside)

    def end(self) -> None:
        for leave in self._leave.values():
            leave.set()
        for thread in self._threads.values():
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


def test_they_follow_from_the_settings_and_share_nothing() -> None:
    settings = Settings(max_sessions=3, max_own_weights=5, max_cached_weights=7, max_cached_results=11)
    one, other = build_services(settings), build_services(settings)
    assert (one.visitors.limit, one.memory.max_bytes) == (3, 5)
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
