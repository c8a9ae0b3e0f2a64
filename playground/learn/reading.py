"""Reads records from YAML, of strangers too: what is wrong is one sentence that names the line; bytes in links."""

import base64
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from playground.errors import InputError

MAX_FILE = 100_000
"""Characters."""

MAX_DEPTH = 20
"""Of lists and mappings within one another."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C, where PyYAML has been built with it, is ten times as fast."""

Key = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]
"""What something is called in links and files."""


class Record(BaseModel):
    """A part of a file, of which every name is known and every value has the type that it should have."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class RecordError(InputError):
    """What is wrong with a record: the message has the first of its `sentences`, and how many others there are."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self.sentences = sentences
        n_more = len(sentences) - 1
        more = f" {n_more} more {'has' if n_more == 1 else 'have'} to be mended." if n_more else ""
        super().__init__(f"{sentences[0]}{more}")


R = TypeVar("R", bound=BaseModel)


def read_record(kind: type[R], text: str, name: str, tags: Collection[str] = ()) -> R:
    """The record that a text in YAML describes.

    Args:
        kind: of the record.
        text: YAML.
        name: what the text is called in messages.
        tags: names that pydantic gives to the kinds of a union, which are no part of the file.

    Raises:
        InputError: it is none; the message names the line, what is wrong there and what would work.
    """
    node = _parse(text, name)
    try:
        return kind.model_validate(yaml.constructor.SafeConstructor().construct_document(node))
    except ValidationError as error:
        raise RecordError(_describe(error, node, name, tags)) from error
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(f"{name} can't be read: {error}.") from error


def encode_base64url(data: bytes) -> str:
    """Bytes in letters that links and codes take, without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode_base64url(text: str) -> bytes:
    """Return the bytes that `encode_base64url` writes as this text; raises ValueError if it writes none so."""
    data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if encode_base64url(data) != text:  # the last letter has bits that decoding ignores
        raise ValueError("another spelling of these bytes")
    return data


def _parse(text: str, name: str) -> yaml.Node:
    if len(text) > MAX_FILE:
        raise InputError(f"{name} has {len(text):,} characters; at most {MAX_FILE:,} are read.")
    try:
        depth = 0
        for event in yaml.parse(text, _LOADER):
            if isinstance(event, yaml.AliasEvent):
                raise InputError(f"{name} uses an alias (`*name`); write it out instead.")
            if getattr(event, "tag", None):
                raise InputError(f"{name} uses a tag (`!name`); leave it out.")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise InputError(f"{name} has lists within lists, more than {MAX_DEPTH} deep.")
        node = yaml.compose(text, _LOADER)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "it can't be read"
        raise InputError(f"{name}{line}: this is no YAML: {problem}.") from error
    if not isinstance(node, yaml.MappingNode):
        raise InputError(f"{name}: a file is a list of `name: value`, and this is something else.")
    return node


def _describe(error: ValidationError, node: yaml.Node, name: str, tags: Collection[str]) -> list[str]:
    """A sentence on each thing that is wrong; unknown names first, as a slip may explain others."""
    sentences = []
    for each in sorted(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden"):
        place = [part for part in each["loc"] if part not in tags]
        line, what = _find_line(node, place), ".".join(map(str, place))
        message = _MESSAGES.get(each["type"], each["msg"].removeprefix("Value error, ").rstrip("."))
        sentences.append(f"{name}, line {line}: {f'`{what}`: ' if what else ''}{message}.")
    return sentences


_MESSAGES = {"extra_forbidden": "there is no such name here", "missing": "this is missing"}
"""In place of pydantic's, by its types of errors."""


def _find_line(node: yaml.Node, place: Sequence[Any]) -> int:
    """The line, from 1, where the deepest part of a place that the file has begins."""
    line = int(node.start_mark.line) + 1
    for part in place:
        children: Mapping[Any, tuple[yaml.Node, yaml.Node]] = {}
        if isinstance(node, yaml.MappingNode):
            children = {key.value: (key, value) for key, value in node.value}
        elif isinstance(node, yaml.SequenceNode):
            children = {i: (value, value) for i, value in enumerate(node.value)}
        if part not in children:
            break
        key, node = children[part]
        line = int(key.start_mark.line) + 1
    return line
