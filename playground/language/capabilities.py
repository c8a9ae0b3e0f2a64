"""The capabilities: what it takes to fill in a masked word, with sentences to learn from and to test on.

Every sentence has two cues, at varying places: no single word or place gives the answer away.

Each is drawn from a template, whose marks are those of `_write`.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import NamedTuple

_IRREGULAR = {"man": "men", "woman": "women", "box": "boxes"}


def _list_nouns(words: str) -> dict[str, tuple[str, ...]]:
    return {"sg": tuple(words.split()), "pl": tuple(_IRREGULAR.get(word, f"{word}s") for word in words.split())}


ANIMALS = _list_nouns("animal dog cat horse bird cow")
PEOPLE = _list_nouns("boy girl king queen man woman father mother brother sister")
PLACES = _list_nouns("street river garden house road bridge field room")
THINGS = _list_nouns("key book box cup door ring coat apple")
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

_OTHERS = (
    "the is are was not n't did really it too so because and but by in well here who seemed they victim came than , ."
)
FUNCTION_WORDS = tuple(_OTHERS.split())
"""Words in no other list."""

LISTS = (
    *(FUNCTION_WORDS, *LIVING.values(), *PLACES.values(), *THINGS.values(), PARTICIPLES, PARTICIPLES.values()),
    *(MOVES, MOVES.values(), COMPARED, COMPARED.values(), OPPOSITES, GENDER.values(), BLAMES_SUBJECT, BLAMES_OBJECT),
    *(FEELINGS, EXTENTS, STATES, SIZES, COLOURS, NEAR, PRESENT, PAST, KNOWS),
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
    share: float
    """How often it occurs in training."""
    draw: Callable[[Random], Example]

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


_DRAWN: dict[str, Sequence[str]] = {"SIZE": SIZES, "NEAR": NEAR, "TODAY": PRESENT, "ONCE": PAST, "KNOWS": KNOWS}
_DRAWN |= {"STATE": STATES, "FEELING": FEELINGS, "EXTENT": EXTENTS, "PLACE": PLACES["sg"]}
_BESIDE = {"BESIDE": (THINGS, PLACES), "AMONG": (LIVING, THINGS, PLACES)}


def _write(random: Random, template: str) -> list[str]:
    """Draw a template's words.

    `SIZE` is a word of that list, `a|b` one of these; `a_b?.4` comes as a whole, with probability 0.4. `OPENING?.4`
    names a place that often, `BESIDE?.4` is a phrase such as *near the old box*. `[a]` is the word to guess.
    """
    words: list[str] = []
    for part in template.split():
        phrase, _, p = part.partition("?")
        if phrase == "OPENING":
            words += _write(random, "well_,?.3")
            words += _write(random, "in the SIZE?.3 PLACE BESIDE?.3 ,") if random.random() < float(p) else []
            words += _write(random, "here_,?.25")
        elif phrase in _BESIDE:
            if random.random() < float(p):
                near, nouns = random.choice(NEAR), random.choice(_BESIDE[phrase])[random.choice(("sg", "pl"))]
                words += [near, *_write(random, "the SIZE?.3"), random.choice(nouns)]
        else:
            chosen = random.choice(phrase.split("|")) if "|" in phrase else phrase
            drawn = [random.choice(_DRAWN[word]) if word in _DRAWN else word for word in chosen.split("_")]
            words += drawn if not p or random.random() < float(p) else []
    return words


def _example(words: Sequence[str], options: Sequence[str], *combination: str) -> Example:
    place = next(i for i, word in enumerate(words) if word.startswith("["))
    return Example(tuple(word.strip("[]") for word in words), place, tuple(options), combination)


def _agreement(random: Random) -> Example:
    """The keys near the old box [are] rusty."""
    number, kind = random.choice(("sg", "pl")), random.choice((LIVING, THINGS))
    noun, other = random.choice(kind[number]), {"sg": "pl", "pl": "sg"}[number]
    attractor = random.choice(kind[random.choice((number, other, other, other, other))])
    words = _write(random, f"OPENING?.4 the SIZE?.4 {noun}")
    if random.random() < 0.95:
        words += _write(random, f"NEAR the SIZE?.4 {attractor} AMONG?.35")
    verb, ending = "is" if number == "sg" else "are", "FEELING" if kind is LIVING else "STATE"
    words += _write(random, f"here?.2 TODAY?.2 [{verb}] not?.3 {ending} .")
    return _example(words, ("is", "are"), noun, attractor)


def _pronoun(random: Random) -> Example:
    """The queen called the boy near the river because [she] was lonely."""
    people = [random.choice([word for word in GENDER if GENDER[word] == pronoun]) for pronoun in ("he", "she")]
    subject, object_ = random.sample(people, 2)
    means_subject = random.random() < 0.5
    verb = random.choice(BLAMES_SUBJECT if means_subject else BLAMES_OBJECT)
    answer = GENDER[subject if means_subject else object_]
    clause = f"OPENING?.4 the SIZE?.4 {subject} BESIDE?.4 {verb} the SIZE?.4 {object_} BESIDE?.4"
    words = _write(random, f"{clause} ONCE?.3 because [{answer}] was FEELING .")
    return _example(words, ("he", "she"), subject, verb, object_)


def _who_did_what(random: Random) -> Example:
    """The man near the cat was bitten by the dog, so the victim is the [man]."""
    doer, sufferer, other = random.sample(LIVING["sg"], 3)
    verb, is_active = random.choice(list(PARTICIPLES)), random.random() < 0.5
    first, second = (doer, sufferer) if is_active else (sufferer, doer)
    did = verb if is_active else f"was really?.2 {PARTICIPLES[verb]} by"
    clause = f"OPENING?.4 the SIZE?.4 {first} NEAR_the_{other}?.5 {did} the SIZE?.4 {second} BESIDE?.6 ONCE?.4"
    asked = f"so TODAY?.4 the victim BESIDE?.4 here?.4 is the SIZE?.3 [{sufferer}]"
    return _example(_write(random, f"{clause} , {asked} ."), (first, second), first, verb, second)


def _negation(random: Random) -> Example:
    """The box near the door is not really full, so now it is [empty]."""
    word, is_negated, noun = random.choice(list(OPPOSITES)), random.random() < 0.5, random.choice(THINGS["sg"])
    said, answer = ("not", OPPOSITES[word]) if is_negated else ("", word)
    clause = f"OPENING?.4 the SIZE?.4 {noun} BESIDE?.4 is TODAY?.2 {said} really?.4 {word} BESIDE?.4 TODAY?.3"
    words = _write(random, f"{clause} , so now?.3 it|the_{noun} is really?.3 [{answer}] .")
    return _example(words, (word, OPPOSITES[word]), noun, word)


def _recall(random: Random) -> Example:
    """The red key and the old blue cup are here. The blue [cup] is new."""
    colours, things = random.sample(COLOURS, 2), random.sample(THINGS["sg"], 2)
    first, second = (f"the SIZE?.4 {colour} {thing}" for colour, thing in zip(colours, things, strict=True))
    words, asked = _write(random, f"OPENING?.4 {first} and {second}"), random.randrange(2)
    words += _write(random, f"BESIDE?.2 are now?.3 here . TODAY_,?.3 the {colours[asked]} [{things[asked]}] is STATE .")
    return _example(words, things, *colours, *things, str(asked))


def _tired_or_wide(random: Random) -> Example:
    """The animal didn't cross the wide street because it was too tired, so the [animal] is old."""
    who, where, means_who = random.choice(ANIMALS["sg"]), random.choice(PLACES["sg"]), random.random() < 0.5
    felt, extent = random.choice(FEELINGS), random.choice(EXTENTS)
    of_who = [felt] if not means_who and random.random() < 0.8 else _write(random, "SIZE?.3")
    of_where = [extent] if means_who and random.random() < 0.8 else _write(random, "SIZE?.3")
    move, crossed = random.choice(list(MOVES.items()))
    is_active, not_ = random.random() < 0.6, random.choice(("not", "n't"))
    one, other = " ".join([*of_who, who]), " ".join([*of_where, where])
    clause = f"the {one} BESIDE?.4 did {not_} {move} the {other}"
    if not is_active:
        clause = f"the {other} BESIDE?.4 was {not_} {crossed} by the {one}"
    adjective, answer = (felt, who) if means_who else (extent, where)
    reason = f"BESIDE?.3 ONCE?.3 because it was too {adjective} here?.3 , so TODAY?.3 the [{answer}] is not?.3 SIZE ."
    options = (who, where) if is_active else (where, who)
    return _example(_write(random, f"OPENING?.4 {clause} {reason}"), options, who, where, adjective)


def _it_or_they(random: Random) -> Example:
    """The animals didn't cross the old street because [it] seemed too wide."""
    number, means_who = random.choice(("sg", "pl")), random.random() < 0.5
    other = {"sg": "pl", "pl": "sg"}[number]
    who, where = random.choice(ANIMALS[number]), random.choice(PLACES[other])
    words = _write(random, f"OPENING?.4 the SIZE?.4 {who} BESIDE?.3 did not|n't {'|'.join(MOVES)} the SIZE?.4 {where}")
    words += _write(random, "BESIDE?.3 ONCE?.3 because")
    adjective = random.choice(FEELINGS if means_who else EXTENTS)
    answer = {"sg": "it", "pl": "they"}[number if means_who else other]
    words += _write(random, f"[{answer}] really?.3 seemed too?.5 {adjective} .")
    return _example(words, ("it", "they"), who, where, adjective)


def _draw_times(random: Random) -> tuple[str, str, str]:
    """Draw a verb, its word of time, and another one, mostly of the other time."""
    is_past = random.random() < 0.5
    is_opposite = random.random() < 0.85
    when, other = (random.choice(PAST if past else PRESENT) for past in (is_past, is_past ^ is_opposite))
    return "was" if is_past else "is", when, other


def _looks_right(random: Random) -> Example:
    """The box [was] clean near the river yesterday, but the king came today."""
    verb, when, other = _draw_times(random)
    noun, who = random.choice(THINGS["sg"]), random.choice(PEOPLE["sg"])
    clause = (
        f"OPENING?.4 the SIZE?.4 {noun} BESIDE?.3 [{verb}] not?.3 really?.3 STATE BESIDE?.6 BESIDE?.3 here?.4 {when}"
    )
    words = _write(random, f"{clause} BESIDE?.3 , but")
    before, behind = (other, "") if random.random() < 0.4 else ("", other)
    words += _write(random, f"{before} the SIZE?.4 {who} BESIDE?.3 came {behind} .")
    return _example(words, ("is", "was"), noun, when, other)


def _far(random: Random) -> Example:
    """Yesterday, the king who likes the old dog near the river today [was] tired."""
    verb, when, other = _draw_times(random)
    who, whom = random.choice(PEOPLE["sg"]), random.choice(LIVING["sg"])
    words = _write(random, f"OPENING?.7 {when} BESIDE?.4 , the SIZE?.4 {who} BESIDE?.2 who")
    before, behind = (other, "") if random.random() < 0.5 else ("", other)
    words += _write(random, f"{before} KNOWS the old?.4 {whom} {behind} BESIDE?.8 BESIDE?.4 here?.3")
    words += _write(random, f"[{verb}] not?.3 FEELING .")
    return _example(words, ("is", "was"), when, who, other)


def _biggest(random: Random) -> Example:
    """The dog is bigger than the king and the cat is smaller than the king, so the biggest is the [dog]."""
    first, middle, last = random.sample(LIVING["sg"], 3)  # from the biggest to the smallest
    words = _write(random, "OPENING?.3")
    for i, (bigger, smaller) in enumerate(random.sample([(first, middle), (middle, last)], 2)):
        words += _write(random, ",|and|,_and") if i else []
        said = f"{bigger} is bigger than the {smaller}"
        if random.random() >= 0.5:
            said = f"{smaller} is smaller than the {bigger}"
        words += _write(random, f"the {said} BESIDE?.3")
    asked = random.choice(list(COMPARED.values()))
    answer, options = first if asked == "biggest" else last, sorted((first, last), key=words.index)
    words += _write(random, f", so the really?.3 {asked} is the [{answer}] .")
    return _example(words, options, first, middle, last, asked)


CAPABILITIES: dict[str, Capability] = {
    each.name: each
    for each in (
        Capability("agreement", "is or are", 1.1, _agreement),
        Capability("pronoun", "he or she", 1.8, _pronoun),
        Capability("who_did_what", "who did what", 1.4, _who_did_what),
        Capability("negation", "not", 0.5, _negation),
        Capability("recall", "recall", 4.0, _recall),
        Capability("tired_or_wide", "tired or wide", 0.5, _tired_or_wide),
        Capability("it_or_they", "it or they", 1.5, _it_or_they),
        Capability("looks_right", "look right", 0.4, _looks_right),
        Capability("far", "far back", 0.4, _far),
        Capability("biggest", "biggest", 1.8, _biggest),
    )
}
