"""The backend that runs jobs on a Ray cluster; Ray is imported once that is connected, and not before."""

import contextlib
import importlib
import logging
import os
import signal
import threading
from typing import Any, cast

from playground.errors import ClusterError
from playground.jobs.backend import Computation, Request, S
from playground.jobs.cluster_run import ClusterRun, WorkerLostError
from playground.jobs.local import JobQueue
from playground.jobs.portable import PortableRequest, Report
from playground.jobs.run_worker import RunWorker

UNREACHABLE = "The machines that compute this can not be reached right now; try again in some minutes."

ANSWER_TIMEOUT = 60.0
"""Seconds that a call waits for a worker, which may be in a slow step."""

ENVIRONMENT = {"RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0"}
"""Set before Ray is imported, unless they are: only who has the cluster's token takes part; nothing is sent to Ray."""

logger = logging.getLogger(__name__)


class ClusterQueue(JobQueue):
    """Jobs whose steps are taken by workers on a cluster; the queue itself is of this process.

    As many jobs run at once as the cluster has room for workers.

    Args:
        address: as Ray has it: `auto` and host:port are a cluster that runs, `local` starts one on this machine.
        cpus: cores of a worker; a fraction lets several share one.
        gpus: GPUs of a worker, or a fraction; 0: it computes on the CPU.
        max_running: how many jobs run at once, until the cluster is known.
    """

    def __init__(self, address: str, *, cpus: float, gpus: float, max_running: int) -> None:
        super().__init__(max_running)
        self.address, self.cpus, self.gpus = address, cpus, gpus
        self._lock = threading.Lock()
        self._n_workers = 0
        self._ray: Any = None
        self._worker_class: Any = None

    def build(self, request: Request[S]) -> Computation[S]:
        """The computation on the cluster; what can't be sent runs here.

        Raises:
            ClusterError: the cluster can't be reached.
        """
        if not isinstance(request, PortableRequest):
            return request.build()
        self.connect()
        return cast("Computation[S]", ClusterRun(request.on_device("cuda" if self.gpus else "cpu"), self))

    def connect(self) -> None:
        """Connect to the cluster, unless that is done; raises ClusterError."""
        with self._lock:
            if self._ray is None or not self._ray.is_initialized():
                for name, value in ENVIRONMENT.items():
                    os.environ.setdefault(name, value)
                try:
                    self._ray = importlib.import_module("ray")
                    with _own_sigterm_handler():
                        self._ray.init(
                            address=self.address,
                            include_dashboard=False,
                            log_to_driver=False,
                            logging_level=logging.ERROR,
                            configure_logging=False,
                        )
                    self._worker_class = self._ray.remote(RunWorker).options(num_cpus=self.cpus, num_gpus=self.gpus)
                except Exception as problem:
                    logger.exception("The cluster %s can not be reached", self.address)
                    raise ClusterError(UNREACHABLE) from problem
        with self.condition:
            self.max_running = self._n_places()
            self.condition.notify_all()

    def disconnect(self) -> None:
        """Leave the cluster; one that was started here ends."""
        with self._lock:
            if self._ray is not None:
                self._ray.shutdown()

    def has_room(self) -> bool:
        """Whether one more worker would find room, by what this server has there."""
        return self._n_workers < self._n_places()

    def start(self, request: PortableRequest, checkpoint: Any, known: Any) -> Any:
        """A worker for a request; see `Workers`."""
        with self._lock:
            self._n_workers += 1
        return self._worker_class.remote(request, checkpoint, known)

    def stop(self, worker: Any) -> None:
        """End a worker."""
        with self._lock:
            self._n_workers -= 1
        with contextlib.suppress(Exception):  # it may be dead, or the cluster gone
            self._ray.kill(worker)

    def advance(self, worker: Any) -> Any:
        """Ask a worker for a slice."""
        return worker.advance.remote()

    def wait(self, pending: list[Any], timeout: float) -> list[Any]:
        """The answers that are there, as soon as one is."""
        ready, _ = self._ray.wait(pending, timeout=timeout)
        return list(ready)

    def answer(self, pending: Any) -> Report:
        """An answer that is there; raises WorkerLostError."""
        return cast(Report, self._get(pending, ANSWER_TIMEOUT))

    def call(self, worker: Any, method: str, *arguments: Any) -> Any:
        """A worker's answer to a call; raises WorkerLostError."""
        return self._get(getattr(worker, method).remote(*arguments), ANSWER_TIMEOUT)

    def _get(self, pending: Any, timeout: float) -> Any:
        try:
            return self._ray.get(pending, timeout=timeout)
        except self._ray.exceptions.RayError as problem:
            raise WorkerLostError(str(problem).split("\n")[0]) from problem

    def _n_places(self) -> int:
        """How many workers the cluster has room for at once."""
        resources = self._ray.cluster_resources()
        places = resources.get("CPU", 0) / self.cpus
        if self.gpus:
            places = min(places, resources.get("GPU", 0) / self.gpus)
        return max(1, int(places))


@contextlib.contextmanager
def _own_sigterm_handler() -> Any:
    """Put the process's handler for SIGTERM back, where Ray sets its own: the server has to end in its own way."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGTERM, before)
