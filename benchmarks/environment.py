"""The environment that the app is started with, so that what is measured is what runs."""

import os
import platform
import sys

import torch

SERVER = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "33554432",
    "MALLOC_TRIM_THRESHOLD_": "536870912",
}
"""How `make run` and the container start the app. glibc keeps a pass's memory for the next pass, instead of handing
every large tensor back to the kernel and paying for each of its pages again."""


def enter(module: str = "benchmarks") -> None:
    """Start this process, `python -m <module>`, anew with the environment of the app, where it lacks any of it."""
    if not SERVER.keys() <= os.environ.keys():
        arguments = [sys.executable, "-m", module, *sys.argv[1:]]
        os.execve(sys.executable, arguments, {**SERVER, **os.environ})


def describe() -> str:
    """What the numbers depend on, in one line."""
    set_to = " ".join(f"{name}={os.environ[name]}" for name in SERVER)
    return (
        f"Python {platform.python_version()}, torch {torch.__version__} with {torch.get_num_threads()} threads, "
        f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, {set_to}"
    )
