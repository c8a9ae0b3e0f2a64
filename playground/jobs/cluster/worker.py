"""A computation in a process of its own: its steps are taken in slices of time, each at another process's request."""

import logging
import pickle
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from playground.errors import explain
from playground.jobs.job import JobStatus, PortableRequest, ResumableComputation

SLICE, CHECKPOINT_EVERY = 0.25, 3.0
"""Seconds between two reports, and between two checkpoints, at least."""

SHARE = 20
"""How many times as long as making a report or a checkpoint took the next one is off: they cost 5 % each at most."""

logger = logging.getLogger(__name__)


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
