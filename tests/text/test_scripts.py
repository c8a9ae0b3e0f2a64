"""A text's script is that of most of its letters."""

import pytest

from playground.text.scripts import foreign_script


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("The animal", None),
        ("Größe, naïve, İstanbul", None),
        ("", None),
        ("12 + 3 = 15 🙂", None),
        ("動物は道を渡らなかった", "Japanese"),
        ("الحيوان لم يعبر الشارع", "Arabic"),
        ("Животное не перешло", "Cyrillic"),
        ("동물은", "Korean"),
        ("이 is one word", None),
        ("\ufffd\ue000", None),
    ],
)
def test_the_script_of_most_letters(text: str, script: str | None) -> None:
    assert foreign_script(text) == script
