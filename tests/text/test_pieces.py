from tokenizers import pre_tokenizers

from playground.text.tokenizer import BYTE_OF_CHARACTER, visible, visible_bytes


def test_the_byte_alphabet_is_the_librarys() -> None:
    assert set(BYTE_OF_CHARACTER) == set(pre_tokenizers.ByteLevel.alphabet())
    assert sorted(BYTE_OF_CHARACTER.values()) == list(range(256))
    for character in "aé🙂 \n\x00":
        [(piece, _)] = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(character)
        assert bytes(BYTE_OF_CHARACTER[symbol] for symbol in piece).decode() == character


def test_blanks_and_control_characters_are_visible() -> None:
    assert visible("a b\nc\td\x00\x9f") == "a␣b⏎c⇥d⟨00⟩⟨9F⟩"
    assert visible("##ing שלום 🙂") == "##ing␣שלום␣🙂"


def test_byte_level_pieces_read_as_text() -> None:
    assert visible_bytes("Ġstreet") == "␣street"
    assert visible_bytes("âĢĻ") == "’"
    assert visible_bytes("Ċ") == "⏎"


def test_loose_bytes_show_their_value() -> None:
    assert visible_bytes("âĢ") == "⟨E2⟩⟨80⟩"
    assert visible_bytes("aÃ") == "a⟨C3⟩"
