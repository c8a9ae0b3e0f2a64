"""Pictures of charts: what their figures cost the server and how many bytes they are, and what menus cost a page."""

import importlib
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import plotly.graph_objects as go

from benchmarks.results import Result, paired_ratio, seconds
from playground.accounting.readable import ModelCosts
from playground.charts.chart import Heatmap
from playground.charts.draw import draw_chart
from playground.charts.head_map import head_map
from playground.charts.scene import Scene
from playground.charts.weights import SQUARE_ROOT
from playground.export.print_figure import draw_all_heads, write_print_figure
from playground.link.opening import Focus
from playground.presets import PRESETS
from playground.runs import encoder_run
from playground.views.norms import lengths_by_depth
from playground.views.parameters import show_treemap
from playground.weights import checkpoint

SENTENCE = "the old man went down to the river and saw a small boat with two men in it "
N_TOKENS = 128


def measure() -> Iterator[Result]:
    """Write the figures that browsers draw, and run pages with and without menus."""
    yield from _figures()
    yield from _menus()


def _run(n_tokens: int) -> encoder_run.Run:
    """The trained model's run of a sentence of so many tokens."""
    encoder, tokenizer = checkpoint.load("minilm")
    text = " ".join((SENTENCE * n_tokens).split()[: n_tokens - 2])  # [CLS] and [SEP] are the other two
    return encoder_run.run(encoder, tokenizer.encode_batch([text]))


def _figures() -> Iterator[Result]:
    run, patterns = _run(16), _run(N_TOKENS).patterns()
    costs = Scene(ModelCosts(replace(PRESETS["minilm-l6"].config, vocab_size=30_522), 16), Focus(0, 0, 0, 0))
    scene = Scene(run, Focus(3, 1, 0, 0))
    head: Heatmap[encoder_run.Run] = head_map(
        key="head",
        alt="",
        caption="",
        weights=lambda subject: subject.pattern(3)[1],
        tokens=lambda subject: subject.tokens,
        allowed=lambda subject: subject.allowed,
    )
    figures = {
        "a head": go.Figure(draw_chart(head, scene).now.figure),
        "norms": go.Figure(draw_chart(lengths_by_depth(scene), scene).now.figure),
        "parameters": go.Figure(draw_chart(show_treemap(costs, has_focus=False), costs).now.figure),
        f"all heads, {N_TOKENS} tokens": go.Figure(draw_all_heads(patterns, SQUARE_ROOT)),
    }
    for name, figure in figures.items():
        milliseconds = 1000 * statistics.median(seconds(partial(write_print_figure, figure)) for _ in range(7))
        megabytes = len(write_print_figure(figure)) / 1e6
        is_all = name.startswith("all")
        yield Result(
            f"{name}: the picture's figure", megabytes, 2.0 if is_all else 0.03, "MB", f"{milliseconds:.1f} ms"
        )


def _menus(rounds: int = 30) -> Iterator[Result]:
    """The processor's time of a page's run, with the menus over without."""
    app_test, renderer = (
        importlib.import_module(name) for name in ("tests.web.app_test", "playground.web.shared.renderer")
    )
    with_menu = renderer.draw_save_menu

    def without_menu(*_: Any, **__: Any) -> None:
        pass

    for page in ("attention", "norms", "overview"):
        app = app_test.open_page(page)
        times: dict[Any, list[float]] = {with_menu: [], without_menu: []}
        for turn in range(rounds):
            for menu in (with_menu, without_menu) if turn % 2 else (without_menu, with_menu):
                with patch.object(renderer, "draw_save_menu", menu):
                    start = time.process_time()
                    app.run()
                    times[menu].append(time.process_time() - start)
        milliseconds = [1000 * statistics.median(each) for each in times.values()]
        note = f"{milliseconds[0]:.1f} ms / {milliseconds[1]:.1f} ms"
        yield Result(f"page {page}: with menus / without", paired_ratio(*times.values()), 1.02, note=note)
