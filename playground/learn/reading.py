"""Reads records from YAML and from letters of a link, also strangers'."""

import base64
import zlib
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from playground.errors import InputError

MAX_FILE = 100_000
"""Characters."""

MAX_DEPTH = 20

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""In C, if PyYAML is built with it."""

Key = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]
"""The name of something in links and files."""


class Record(BaseModel):
    """A part of a file, with known names and types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


R = TypeVar("R", bound=BaseModel)


def read_record(kind: type[R], text: str, name: str) -> R:
    """Return the record of a YAML text; raises `InputError` with the `name` of the file and the place in it."""
    try:
        node = _parse(text, name)
        return kind.model_validate(yaml.constructor.SafeConstructor().construct_document(node))
    except ValidationError as error:
        raise InputError(f"{name}: {_describe(error)}") from error
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


def first_message(error: ValidationError) -> str:
    """Return what is wrong first, without its place and a full stop."""
    return str(error.errors(include_url=False, include_input=False)[0]["msg"]).removeprefix("Value error, ").rstrip(".")


_MESSAGES = {"extra_forbidden": "there is no such name here", "missing": "this is missing"}
"""In place of pydantic's, by its types of errors."""


def _describe(error: ValidationError) -> str:
    """Return the first error, unknown names before others."""
    first = min(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden")
    message = _MESSAGES.get(first["type"], first_message(error))
    places = [str(place + 1 if isinstance(place, int) else place) for place in first["loc"]]
    where = f"`{'.'.join(places)}`: " if places else ""
    return f"{where}{message}."


def pack(record: BaseModel, **options: Any) -> str:
    """Return a record as JSON without its defaults, compressed by `zlib`, with its options, in base64url (RFC 4648)."""
    packer = zlib.compressobj(9, **options)
    packed = packer.compress(record.model_dump_json(exclude_defaults=True).encode()) + packer.flush()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def unpack(code: str, most: int, **options: Any) -> bytes | None:
    """Return the JSON of `pack`, None if it has more than `most` bytes; raises ValueError if it is not whole."""
    unpacker = zlib.decompressobj(**options)
    try:
        packed = base64.b64decode(code + "=" * (-len(code) % 4), altchars=b"-_", validate=True)
        unpacked = unpacker.decompress(packed, most)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not unpacker.eof and not unpacker.unconsumed_tail:
        raise ValueError("its end is missing")
    return unpacked if unpacker.eof else None
