"""Result codes: a line of text that says what somebody answered, signed by the server (Ed25519, RFC 8032).

A code is for teachers who want to see that an answer was checked by their own server. It names no person.
"""

import time
from typing import Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from pydantic import Field, ValidationError

from playground.errors import InputError
from playground.learn.reading import Key, Record, decode_base64url, encode_base64url

MAX_CODE = 2_000
"""Characters."""

MAX_ANSWER = 400
"""Characters of an answer."""

_CONTEXT = b"playground result 1\n"
"""What is signed before the text, so that a signature of something else is none of a result."""


class SignedResult(Record):
    """What was answered."""

    version: Literal[1] = 1
    exercise: Key
    variant: int = Field(ge=0, le=999)
    answer: str = Field(max_length=MAX_ANSWER)
    """As a text."""
    is_right: bool
    tries: int = Field(ge=1, le=100_000)
    """With this one."""
    time: int = Field(ge=0, le=2**40)
    """Seconds since 1970, UTC, on the server."""


def make_keys() -> tuple[str, str]:
    """A new private key, and the public key that belongs to it, as texts.

    The public one never starts with `-`, as then a command line would take it for an option.
    """
    private = Ed25519PrivateKey.generate()
    while public_key_of(private).startswith("-"):
        private = Ed25519PrivateKey.generate()
    secret = private.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    return encode_base64url(secret), public_key_of(private)


def read_private_key(text: str) -> Ed25519PrivateKey:
    """The key of a text by `make_keys`; raises `InputError`."""
    try:
        return Ed25519PrivateKey.from_private_bytes(decode_base64url(text.strip()))
    except ValueError as error:
        raise InputError("This is no private key: `playground results keys` makes one.") from error


def public_key_of(private: Ed25519PrivateKey) -> str:
    """The public key that belongs to a private one, as a text."""
    return encode_base64url(private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))


def sign_result(result: SignedResult, private: Ed25519PrivateKey) -> str:
    """The code of a result: one line."""
    text = result.model_dump_json().encode()
    return f"{encode_base64url(text)}.{encode_base64url(private.sign(_CONTEXT + text))}"


def verify_result(code: str, public: str) -> SignedResult:
    """What a code says.

    Args:
        code: as `sign_result` writes it; spaces around it do not matter.
        public: the operator's key, as `make_keys` writes it.

    Raises:
        InputError: it is no code, or another key or none has signed it.
    """
    code = code.strip()
    if len(code) > MAX_CODE or code.count(".") != 1:
        raise InputError("This is no result code: one is two words of letters and digits with a dot between them.")
    try:
        key = Ed25519PublicKey.from_public_bytes(decode_base64url(public.strip()))
    except ValueError as error:
        raise InputError("This is no public key: `playground results keys` makes one.") from error
    try:
        text, signature = map(decode_base64url, code.split("."))
        key.verify(signature, _CONTEXT + text)
        return SignedResult.model_validate_json(text)
    except InvalidSignature as error:
        raise InputError("This code was changed, or another server has signed it.") from error
    except ValidationError as error:
        raise InputError("This code was signed by another version of the playground.") from error
    except ValueError as error:
        raise InputError("This code is damaged: copy all of it.") from error


def now() -> int:
    """The time of a result."""
    return int(time.time())
