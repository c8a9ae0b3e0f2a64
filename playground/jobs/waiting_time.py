"""How long a place in a queue takes."""

import heapq
from collections.abc import Sequence


def waiting_time(seconds_before: Sequence[float], n_places: int) -> float:
    """Seconds until the next in a queue begins, where each of those before it takes the first place that is free.

    Args:
        seconds_before: what those who run or wait still have to run, in their order; seconds.
        n_places: how many run at once.
    """
    free_at = [0.0] * n_places
    for seconds in seconds_before:
        heapq.heapreplace(free_at, free_at[0] + seconds)
    return free_at[0]
