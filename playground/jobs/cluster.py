"""Jobs whose steps are taken on a Ray cluster: the queue, and the worker there, which computes in slices of time.

Nothing else knows of Ray, which is imported once a cluster is connected, and not before.
"""

import contextlib
import importlib
import logging
import os
import pickle
import signal
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any, cast

from playground.errors import ClusterError, explain
from playground.jobs.job import Computation, JobStatus, PortableRequest, Request, ResumableComputation, S
from playground.jobs.queue import JobQueue

UNREACHABLE = "The machines that compute this can not be reached right now; try again in some minutes."

LOST = (
    "The cluster lost the machine of this run again and again; it is given up. Start it again in some minutes, or with "
    "a smaller model."
)

MAX_LOSSES = 5
"""Workers that a part may lose between two checkpoints before its run is given up."""

POLL = 0.25
"""Seconds after which a run that waits for its workers can be paused or cancelled at the latest."""

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

    is_remote = True

    def __init__(self, address: str, *, cpus: float, gpus: float, max_running: int) -> None:
        super().__init__(max_running)
        self.address, self.cpus, self.gpus = address, cpus, gpus
        self._lock = threading.Lock()
        self._n_workers = 0
        self._ray: Any = None
        self._worker_class: Any = None

    def build(self, request: Request[S]) -> Computation[S]:
        """The computation on the cluster, ClusterError where that can't be reached; what can't be sent runs here."""
        if not isinstance(request, PortableRequest):
            return request.build()
        self.connect()
        return cast("Computation[S]", ClusterRun(replace(request, device="cuda" if self.gpus else "cpu"), self))

    def connect(self) -> None:
        """Connect to the cluster, unless that is done; raises ClusterError."""
        with self._lock:
            if self._ray is None or not self._ray.is_initialized():
                os.environ.update(ENVIRONMENT | os.environ)
                sigterm = signal.getsignal(signal.SIGTERM)
                try:
                    self._ray = importlib.import_module("ray")
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
                finally:  # Ray sets a handler of its own, and the server has to end in its own way
                    if threading.current_thread() is threading.main_thread() and sigterm is not None:
                        signal.signal(signal.SIGTERM, sigterm)
        with self.condition:
            self.max_running = self._n_places()
            self.condition.notify_all()

    def disconnect(self) -> None:
        """Leave the cluster; one that was started here ends."""
        with self._lock:
            if self._ray is not None:
                self._ray.shutdown()

    def has_room(self) -> bool:
        """Whether one more worker would find room without anybody waiting for it, by what this server has there."""
        return self._n_workers < self._n_places()

    def start(self, request: PortableRequest[Any], checkpoint: Any) -> Any:
        """A new `RunWorker`, which may have to wait for its room."""
        with self._lock:
            self._n_workers += 1
        return self._worker_class.remote(request, checkpoint)

    def stop(self, worker: Any) -> None:
        """End a worker at once, and free its room."""
        with self._lock:
            self._n_workers -= 1
        with contextlib.suppress(Exception):  # it may be dead, or the cluster gone
            self._ray.kill(worker)

    def call(self, worker: Any, method: str, *arguments: Any) -> Any:
        """Call a method of a worker; returns what to wait for."""
        return getattr(worker, method).remote(*arguments)

    def wait(self, pending: list[Any], timeout: float) -> list[Any]:
        """Those of the pending calls that are answered, as soon as one is; after `timeout` seconds perhaps none."""
        return list(self._ray.wait(pending, timeout=timeout)[0])

    def answer(self, pending: Any) -> Any:
        """The answer to a call, once it is there; None where the worker is lost, with its machine perhaps."""
        try:
            return self._ray.get(pending, timeout=ANSWER_TIMEOUT)
        except self._ray.exceptions.RayError as problem:
            logger.warning("A worker was lost; what its last checkpoint has is kept: %s", str(problem).split("\n")[0])
            return None

    def _n_places(self) -> int:
        """How many workers the cluster has room for at once."""
        there, needed = self._ray.cluster_resources(), {"CPU": self.cpus, "GPU": self.gpus}
        return max(1, int(min(there.get(name, 0) / n for name, n in needed.items() if n)))


@dataclass(eq=False)
class _Part:
    """One part, and its worker if it has one."""

    request: PortableRequest[Any]
    state: Any = None
    arrays: dict[int, Any] = field(default_factory=dict)
    """That its worker has sent."""
    checkpoint: Any = None
    worker: Any = None
    pending: Any = None
    done: bool = False
    n_losses: int = 0
    """Since its last checkpoint."""


class ClusterRun(Computation[S | None]):
    """A computation in workers; see `Computation`. Its parts are begun in their order, as many at once as have room.

    A part whose worker is lost goes on in another one from its last checkpoint, which is kept here. A paused run has no
    workers: they hand over a checkpoint and make room for others.
    """

    def __init__(self, request: PortableRequest[S], workers: ClusterQueue) -> None:
        self._request, self._workers = request, workers
        self._parts = [_Part(part) for part in request.parts]
        self._last: S | None = None

    @property
    def state(self) -> S | None:
        """What is to be seen of it, which never grows; None until a worker has told of its part."""
        return self._last or self._request.join([part.state for part in self._parts])

    def run(self) -> Generator[None]:
        """Let the workers compute; yields after every report, and while none comes."""
        while any(not part.done for part in self._parts):
            self._start_workers()
            working = {part.pending: part for part in self._parts if part.worker is not None}
            for pending in self._workers.wait(list(working), POLL):
                self._take_report(working[pending], pending)
            yield

    def suspend(self) -> None:
        """Fetch a checkpoint of every part that is under way, and free its room."""
        for part in self._parts:
            part.checkpoint = self._ask(part, "checkpoint") or part.checkpoint
            self._stop(part)

    def freeze(self, status: JobStatus) -> S | None:
        """What it has reached; see `Computation.freeze`."""
        return self._request.join([self._freeze_part(part, status) for part in self._parts])

    def close(self, status: JobStatus) -> None:
        """Make the last state, and stop all workers."""
        try:
            self._last = self.freeze(status)
        finally:
            for part in self._parts:
                self._stop(part)
                part.checkpoint = None

    def _ask(self, part: _Part, method: str, *arguments: Any) -> Any:
        """What a part's worker answers; None where there is none."""
        return part.worker and self._workers.answer(self._workers.call(part.worker, method, *arguments))

    def _start_workers(self) -> None:
        for part in self._parts:
            if part.done or part.worker is not None:
                continue
            if any(each.worker is not None for each in self._parts) and not self._workers.has_room():
                return
            part.worker, part.arrays = self._workers.start(part.request, part.checkpoint), {}
            part.pending = self._workers.call(part.worker, "advance")

    def _take_report(self, part: _Part, pending: Any) -> None:
        report: Report | None = self._workers.answer(pending)
        if report is None:
            self._stop(part)
            part.n_losses += 1
            if part.n_losses > MAX_LOSSES:
                raise ClusterError(LOST)
            return
        if report.error:
            raise ClusterError(report.error)
        part.arrays |= {key: array for key, array in report.arrays if array is not None}
        state = pickle.loads(report.state, buffers=[part.arrays[key] for key, _ in report.arrays])  # noqa: S301
        if part.state is None or report.done or state.progress >= part.state.progress:  # nothing shown is taken back
            part.state = state
        if report.done or report.checkpoint is not None:
            part.checkpoint, part.n_losses = report.checkpoint, 0
        part.done = report.done
        if part.done:
            self._stop(part)
        else:
            part.pending = self._workers.call(part.worker, "advance")

    def _freeze_part(self, part: _Part, status: JobStatus) -> Any:
        """What a part has reached; for one who leaves, from its worker, or from its last checkpoint, built here."""
        if part.done or part.state is None or status != "cancelled":
            return part.state
        frozen = self._ask(part, "freeze", status)
        if frozen is not None:
            return frozen
        here = replace(part.request, device="cpu").build()
        if part.checkpoint is not None:
            here.restore(part.checkpoint)
        return here.freeze(status)

    def _stop(self, part: _Part) -> None:
        worker, part.worker, part.pending = part.worker, None, None
        if worker is not None:
            self._workers.stop(worker)


SLICE, CHECKPOINT_EVERY = 0.25, 3.0
"""Seconds between two reports, and between two checkpoints, at least."""

SHARE = 20
"""How many times as long as making a report or a checkpoint took the next one is off: they cost 5 % each at most."""


@dataclass(frozen=True)
class Report:
    """What a computation elsewhere says after a slice of time."""

    state: bytes = b""
    """Pickled without its arrays; empty where it failed before it had any."""
    arrays: list[tuple[int, Any]] = field(default_factory=list)
    """These arrays, each with a key; None for one that this worker has sent before."""
    done: bool = False
    error: str = ""
    """Why it failed, in one sentence; empty if it did not."""
    checkpoint: Any = None
    """A new one, now and then."""


class RunWorker:
    """Builds a computation where it is, and computes it; from a checkpoint on where there is one."""

    def __init__(self, request: PortableRequest[Any], checkpoint: Any = None) -> None:
        self._request, self._from = request, checkpoint
        self._begun: tuple[ResumableComputation[Any], Generator[object]] | None = None
        self._sent: dict[int, Any] = {}  # by id; they are held, so that no other array gets their ids
        self._slice = SLICE
        self._next_checkpoint = time.monotonic() + CHECKPOINT_EVERY

    def advance(self) -> Report:
        """Take steps for a while; whatever goes wrong is in the report."""
        try:
            computation, steps = self._begin()
            deadline, done = time.monotonic() + self._slice, False
            while not done and time.monotonic() < deadline:
                done = next(steps, self) is self
            if done:
                computation.close("finished")
            return self._report(computation, done)
        except Exception as problem:
            logger.exception("A computation failed")
            return Report(error=explain(problem))

    def freeze(self, status: JobStatus) -> Any:
        """What was reached so far, for whoever leaves."""
        return self._begin()[0].freeze(status)

    def checkpoint(self) -> Any:
        """All that another worker needs to go on from here."""
        return self._begin()[0].checkpoint()

    def _begin(self) -> tuple[ResumableComputation[Any], Generator[object]]:
        """The computation and its steps, built at the first call."""
        if self._begun is None:
            self._request.prepare_process()
            computation = self._request.build()
            if self._from is not None:
                computation.restore(self._from)
            self._begun, self._from = (computation, computation.run()), None
        return self._begun

    def _report(self, computation: ResumableComputation[Any], done: bool) -> Report:
        begun, buffers = time.monotonic(), list[pickle.PickleBuffer]()
        state = pickle.dumps(computation.state, protocol=5, buffer_callback=buffers.append)
        known, arrays = set(self._sent), {id(array): array for array in (memoryview(each).obj for each in buffers)}
        self._sent |= arrays
        self._slice = max(SLICE, SHARE * (time.monotonic() - begun))
        sent = [(key, None if key in known else array) for key, array in arrays.items()]
        checkpoint, begun = None, time.monotonic()
        if not done and begun >= self._next_checkpoint:
            checkpoint, now = computation.checkpoint(), time.monotonic()
            self._next_checkpoint = now + max(CHECKPOINT_EVERY, SHARE * (now - begun))
        return Report(state, sent, done, checkpoint=checkpoint)
