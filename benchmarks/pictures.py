"""Pictures of charts: how long one takes, how many bytes all heads are, and what the menus cost a page."""

import importlib
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import streamlit as st

from benchmarks.results import Result, paired_ratio, seconds
from playground.accounting import count_parameters
from playground.analysis import streams
from playground.export.all_heads import draw_all_heads
from playground.figures import attention, norms, parameters
from playground.presets import PRESETS
from playground.runs import encoder_run
from playground.weights import checkpoint

SENTENCE = "the old man went down to the river and saw a small boat with two men in it "
N_TOKENS = 128
CAPTION = "A row is a query, the token that asks; a column is a key, the token asked. A row's weights add up to 1."


def measure() -> Iterator[Result]:
    """Draw a page's charts in each format, all heads of the trained model, and pages with and without menus."""
    draw: Any = partial(_module("playground.export.pictures.draw_picture").draw_picture, caption=CAPTION, link="")
    yield from _ordinary_charts(draw)
    yield from _all_heads(draw)
    yield from _menus()


def _module(name: str) -> Any:
    """A module that no page imports before somebody asks for a picture."""
    return importlib.import_module(name)


def _run(n_tokens: int) -> encoder_run.Run:
    """The trained model's run of a sentence of so many tokens."""
    encoder, tokenizer = checkpoint.load("minilm")
    text = " ".join((SENTENCE * n_tokens).split()[: n_tokens - 2])  # [CLS] and [SEP] are the other two
    return encoder_run.run(encoder, tokenizer.encode_batch([text]))


def _ordinary_charts(draw: Callable[..., bytes]) -> Iterator[Result]:
    run = _run(16)
    count = count_parameters(replace(PRESETS["minilm-l6"].config, vocab_size=30_522))
    figures = {
        "a head": attention.head_heatmap(run.pattern(3)[1], run.tokens, run.allowed, scale=attention.SQUARE_ROOT),
        "norms": norms.norms_by_layer(streams.lengths(run)),
        "parameters": parameters.breakdown_treemap(count, "parameters"),
    }
    for file_format, target in (("png", 200.0), ("svg", 200.0), ("pdf", None)):
        times = {}
        for name, figure in figures.items():
            draw(figure, file_format)
            times[name] = 1000 * statistics.median(seconds(partial(draw, figure, file_format)) for _ in range(7))
        note = ", ".join(f"{name} {milliseconds:.0f}" for name, milliseconds in times.items())
        yield Result(
            f"a chart as {file_format.upper()}, the slowest of {len(times)}", max(times.values()), target, "ms", note
        )


def _all_heads(draw: Callable[..., bytes]) -> Iterator[Result]:
    patterns = _run(N_TOKENS).patterns()
    n_layers, n_heads = patterns.shape[:2]
    for name, scale, target in (
        ("square root", attention.SQUARE_ROOT, 3.0),
        ("linear", attention.WeightScale(square_root=False), None),
    ):
        figure = draw_all_heads(patterns, scale)
        start = time.perf_counter()
        svg = draw(figure, "svg")
        note = f"drawn in {1000 * (time.perf_counter() - start):.0f} ms, colours by the {name}"
        yield Result(f"SVG of {n_layers} × {n_heads} heads, {N_TOKENS} tokens", len(svg) / 1e6, target, "MB", note)


def _menus(rounds: int = 30) -> Iterator[Result]:
    """The processor's time of a page's run, with the menus over without."""
    app_test, panels = _module("tests.web.app_test"), _module("playground.web.shared.panels")
    with_menu = panels._caption

    def without_menu(key: str, caption: str, *_: Any) -> None:
        st.caption(caption)

    for page in ("attention", "norms", "overview"):
        app = app_test.open_page(page)
        times: dict[Any, list[float]] = {with_menu: [], without_menu: []}
        for turn in range(rounds):
            for caption in (with_menu, without_menu) if turn % 2 else (without_menu, with_menu):
                with patch.object(panels, "_caption", caption):
                    start = time.process_time()
                    app.run()
                    times[caption].append(time.process_time() - start)
        milliseconds = [1000 * statistics.median(each) for each in times.values()]
        note = f"{milliseconds[0]:.1f} ms / {milliseconds[1]:.1f} ms"
        yield Result(f"page {page}: with menus / without", paired_ratio(*times.values()), 1.02, note=note)
