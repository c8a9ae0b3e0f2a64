"""The script that a text is written in, and whether its language looks like another than English."""

import re
import unicodedata
from collections import Counter
from itertools import pairwise

_NAMES = {"CJK": "Chinese or Japanese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}
"""Scripts whose characters' Unicode names begin with another word than what people call them."""


def is_english(text: str) -> bool:
    """Whether nothing speaks against a text's being English: neither its script nor its commonest words."""
    return foreign_script(text) is None and not looks_foreign(text)


def foreign_script(text: str) -> str | None:
    """The script of most of a text's letters, as `Arabic`; None where that is Latin, or there are no letters."""
    letters = Counter(_script(character) for character in text if character.isalpha())
    if not letters:
        return None
    script, _ = letters.most_common(1)[0]
    return None if script == "Latin" else script


def _script(letter: str) -> str:
    first_word = unicodedata.name(letter, "UNKNOWN").split()[0]
    return _NAMES.get(first_word, first_word.capitalize())


_ENGLISH = (
    "about and are because been but by can could did didn't does doesn't don't for from had has have he her his "
    "how I if into is isn't it it's its just my no not of or our out she should some than that the their them "
    "then there these they this those to too two under up very was we were what when where which who why will "
    "with would you your"
)
"""The commonest words of English."""

_FOREIGN = {
    "German": "aber auf das dass dem der dich du ein eine einen es für gut heute ich ist mich mit nicht sehr sie sind "
    "über und uns war weil wenn wie wir zu",
    "Dutch": "de een en het maar niet omdat ook voor zijn",
    "French": "avec c'est dans elle est et était il j'ai je la le les mais n'est ne nous pas que qu'il qui sur très "
    "trop un une vous",
    "Italian": "anche che della è il molto perché più questo sono troppo una",
    "Spanish": "el en es está esta estaba este las los más mucho muy para pero por porque que se una",
    "Portuguese": "ela ele em estava isso mais muito não porque uma você",
    "Swedish": "att det eftersom en ett för inte jag och som till var är",
    "Danish": "det en et fordi ikke jeg og på til var",
    "Polish": "było jak jest nie przez się zbyt że",
    "Czech": "bylo je jsem není protože se že",
    "Hungarian": "az egy és hogy mert nem volt",
    "Finnish": "ei että hän koska minä oli se",
    "Turkish": "bir bu çok değil için olduğu ve",
    "Indonesian": "ini itu karena tidak yang",
    "Vietnamese": "của đã không là một nó",
}
"""Some of the commonest words of other languages in Latin letters; each may be a word or a name in English too."""

_IN_NAMES = ("das", "de", "della", "der", "el", "la", "las", "le", "les", "los")
"""Those of them that stand in names, before a capital: *Las Vegas*, *Oscar de la Renta*."""


def looks_foreign(text: str) -> bool:
    """Whether a text in Latin letters looks like another language than English, by the commonest words of both.

    It has more of other languages' commonest words than of English ones: two or more, or one beside a word with
    letters such as ü. Capitalised words are taken for names, but for the first. A text of a few words may have none of
    either: it counts as English.
    """
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", unicodedata.normalize("NFC", text).replace("’", "'"))
    words[:1] = [word.lower() for word in words[:1]]
    in_order = pairwise([*words, ""])
    common = {word for word, following in in_order if not (word in _IN_NAMES and following[:1].isupper())}
    foreign = common.intersection(" ".join(_FOREIGN.values()).split())
    accented = {word for word in common if word.islower() and not word.isascii()}
    return len(foreign | accented) >= 2 and len(foreign) > len(common.intersection(_ENGLISH.split()))
