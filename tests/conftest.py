"""What every test may rely on."""

import gc
import importlib
import logging
import os
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:  # xdist's controller, which runs no test, would wait for torch
    from playwright.sync_api import Browser

    from playground import Encoder
    from playground.text import Tokenizer

# The same examples on every machine, and no deadline: a slow machine must not turn a true property false.
# `make check` asks for the profile `quick`.
settings.register_profile("playground", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("quick", settings.get_profile("playground"), max_examples=12)
settings.load_profile("playground")

pytest.register_assert_rewrite("tests.browser.visitor")  # so that what went wrong is shown


def pytest_configure(config: pytest.Config) -> None:
    """Prepare torch, except in xdist's controller, which runs no test and would wait for it.

    The tests run side by side, and their models are small: one thread. Another number rounds otherwise: all pass with
    any. The first optimiser imports `torch._dynamo`, and in a training thread that fails while Streamlit changes
    `sys.path`.
    """
    if config.getoption("dist", "no") == "no":
        torch = importlib.import_module("torch")
        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
        importlib.import_module("torch._dynamo")


_IN_REAL_TIME = tuple(f"tests/{name}/" for name in ("attacks", "browser", "cluster", "deploy", "processes"))


@pytest.hookimpl(tryfirst=True)  # before `-m` reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests of servers and other processes first: a long one at the end would leave the other core without work.

    And leave to `make test` what is over of a `sampled` test's cases.
    """
    items.sort(key=lambda item: not item.nodeid.startswith(_IN_REAL_TIME))
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for all_of_one in cases.values():
        (n,) = next(all_of_one[0].iter_markers("sampled")).args
        kept = {len(all_of_one) * i // n for i in range(n)}
        for i, item in enumerate(all_of_one):
            if i not in kept:
                item.add_marker("sweep")


def pytest_collection_finish() -> None:
    """Leave loaded packages out of garbage collection, and Streamlit's hundred loggers to the root: both cost time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("streamlit"):
            logging.getLogger(name).propagate = True


@pytest.fixture(scope="session", autouse=True)
def trained_weights_read_once() -> Iterator[None]:
    """What asks `checkpoint` for the trained encoder gets one, whose files are read and hashed at the first time."""
    from playground.weights import checkpoint

    load_minilm = checkpoint.load

    @cache
    def load_from(path: Path | None) -> "tuple[Encoder, Tokenizer]":
        return load_minilm()

    def load(source: str | os.PathLike[str] = "minilm") -> "tuple[Encoder, Tokenizer]":
        return load_from(checkpoint.minilm_path()) if source == "minilm" else load_minilm(source)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "load", load)
        patch.setattr(checkpoint, "read_minilm_tokenizer", cache(checkpoint.read_minilm_tokenizer))
        yield


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder that holds the whole project."""
    return Path(__file__).resolve().parent.parent


ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",  # pages of one context share what was compiled for the first
]
"""Of Chromium."""


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """Chromium without its windows, or the browser that CHROMIUM names."""
    from playwright.sync_api import sync_playwright

    command = os.environ.get("CHROMIUM", "chromium-headless-shell")
    executable = shutil.which(command)
    if executable is None:
        pytest.fail(f"{command} is not installed: install Chromium, or name yours with CHROMIUM=<command>.")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield chromium
        chromium.close()
