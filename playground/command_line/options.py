"""The command's options, made from the link's parameters: a parameter of the sidebar is an option here."""

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from playground.link.kinds import Choice, Notation, Param, Size, Switch
from playground.link.params import SHARED, write, write_all
from playground.presets import PRESETS
from playground.runs.budget import MAX_PARAMETERS

KEYS = [key for key in SHARED if key not in ("text", "untrained")]
"""The parameters that are options; the text stands alone, and `untrained` is of networks trained in a browser."""

_WEIGHTS = ("minilm", "random")
"""What can be had outside of a browser."""

SITE = "http://localhost:8501"
"""Where `make run` serves the pages."""


class _Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        """End with exit code 2."""
        self.exit(2, f"{message[:1].upper()}{message[1:].rstrip('.')}.\n")


def read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for: `texts` has the link's text of each parameter that is set, the others are fields.

    Ends the process with exit code 2 and a sentence where an option is wrong.
    """
    parser = _Parser(
        prog="playground",
        description="Run a transformer encoder on a sentence: its tokens, shapes, parameters, attention, and a link.",
        allow_abbrev=False,
    )
    parser.add_argument("text", nargs="?", help="what to read, in quotation marks; one sentence a line")
    parser.add_argument("--link", help="open what a link of the playground shows; options change it")
    parser.add_argument("--preset", choices=[*PRESETS], help="a named architecture, with random weights")
    parser.add_argument("--head", type=_read_head, metavar="LAYER.HEAD", help="whose attention is shown, such as 3.1")
    parser.add_argument("--site", default=SITE, help="address of the playground that the link leads to (%(default)s)")
    parser.add_argument(
        "--max-parameters", type=_read_count, default=MAX_PARAMETERS, help="largest model that is run (%(default)s)"
    )
    group = parser.add_argument_group("the link's parameters")
    for key in KEYS:
        _add_option(group, key, SHARED[key])
    options = parser.parse_args(arguments)
    options.texts = {key: write_all(vars(options)[key]) for key in KEYS if key in options}
    if options.text is not None:
        options.texts["text"] = [options.text]
    return options


def _add_option(group: argparse._ArgumentGroup, key: str, param: Param) -> None:
    names = [f"--{key.replace('_', '-')}"]
    if key.startswith("n_"):
        names.append(f"--{key.removeprefix('n_')}")
    shown = f"{param.help_text or param.label} Default: {write(param.default) or 'none'}.".replace("%", "%%")
    if isinstance(param, Switch):
        group.add_argument(
            *names, dest=key, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=shown
        )
        return
    words = _WEIGHTS if key == "weights" else param.options if isinstance(param, Choice) else None
    metavar = "|".join(words) if words else "CHANGES" if isinstance(param, Notation) else "NUMBER"
    if isinstance(param, Size):
        shown += (
            f" One of {', '.join(f'{stop:g}' if isinstance(stop, float) else str(stop) for stop in param.options)}."
        )
    reader = _reader(key, words)
    group.add_argument(*names, dest=key, type=reader, default=argparse.SUPPRESS, metavar=metavar, help=shown)


def _reader(key: str, words: Sequence[str] | None) -> Callable[[str], Any]:
    """Reads an option's text as a link's, but for what would have to be repaired."""

    def read(text: str) -> Any:
        value, complaint = SHARED[key].read(text)
        if words is not None and text not in words:
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(words)}")
        if complaint is not None and isinstance(SHARED[key], Notation):
            raise argparse.ArgumentTypeError(complaint)
        if complaint is not None:
            raise argparse.ArgumentTypeError(f"{text!r} {complaint}; {write(value)} would work")
        return value

    return read


def _read_head(text: str) -> tuple[int, int]:
    if not re.fullmatch(r"[0-9]{1,4}\.[0-9]{1,4}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a layer and a head, such as 3.1, both counted from 0")
    layer, head = text.split(".")
    return int(layer), int(head)


def _read_count(text: str) -> int:
    if not re.fullmatch("[0-9]{1,20}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)
