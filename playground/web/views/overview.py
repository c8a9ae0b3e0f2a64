"""The overview's parts: tokens as chips, stages as boxes, the shape of every intermediate, previews of other pages."""

import math

import pandas as pd
import streamlit as st

from playground.accounting import count_flops, count_parameters
from playground.accounting.costs import ModelCosts, describe_costs
from playground.accounting.readable import listed
from playground.accounting.shapes import list_shapes, list_stages, symbolic_shapes
from playground.analysis import streams
from playground.charts.markdown import escape_markdown
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.figures import attention, norms
from playground.link.opening import Focus
from playground.runs.encoder_run import Run
from playground.views.attention.why import ask_why
from playground.views.parameters import component_bars
from playground.web.choices import widgets
from playground.web.choices.focus import move_focus
from playground.web.choices.setup import current_setup
from playground.web.components import rows
from playground.web.components.rows import draw_data_flow, draw_token_chips
from playground.web.shared import panels
from playground.web.shared.focus_line import show_focus
from playground.web.shared.head_map import head_picker
from playground.web.shared.model_costs import model_costs, pinned_costs
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import fragment
from playground.web.shared.pinning import PinnedSide, pinned_side, run_pinned
from playground.web.shared.renderer import render
from playground.web.shared.saving import saved_heads
from playground.web.views.attention import show_on_arrival

TUTORIAL_C_BATCH = (30, 200)
"""Sentences and tokens of the batch whose shapes tutorial C prints."""

_PREVIEW_HEIGHT = 300
"""Pixels."""

NEXT_PAGE = "_next_page"
"""Session key of the page whose box was pressed."""


@fragment
def explore() -> None:
    """The focus, and all that the page shows of the sentence."""
    _follow_opened_stage()
    run, side = panels.shown_run(), pinned_side()
    pinned = run_pinned(side)
    focus = show_focus(run)
    _draw_tokens(run, focus)
    st.button(
        ask_why(run, focus),
        key="overview_why",
        icon=":material/arrow_forward:",
        type="tertiary",
        on_click=_open_why,
        help="Opens the page Attention, where this weight is split by what caused it.",
    )
    _draw_stages(run)
    before = pinned_costs(side)
    if before:
        st.caption(f"**Before and now.** {escape_markdown(describe_costs(before, model_costs(current_setup())))}")
    _draw_shape_table(run.config)
    _draw_previews(run, focus, side, pinned)


def _follow_opened_stage() -> None:
    """Go to the page of the box that was pressed, if one was."""
    page = st.session_state.pop(NEXT_PAGE, None)
    if page:
        st.switch_page(page_named(page), query_params={})


def _draw_tokens(run: Run, focus: Focus) -> None:
    """The sentence's tokens as chips, with their ids; a click chooses the query."""
    draw_token_chips(_chips(run), query=focus.query, key=focus.key, on_click=_take_query)
    number = (
        "its id, its number in the vocabulary"
        if run.config.vocab_size
        else "which word of the text it is. Equal words have equal vectors"
    )
    st.caption(
        f"Each chip is a token: a piece of text that the model reads as one unit. Below it stands {number}. A dashed "
        "frame marks what was added: special tokens and padding. A red frame marks text that the vocabulary lacks. "
        "Press a token to make it the *query*, the token that asks: it has the thick frame. The thin one marks the "
        "*key*, the token that is asked."
    )


def _draw_stages(run: Run) -> None:
    """The stages of the forward pass as boxes that open pages, and the whole pass in three numbers."""
    config, n_tokens = run.config, len(run.tokens)
    draw_data_flow(list_stages(config, n_tokens), config.n_layers, _remember_opened_page)
    st.caption(
        "Each box is a step with a shape: (tokens, features) of its vectors, heads × (tokens, tokens) of attention's "
        f"weights. The feed-forward shows its hidden layer.{_describe_line(config)} In all: "
        f"**{count_parameters(config).total:,} parameters** (numbers that training adjusts), "
        f"**{count_flops(config, n_tokens).total / 1e6:,.1f} million floating-point operations** in its matrix "
        "products (a multiplication or an addition each; norms, softmax and the like are left out), "
        f"**{1000 * run.seconds:.0f} ms**. Press a box to open its page."
    )


def _describe_line(config: ModelConfig) -> str:
    return " A line past boxes is a *residual connection*: *add* joins it to what they give." * config.residual


def _draw_shape_table(config: ModelConfig) -> None:
    """An expander with every intermediate's shape, as tutorial C prints them; computed only when it is open."""
    panel = st.expander(
        "Every shape, in order", icon=":material/data_array:", key="overview_shapes", bind="query-params"
    )
    if panel.open:
        with panel:
            _draw_shapes(config)


def _draw_previews(run: Run, focus: Focus, side: PinnedSide | None, pinned: Run | None) -> None:
    """One small chart each of the pages on attention, norms and parameters, with a link to the page."""
    count = count_parameters(run.config)
    lengths = norms.norms_by_layer(streams.lengths(run))
    dotted = ""
    if side and pinned:
        lengths = norms.norms_by_layer(streams.lengths(run), streams.lengths(pinned), side.name)
        dotted = f" Dotted: {escape_markdown(side.name)}."
    columns = dict(zip(("attention", "norms", "parameters"), st.columns(3, gap="medium"), strict=True))
    with columns["attention"]:
        head_picker(
            "overview_attention",
            attention.head_grid(run.patterns(), labels=False).update_layout(height=_PREVIEW_HEIGHT),
            (run.config.n_layers, run.config.n_heads),
            (focus.layer, focus.head),
            places=("layer", "head"),
            caption="Attention of every head: a row is a layer, a column is a head. Click one to choose it.",
            alt="Attention of every head as thumbnails.",
            saved=saved_heads(
                "attention_all_heads", run.patterns, run.tokens, run.tokens, run.config.n_layers * run.config.n_heads
            ),
        )
    with columns["norms"]:
        panels.chart(
            "overview_norms",
            lengths.update_layout(height=_PREVIEW_HEIGHT),
            caption=f"Mean length of the tokens' vectors, block by block.{dotted}",
            alt="Mean L2 norm by depth.",
        )
    with columns["parameters"]:
        bars = component_bars(
            "overview_parameters",
            lambda costs: costs.parameters,
            "parameters",
            caption="Parameters of each component of the model.",
            alt=f"Parameters by component: {listed(count.by(lambda term: term.component).items())}.",
            height=_PREVIEW_HEIGHT,
            is_tabulated=False,
        )
        now, before = (each and ModelCosts(each.config, len(each.tokens)) for each in (run, pinned))
        render([bars], Scene(now, focus, before, side.name if side else ""))
    for page, column in columns.items():
        column.page_link(page_named(page), label=f"Open {page}", icon=":material/arrow_forward:")


def _chips(run: Run) -> list[tuple[str, str, str, str]]:
    """The sentence's tokens and its padding: (piece, id, kind, explanation) of each."""
    setup = current_setup()
    batch, row = setup.batch, setup.sentence
    sentence = batch.sentences[row]
    name = "id" if run.config.vocab_size else "word"
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
    n_padding = int(run.padding.sum())
    below = str(int(batch.ids[row, -1])) if name == "id" else "zeros"
    return chips + [("[PAD]", below, "padding", "padding, masked")] * n_padding


def _take_query() -> None:
    move_focus(query=st.session_state[rows.TOKENS_KEY].clicked)


def _open_why() -> None:
    st.session_state[NEXT_PAGE] = "attention"
    show_on_arrival()


def _remember_opened_page() -> None:
    st.session_state[NEXT_PAGE] = st.session_state["data_flow"].open


def _draw_shapes(config: ModelConfig) -> None:
    setup = current_setup()
    n_sentences, n_tokens = setup.batch.ids.shape
    batch = widgets.choice("overview_batch", "Batch", help_text="The sentences that are computed together.")
    if batch != "this text":
        n_sentences, n_tokens = TUTORIAL_C_BATCH
    if config.positions != "none" and n_tokens > config.max_len:
        st.caption(f"The position table has {config.max_len} rows (max_len): the {n_tokens} tokens are cut to as many.")
        n_tokens = config.max_len
    steps = list_shapes(config, n_sentences, n_tokens, setup["causal"])
    sizes = [math.prod(shape) for _, shape in steps]
    panels.show_table(
        "overview_shapes_table",
        pd.DataFrame(
            {
                "intermediate": [name for name, _ in steps],
                "shape": [_as_tuple(shape) for _, shape in steps],
                "in letters": [_as_tuple(symbols) for _, symbols in symbolic_shapes(config, setup["causal"])],
                "numbers": sizes,
            }
        ),
        hide_index=True,
        column_config={"numbers": st.column_config.NumberColumn(format="localized")},
    )
    st.caption(
        f"Sentences: B = {n_sentences}. Tokens: T = {n_tokens}. Heads: H = {config.n_heads}. The {len(steps)} steps "
        f"hold {sum(sizes):,} numbers in all. The same table as text, to copy:"
    )
    width = max(len(name) for name, _ in steps)
    st.code("\n".join(f"{name:{width}}  {_as_tuple(shape)}" for name, shape in steps), language=None, height=160)


def _as_tuple(shape: tuple[object, ...]) -> str:
    """A shape or its letters as Python writes a tuple, without quotation marks."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
