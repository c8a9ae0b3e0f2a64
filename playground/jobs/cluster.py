"""Jobs whose steps are taken on a Ray cluster, in slices of time."""

import contextlib
import importlib
import logging
import os
import signal
import threading
import time
from collections.abc import Generator
from dataclasses import replace
from typing import Any

from playground.errors import ClusterError, explain
from playground.jobs import Computation, JobPool, JobStatus, Request, S

UNREACHABLE = "The machines that compute this cannot be reached right now; try again in some minutes."

LOST = "The cluster lost this run's machine again and again. Start it again in some minutes, or with a smaller model."

MAX_LOSSES, MAX_JOBS = 3, 64
"""Workers that a job may lose; this server's jobs at once."""

POLL, ANSWER_TIMEOUT, SLICE = 0.25, 60.0, 0.5
"""Seconds: to wait for any report, for a worker's answer to a call, and between two reports."""

ENVIRONMENT = {"RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0"}
"""Set before Ray is imported, unless they are: only who has the token takes part; nothing is sent to Ray."""

logger = logging.getLogger(__name__)


class ClusterPool(JobPool):
    """Jobs that workers take the steps of; `address` is Ray's, and a worker has so many cores and GPUs."""

    def __init__(
        self, address: str, cpus: float = 1, gpus: float = 0, max_results: int = 0, max_bytes: int = 0
    ) -> None:
        super().__init__(MAX_JOBS, max_results, max_bytes)
        self.address, self.cpus, self.gpus = address, cpus, gpus
        self._connecting = threading.Lock()
        self._ray: Any = None
        self._worker: Any = None

    def build(self, request: Request[S]) -> Computation[S]:
        """Return the computation on the cluster."""
        self.connect()
        return ClusterRun(replace(request, device="cuda" if self.gpus else "cpu"), self)

    def connect(self) -> None:
        """Connect to the cluster, unless that is done."""
        with self._connecting:
            if self._ray is not None and self._ray.is_initialized():
                return
            os.environ.update(ENVIRONMENT | os.environ)
            sigterm = signal.getsignal(signal.SIGTERM)
            try:
                self._ray = importlib.import_module("ray")
                quiet = {"include_dashboard": False, "log_to_driver": False, "configure_logging": False}
                self._ray.init(address=self.address, logging_level=logging.ERROR, **quiet)
                self._worker = self._ray.remote(RunWorker).options(
                    num_cpus=self.cpus, num_gpus=self.gpus, max_restarts=MAX_LOSSES, max_task_retries=-1
                )
            except Exception as problem:
                logger.exception("The cluster %s cannot be reached", self.address)
                raise ClusterError(UNREACHABLE) from problem
            finally:  # Ray sets a handler of its own, and the server has to end in its own way
                if threading.current_thread() is threading.main_thread() and sigterm is not None:
                    signal.signal(signal.SIGTERM, sigterm)

    def close(self) -> None:
        """Stop every job, and leave the cluster."""
        super().close()
        if self._ray is not None:
            self._ray.shutdown()

    def start(self, request: Request[Any]) -> Any:
        """Return a new `RunWorker`."""
        return self._worker.remote(request)

    def stop(self, worker: Any) -> None:
        """End a worker at once."""
        with contextlib.suppress(Exception):  # it may be dead, or the cluster gone
            self._ray.kill(worker)

    def is_answered(self, pending: Any) -> bool:
        """Whether a call is answered within `POLL` seconds."""
        return bool(self._ray.wait([pending], timeout=POLL)[0])

    def answer(self, pending: Any) -> Any:
        """Return the answer to a call; ClusterError if the worker is lost for good."""
        try:
            return self._ray.get(pending, timeout=ANSWER_TIMEOUT)
        except self._ray.exceptions.RayError as problem:
            logger.warning("A worker was lost: %s", str(problem).split("\n")[0])
            raise ClusterError(LOST) from problem


class ClusterRun(Computation[S]):
    """A computation that a worker takes the steps of."""

    def __init__(self, request: Request[S], pool: ClusterPool) -> None:
        self._pool, self.worker = pool, pool.start(request)
        self._state: Any = None

    @property
    def state(self) -> S | None:
        """What is to be seen, once the worker has reported."""
        state: S | None = self._state
        return state

    def run(self) -> Generator[None]:
        """Let the worker compute; yields after every look."""
        done, pending = False, self.worker.advance.remote()
        while not done:
            if self._pool.is_answered(pending):
                state, done, error = self._pool.answer(pending)
                if error:
                    raise ClusterError(error)
                if self._state is None or state.progress >= self._state.progress:  # no step back is shown
                    self._state = state
                pending = None if done else self.worker.advance.remote()
            yield

    def close(self, status: JobStatus) -> None:
        """Fetch what was reached, and stop the worker."""
        if status == "cancelled" and self._state is not None:
            with contextlib.suppress(ClusterError):
                self._state = self._pool.answer(self.worker.stop.remote())
        self._pool.stop(self.worker)


class RunWorker:
    """Builds a computation where it is, and computes it."""

    def __init__(self, request: Request[Any]) -> None:
        self._request = request
        self._begun: tuple[Computation[Any], Generator[object]] | None = None

    def advance(self) -> tuple[Any, bool, str]:
        """Take steps for a slice; return the state, whether all is done, and what went wrong."""
        try:
            computation, steps = self._begin()
            deadline, done = time.monotonic() + SLICE, False
            while not done and time.monotonic() < deadline:
                done = next(steps, self) is self
            if done:
                computation.close("finished")
            return computation.state, done, ""
        except Exception as problem:
            logger.exception("A computation failed")
            return None, False, explain(problem)

    def stop(self) -> Any:
        """End here, and return what was reached."""
        computation, steps = self._begin()
        steps.close()
        computation.close("cancelled")
        return computation.state

    def _begin(self) -> tuple[Computation[Any], Generator[object]]:
        if self._begun is None:
            importlib.import_module("torch").set_num_threads(self._request.threads)  # jobs know nothing of it here
            computation = self._request.build()
            self._begun = computation, computation.run()
        return self._begun
