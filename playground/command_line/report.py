"""A view printed: its settings, tokens, shapes, parameters, one head's attention, and its link."""

from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from playground.accounting import LABELS, count_parameters, list_shapes, symbolic_shapes
from playground.command_line.attention_map import MOST_TOKENS, draw_map
from playground.errors import TooLargeError
from playground.figures.palette import COMPONENTS
from playground.link.interventions import Change, write_changes
from playground.link.link_values import explain_cut, write_query
from playground.link.opening import LinkedView
from playground.link.params import PAGES, SHARED

_STYLE: Any = {"title_justify": "left", "title_style": "bold", "box": box.SIMPLE_HEAD}
"""Of a table."""


def print_view(view: LinkedView, console: Console, site: str) -> None:
    """Print a view to a console; its link leads to the playground at the address `site`."""
    for notice in view.notices:
        console.print(f"Note: {notice}", soft_wrap=True)
    config = view.config
    sizes = f"{config.n_layers} layers × {config.n_heads} heads, d_model {config.d_model}, d_ff {config.d_ff}"
    origin = "trained weights" if view.weights == "minilm" else f"random weights, seed {view.seed}"
    console.print(f"{sizes}, {origin}{', causal mask' if view.causal else ''}", soft_wrap=True)
    if view.changes.applied:
        console.print(f"what if: {write_changes(Change(each) for each in view.changes.applied)}", soft_wrap=True)
    _print_tokens(view, console)
    _print_shapes(view, console)
    _print_parameters(view, console)
    _print_attention(view, console)
    page = "" if view.page == PAGES[0] else view.page
    pinned = None if view.pinned is None else {key: view.pinned.values[key] for key in SHARED}
    link = f"{site.rstrip('/')}/{page}?{write_query(view.values, pinned)}"
    console.print(Text(link), soft_wrap=True)


def _print_tokens(view: LinkedView, console: Console) -> None:
    tokens = view.batch.tokens[view.sentence]
    which = f" of sentence {view.sentence + 1}" if len(view.text) > 1 else ""
    console.print(f"\n{len(tokens)} tokens{which} ({view.values['tokenizer']})", style="bold")
    ids = view.batch.ids[view.sentence].tolist()
    has_ids = view.config.vocab_size > 0
    pieces = [f"{token} {number}" if has_ids else token for token, number in zip(tokens, ids, strict=False)]
    console.print(Text(" · ".join(pieces)), soft_wrap=True)
    n_cut = view.batch.truncated[view.sentence]
    if n_cut:
        told = f"The sentence is cut after {len(tokens)} tokens; {n_cut} more are left out. {explain_cut(view.values)}"
        console.print(told, soft_wrap=True)


def _print_shapes(view: LinkedView, console: Console) -> None:
    """The intermediates outside of the blocks, and those of the layer that is looked at."""
    layer, n_tokens = view.focus.layer, view.batch.ids.shape[1]
    table = Table(title=f"Shapes: B = 1, T = {n_tokens}; every layer has those of layer {layer}", **_STYLE)
    table.add_column("intermediate")
    table.add_column("shape", justify="right")
    table.add_column("axes")
    numbers = list_shapes(view.config, 1, n_tokens, view.causal)
    for (name, shape), (_, symbols) in zip(numbers, symbolic_shapes(view.config, view.causal), strict=True):
        if not name.startswith("layers.") or name.startswith(f"layers.{layer}."):
            table.add_row(name, " × ".join(map(str, shape)), " × ".join(symbols))
    console.print()
    console.print(table)


def _print_parameters(view: LinkedView, console: Console) -> None:
    count = count_parameters(view.config)
    table = Table(title="Parameters", **_STYLE)
    table.add_column("component")
    table.add_column("parameters", justify="right")
    table.add_column("share", justify="right")
    for component, number in count.by(lambda term: term.component).items():
        table.add_row(Text(LABELS[component], COMPONENTS[component]), f"{number:,}", f"{number / count.total:.2%}")
    table.add_section()
    table.add_row("together", f"{count.total:,}", "100.00%")
    console.print()
    console.print(table)


def _print_attention(view: LinkedView, console: Console) -> None:
    console.print()
    try:
        run = view.run
    except TooLargeError as error:
        console.print(str(error), soft_wrap=True)
        return
    place = view.focus
    console.print(f"Attention of layer {place.layer}, head {place.head}", style="bold")
    console.print("Rows look, columns are looked at; percent of a row, a dot is less than 0.5.")
    n_tokens = len(view.batch.tokens[view.sentence])
    pattern = run.pattern(place.layer)[place.head][:n_tokens, :n_tokens]
    for line in draw_map(pattern, run.tokens[:n_tokens], console.width):
        console.print(line, no_wrap=True, crop=True)
    if n_tokens > MOST_TOKENS:
        console.print(
            f"The first {MOST_TOKENS} of {n_tokens} tokens are shown; the page of this link shows all.", soft_wrap=True
        )
