"""A lesson: sixty students open one link at once, then act every five seconds; beside them, an empty Streamlit app's.

Prints seconds by action, failures, and the server's memory and processor time. `make load` runs it; `--minutes 20` is
the long form, and `--port` measures a server that runs already, of which it does not read the memory.
"""

import argparse
import asyncio
import contextlib
import os
import time
from collections import Counter
from collections.abc import Awaitable, Sequence

import numpy as np

from benchmarks import environment
from benchmarks.load.lesson import Record, attend, move_slider, train
from benchmarks.load.memory_bound import memory_bound
from benchmarks.server import processor_seconds, resident_bytes, serve
from playground.web.server import read_settings
from playground.web.start import TRAINING_AFTER

QUIET = 20.0
"""Seconds after the last student has left, when memory is read for the last time."""

REST = 3.0
"""Seconds in which a server at rest does next to nothing."""

SAMPLE = 10.0
"""Seconds between two readings of memory."""


def main() -> None:
    """Parse the command line, hold the lesson, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--students", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=2, help="of the lesson; half of it again while some train")
    parser.add_argument("--pause", type=float, default=5, help="seconds from one action of a student to the next")
    parser.add_argument("--trainers", type=int, default=3, help="further students, who train in the second part")
    parser.add_argument("--port", type=int, help="of a server on this machine; without, one is started")
    arguments = parser.parse_args()
    environment.enter("benchmarks.load")
    print(environment.describe())
    if arguments.port is not None:
        measure("the running server", arguments.port, None, arguments)
        return
    with serve("benchmarks/empty_app.py") as empty:
        record, end = Record(), time.monotonic() + 60 * arguments.minutes / 2
        visits = [move_slider(empty.port, record, end, arguments.pause, i) for i in range(arguments.students)]
        report("an empty Streamlit app", record, asyncio.run(hold(visits, empty.process_id)))
    os.environ.setdefault("PLAYGROUND_RELEASE_AFTER", str(QUIET / 2))  # what comes back is read after QUIET seconds
    with serve("streamlit_app.py") as app:
        measure("the playground", app.port, app.process_id, arguments)


def measure(name: str, port: int, process_id: int | None, arguments: argparse.Namespace) -> None:
    """Hold a lesson, then a shorter one while some train; print both, and the memory once all have left."""
    if process_id:
        wait_for_rest(process_id)
    first = Record()
    asyncio.run(attend(port, first, time.monotonic() + 1, 1, seed=0))  # what the first visitor alone makes it load
    before = resident_bytes(process_id) if process_id else 0
    seconds = 60 * arguments.minutes
    for what, length, trainers in ((name, seconds, 0), ("… while some train", seconds / 2, arguments.trainers)):
        record, training, end = Record(), Record(), time.monotonic() + length
        visits = [attend(port, record, end, arguments.pause, seed) for seed in range(arguments.students)]
        visits += [train(port, training, end) for _ in range(trainers)]
        usage = asyncio.run(hold(visits, process_id))
        record.failures += training.failures
        report(what, record, usage)
    if process_id:
        time.sleep(QUIET)
        after = resident_bytes(process_id)
        print(f"memory before the lesson {before / 1e6:.0f} MB, {QUIET:.0f} s after it {after / 1e6:.0f} MB")


def wait_for_rest(process_id: int) -> None:
    """Wait until a server has prepared the first training too, as one that a class comes to has long ago."""
    time.sleep(TRAINING_AFTER)
    while True:
        before = processor_seconds(process_id)
        time.sleep(REST)
        if processor_seconds(process_id) - before < 0.1 * REST:
            return


async def hold(visits: Sequence[Awaitable[None]], process_id: int | None) -> str:
    """Wait for all visits; returns what the server's process took meanwhile, in words."""
    if process_id is None:
        await asyncio.gather(*visits)
        return ""
    begun, worked = time.monotonic(), processor_seconds(process_id)
    memory: list[int] = []
    watch = asyncio.create_task(_watch_memory(process_id, memory))
    await asyncio.gather(*visits)
    watch.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watch
    share = (processor_seconds(process_id) - worked) / (time.monotonic() - begun)
    megabytes = " ".join(f"{size / 1e6:.0f}" for size in memory[:: max(1, len(memory) // 12)])
    most, bound = max(memory, default=0) / 1e6, memory_bound(read_settings(os.environ), trained=len(visits)) / 1e6
    obeyed = "within" if most <= bound else "MORE THAN"
    return (
        f"{share:.0%} of one processor; memory in MB, from the first to the last minute: {megabytes}; "
        f"{obeyed} the bound of {bound:,.0f}"
    )


def report(name: str, record: Record, usage: str) -> None:
    """Print the seconds of every action, the failures, and what the server took."""
    print(f"\n{name:24}{'times':>7}{'p50':>8}{'p95':>8}{'p99':>8}  seconds")
    for action, seconds in record.seconds.items():
        middle, most, nearly_all = np.quantile(seconds, (0.5, 0.95, 0.99))
        print(f"  {action:22}{len(seconds):7}{middle:8.2f}{most:8.2f}{nearly_all:8.2f}")
    for failure, times in Counter(record.failures).items():
        print(f"  failed {times} times: {failure}")
    print(f"  {record.received / 1e6:.0f} MB of messages. {usage}")


async def _watch_memory(process_id: int, memory: list[int]) -> None:
    while True:
        memory.append(resident_bytes(process_id))
        await asyncio.sleep(SAMPLE)


if __name__ == "__main__":
    main()
