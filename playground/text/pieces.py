"""Tokens as people can read them: blanks, control characters and loose bytes made visible."""

PRINTABLE_BYTES = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
OTHER_BYTES = [byte for byte in range(0x100) if byte not in PRINTABLE_BYTES]

BYTE_OF_CHARACTER = {chr(byte): byte for byte in PRINTABLE_BYTES} | {
    chr(0x100 + position): byte for position, byte in enumerate(OTHER_BYTES)
}
"""The byte behind each character of a byte-level piece (Radford et al. 2019, as GPT-2 was released)."""

UNDECODABLE = {0xDC00 + byte: f"⟨{byte:02X}⟩" for byte in range(0x80, 0x100)}  # as "surrogateescape" leaves them
CONTROL = {code: f"⟨{code:02X}⟩" for code in (*range(0x20), *range(0x7F, 0xA0))}
VISIBLE = UNDECODABLE | CONTROL | {ord(" "): "␣", ord("\n"): "⏎", ord("\t"): "⇥"}


def visible(piece: str) -> str:
    """Show a piece with its blanks and control characters: "a b" → "a␣b", NUL → "⟨00⟩"."""
    return piece.translate(VISIBLE)


def visible_bytes(piece: str) -> str:
    """Show a byte-level piece as the text it stands for: "Ġstreet" → "␣street", half a character → "⟨E2⟩"."""
    data = bytes(BYTE_OF_CHARACTER[character] for character in piece)
    return visible(data.decode("utf-8", errors="surrogateescape"))
