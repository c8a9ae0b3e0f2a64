"""Result codes: signed by the server's key, and refused where anything was changed."""

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from playground.errors import InputError
from playground.learn.results import (
    SignedResult,
    make_keys,
    public_key_of,
    read_private_key,
    sign_result,
    verify_result,
)

PRIVATE, PUBLIC = make_keys()
RESULT = SignedResult(exercise="sqrt-d-head", variant=3, answer="8", is_right=True, tries=2, time=1_800_000_000)
CODE = sign_result(RESULT, read_private_key(PRIVATE))


def test_a_code_says_what_was_signed() -> None:
    assert public_key_of(read_private_key(PRIVATE)) == PUBLIC
    assert verify_result(f"  {CODE}\n", PUBLIC) == RESULT
    assert CODE.isascii()
    text, signature = (base64.urlsafe_b64decode(part + "==") for part in CODE.split("."))
    key = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(PUBLIC + "="))
    key.verify(signature, b"playground result 1\n" + text)


def test_a_public_key_is_a_value_on_a_command_line() -> None:
    assert not any(make_keys()[1].startswith("-") for _ in range(1_000)), "one of 64 texts of bytes does"


def test_every_change_of_a_code_is_found() -> None:
    for i, letter in enumerate(CODE):
        for other in set("ABQgw =+/\n") - {letter}:
            with pytest.raises(InputError):
                verify_result(CODE[:i] + other + CODE[i + 1 :], PUBLIC)
        for more in "=A \n" if i else "=A":
            with pytest.raises(InputError):
                verify_result(CODE[:i] + more + CODE[i:], PUBLIC)


@pytest.mark.parametrize(
    "code",
    ["", ".", "a.b", CODE[:-9], CODE[9:], CODE.replace(".", ""), f"{CODE}.a", "ä" + CODE, "x" * 5_000, "=.="],
    ids=["empty", "dot", "short", "end cut", "start cut", "no dot", "two dots", "letter", "long", "equals"],
)
def test_what_is_no_code_is_one_sentence(code: str) -> None:
    with pytest.raises(InputError, match=r"^This .*\.$"):
        verify_result(code, PUBLIC)


def test_parts_of_two_codes_and_another_servers_code_are_refused() -> None:
    other = sign_result(RESULT.model_copy(update={"is_right": False}), read_private_key(PRIVATE))
    mixed = f"{CODE.split('.')[0]}.{other.split('.')[1]}"
    for code, key in ((mixed, PUBLIC), (CODE, make_keys()[1])):
        with pytest.raises(InputError, match="changed, or another server"):
            verify_result(code, key)


@pytest.mark.parametrize(
    "key", ["", "a", "ä", PUBLIC[:-4], PRIVATE + PRIVATE], ids=["empty", "short", "no base64", "cut", "long"]
)
def test_a_key_that_is_none_is_one_sentence(key: str) -> None:
    with pytest.raises(InputError, match="is no public key"):
        verify_result(CODE, key)
    with pytest.raises(InputError, match="is no private key"):
        read_private_key(key)
