"""The front page: a sentence's path through the encoder."""

import math
from collections.abc import Iterator

import pandas as pd

from playground.accounting.readable import ModelCosts, describe_costs
from playground.accounting.shapes import list_shapes, list_stages, symbolic_shapes
from playground.charts.chart import Button, Control, Item, Options, Paragraph, Table, Widget, fill_panel
from playground.charts.names import escape_markdown
from playground.charts.scene import Scene
from playground.link.lab import Lab
from playground.link.opening import LinkedView
from playground.views.attention_why import ask_why
from playground.views.scenes import scene_of
from playground.words import say

TUTORIAL_C_BATCH = (30, 200)
"""Sentences and tokens."""


def overview_scene(view: LinkedView) -> Scene[Lab]:
    """Return the labs; raises as the run."""
    return scene_of(lambda lab, run: lab, view)


def show_overview(scene: Scene[Lab], options: Options) -> Iterator[Item]:
    """Yield tokens, stages with costs, and every shape."""
    lab, focus = scene.now, scene.focus
    chips = {"chips": list_chips(lab), "query": focus.query, "key": focus.key}
    yield Widget("sentence_chips", chips, say("overview", "chips"))
    question, asked = ask_why(lab.run, focus), {"attention_show": "one head"}
    icon = ":material/arrow_forward:"
    yield Button("overview_why", question, asked, say("overview", "why"), icon, opens="attention")
    config, costs = lab.run.config, _count_costs(lab)
    stages = {"stages": list_stages(config, costs.n_tokens), "n_layers": config.n_layers}
    numbers = {"parameters": f"{costs.parameters.total:,}", "flops": f"{costs.flops.total / 1e6:,.1f}"}
    yield Widget("data_flow", stages, say("overview", "stages", **numbers))
    if scene.pinned is not None:
        both = escape_markdown(describe_costs(_count_costs(scene.pinned), costs))
        yield Paragraph(say("overview", "costs", costs=both), "caption")
    shapes = say("overview", "shapes")
    yield fill_panel(options, "overview_shapes", shapes, lambda: _show_shapes(lab, options), ":material/data_array:")


def _count_costs(lab: Lab) -> ModelCosts:
    return ModelCosts(lab.run.config, len(lab.run.tokens))


def list_chips(lab: Lab) -> list[tuple[str, str, str, str]]:
    """Return tokens and padding: (piece, number, kind, explanation)."""
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
    n_tokens = min(n_tokens, config.max_len) if config.has_position_table else n_tokens
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
        row_height=33,
        most_rows=10,
    )
    sizes = {"sentences": n_sentences, "tokens": n_tokens, "heads": config.n_heads, "steps": len(steps)}
    total = f"{table['numbers'].sum():,}"
    yield Paragraph(say("overview", "shapes.caption", numbers=total, **sizes), "caption")


def _as_tuple(shape: tuple[object, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
