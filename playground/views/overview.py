"""The path of one sentence through the encoder: tokens, stages and shapes; its work, and a preview of three pages."""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from playground.accounting.readable import ModelCosts, describe_costs
from playground.accounting.shapes import list_shapes, list_stages, symbolic_shapes
from playground.charts import figure as figures
from playground.charts.chart import (
    Axis,
    Bars,
    Button,
    Columns,
    Control,
    Curves,
    HeadGrid,
    Item,
    Options,
    Paragraph,
    Table,
    Widget,
    fill_panel,
)
from playground.charts.heads import shrink
from playground.charts.names import escape_markdown
from playground.charts.scene import Scene
from playground.link.lab import Lab
from playground.link.opening import LinkedView
from playground.pages import PAGES
from playground.views.attention_why import ask_why
from playground.views.norms import length_curves
from playground.views.parameters import component_bars, list_components
from playground.views.scenes import scene_of
from playground.words import say

TUTORIAL_C_BATCH = (30, 200)
"""Sentences and tokens of the batch whose shapes tutorial C prints."""

_PREVIEW_HEIGHT = 300
"""Pixels."""

_ROW_HEIGHT, _MOST_ROWS = 33, 10
"""Pixels of a row of shapes, and how many of them are seen at once."""

_ARROW = ":material/arrow_forward:"


def overview_scene(view: LinkedView) -> Scene[Lab]:
    """The view's lab, and the pinned one where it can be run; raises as the run."""
    return scene_of(lambda lab, run: lab, view)


def show_overview(scene: Scene[Lab], options: Options) -> Iterator[Item]:
    """The page: the sentence's tokens and the stages of the forward pass; every shape and other pages in panels."""
    lab, focus = scene.now, scene.focus
    chips = {"chips": list_chips(lab), "query": focus.query, "key": focus.key}
    yield Widget("sentence_chips", chips, say("overview", "chips"))
    question, asked = ask_why(lab.run, focus), {"attention_show": "one head"}
    yield Button("overview_why", question, asked, say("overview", "why"), _ARROW, opens="attention")
    config, costs = lab.run.config, _count_costs(lab)
    stages = {"stages": list_stages(config, costs.n_tokens), "n_layers": config.n_layers}
    yield Widget("data_flow", stages, say("overview", "stages"))
    if scene.pinned is not None:
        both = escape_markdown(describe_costs(_count_costs(scene.pinned), costs))
        yield Paragraph(say("overview", "costs", costs=both), "caption")
    shapes, more = say("overview", "shapes"), say("overview", "more")
    yield fill_panel(options, "overview_shapes", shapes, lambda: _show_shapes(lab, options), ":material/data_array:")
    yield fill_panel(options, "overview_more", more, lambda: _preview_pages(lab), ":material/preview:")


def _count_costs(lab: Lab) -> ModelCosts:
    return ModelCosts(lab.run.config, len(lab.run.tokens))


def list_chips(lab: Lab) -> list[tuple[str, str, str, str]]:
    """The sentence's tokens and its padding: (piece, number, kind, explanation) of each."""
    batch, row, has_table = lab.batch, lab.sentence, lab.run.config.vocab_size > 0
    sentence, chips = batch.sentences[row], []
    for i, piece in enumerate(batch.tokens[row]):
        start, end = batch.offsets[row][i]
        kind = "special" if batch.special[row][i] else "unknown" if batch.unknown[row][i] else "plain"
        number = str(int(batch.ids[row, i]))
        named = {"position": str(i), "below": f"{'id' if has_table else 'word'} {number}", "kind": kind}
        told = say("overview", "chip", start=str(start), end=str(end), text=sentence[start:end], **named)
        chips.append((piece, number if has_table else f"word {number}", kind, told))
    n_padding = int(lab.run.padding.sum())
    below = str(int(batch.ids[row, -1])) if has_table else "zeros"
    return chips + [("[PAD]", below, "padding", say("overview", "padding"))] * n_padding


def _show_shapes(lab: Lab, options: Options) -> Iterator[Item]:
    yield Control("overview_batch", say("overview", "batch"), say("overview", "batch.help"))
    config, causal = lab.run.config, lab["causal"]
    n_sentences, n_tokens = lab.batch.ids.shape if options["overview_batch"] == "this text" else TUTORIAL_C_BATCH
    if config.has_position_table and n_tokens > config.max_len:
        yield Paragraph(say("overview", "cut", rows=config.max_len, tokens=n_tokens), "caption")
        n_tokens = config.max_len
    steps = [
        (name, _as_tuple(shape), math.prod(shape)) for name, shape in list_shapes(config, n_sentences, n_tokens, causal)
    ]
    table = pd.DataFrame(steps, columns=["intermediate", "shape", "numbers"])
    table.insert(2, "in letters", [_as_tuple(symbols) for _, symbols in symbolic_shapes(config, causal)])
    yield Table[Lab](
        key="overview_shapes_table",
        frame=lambda _: table,
        formats={"numbers": "localized"},
        shows_index=False,
        compares=False,
        row_height=_ROW_HEIGHT,
        most_rows=_MOST_ROWS,
    )
    sizes: dict[str, Any] = {"sentences": n_sentences, "tokens": n_tokens, "heads": config.n_heads}
    total = f"{table['numbers'].sum():,}"
    yield Paragraph(say("overview", "shapes.caption", steps=len(steps), numbers=total, **sizes), "caption")
    width = max(len(name) for name, *_ in steps)
    yield Paragraph("\n".join(f"{name:{width}}  {shape}" for name, shape, _ in steps), "code")


def _as_tuple(shape: tuple[object, ...]) -> str:
    """A shape or its letters as Python writes a tuple, without quotation marks."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _preview_pages(lab: Lab) -> Iterator[Item]:
    costs = _count_costs(lab)
    numbers = {"parameters": f"{costs.parameters.total:,}", "flops": f"{costs.flops.total / 1e6:,.1f}"}
    yield Paragraph(say("overview", "more.caption", time=f"{1000 * lab.run.seconds:.0f}", **numbers), "caption")
    heads = HeadGrid[Lab](
        key="overview_attention",
        alt=say("overview", "heads.alt"),
        caption=say("overview", "heads.caption"),
        thumbnails=lambda lab: shrink(lab.run.patterns()),
        weights=lambda lab: lab.run.patterns(),
        queries=lambda lab: lab.run.tokens,
        keys=lambda lab: lab.run.tokens,
        click=say("overview", "heads.click"),
        height=_PREVIEW_HEIGHT,
        saved_as="attention_all_heads",
    )
    lengths = Curves[Lab](
        key="overview_norms",
        alt=say("overview", "lengths.alt"),
        caption=say("overview", "lengths.caption"),
        curves=lambda lab: length_curves(lab.run),
        x=Axis("after layer (−1 = embeddings)"),
        y=figures.length_axis("median L2 norm"),
        height=_PREVIEW_HEIGHT,
    )
    parameters: Bars[Lab] = component_bars(
        "overview_parameters",
        lambda lab: _count_costs(lab).parameters,
        "parameters",
        caption=say("overview", "parameters.caption"),
        alt=say("overview", "parameters.alt", components=list_components(costs.parameters)),
        height=_PREVIEW_HEIGHT,
        is_tabulated=False,
    )
    pages = {"attention": heads, "norms": lengths, "parameters": parameters}
    yield Columns(tuple((chart, _open_page(page)) for page, chart in pages.items()))


def _open_page(page: str) -> Button:
    return Button(f"overview_open_{page}", say("overview", "open", page=PAGES[page].title), {}, icon=_ARROW, opens=page)
