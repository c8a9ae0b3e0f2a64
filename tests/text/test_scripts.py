"""A text's script is that of most of its letters; its language is told by its commonest words."""

import re

import pytest

from playground.text.sentences import foreign_script, is_english
from playground.text.tokenizer import english_texts


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


@pytest.mark.parametrize(
    "text",
    [
        "The animal didn't cross the street because it was too tired.",
        "She ordered a café au lait and a croissant at the café.",
        "Beyoncé and José met Zoë in São Paulo.",
        "Schrödinger's cat is both dead and alive.",
        "Los Angeles, Las Vegas, La Paz and El Paso",
        "El Paso, La Paz",
        "Ursula von der Leyen visited Düsseldorf.",
        "Oscar de la Renta designed dresses.",
        "Ludwig van Beethoven composed Für Elise.",
        "Le Monde, Die Zeit and El País reported it.",
        "Das Boot won awards.",
        "Bo, Dan, Una, Uma, Mit, Nur and Che met.",
        "MIT, EST, UN, NE, IL",
        "War dogs die young.",
        "Pour water plus sugar.",
        "The naïve façade",
        "Crème brûlée, smörgåsbord, jalapeño",
        "Mi casa es su casa is a Spanish saying.",
        "Mitochondria produce adenosine triphosphate.",
        "Colorless green ideas sleep furiously.",
        "def forward(self, x): return self.norm(x)",
        "lol omg wtf brb",
        "Snow fell.",
        "12 + 3 = 15 🙂",
        "",
    ],
)
def test_english_with_names_and_accents_is_english(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Das Tier hat die Straße nicht überquert, weil es zu müde war.",
        "Das Tier hat die Straße nicht überquert.",
        "Das ist gut.",
        "Ich liebe dich.",
        "Der Film war nicht gut.",
        "Heute regnet es in Hamburg.",
        "Ein Mann und eine Frau gehen in den Park.",
        "Het dier stak de straat niet over, omdat het te moe was.",
        "L’animal n’a pas traversé la rue parce qu’il était trop fatigué.",
        "Le chat dort sur le canapé.",
        "L'animale non ha attraversato la strada perché era troppo stanco.",
        "El animal no cruzó la calle porque estaba demasiado cansado.",
        "O animal não atravessou a rua porque estava muito cansado.",
        "Djuret korsade inte gatan eftersom det var för trött.",
        "Dyret krydsede ikke gaden, fordi det var for træt.",
        "Zwierzę nie przeszło przez ulicę, bo było zbyt zmęczone.",
        "Zvíře nepřešlo ulici, protože bylo příliš unavené.",
        "Az állat nem ment át az utcán, mert túl fáradt volt.",
        "Eläin ei ylittänyt katua, koska se oli liian väsynyt.",
        "Hayvan çok yorgun olduğu için caddeyi geçmedi.",
        "Hewan itu tidak menyeberang jalan karena terlalu lelah.",
        "Con vật đã không băng qua đường vì nó quá mệt.",
        "動物は道を渡らなかった",
    ],
)
def test_other_languages_are_not_english(text: str) -> None:
    assert not is_english(text)


def test_no_sentence_of_the_english_corpus_is_taken_for_another_language() -> None:
    sentences = [each for text in english_texts() for each in re.split(r"(?<=[.!?])\s+", text)]
    assert len(sentences) > 1_000
    assert not [each for each in sentences if not is_english(each)]
