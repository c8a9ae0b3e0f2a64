"""Reads records from YAML, also strangers': an error names the line."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from playground.errors import InputError

MAX_FILE = 100_000
"""Characters."""

MAX_DEPTH = 20
"""Of lists and mappings within one another."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C is ten times as fast, if PyYAML is built with it."""

Key = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]
"""The name of something in links and files."""


class Record(BaseModel):
    """A part of a file: every name is known and every value has its type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


R = TypeVar("R", bound=BaseModel)


def read_record(kind: type[R], text: str, name: str) -> R:
    """Return the record of a YAML text; raises `InputError` with the `name` of the file, and the line."""
    try:
        node = _parse(text, name)
        return kind.model_validate(yaml.constructor.SafeConstructor().construct_document(node))
    except ValidationError as error:
        raise InputError(_describe(error, node, name)) from error
    except InputError:
        raise
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise InputError(f"{name}{line}: this is no YAML: {getattr(error, 'problem', None) or error}.") from error


def _parse(text: str, name: str) -> yaml.Node:
    if len(text) > MAX_FILE:
        raise InputError(f"{name} has {len(text):,} characters; at most {MAX_FILE:,} are read.")
    depth = 0
    for event in yaml.parse(text, _LOADER):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None):
            raise InputError(f"{name} uses an alias (`*name`) or a tag (`!name`); write it out instead.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise InputError(f"{name} has lists within lists, more than {MAX_DEPTH} deep.")
    node = yaml.compose(text, _LOADER)
    if not isinstance(node, yaml.MappingNode):
        raise InputError(f"{name}: a file is a list of `name: value`, and this is something else.")
    return node


_MESSAGES = {"extra_forbidden": "there is no such name here", "missing": "this is missing"}
"""In place of pydantic's, by its types of errors."""


def _describe(error: ValidationError, node: yaml.Node, name: str) -> str:
    """Return the first error, unknown names before others, as a slip may explain those; and the number of errors."""
    errors = sorted(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden")
    line, what = _find(node, errors[0]["loc"])
    message = _MESSAGES.get(errors[0]["type"], errors[0]["msg"].removeprefix("Value error, ").rstrip("."))
    more = f" {len(errors) - 1} more errors." if len(errors) > 1 else ""
    return f"{name}, line {line}: {f'`{what}`: ' if what else ''}{message}.{more}"


def _find(node: yaml.Node, place: Sequence[Any]) -> tuple[int, str]:
    """Return the line, from 1, of the deepest part of a place that the file has, and the place's name."""
    line, names = int(node.start_mark.line) + 1, list[str]()
    for part in place:
        children: Mapping[Any, tuple[yaml.Node, yaml.Node]] = {}
        if isinstance(node, yaml.MappingNode):
            children = {key.value: (key, value) for key, value in node.value}
        elif isinstance(node, yaml.SequenceNode):
            children = {i: (value, value) for i, value in enumerate(node.value)}
        if part in children:
            key, node = children[part]
            line = int(key.start_mark.line) + 1
        if part in children or part is place[-1]:  # pydantic also names the kinds of a union
            names.append(str(part))
    return line, ".".join(names)
