"""Whose names these are, and what they are called here."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from playground.errors import WeightsError
from playground.weights.schemes import SCHEMES, Names, Scheme

T = TypeVar("T")

Shape = tuple[int, ...]


def respelled(named: Mapping[str, T], scheme: Scheme) -> dict[str, T]:
    """Tensors, or what there is to say of them, under the scheme's own spelling, without those that it ignores.

    Raises:
        WeightsError: two names are spellings of one.
    """
    given: dict[str, T] = {}
    for name, one in named.items():
        spelling = _respell(name, scheme)
        if spelling in given:
            raise WeightsError(f"{spelling} is there twice, in two spellings.")
        if scheme.ignored is None or not re.match(scheme.ignored, spelling):
            given[spelling] = one
    return given


def names_of_file(given: Iterable[str], scheme: Scheme) -> Names:
    """Our name → theirs in the object that a file is of, from its names in the scheme's spelling."""
    templates = {_template(name)[0] for name in given}
    return max((scheme.names, scheme.other_names), key=lambda names: _n_known(templates, names))


def scheme_of(header: Mapping[str, Shape]) -> str:
    """The scheme that knows the most of the names of tensors, given as name → shape.

    Raises:
        WeightsError: none knows any.
    """

    def n_known(scheme: Scheme) -> int:
        templates = [_template(_respell(name, scheme))[0] for name in header]
        return max(_n_known(templates, scheme.names), _n_known(templates, scheme.other_names))

    best = max(SCHEMES, key=lambda name: n_known(SCHEMES[name]))
    if n_known(SCHEMES[best]) == 0:
        first = f", such as {next(iter(header))}," if header else ""
        raise WeightsError(
            f"These names{first} are of no model that is known here: the tutorials' encoders, "
            "torch.nn.TransformerEncoder, BERT, and the playground's own."
        )
    return best


def encoder_half(named: Mapping[str, T]) -> dict[str, T]:
    """Of a model that was trained here, with a head or a decoder, the encoder under its own names; all else as it is.

    No other scheme here has the first name that is looked for.
    """
    if "encoder.embed.tokens.weight" not in named:
        return dict(named)
    return {name.removeprefix("encoder."): one for name, one in named.items() if name.startswith("encoder.")}


def encoder_shapes(given: Mapping[str, Shape], names: Names) -> tuple[dict[str, Shape], int]:
    """Shapes by our name with `{i}`, of the first layer that has each, and how many layers there are."""
    shapes: dict[str, Shape] = {}
    layers = set()
    ours_of = {theirs: ours for ours, tensors in names.items() for theirs in tensors}
    half = encoder_prefix(names)
    for name, shape in given.items():
        template, layer = _template(name)
        ours = ours_of.get(template)
        if ours is not None and ours.startswith(half):
            ours, layer = _template(ours.removeprefix(half).format(i=layer))
            shapes.setdefault(ours, shape)
            layers.add(layer)
    return shapes, len(layers - {None})


def encoder_prefix(names: Iterable[str]) -> str:
    """How our names of an encoder's tensors begin: an encoder–decoder has two halves."""
    return "encoder." if any(ours.startswith("encoder.") for ours in names) else ""


def _respell(name: str, scheme: Scheme) -> str:
    for pattern, spelling in scheme.spellings:
        name = re.sub(pattern, spelling, name)
    return name


def _template(name: str) -> tuple[str, int | None]:
    """A name with `{i}` for its layer, and the layer."""
    match = re.search(r"layers?\.([0-9]{1,9})\.", name)
    if match is None:
        return name, None
    return f"{name[: match.start(1)]}{{i}}{name[match.end(1) :]}", int(match[1])


def _n_known(templates: Collection[str], names: Names) -> int:
    known = {name for theirs in names.values() for name in theirs}
    return sum(template in known for template in templates)
