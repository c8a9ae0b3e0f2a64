"""Which words of an English sentence may be nouns, by plain rules."""

from collections.abc import Sequence

from playground.text.sentences import PRONOUNS

_OPENERS = (
    "a an the this that these those my your his her its our their some any no every each all both another many few "
    "two three four about after against at before behind between by for from in into near of off on onto over than "
    "through to towards under with without and or although because if since though unless until when where while"
)
"""A noun may follow."""

_FUNCTION_WORDS = (
    "again ago almost already also always am are as back be been being but can could did didn do does doesn don down "
    "else even ever had has hasn have he here how i is isn it just me more most much must never not now once one only "
    "our out she should so soon still them then there they today tomorrow too up us very was wasn we well were weren "
    "what why will won would yesterday yet you"
)
"""No noun follows."""

_VERBS = (
    "ate became began bit bought broke brought built came caught chose cross cut drank drove eat fell felt fit found "
    "gave get give go got grew heard held hit kept knew know left let lost loves made meet met paid put ran read rode "
    "run said sang sat saw say see seems sent set sold spoke stood stole take taught thought threw told took "
    "understood went woke won wore wrote"
)
_ADJECTIVES = (
    "afraid alone angry bad big black blue busy clean clever cold dark dirty empty expensive famous fast full funny "
    "good great green happy hard heavy high hot hungry ill large late little long lovely low narrow new nice old poor "
    "proud quick quiet red rich sad safe short sick slow small soft strong sure tall terrible thick thin thirsty "
    "tired ugly upset warm weak wet white wide wrong young"
)

_OPENER_SET = frozenset(_OPENERS.split())
_CLOSER_SET = PRONOUNS.union(_FUNCTION_WORDS.split()) - _OPENER_SET
_VERB_SET, _ADJECTIVE_SET = frozenset(_VERBS.split()), frozenset(_ADJECTIVES.split())
_NOUNS_IN_LY = frozenset({"assembly", "belly", "bully", "butterfly", "family", "jelly", "july", "reply", "supply"})


def find_nouns(words: Sequence[str]) -> list[int]:
    """Return the places of names, and of words behind a determiner, preposition or verb that are not common others."""
    found, is_open = [], True
    for place, word in enumerate(words):
        lower = word.lower()
        if not word.isalpha():
            continue
        if lower in _CLOSER_SET:
            is_open = False
        elif lower in _OPENER_SET or lower in _VERB_SET or _is_past(lower):
            is_open = True
        elif _is_adjective_or_adverb(lower) and not word.istitle():
            continue  # what a noun may still stand behind
        elif len(word) == 1:
            is_open = lower == "s"  # of a name: Anna's
        elif is_open or word.istitle():
            found.append(place)
        else:
            is_open = True
    return found


def _is_adjective_or_adverb(word: str) -> bool:
    return word in _ADJECTIVE_SET or (len(word) > 4 and word.endswith("ly") and word not in _NOUNS_IN_LY)


def _is_past(word: str) -> bool:
    return len(word) > 4 and word.endswith("ed") and not word.endswith("eed")


def choose_pronoun(words: Sequence[str]) -> int | None:
    """Return the place of the pronoun worth asking about: two nouns before it, then *it* or *they*, then the first."""
    nouns = find_nouns(words)

    def rank(place: int) -> tuple[int, bool]:
        return -min(sum(noun < place for noun in nouns), 2), words[place].lower() not in ("it", "they")

    return min((place for place, word in enumerate(words) if word.lower() in PRONOUNS), key=rank, default=None)
