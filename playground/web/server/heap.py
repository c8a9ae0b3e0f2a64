"""The heap of the C library."""

import ctypes


def trim_heap() -> None:
    """Hand free memory back to the system, where the C library is glibc: by itself it keeps that for later."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
