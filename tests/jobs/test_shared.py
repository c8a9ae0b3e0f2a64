"""Equal runs are computed once: joined while they go on, given at once afterwards, and left by one alone."""

import gc
import random
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import pytest

from playground.jobs import JobQueue, JobStatus, Member, SharedRuns, shared_runs
from tests.jobs.work import endless, press_at_random
from tests.waiting import job_threads, until


@dataclass
class Counting:
    """A computation of some steps, each of which waits until the test allows it; its state is how many are done."""

    n: int = 5
    state: int = 0
    n_bytes: int = 10
    fails_at: int = -1
    permits: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    frozen_in: list[str] = field(default_factory=list)
    n_built: int = 0

    def build(self) -> "Counting":
        self.n_built += 1
        return self

    @property
    def progress(self) -> float:
        return self.state / self.n

    def run(self) -> Generator[int]:
        while self.state < self.n:
            if self.permits.acquire(timeout=0.005):
                if self.state == self.fails_at:
                    raise KeyError("x")
                self.state += 1
            yield self.state

    def freeze(self, status: JobStatus) -> int:
        self.frozen_in.append(f"{status} in {threading.current_thread().name}")
        return self.state

    def suspend(self) -> None:
        pass

    def close(self, _status: JobStatus) -> None:
        pass

    def do(self, n: int) -> None:
        """Take steps, and wait until they are taken."""
        wanted = self.state + n
        self.permits.release(n)
        until(lambda: self.state == wanted)


class Visitors:
    """Visitors who ask for the run of one key, and what each was given in the end."""

    def __init__(self, **bounds: int) -> None:
        self.queue = JobQueue(1)
        self.runs = SharedRuns(self.queue, **{"max_results": 4, "max_bytes": 100} | bounds)
        self.ends: list[tuple[str, int, JobStatus]] = []

    def join(self, name: str, request: Counting, key: str = "key", **options: Any) -> Member[int]:
        def on_end(state: int, status: JobStatus) -> str:
            self.ends.append((name, state, status))
            return f"kept for {name}"

        return self.runs.join(key, request, on_end, **options)


def statuses(*members: Member[int]) -> list[JobStatus]:
    return [member.status for member in members]


def test_who_asks_for_the_same_joins_it_and_everybody_gets_the_one_result() -> None:
    visitors, count, never = Visitors(), Counting(), Counting()
    first = visitors.join("first", count)
    until(lambda: first.state is not None)  # it runs, and is built
    count.do(2)
    second, other = visitors.join("second", never), visitors.join("other", Counting(n=0), key="another")
    assert (first.joined, second.joined, second.state, second.progress) == (None, "running", 2, 0.4)
    assert (first.others, second.others, other.others) == (1, 1, 0)
    assert statuses(first, second, other) == ["running", "running", "waiting"]
    count.do(3)
    until(lambda: other.ended)
    assert sorted(visitors.ends) == [("first", 5, "finished"), ("other", 0, "finished"), ("second", 5, "finished")]
    assert (count.n_built, never.n_built, first.note) == (1, 0, "kept for first")


def test_who_comes_later_gets_the_result_at_once_in_the_own_thread() -> None:
    visitors, count = Visitors(), Counting(n=1)
    first = [visitors.join("first", count)]
    count.do(1)
    until(lambda: first[0].ended)
    first.clear()
    late = visitors.join("late", Counting())
    assert (late.status, late.joined, late.state, late.progress) == ("finished", "finished", 1, 1.0)
    assert visitors.ends == [("first", 1, "finished"), ("late", 1, "finished")]
    assert not job_threads()
    visitors.runs.forget_results()
    again = visitors.join("again", Counting(n=0))
    assert again.joined is None
    until(lambda: again.ended)


@pytest.mark.parametrize(
    ("bounds", "kept"), [({}, [1, 2]), ({"max_results": 1}, [2]), ({"max_bytes": 15}, [2]), ({"max_bytes": 9}, [])]
)
def test_kept_results_are_bounded_in_number_and_bytes_and_the_oldest_goes_first(
    bounds: dict[str, int], kept: list[int]
) -> None:
    visitors = Visitors(**bounds)
    for key in (1, 2):
        member = visitors.join("", Counting(n=0), key=str(key))
        until(lambda member=member: member.ended)  # type: ignore[misc]
    assert list(visitors.runs._results) == [str(key) for key in kept]
    unkept = visitors.join("", Counting(n=0), key="3", keep=False)
    until(lambda: unkept.ended)
    assert list(visitors.runs._results) == [str(key) for key in kept]


@pytest.mark.parametrize("leave", ["cancel", "disconnect", "discard"])
def test_who_cancels_keeps_what_was_reached_and_the_run_goes_on_for_the_others(leave: str) -> None:
    visitors, count = Visitors(), Counting()
    first, second = (visitors.join(name, count) for name in ("first", "second"))
    count.do(2)
    presses: dict[str, Callable[[], None]] = {
        "cancel": first.cancel, "disconnect": lambda: first.cancel(timeout=0), "discard": first.discard,
    }  # fmt: skip
    presses[leave]()
    until(lambda: first.ended)
    count.do(1)
    assert statuses(first, second) == ["cancelled", "running"]
    assert (first.state, first.progress, second.state) == (2, 0.4, 3)
    assert visitors.ends == ([] if leave == "discard" else [("first", 2, "cancelled")])
    for press in (first.pause, first.resume, first.cancel):
        press()
        assert first.status == "cancelled"
    count.do(2)
    until(lambda: second.ended)
    assert visitors.ends[-1] == ("second", 5, "finished")


def test_the_last_who_cancels_ends_the_run_and_who_asks_then_begins_anew() -> None:
    visitors, count = Visitors(), Counting()
    members = [visitors.join(str(number), count) for number in range(2)]
    count.do(1)
    for member in members:
        member.cancel()
    until(lambda: members[1].ended)
    assert sorted(visitors.ends) == [("0", 1, "cancelled"), ("1", 1, "cancelled")]
    anew = visitors.join("anew", Counting(n=0))
    assert anew.joined is None
    until(lambda: anew.status == "finished")


def test_the_run_pauses_once_everybody_has_and_goes_on_once_anybody_wants_it() -> None:
    visitors, count = Visitors(), Counting()
    first, second = (visitors.join(name, count) for name in ("first", "second"))
    until(lambda: first.state is not None)  # it runs, and is built
    first.pause()
    count.do(2)
    assert statuses(first, second) == ["paused", "running"]
    assert (first.state, second.state, first.others, second.others) == (0, 2, 1, 0)
    second.pause()
    assert statuses(first, second) == ["paused", "paused"]
    other = endless(visitors.queue)
    assert other.status == "running"
    third = visitors.join("third", Counting())
    assert statuses(first, second, third) == ["paused", "waiting", "waiting"]
    other.cancel()
    until(lambda: third.status == "running")
    third.cancel()
    assert statuses(first, second, third)[2] == "cancelled"
    first.resume()
    assert (first.status, first.state) == ("running", 2)
    count.do(3)
    until(lambda: first.ended)


def test_who_stepped_aside_gets_the_result_when_coming_back() -> None:
    visitors, count = Visitors(), Counting()
    members = [visitors.join(str(number), count) for number in range(3)]
    until(lambda: members[0].state is not None)  # it runs, and is built
    for member in members[:2]:
        member.pause()
    count.do(5)
    until(lambda: members[2].ended)
    assert statuses(*members) == ["paused", "paused", "finished"]
    assert (members[0].state, members[0].missed_end, visitors.ends) == (0, True, [("2", 5, "finished")])
    members[0].resume()
    members[1].cancel()
    assert statuses(*members) == ["finished"] * 3
    assert sorted(visitors.ends) == [(str(number), 5, "finished") for number in range(3)]


def test_a_run_pauses_when_all_who_did_not_pause_have_left() -> None:
    visitors, count = Visitors(), Counting()
    first, second = (visitors.join(name, count) for name in ("first", "second"))
    count.do(1)
    first.pause()
    second.cancel()
    until(lambda: second.ended)
    assert statuses(first, second) == ["paused", "cancelled"]
    until(lambda: first.run.job.status == "paused")
    first.cancel()
    until(lambda: first.ended)
    assert sorted(visitors.ends) == [("first", 1, "cancelled"), ("second", 1, "cancelled")]


def test_what_was_reached_is_kept_between_two_steps_whoever_waits() -> None:
    """In the job's thread after a step, or where nothing runs, in that of the visitor."""
    visitors, count = Visitors(), Counting()
    blocking = endless(visitors.queue)
    members = [visitors.join(str(number), count) for number in range(3)]
    members[0].cancel()  # before anything is built
    assert (members[0].ended, members[0].state, visitors.ends) == (True, None, [])
    blocking.cancel()
    count.do(1)
    members[1].cancel()
    assert count.frozen_in == ["cancelled in job"] or count.frozen_in == ["cancelled in MainThread"]
    members[2].cancel()
    until(lambda: not job_threads())


def test_a_failure_is_everybodys_and_is_not_kept() -> None:
    visitors, count = Visitors(), Counting(fails_at=1)
    members = [visitors.join(str(number), count) for number in range(2)]
    until(lambda: members[0].state is not None)  # it runs, and is built
    count.permits.release(2)
    until(lambda: members[0].ended)
    assert statuses(*members) == ["failed", "failed"]
    assert members[0].error == members[1].error != ""
    assert not visitors.runs._results
    assert visitors.join("anew", Counting(n=0)).joined is None


def test_what_fails_for_one_visitor_fails_for_that_one_alone() -> None:
    def refuse(_state: int, _status: JobStatus) -> str:
        raise MemoryError

    visitors, count = Visitors(), Counting(n=1)
    unlucky, lucky = visitors.runs.join("key", count, refuse), visitors.join("lucky", count)
    count.do(1)
    until(lambda: lucky.ended)
    assert statuses(unlucky, lucky) == ["failed", "finished"]
    assert unlucky.error
    assert visitors.ends == [("lucky", 1, "finished")]


def test_a_run_whose_visitors_are_all_garbage_is_cancelled_and_one_that_is_wanted_goes_on() -> None:
    visitors, count = Visitors(), Counting()
    first, second = (visitors.join(name, count) for name in ("first", "second"))
    del first
    gc.collect()
    count.do(1)
    assert second.others == 0
    del second
    gc.collect()
    until(lambda: not job_threads())
    assert (visitors.ends, len(visitors.runs._under_way)) == ([], 0)


def test_any_order_of_presses_by_many_ends_with_a_free_queue_and_everybody_served() -> None:
    dice, visitors, count = random.Random(0), Visitors(), Counting(n=400)
    count.permits.release(400)
    members = [visitors.join(str(number), count) for number in range(8)]
    press_at_random(members, dice, n_threads=3, n_presses=60)
    for member in members:
        member.cancel()
    until(lambda: all(member.ended for member in members) and not job_threads())
    assert set(statuses(*members)) <= {"finished", "cancelled"}
    assert sorted(name for name, *_ in visitors.ends) == sorted(str(number) for number in range(8))


def test_how_much_longer_than_expected_the_latest_run_took_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_runs, "LEAST_EXPECTED", 0.0)
    visitors = Visitors()
    delays = [visitors.runs.delay]
    for key, seconds in (("slow", 1e-9), ("fast", 1e9)):
        computation = Counting()
        member = visitors.join(key, computation, key, seconds=seconds)
        computation.permits.release(5)
        until(lambda member=member: member.ended)  # type: ignore[misc]
        delays.append(visitors.runs.delay)
    assert delays == [shared_runs.USUAL_DELAY, shared_runs.MOST_DELAY, 1.0]
