"""The command: reads its options, opens the view that they describe, and prints it."""

import argparse
import io
import os
import sys
from collections.abc import Sequence

from rich.console import Console

from playground.command_line.options import read_options
from playground.command_line.report import print_view
from playground.errors import InputError, PlaygroundError
from playground.link.link_values import values_of_preset
from playground.link.opening import LinkedView, open_texts, split_link
from playground.link.params import write_all
from playground.weights import checkpoint


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code: 0, or 2 where what was asked for can't be, told in one sentence."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that has not every letter shows a question mark
            stream.reconfigure(errors="replace")
    options = read_options(arguments)
    try:
        print_view(open_view(options), Console(markup=False, highlight=False, emoji=False), options.site)
        sys.stdout.flush()
    except PlaygroundError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return 0


def open_view(options: argparse.Namespace) -> LinkedView:
    """The view that options, as `read_options` gives them, describe; raises as `open_link`."""
    page, texts = ("attention", {}) if options.link is None else split_link(options.link)
    if options.preset is not None:
        preset = values_of_preset(options.preset, has_wordpiece=checkpoint.minilm_path() is not None)
        texts |= {key: write_all(value) for key, value in ({"weights": "random"} | preset).items()}
    texts |= options.texts
    if options.head is not None:
        texts |= {"layer": [str(options.head[0])], "head": [str(options.head[1])]}
    view = open_texts(page, texts, max_parameters=options.max_parameters)
    if options.head is not None and options.head != (view.focus.layer, view.focus.head):
        raise InputError(
            f"There is no head {'.'.join(map(str, options.head))}: layers go from 0 to {view.config.n_layers - 1}, "
            f"heads from 0 to {view.config.n_heads - 1}."
        )
    return view
