"""Points at which a long computation may end early, because nobody waits for it any more.

A pass through torch can't be stopped; between two passes, two tensors or two rows it can. Whoever computes calls
`check_interrupted` there, and knows nothing of visitors; whoever starts the computation says what that checks.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Check = Callable[[], None]
"""Raises where the computation should end; it may raise anything that is not an error of the computation itself."""


def _nothing() -> None:
    pass


_CHECK: ContextVar[Check] = ContextVar("check", default=_nothing)


def check_interrupted() -> None:
    """Raise what the surrounding `interruptible` raises, where nobody waits for this computation any more."""
    _CHECK.get()()


@contextmanager
def interruptible(check: Check) -> Iterator[None]:
    """Context in which `check_interrupted` calls `check`, in this thread."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)
