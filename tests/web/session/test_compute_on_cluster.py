"""A page that waits for what a cluster computes: it gets the last state, or one sentence, and never waits for ever."""

from dataclasses import replace

import pytest

from playground.errors import BusyError, ClusterError
from playground.web.session.experiments import compute_on_cluster
from playground.web.session.services import other_services, services
from tests.waiting import job_threads, until
from tests.web.session.test_experiments import Count

pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")


def test_it_gets_the_last_state() -> None:
    assert compute_on_cluster("three", Count(3)).done == 3


def test_it_says_what_failed() -> None:
    with pytest.raises(ClusterError) as failure:
        compute_on_cluster("failing", Count(-1))
    assert str(failure.value)


def test_it_gives_up_and_so_does_the_run() -> None:
    hurried = replace(services().settings, busy_timeout=0.2)
    with other_services(settings=hurried), pytest.raises(BusyError):
        compute_on_cluster("slow", Count(9, free=False))
    until(lambda: not job_threads())
