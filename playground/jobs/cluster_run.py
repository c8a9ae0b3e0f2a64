"""A computation whose parts run in workers of a cluster; what it shows is put together here."""

import logging
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Protocol

from playground.errors import ClusterError
from playground.jobs.backend import JobStatus
from playground.jobs.portable import PortableRequest, Report

MAX_LOSSES = 5
"""Workers that a part may lose between two checkpoints before its run is given up."""

POLL = 0.25
"""Seconds after which a run that waits for its workers can be paused or cancelled at the latest."""

LOST = (
    "The cluster lost the machine of this run again and again; it is given up. Start it again in some minutes, or with "
    "a smaller model."
)

logger = logging.getLogger(__name__)


class WorkerLostError(Exception):
    """A worker that does not answer any more, with its machine perhaps."""


class Workers(Protocol):
    """Starts workers on machines that have room; any object stands for a worker, and for an answer to come."""

    def has_room(self) -> bool:
        """Whether one more would find room without anybody waiting for it."""

    def start(self, request: PortableRequest, checkpoint: Any, known: Any) -> Any:
        """A new `RunWorker`, which may have to wait for its room."""

    def stop(self, worker: Any) -> None:
        """End a worker at once, and free its room."""

    def advance(self, worker: Any) -> Any:
        """Ask for a slice; returns what to wait for."""

    def wait(self, pending: list[Any], timeout: float) -> list[Any]:
        """Those of the pending answers that are there, as soon as one is; after `timeout` seconds perhaps none."""

    def answer(self, pending: Any) -> Report:
        """The answer, which is there; raises WorkerLostError."""

    def call(self, worker: Any, method: str, *arguments: Any) -> Any:
        """Call a method of a worker and wait for the answer; raises WorkerLostError."""


@dataclass(eq=False)
class _Part:
    """One part, and its worker if it has one."""

    request: Any
    state: Any = None
    checkpoint: Any = None
    worker: Any = None
    pending: Any = None
    done: bool = False
    n_losses: int = 0
    """Since its last checkpoint."""


class ClusterRun:
    """A computation in workers; see `Computation`. Its parts are begun in their order, as many at once as have room.

    A part whose worker is lost goes on in another one from its last checkpoint, which is kept here. A paused run has no
    workers: they hand over a checkpoint and make room for others.
    """

    def __init__(self, request: PortableRequest, workers: Workers) -> None:
        self._request, self._workers = request, workers
        self._parts = [_Part(part) for part in request.parts]
        self._last: Any = None

    @property
    def state(self) -> Any:
        """What is to be seen of it; None until a worker has told of its part."""
        return self._request.join([part.state for part in self._parts]) if self._last is None else self._last

    @property
    def progress(self) -> float:
        """The share that is done; 1 at the end."""
        state = self.state
        return 0.0 if state is None else float(state.progress)

    @property
    def n_bytes(self) -> int:
        """Memory that the state takes, in bytes."""
        state = self.state
        return 0 if state is None else int(state.n_bytes)

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
            if part.worker is not None:
                try:
                    part.checkpoint = self._workers.call(part.worker, "checkpoint") or part.checkpoint
                except WorkerLostError:
                    logger.warning("A worker was lost while its run paused; the run has its checkpoint before that")
                self._stop(part)

    def freeze(self, status: JobStatus) -> Any:
        """What it has reached; see `Computation.freeze`."""
        if status == "cancelled":
            return self._request.join([self._freeze_part(part, status) for part in self._parts])
        state = self.state
        return None if state is None else state.picture()

    def close(self, status: JobStatus) -> None:
        """Make the last state, and stop all workers."""
        try:
            self._last = self.freeze(status)
        finally:
            for part in self._parts:
                self._stop(part)
                part.checkpoint = None

    def _start_workers(self) -> None:
        for part in self._parts:
            if part.done or part.worker is not None:
                continue
            if any(each.worker is not None for each in self._parts) and not self._workers.has_room():
                return
            part.worker = self._workers.start(part.request, part.checkpoint, part.state)
            part.pending = self._workers.advance(part.worker)

    def _take_report(self, part: _Part, pending: Any) -> None:
        try:
            report = self._workers.answer(pending)
        except WorkerLostError as problem:
            logger.warning("A worker was lost; its run goes on elsewhere from its last checkpoint: %s", problem)
            self._stop(part)
            part.n_losses += 1
            if part.n_losses > MAX_LOSSES:
                raise ClusterError(LOST) from problem
            return
        if report.error:
            raise ClusterError(report.error)
        part.state = report.update if part.state is None else part.state.followed_by(report.update)
        if report.checkpoint is not None:
            part.checkpoint, part.n_losses = report.checkpoint, 0
        part.done = report.done
        if part.done:
            self._stop(part)
            part.checkpoint = None
        else:
            part.pending = self._workers.advance(part.worker)

    def _freeze_part(self, part: _Part, status: JobStatus) -> Any:
        """What a part has reached: from its worker, or else from its last checkpoint, built here."""
        if part.done or part.state is None:
            return part.state
        if part.worker is not None:
            try:
                return self._workers.call(part.worker, "freeze", status)
            except WorkerLostError:
                logger.warning("A worker was lost while its run was cancelled; what its last checkpoint has is kept")
        here = part.request.on_device("cpu").build()
        if part.checkpoint is not None:
            here.restore(part.checkpoint)
        return here.freeze(status)

    def _stop(self, part: _Part) -> None:
        worker, part.worker, part.pending = part.worker, None, None
        if worker is not None:
            self._workers.stop(worker)
