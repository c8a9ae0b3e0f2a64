"""The playground in a terminal: a sentence and options in; tokens, parameters, attention, a link out."""

import argparse
import io
import json
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NoReturn

import numpy as np
from rich import box
from rich.cells import set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from playground import __version__
from playground.accounting import LABELS, count_parameters
from playground.charts.palette import COMPONENTS
from playground.errors import PlaygroundError, TooLargeError
from playground.limits import MAX_CHARACTERS
from playground.link.kinds import Param, write, write_changes
from playground.link.opening import LinkedView, open_texts, split_link
from playground.link.params import SHARED, write_all
from playground.link.query import values_of_preset, write_query
from playground.pages import PAGES, SITE
from playground.presets import PRESETS
from playground.runs.arrays import Array
from playground.text.wording import count_heads, count_noun, upper_first
from playground.weights import checkpoint

KEYS = [key for key in SHARED if key not in ("text", "untrained")]
"""The parameters that are options."""


class _Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        """End with exit code 2."""
        self.exit(2, f"{upper_first(message).rstrip('.')}.\n")


def read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the options: `texts` has the link's parameters. Ends the process with code 2 if one is unknown."""
    parser = _Parser(
        prog="playground",
        description="Run a transformer encoder on a sentence: its tokens, parameters, attention, and a link.",
        epilog="For teachers: `playground lesson check FILE` computes every truth of an exercise and says what does "
        "not hold.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "text", nargs="?", help="what to read, in quotation marks, one sentence a line; - reads standard input"
    )
    parser.add_argument("--link", help="open what a link of the playground shows; options change it")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--preset", choices=[*PRESETS], help="a named architecture, with random weights")
    parser.add_argument("--head", metavar="LAYER.HEAD", help="whose attention is shown, such as 3.1")
    parser.add_argument("--site", default=SITE, help="address of the playground that the link leads to (%(default)s)")
    group = parser.add_argument_group("the link's parameters")
    for key in KEYS:
        _add_option(group, key, SHARED[key])
    options = parser.parse_args(arguments)
    options.texts = {key: [write(vars(options)[key])] for key in KEYS if key in options}
    if options.text is not None:
        text = sys.stdin.read(2 * MAX_CHARACTERS).strip() if options.text == "-" else options.text
        options.texts["text"] = [text]
    return options


def _add_option(group: argparse._ArgumentGroup, key: str, param: Param) -> None:
    names = [f"--{key.replace('_', '-')}"]
    if key.startswith("n_"):
        names.append(f"--{key.removeprefix('n_')}")
    shown = f"{param.help_text} Default: {write(param.default) or 'none'}.".replace("%", "%%")
    if param.kind == "switch":
        group.add_argument(
            *names, dest=key, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=shown
        )
        return
    if param.kind == "size":
        shown += f" One of {', '.join(map(write, param.options))}."
    metavar = "|".join(param.options) if param.kind == "choice" else "TEXT" if param.kind == "notation" else "NUMBER"
    group.add_argument(*names, dest=key, default=argparse.SUPPRESS, metavar=metavar, help=shown)


MOST_TOKENS = 15
"""Tokens shown along each side: they fit into 80 letters."""

_NAME = 14
"""Letters of a token's name."""


def draw_map(pattern: Array, tokens: Sequence[str]) -> list[str]:
    """Return the lines of a map of `pattern` (T, T), in percent."""
    shown = [set_cell_size(token, _NAME) for token in tokens[:MOST_TOKENS]]
    lines = [" " * (4 + _NAME) + "".join(f"{key:>4}" for key in range(len(shown)))]
    for query, name in enumerate(shown):
        weights = np.round(100 * pattern[query, : len(shown)])
        lines.append(f"{query:>3} {name}" + "".join(f"{f'{weight:.0f}' if weight else '.':>4}" for weight in weights))
    return [*lines, ""]


def print_view(view: LinkedView, console: Console, site: str) -> None:
    """Print a view; its link leads to `site`."""
    for notice in view.notices:
        console.print(f"Note: {notice}", soft_wrap=True)
    config = view.config
    sizes = f"{count_heads(config.n_layers, config.n_heads)}, d_model {config.d_model}, d_ff {config.d_ff}"
    names = {"minilm": "trained weights", "english": "trained on the small English"}
    origin = names.get(view.weights, f"random weights, seed {view.values['seed']}")
    console.print(f"{sizes}, {origin}{', causal mask' if view.values['causal'] else ''}", soft_wrap=True)
    if view.lab.fitted_changes.applied:
        console.print(f"what if: {write_changes(view.lab.fitted_changes.applied)}", soft_wrap=True)
    _print_tokens(view, console)
    _print_parameters(view, console)
    _print_attention(view, console)
    console.print(Text(_link_to(view, site)), soft_wrap=True)


def _link_to(view: LinkedView, site: str) -> str:
    page = "" if view.page == next(iter(PAGES)) else view.page
    pinned = None if view.pinned is None else {key: view.pinned.values[key] for key in SHARED}
    return f"{site.rstrip('/')}/{page}?{write_query(view.values, pinned)}"


def describe_view(view: LinkedView, site: str) -> dict[str, Any]:
    """Return what `print_view` prints, for JSON."""
    n_tokens, count = len(view.batch.tokens[view.lab.sentence]), count_parameters(view.config)
    pattern = view.run.pattern(view.focus.layer)[view.focus.head][:n_tokens, :n_tokens]
    numbers = [[each if math.isfinite(each) else None for each in row] for row in pattern.tolist()]  # JSON has no NaN
    return {
        "notices": view.notices,
        "config": asdict(view.config),
        "weights": view.weights,
        "seed": view.values["seed"],
        "causal": view.values["causal"],
        "changes": write_changes(view.lab.fitted_changes.applied),
        "tokens": view.batch.tokens[view.lab.sentence],
        "ids": view.batch.ids[view.lab.sentence, :n_tokens].tolist(),
        "parameters": {**count.by(lambda term: term.component), "total": count.total},
        "attention": {"layer": view.focus.layer, "head": view.focus.head, "pattern": numbers},
        "link": _link_to(view, site),
    }


def _print_tokens(view: LinkedView, console: Console) -> None:
    tokens = view.batch.tokens[view.lab.sentence]
    which = f" of sentence {view.lab.sentence + 1}" if len(view.text) > 1 else ""
    tokenizer = view.lab.tokenizer.name if view.weights == "english" else view.values["tokenizer"]
    console.print(f"\n{count_noun(len(tokens), 'token')}{which} ({tokenizer})", style="bold")
    ids = view.batch.ids[view.lab.sentence].tolist()
    has_ids = view.config.vocab_size > 0
    pieces = [f"{token} {number}" if has_ids else token for token, number in zip(tokens, ids, strict=False)]
    console.print(Text(" · ".join(pieces)), soft_wrap=True)


def _print_parameters(view: LinkedView, console: Console) -> None:
    count = count_parameters(view.config)
    table = Table(title="Parameters", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
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
    n_tokens = len(view.batch.tokens[view.lab.sentence])
    pattern = run.pattern(place.layer)[place.head][:n_tokens, :n_tokens]
    for line in draw_map(pattern, run.tokens[:n_tokens]):
        console.print(line, soft_wrap=True)
    if n_tokens > MOST_TOKENS:
        console.print(
            f"The first {MOST_TOKENS} of {n_tokens} tokens are shown; the page of this link shows all.", soft_wrap=True
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that has not every letter shows a question mark
            stream.reconfigure(errors="replace")
    words = sys.argv[1:] if arguments is None else arguments
    try:
        if words and words[0] == "lesson":  # for teachers
            from playground.learn import lesson

            return lesson.main(words)
        options = read_options(words)
        view = open_view(options)
        if options.json:
            sys.stdout.write(f"{json.dumps(describe_view(view, options.site), ensure_ascii=False)}\n")
        else:
            print_view(view, Console(markup=False, highlight=False, emoji=False), options.site)
        sys.stdout.flush()
        return 0
    except PlaygroundError as error:
        sys.stderr.write(f"{error}\n")
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        sys.stderr.write(f"The output can't be written: {error.strerror}.\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python flushes at its end
    return 2


def open_view(options: argparse.Namespace) -> LinkedView:
    """Return the view that options describe; raises as `open_link`."""
    page, texts = ("attention", {}) if options.link is None else split_link(options.link)
    if options.preset is not None:
        preset = values_of_preset(options.preset, has_wordpiece=checkpoint.minilm_path() is not None)
        texts |= {key: write_all(value) for key, value in ({"weights": "random"} | preset).items()}
    texts |= options.texts
    if options.head is not None:
        layer, _, head = options.head.partition(".")
        texts |= {"layer": [layer], "head": [head]}
    return open_texts(page, texts)
