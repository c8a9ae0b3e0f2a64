"""How other code names parameters: the tables of `schemes.yaml`, and which of them a file follows."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from playground.errors import WeightsError
from playground.text.data import read_table

Names = dict[str, tuple[str, ...]]
"""Our name → theirs; `{i}` is the layer. Three are queries, keys and values, our `attn.qkv`."""

Shape = tuple[int, ...]
T = TypeVar("T")


@dataclass(frozen=True)
class Scheme:
    """How somebody else names a model's parameters."""

    tables: tuple[Names, ...]
    head_by_head: bool = False
    """Their queries, keys and values are (head, [q k v], d_head), as in our fused models."""
    spellings: tuple[tuple[str, str], ...] = ()
    """Patterns in their names and replacements."""
    ignored: str | None = None
    """Pattern of tensors that are not part of the model."""
    split: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Parts of names whose tensors hold several of ours, and the name of each."""
    scores_undivided: bool = False
    """Their scores are not divided by √d_head."""
    position_table: str | None = None
    """Their table of positions (…, d_model), if it may be computed or trained."""


def _expand(entries: Mapping[str, Any], norm: tuple[str, str], ours: str = "", theirs: str = "") -> Iterator[Any]:
    for name, value in entries.items():
        if isinstance(value, dict):
            part, _, their_part = name.partition(" > ")
            yield from _expand(value, norm, f"{part}.", f"{their_part}.")
            continue
        is_table = name.rpartition(".")[2] in ("tokens", "positions", "segments", "relative")
        words = [("gain", norm[0]), ("bias", norm[1])] if "norm" in name else [("weight", "weight"), ("bias", "bias")]
        for our_word, word in words[:1] if is_table else words:
            names = [theirs + each for each in ([value] if isinstance(value, str) else value)]
            full = tuple(each.replace("*", word) if "*" in each else f"{each}.{word}" for each in names)
            yield f"{ours}{name}.{our_word}", full


def _inside(part: str, names: Names) -> Names:
    """Return the names in a part's own state dict."""
    return {
        ours.format(i=0) if "{i}" in part else ours: tuple(name.removeprefix(part) for name in theirs)
        for ours, theirs in names.items()
        if all(name.startswith(part) for name in theirs)
    }


def _read(
    tables: list[Any], norm: tuple[str, str] = ("weight", "bias"), alone: str = "", ignored: Any = (), **rest: Any
) -> Scheme:
    read = [dict(_expand(table, norm)) for table in tables]
    return Scheme((*read, *([_inside(alone, read[0])] if alone else [])), ignored="|".join(ignored) or None, **rest)


SCHEMES: dict[str, Scheme] = {
    name: _read(**each) for name, each in read_table(Path(__file__).with_name("schemes.yaml")).items()
}
"""The naming schemes that `load_weights` reads."""


def respell(named: Mapping[str, T], scheme: Scheme) -> dict[str, T]:
    """Return what is named under the scheme's own spelling, without what it ignores; WeightsError for a double."""
    given: dict[str, T] = {}
    for name, one in named.items():
        spelling = _spell(name, scheme)
        if spelling in given:
            raise WeightsError(f"{spelling} is there twice, in two spellings.")
        if scheme.ignored is None or not re.match(scheme.ignored, spelling):
            given[spelling] = one
    return given


def _spell(name: str, scheme: Scheme) -> str:
    name = re.sub(r"(?:^|(?<=\.))(?:module\.|_orig_mod\.)+", "", name)  # of DataParallel and torch.compile
    for pattern, replacement in scheme.spellings:
        name = re.sub(pattern, replacement, name)
    return name


def find_table(given: Iterable[str], scheme: Scheme) -> Names:
    """Return the scheme's table that knows the most of a file's names."""
    templates = {split_layer(name)[0] for name in given}
    return max(scheme.tables, key=lambda names: _count_known(templates, names))


def find_scheme(header: Mapping[str, Shape]) -> str:
    """Return the scheme that knows the most of the names; WeightsError if none knows half."""
    known = {}
    for name, scheme in SCHEMES.items():
        templates = [split_layer(_spell(each, scheme))[0] for each in header]
        known[name] = max(_count_known(templates, names) for names in scheme.tables)
    best = max(known, key=lambda name: known[name])
    if known[best] <= len(respell(header, SCHEMES[best])) // 2:
        first = f", such as {next(iter(header))}," if header else ""
        raise WeightsError(
            f"These names{first} are of no model that is known here: the tutorials' encoders, "
            "torch.nn.TransformerEncoder, BERT, and the playground's own."
        )
    return best


def _count_known(templates: Collection[str], names: Names) -> int:
    known = {name for theirs in names.values() for name in theirs}
    return sum(template in known for template in templates)


def half_of(names: Iterable[str]) -> str:
    """Return how our names of an encoder begin."""
    return "encoder." if any(ours.startswith("encoder.") for ours in names) else ""


def split_layer(name: str) -> tuple[str, int | None]:
    """Return a name with `{i}` for its layer, and the layer."""
    match = re.search(r"(?:layers?|block)\.([0-9]{1,9})\.", name)
    if match is None:
        return name, None
    return f"{name[: match.start(1)]}{{i}}{name[match.end(1) :]}", int(match[1])
