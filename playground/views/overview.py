"""The way of one sentence through the encoder: tokens, stages and shapes; its work, and a preview of three pages."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from playground.accounting.readable import ModelCosts, describe_costs
from playground.accounting.shapes import list_shapes, list_stages, symbolic_shapes
from playground.charts import figure as figures
from playground.charts.chart import (
    Axis,
    Chart,
    Code,
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
from playground.charts.markdown import escape_markdown
from playground.charts.scene import Scene
from playground.charts.weights import shrink
from playground.link.opening import LinkedView
from playground.runs.encoder_run import Run
from playground.text import Batch
from playground.views.attention_why import ask_why
from playground.views.norms import length_curves
from playground.views.parameters import component_bars, list_components, model_costs
from playground.views.scenes import scene_of

TUTORIAL_C_BATCH = (30, 200)
"""Sentences and tokens of the batch whose shapes tutorial C prints."""

_PREVIEW_HEIGHT = 300
"""Pixels."""

_ROW_HEIGHT, _MOST_ROWS = 33, 10
"""Pixels of a row of shapes, and how many of them are seen at once."""


@dataclass(frozen=True, eq=False)
class ReadSentence:
    """A sentence's run, and the text that it is read from."""

    run: Run
    batch: Batch
    """The text's tokens."""
    sentence: int
    """Of the text, from 0."""
    is_causal: bool = False
    pinned_costs: ModelCosts | None = None
    """What the pinned model costs, also where it cannot be run."""

    @cached_property
    def costs(self) -> ModelCosts:
        """What the model costs for this sentence, with its padding."""
        return ModelCosts(self.run.config, len(self.run.tokens))


def overview_scene(view: LinkedView) -> Scene[ReadSentence]:
    """The view's run with its text, and the pinned one's; raises as the run."""
    now = view.pinned and model_costs(view.pinned.lab)
    return scene_of(lambda lab, run: ReadSentence(run, lab.batch, lab.sentence, lab["causal"], now or None), view)


def show_overview(scene: Scene[ReadSentence], options: Options) -> Iterator[Item]:
    """The page: the sentence's tokens and the stages of the forward pass; every shape and other pages in panels."""
    read, focus = scene.now, scene.focus
    chips = {"chips": list_chips(read), "query": focus.query, "key": focus.key}
    yield Widget("sentence_chips", chips, _explain_chips(read))
    yield Widget("ask_why", {"question": ask_why(read.run, focus)})
    config, costs = read.run.config, read.costs
    stages = {"stages": list_stages(config, costs.n_tokens), "n_layers": config.n_layers}
    yield Widget("data_flow", stages, _explain_stages(read))
    if read.pinned_costs is not None:
        both = escape_markdown(describe_costs(read.pinned_costs, costs))
        yield Paragraph(f"**Before and now.** {both}", "caption")
    title = "Every shape, in order"
    yield fill_panel(options, "overview_shapes", title, lambda: show_shapes(read, options), ":material/data_array:")
    title = "Its size, its heads, its lengths"
    yield fill_panel(options, "overview_more", title, lambda: preview_pages(read), ":material/preview:")


def preview_pages(read: ReadSentence) -> Iterator[Item]:
    """What the pass costs, and a chart of each of three other pages."""
    yield Paragraph(
        f"This encoder has **{read.costs.parameters.total:,} parameters** (numbers that training adjusts). Your "
        f"sentence takes **{read.costs.flops.total / 1e6:,.1f} million floating-point operations** in its matrix "
        "products (a multiplication or an addition each; norms, softmax and the like are left out), and took "
        f"**{1000 * read.run.seconds:.0f} ms**.",
        "caption",
    )
    previews = {"attention": preview_heads(), "norms": preview_lengths(), "parameters": preview_parameters(read)}
    yield Columns(tuple((chart, Widget("page_link", {"page": page})) for page, chart in previews.items()))


def list_chips(read: ReadSentence) -> list[tuple[str, str, str, str]]:
    """The sentence's tokens and its padding: (piece, id, kind, explanation) of each."""
    batch, row = read.batch, read.sentence
    sentence = batch.sentences[row]
    name = "id" if read.run.config.vocab_size else "word"
    chips = []
    for i, piece in enumerate(batch.tokens[row]):
        start, end = batch.offsets[row][i]
        kind, reason = "plain", f"characters {start} to {end}: “{sentence[start:end]}”"
        if batch.special[row][i]:
            kind, reason = "special", "added by the tokenizer"
        elif batch.unknown[row][i]:
            kind, reason = "unknown", f"not in the vocabulary: “{sentence[start:end]}”"
        token_id = int(batch.ids[row, i])
        below = f"{token_id}" if name == "id" else f"word {token_id}"
        chips.append((piece, below, kind, f"position {i}, {name} {token_id}, {reason}"))
    n_padding = int(read.run.padding.sum())
    below = str(int(batch.ids[row, -1])) if name == "id" else "zeros"
    return chips + [("[PAD]", below, "padding", "padding, masked")] * n_padding


def _explain_chips(read: ReadSentence) -> str:
    number = (
        "its id, its number in the vocabulary"
        if read.run.config.vocab_size
        else "which word of the text it is. Equal words have equal vectors"
    )
    has_unknown = any(read.batch.unknown[read.sentence])
    unknown = " A thin red frame marks text that the vocabulary lacks." * has_unknown
    return (
        f"Each chip is a token: a piece of text that the model reads as one unit. Below it stands {number}. A dashed "
        f"frame marks what was added: special tokens and padding.{unknown} "
        "Press a token to make it the *query*, the token that asks: it has the thickest frame. The other red frame is "
        "the *key*'s, the token that is asked."
    )


def _explain_stages(read: ReadSentence) -> str:
    """How to read the boxes."""
    line = " A line past boxes is a *residual connection*: *add* joins it to what they give."
    return (
        "Each box is a step with a shape: (tokens, features) of its vectors, heads × (tokens, tokens) of attention's "
        f"weights. The feed-forward shows its hidden layer.{line * read.run.config.residual} Press a box to open its "
        "page."
    )


def show_shapes(read: ReadSentence, options: Options) -> Iterator[Item]:
    """Every intermediate's shape, as tutorial C prints them."""
    yield Control("overview_batch", "Batch", "The sentences that are computed together.")
    config, causal = read.run.config, read.is_causal
    n_sentences, n_tokens = read.batch.ids.shape if options["overview_batch"] == "this text" else TUTORIAL_C_BATCH
    if config.has_position_table and n_tokens > config.max_len:
        rows = f"The position table has {config.max_len} rows (max_len)"
        yield Paragraph(f"{rows}: the {n_tokens} tokens are cut to as many.", "caption")
        n_tokens = config.max_len
    steps = list_shapes(config, n_sentences, n_tokens, causal)
    table = pd.DataFrame(
        {
            "intermediate": [name for name, _ in steps],
            "shape": [_as_tuple(shape) for _, shape in steps],
            "in letters": [_as_tuple(symbols) for _, symbols in symbolic_shapes(config, causal)],
            "numbers": [math.prod(shape) for _, shape in steps],
        }
    )
    yield Table[ReadSentence](
        key="overview_shapes_table",
        frame=lambda _: table,
        formats={"numbers": "localized"},
        shows_index=False,
        compares=False,
        row_height=_ROW_HEIGHT,
        most_rows=_MOST_ROWS,
    )
    yield Paragraph(
        f"Sentences: B = {n_sentences}. Tokens: T = {n_tokens}. Heads: H = {config.n_heads}. The {len(steps)} steps "
        f"hold {table['numbers'].sum():,} numbers in all. The same table as text, to copy:",
        "caption",
    )
    width = max(len(name) for name, _ in steps)
    yield Code("\n".join(f"{name:{width}}  {_as_tuple(shape)}" for name, shape in steps))


def _as_tuple(shape: tuple[object, ...]) -> str:
    """A shape or its letters as Python writes a tuple, without quotation marks."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def preview_heads() -> Chart[ReadSentence]:
    """Every head's attention as a thumbnail; a click chooses it."""
    return HeadGrid(
        key="overview_attention",
        alt="Attention of every head as thumbnails.",
        caption="Attention of every head: a row is a layer, a column is a head, both counted from 0. Press one to "
        "choose it.",
        thumbnails=lambda read: shrink(read.run.patterns()),
        weights=lambda read: read.run.patterns(),
        queries=lambda read: read.run.tokens,
        keys=lambda read: read.run.tokens,
        click="The open head. Arrow keys open its neighbours.",
        height=_PREVIEW_HEIGHT,
        saved_as="attention_all_heads",
    )


def preview_lengths() -> Chart[ReadSentence]:
    """The tokens' median length by depth, a curve a part."""
    return Curves(
        key="overview_norms",
        alt="Median L2 norm by depth.",
        caption=r"How long are the tokens' vectors (their L2 norm, $\sqrt{\sum_i x_i^2}$)? A line is the median over "
        "tokens, a band holds all of them but outliers. *Residual stream*: what passes from layer to layer.",
        curves=lambda read: length_curves(read.run),
        x=Axis("after layer (−1 = embeddings)"),
        y=[figures.length_axis("median L2 norm")],
        height=_PREVIEW_HEIGHT,
    )


def preview_parameters(read: ReadSentence) -> Chart[ReadSentence]:
    """A row a component."""
    return component_bars(
        "overview_parameters",
        lambda each: each.costs.parameters,
        "parameters",
        caption="Parameters of each component of the model.",
        alt=f"Parameters by component: {list_components(read.costs.parameters)}.",
        height=_PREVIEW_HEIGHT,
        is_tabulated=False,
    )
