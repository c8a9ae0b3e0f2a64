"""The capabilities: what it takes to fill in a masked word, with sentences to learn from and to test on.

Every sentence has two cues, at varying places: no single word or place gives the answer away.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import NamedTuple

ANIMALS = {
    "sg": ("animal", "dog", "cat", "horse", "bird", "cow"),
    "pl": ("animals", "dogs", "cats", "horses", "birds", "cows"),
}
PEOPLE = {
    "sg": ("boy", "girl", "king", "queen", "man", "woman", "father", "mother", "brother", "sister"),
    "pl": ("boys", "girls", "kings", "queens", "men", "women", "fathers", "mothers", "brothers", "sisters"),
}
PLACES = {
    "sg": ("street", "river", "garden", "house", "road", "bridge", "field", "room"),
    "pl": ("streets", "rivers", "gardens", "houses", "roads", "bridges", "fields", "rooms"),
}
THINGS = {
    "sg": ("key", "book", "box", "cup", "door", "ring", "coat", "apple"),
    "pl": ("keys", "books", "boxes", "cups", "doors", "rings", "coats", "apples"),
}
LIVING = {number: ANIMALS[number] + PEOPLE[number] for number in ("sg", "pl")}

GENDER = {word: ("he", "she")[i % 2] for i, word in enumerate(PEOPLE["sg"])}

BLAMES_SUBJECT = ("called", "followed", "visited", "asked", "surprised")
"""*Because he* is the one who did it."""
BLAMES_OBJECT = ("thanked", "praised", "blamed", "admired", "punished")
"""The one to whom it was done."""

PARTICIPLES = {"bit": "bitten", "hit": "hit", "chased": "chased", "pushed": "pushed", "hunted": "hunted"}

FEELINGS = ("tired", "hungry", "afraid", "lonely", "weak")
"""What only the living are."""
EXTENTS = ("wide", "long", "dark", "narrow", "crowded")
"""What only places are."""
STATES = ("new", "heavy", "clean", "rusty")
"""What only things are."""
SIZES = ("old", "small", "big", "young")

OPPOSITES = {"full": "empty", "empty": "full", "open": "closed", "closed": "open"}

COLOURS = ("red", "green", "blue")
NEAR = ("near", "behind", "under", "with")
PRESENT = ("today", "now")
PAST = ("yesterday", "once")
MOVES = {"cross": "crossed", "enter": "entered", "leave": "left"}
KNOWS = ("knows", "likes")
COMPARED = {"bigger": "biggest", "smaller": "smallest"}

FUNCTION_WORDS = (
    *("the", "is", "are", "was", "not", "n't", "did", "really", "it", "too", "so", "because", "and", "but", "by", "in"),
    *("well", "here", "who", "seemed", "they", "victim", "came", "than"),
    *(",", "."),
)
"""Words in no other list."""

LISTS: tuple[Mapping[str, Sequence[str]] | Sequence[str], ...] = (
    *(FUNCTION_WORDS, LIVING, PLACES, THINGS, PARTICIPLES, OPPOSITES, MOVES, COMPARED, GENDER),
    *(BLAMES_SUBJECT, BLAMES_OBJECT, FEELINGS, EXTENTS, STATES, SIZES, COLOURS, NEAR, PRESENT, PAST, KNOWS),
)

HELD_OUT = 8
"""One in so many combinations is never learnt from."""


class Example(NamedTuple):
    """A sentence with a word to guess."""

    words: tuple[str, ...]
    place: int
    """The guessed word's, from 0."""
    options: tuple[str, ...]
    """What could stand there."""
    combination: tuple[str, ...]
    """The deciding words."""

    @property
    def answer(self) -> str:
        """The right word."""
        return self.words[self.place]

    @property
    def is_held_out(self) -> bool:
        """Whether it is kept for testing."""
        return zlib.crc32(" ".join(sorted(self.combination)).encode()) % HELD_OUT == 0


@dataclass(frozen=True)
class Capability:
    """A kind of sentence in which one word follows from others."""

    name: str
    title: str
    takes: str
    draw: Callable[[Random], Example]
    share: float = 1.0
    """How often it occurs in training."""

    def drawn(self, random: Random, *, held_out: bool) -> Example:
        """Draw a sentence."""
        while (example := self.draw(random)).is_held_out != held_out:
            pass
        return example

    def examples(self, n: int, seed: int = 0) -> list[Example]:
        """Return `n` different held-out sentences."""
        random, found = Random(f"{self.name} {seed}"), dict[tuple[str, ...], Example]()
        while len(found) < n:
            example = self.drawn(random, held_out=True)
            found.setdefault(example.words, example)
        return list(found.values())


def training_text(n: int, seed: int) -> Iterator[Example]:
    """Return `n` sentences to learn from, by each capability's share."""
    random = Random(f"training {seed}")
    capabilities = tuple(CAPABILITIES.values())
    sums = tuple(accumulate(each.share for each in capabilities))
    for _ in range(n):
        yield random.choices(capabilities, cum_weights=sums)[0].drawn(random, held_out=False)


def _some(random: Random, p: float, *words: str) -> Sequence[str]:
    return words if random.random() < p else ()


def _noun(random: Random, nouns: Sequence[str]) -> list[str]:
    return ["the", *_some(random, 0.3, random.choice(SIZES)), random.choice(nouns)]


def _beside(random: Random, p: float, *kinds: Mapping[str, Sequence[str]]) -> list[str]:
    if random.random() >= p:
        return []
    return [random.choice(NEAR), *_noun(random, random.choice(kinds or (THINGS, PLACES))[random.choice(("sg", "pl"))])]


def _opening(random: Random, p_place: float = 0.4) -> list[str]:
    words = [*_some(random, 0.3, "well", ",")]
    if random.random() < p_place:
        words += ["in", *_noun(random, PLACES["sg"]), *_beside(random, 0.3), ","]
    return [*words, *_some(random, 0.25, "here", ",")]


def _agreement(random: Random) -> Example:
    """The keys near the old box [are] rusty."""
    number, kind = random.choice(("sg", "pl")), random.choice((LIVING, THINGS))
    noun, other = random.choice(kind[number]), {"sg": "pl", "pl": "sg"}[number]
    attractor = random.choice(kind[random.choice((number, other, other, other, other))])
    words = [*_opening(random), "the", *_some(random, 0.4, random.choice(SIZES)), noun]
    if random.random() < 0.95:
        words += [random.choice(NEAR), "the", *_some(random, 0.4, random.choice(SIZES)), attractor]
        words += _beside(random, 0.35, LIVING, THINGS, PLACES)
    words += [*_some(random, 0.2, "here"), *_some(random, 0.2, random.choice(PRESENT))]
    place = len(words)
    words += ["is" if number == "sg" else "are", *_some(random, 0.3, "not")]
    words += [random.choice(FEELINGS if kind is LIVING else STATES), "."]
    return Example(tuple(words), place, ("is", "are"), (noun, attractor))


def _pronoun(random: Random) -> Example:
    """The queen called the boy near the river because [she] was lonely."""
    people = [random.choice([word for word in GENDER if GENDER[word] == pronoun]) for pronoun in ("he", "she")]
    subject, object_ = random.sample(people, 2)
    means_subject = random.random() < 0.5
    verb = random.choice(BLAMES_SUBJECT if means_subject else BLAMES_OBJECT)
    words = [*_opening(random), "the", *_some(random, 0.4, random.choice(SIZES)), subject, *_beside(random, 0.4), verb]
    words += ["the", *_some(random, 0.4, random.choice(SIZES)), object_, *_beside(random, 0.4)]
    words += [*_some(random, 0.3, random.choice(PAST)), "because"]
    place = len(words)
    words += [GENDER[subject if means_subject else object_], "was", random.choice(FEELINGS), "."]
    return Example(tuple(words), place, ("he", "she"), (subject, verb, object_))


def _who_did_what(random: Random) -> Example:
    """The man near the cat was bitten by the dog, so the victim is the [man]."""
    doer, sufferer, other = random.sample(LIVING["sg"], 3)
    verb, is_active = random.choice(list(PARTICIPLES)), random.random() < 0.5
    first, second = (doer, sufferer) if is_active else (sufferer, doer)
    words = [*_opening(random), "the", *_some(random, 0.4, random.choice(SIZES)), first]
    words += [*_some(random, 0.5, random.choice(NEAR), "the", other)]
    words += [verb] if is_active else ["was", *_some(random, 0.2, "really"), PARTICIPLES[verb], "by"]
    words += ["the", *_some(random, 0.4, random.choice(SIZES)), second, *_beside(random, 0.6)]
    words += [*_some(random, 0.4, random.choice(PAST)), ",", "so", *_some(random, 0.4, random.choice(PRESENT)), "the"]
    words += ["victim", *_beside(random, 0.4), *_some(random, 0.4, "here"), "is", "the"]
    words += _some(random, 0.3, random.choice(SIZES))
    place = len(words)
    words += [sufferer, "."]
    return Example(tuple(words), place, (first, second), (first, verb, second))


def _negation(random: Random) -> Example:
    """The box near the door is not really full, so now it is [empty]."""
    word, is_negated, noun = random.choice(list(OPPOSITES)), random.random() < 0.5, random.choice(THINGS["sg"])
    words = [*_opening(random), "the", *_some(random, 0.4, random.choice(SIZES)), noun, *_beside(random, 0.4), "is"]
    words += [*_some(random, 0.2, random.choice(PRESENT)), *["not"] * is_negated, *_some(random, 0.4, "really"), word]
    words += [*_beside(random, 0.4), *_some(random, 0.3, random.choice(PRESENT)), ",", "so", *_some(random, 0.3, "now")]
    words += [*random.choice((("it",), ("the", noun))), "is", *_some(random, 0.3, "really")]
    place = len(words)
    words += [OPPOSITES[word] if is_negated else word, "."]
    return Example(tuple(words), place, (word, OPPOSITES[word]), (noun, word))


def _recall(random: Random) -> Example:
    """The red key and the old blue cup are here. The blue [cup] is new."""
    colours, things = random.sample(COLOURS, 2), random.sample(THINGS["sg"], 2)
    words = _opening(random)
    for joint, colour, thing in zip(([], ["and"]), colours, things, strict=True):
        words += [*joint, "the", *_some(random, 0.4, random.choice(SIZES)), colour, thing]
    asked = random.randrange(2)
    words += [*_beside(random, 0.2), "are", *_some(random, 0.3, "now"), "here", "."]
    words += [*_some(random, 0.3, random.choice(PRESENT), ","), "the", colours[asked]]
    place = len(words)
    words += [things[asked], "is", random.choice(STATES), "."]
    return Example(tuple(words), place, tuple(things), (*colours, *things, str(asked)))


def _tired_or_wide(random: Random) -> Example:
    """The animal didn't cross the wide street because it was too tired, so the [animal] is old."""
    who, where, means_who = random.choice(ANIMALS["sg"]), random.choice(PLACES["sg"]), random.random() < 0.5
    felt, extent = random.choice(FEELINGS), random.choice(EXTENTS)
    of_who = [felt] if not means_who and random.random() < 0.8 else _some(random, 0.3, random.choice(SIZES))
    of_where = [extent] if means_who and random.random() < 0.8 else _some(random, 0.3, random.choice(SIZES))
    move, crossed = random.choice(list(MOVES.items()))
    active, not_ = random.random() < 0.6, random.choice(("not", "n't"))
    words = [*_opening(random), "the"]
    if active:
        words += [*of_who, who, *_beside(random, 0.4), "did", not_, move, "the", *of_where, where]
    else:
        words += [*of_where, where, *_beside(random, 0.4), "was", not_, crossed, "by", "the", *of_who, who]
    words += [*_beside(random, 0.3), *_some(random, 0.3, random.choice(PAST)), "because", "it", "was", "too"]
    words += [
        felt if means_who else extent,
        *_some(random, 0.3, "here"),
        ",",
        "so",
        *_some(random, 0.3, random.choice(PRESENT)),
        "the",
    ]
    place = len(words)
    words += [who if means_who else where, "is", *_some(random, 0.3, "not"), random.choice(SIZES), "."]
    options = (who, where) if active else (where, who)
    return Example(tuple(words), place, options, (who, where, felt if means_who else extent))


def _looks_right(random: Random) -> Example:
    """The box [was] clean near the river yesterday, but the king came today."""
    is_past = random.random() < 0.5
    is_opposite = random.random() < 0.85
    when, other = (random.choice(PAST if past else PRESENT) for past in (is_past, is_past ^ is_opposite))
    noun, who = random.choice(THINGS["sg"]), random.choice(PEOPLE["sg"])
    words = [*_opening(random), "the", *_some(random, 0.4, random.choice(SIZES)), noun, *_beside(random, 0.3)]
    place = len(words)
    words += ["was" if is_past else "is", *_some(random, 0.3, "not"), *_some(random, 0.3, "really")]
    words += [random.choice(STATES), *_beside(random, 0.6), *_beside(random, 0.3), *_some(random, 0.4, "here"), when]
    words += _beside(random, 0.3)
    words += [",", "but", *(early := _some(random, 0.4, other)), "the", *_some(random, 0.4, random.choice(SIZES)), who]
    words += [*_beside(random, 0.3), "came", *([] if early else [other]), "."]
    return Example(tuple(words), place, ("is", "was"), (noun, when, other))


def _far(random: Random) -> Example:
    """Yesterday, the king who likes the old dog near the river today [was] tired."""
    is_past, is_opposite = random.random() < 0.5, random.random() < 0.85
    when, other = (random.choice(PAST if past else PRESENT) for past in (is_past, is_past ^ is_opposite))
    who, whom = random.choice(PEOPLE["sg"]), random.choice(LIVING["sg"])
    words = [*_opening(random, 0.7), when, *_beside(random, 0.4), ","]
    words += ["the", *_some(random, 0.4, random.choice(SIZES)), who, *_beside(random, 0.2), "who"]
    words += [*(early := _some(random, 0.5, other)), random.choice(KNOWS), "the", *_some(random, 0.4, "old"), whom]
    words += [*([] if early else [other]), *_beside(random, 0.8), *_beside(random, 0.4), *_some(random, 0.3, "here")]
    place = len(words)
    words += ["was" if is_past else "is", *_some(random, 0.3, "not"), random.choice(FEELINGS), "."]
    return Example(tuple(words), place, ("is", "was"), (when, who, other))


def _it_or_they(random: Random) -> Example:
    """The animals didn't cross the old street because [it] seemed too wide."""
    number, means_who = random.choice(("sg", "pl")), random.random() < 0.5
    other = {"sg": "pl", "pl": "sg"}[number]
    who, where = random.choice(ANIMALS[number]), random.choice(PLACES[other])
    words = [*_opening(random), "the", *_some(random, 0.4, random.choice(SIZES)), who, *_beside(random, 0.3), "did"]
    words += [random.choice(("not", "n't")), random.choice(list(MOVES)), "the"]
    words += [
        *_some(random, 0.4, random.choice(SIZES)),
        where,
        *_beside(random, 0.3),
        *_some(random, 0.3, random.choice(PAST)),
        "because",
    ]
    place = len(words)
    adjective = random.choice(FEELINGS if means_who else EXTENTS)
    answer = {"sg": "it", "pl": "they"}[number if means_who else other]
    words += [answer, *_some(random, 0.3, "really"), "seemed", *_some(random, 0.5, "too"), adjective, "."]
    return Example(tuple(words), place, ("it", "they"), (who, where, adjective))


def _biggest(random: Random) -> Example:
    """The dog is bigger than the king and the cat is smaller than the king, so the biggest is the [dog]."""
    first, middle, last = random.sample(LIVING["sg"], 3)  # from the biggest to the smallest
    words = _opening(random, 0.3)
    for i, (bigger, smaller) in enumerate(random.sample([(first, middle), (middle, last)], 2)):
        joint = random.choice(([","], ["and"], [",", "and"])) if i else []
        if random.random() < 0.5:
            words += [*joint, "the", bigger, "is", "bigger", "than", "the", smaller]
        else:
            words += [*joint, "the", smaller, "is", "smaller", "than", "the", bigger]
        words += _beside(random, 0.3)
    asked = random.choice(list(COMPARED.values()))
    words += [",", "so", "the", *_some(random, 0.3, "really"), asked, "is", "the"]
    place = len(words)
    words += [first if asked == "biggest" else last, "."]
    options = sorted((first, last), key=words.index)
    return Example(tuple(words), place, tuple(options), (first, middle, last, asked))


CAPABILITIES: dict[str, Capability] = {
    name: Capability(name, title, takes, draw, share)
    for name, title, draw, share, takes in (
        ("agreement", "is or are", _agreement, 1.1,
         "Find the subject, not the noun that stands nearest, and see whether it is one or many."),
        ("pronoun", "he or she", _pronoun, 1.8,
         "Bring three words together: the verb says who is meant, and that noun says *he* or *she*."),
        ("who_did_what", "who did what", _who_did_what, 1.4,
         "Combine the order of two nouns with an active or passive verb."),
        ("negation", "not", _negation, 0.5, "Turn a word into its opposite if *not* stands before it."),
        ("recall", "recall", _recall, 4.0,
         "Find the same colour further back, then take the word behind it: one step needs the other's result."),
        ("tired_or_wide", "tired or wide", _tired_or_wide, 0.5,
         "Choose the noun that the adjective fits, though another adjective stands beside the other noun."),
        ("it_or_they", "it or they", _it_or_they, 1.5,
         "Choose the noun that the adjective fits, and see whether it is one or many."),
        ("looks_right", "look right", _looks_right, 0.4,
         "Read the first word of time to the right: what stands to the left says nothing."),
        ("far", "far back", _far, 0.4, "Read a word of time ten to twenty words back, past another one."),
        ("biggest", "biggest", _biggest, 1.8,
         "Compare two pairs, then take the end of the row that they make: each step needs the one before."),
    )
}  # fmt: skip
