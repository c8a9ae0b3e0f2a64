"""A computation in a process of its own: its steps are taken in slices of time, each at another process's request."""

import logging
import time
from collections.abc import Generator
from typing import Any

from playground.errors import explain
from playground.jobs.backend import JobStatus
from playground.jobs.portable import PortableComputation, PortableRequest, Report

SLICE = 0.25
"""Seconds of steps between two reports."""

CHECKPOINT_EVERY = 3.0
"""Seconds between two checkpoints at least."""

CHECKPOINT_SHARE = 20
"""A checkpoint is taken again after this many times the seconds that the last took: they cost 5 % at most."""

logger = logging.getLogger(__name__)

_NO_STEP = object()


class RunWorker:
    """Builds a computation where it is, and computes it.

    Args:
        request: what to compute.
        checkpoint: where to go on; None: from the start.
        known: the state that whoever asks has already; None: nothing.
    """

    def __init__(self, request: PortableRequest, checkpoint: Any = None, known: Any = None) -> None:
        self._request, self._from, self._known = request, checkpoint, known
        self._computation: PortableComputation | None = None
        self._steps: Generator[object] | None = None
        self._next_checkpoint = time.monotonic() + CHECKPOINT_EVERY

    def advance(self) -> Report:
        """Take steps for a while; whatever goes wrong is in the report."""
        try:
            computation, steps = self._begin()
            deadline, done = time.monotonic() + SLICE, False
            while not done and time.monotonic() < deadline:
                done = next(steps, _NO_STEP) is _NO_STEP
            if done:
                computation.close("finished")
            return Report(
                self._update(computation), done, checkpoint=None if done else self._due_checkpoint(computation)
            )
        except Exception as problem:
            logger.exception("A computation failed")
            return Report(None, error=explain(problem))

    def freeze(self, status: JobStatus) -> Any:
        """What was reached so far, for whoever leaves."""
        return self._begin()[0].freeze(status)

    def checkpoint(self) -> Any:
        """All that another worker needs to go on from here."""
        return self._begin()[0].checkpoint()

    def _begin(self) -> tuple[PortableComputation, Generator[object]]:
        """The computation and its steps, built at the first call."""
        if self._computation is None or self._steps is None:
            self._request.prepare_process()
            computation: PortableComputation = self._request.build()
            if self._from is not None:
                computation.restore(self._from)
                self._from = None
            self._computation, self._steps = computation, computation.run()
        return self._computation, self._steps

    def _update(self, computation: PortableComputation) -> Any:
        update = computation.update(self._known)
        self._known = update.picture() if self._known is None else self._known.followed_by(update)
        return update

    def _due_checkpoint(self, computation: PortableComputation) -> Any:
        begun = time.monotonic()
        if begun < self._next_checkpoint:
            return None
        checkpoint, now = computation.checkpoint(), time.monotonic()
        self._next_checkpoint = now + max(CHECKPOINT_EVERY, CHECKPOINT_SHARE * (now - begun))
        return checkpoint
