"""What a place in the queue takes follows from those before it."""

import pytest

from playground.jobs import JobQueue
from playground.jobs.local import waiting_time
from tests.jobs.work import Steps
from tests.waiting import until


@pytest.mark.parametrize(
    ("before", "places", "seconds"),
    [([], 2, 0), ([5], 2, 0), ([5], 1, 5), ([5, 3], 2, 3), ([5, 3, 4], 2, 5), ([5, 3, 4, 1], 2, 6), ([5, 3, 4], 1, 12)],
)
def test_each_of_those_before_takes_the_first_place_that_is_free(
    before: list[float], places: int, seconds: float
) -> None:
    assert waiting_time(before, places) == seconds


def test_a_job_waits_for_those_before_it_and_for_no_others() -> None:
    queue = JobQueue(2)
    jobs = [queue.submit(Steps(free=True), remaining=lambda n=n: n) for n in (30, 20, 7, 5, 100)]  # type: ignore[misc]
    assert [job.expected_wait for job in jobs] == [0, 0, 20, 27, 30]
    jobs[2].pause()
    assert [job.expected_wait for job in jobs] == [0, 0, 0, 20, 25]
    jobs[3].abandon()
    assert jobs[4].expected_wait == 20
    for job in jobs:
        job.cancel()
    until(lambda: all(job.ended for job in jobs))
    assert {job.expected_wait for job in jobs} == {0}
