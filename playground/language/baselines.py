"""What shortcuts reach without an encoder: rules learnt from training sentences, tested on held-out ones.

A look-up table answers with the option, by word or by place, that was right most often beside the same words.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

import torch
from torch import Tensor

from playground.language import words
from playground.language.capabilities import Capability, Example
from playground.language.text import IDS

N_TRAINING, N_TEST = 4_000, 1_200

View = Callable[[Example], Hashable]
"""What a table sees of a sentence."""

_REACH = 12

_NOUNS = frozenset(
    word for kind in (words.LIVING, words.THINGS, words.PLACES) for number in kind.values() for word in number
)


@dataclass(frozen=True)
class Baselines:
    """Shares right, over the same held-out sentences."""

    chance: float
    bigram: float
    """Table of the two words beside the mask."""
    bag_of_words: float
    """Linear model of the words and options."""
    nearest_noun: float
    """Table of the last noun before the mask, or the first behind it."""
    two_places: float
    """Best table of any two places and the length; chosen on one half, scored on the other."""


def measure_baselines(capability: Capability, seed: int = 0) -> Baselines:
    """What shortcuts reach on a capability."""
    random = Random(f"baselines {capability.name} {seed}")
    training = [capability.drawn(random, held_out=False) for _ in range(N_TRAINING)]
    test = capability.examples(N_TEST, seed)
    choosing, scored = test[: N_TEST // 2], test[N_TEST // 2 :]
    readings = {id(example): _readings(example) for example in (*training, *test)}

    def score(view: View, on: Sequence[Example] = test) -> float:
        return _score_table(list(map(view, training)), training, list(map(view, on)), on)

    def read_two(i: int, j: int) -> View:
        return lambda example: (*map(readings[id(example)].__getitem__, (i, j, -1)),)

    views = [read_two(i, j) for i, j in combinations(range(len(readings[id(test[0])]) - 1), 2)]
    best = max(views, key=lambda view: score(view, choosing))
    return Baselines(
        chance=sum(1 / len(example.options) for example in test) / len(test),
        bigram=score(lambda example: (_beside(example, -1), _beside(example, 1))),
        bag_of_words=_score_bag(training, test),
        nearest_noun=score(_nearest_noun),
        two_places=score(best, scored),
    )


def _beside(example: Example, distance: int) -> str:
    place = example.place + distance
    return example.words[place] if 0 <= place < len(example.words) else ""


def _nearest_noun(example: Example) -> str:
    before, after = example.words[example.place - 1 :: -1], example.words[example.place + 1 :]
    return next((word for word in (*before, *after) if word in _NOUNS), "")


def _readings(example: Example) -> tuple[str, ...]:
    start = [_beside(example, i - example.place) if i != example.place else "" for i in range(_REACH)]
    return (*start, *(_beside(example, i) for i in range(-_REACH, _REACH + 1) if i), str(len(example.words)))


def _score_table(
    seen: Sequence[Hashable], training: Sequence[Example], test_seen: Sequence[Hashable], test: Sequence[Example]
) -> float:
    by_word: dict[Hashable, Counter[str]] = defaultdict(Counter)
    by_place: dict[Hashable, Counter[int]] = defaultdict(Counter)
    for view, example in zip(seen, training, strict=True):
        by_word[view][example.answer] += 1
        by_place[view][example.options.index(example.answer)] += 1
    none: Counter[str] = Counter()

    def answer(view: Hashable, example: Example) -> str:
        word = max(example.options, key=lambda option: by_word.get(view, none)[option])
        place, n = by_place[view].most_common(1)[0] if view in by_place else (0, 0)
        is_place = n > by_word.get(view, none)[word] and place < len(example.options)
        return example.options[place] if is_place else word

    return sum(answer(view, each) == each.answer for view, each in zip(test_seen, test, strict=True)) / len(test)


def _score_bag(training: Sequence[Example], test: Sequence[Example]) -> float:
    """150 full steps of Adam."""
    weight, bias = torch.zeros(len(IDS), len(IDS), requires_grad=True), torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.Adam([weight, bias], lr=0.05)
    (bags, options, counts), answers = _bags(training), _answers(training)
    for _ in range(150):
        loss = torch.nn.functional.cross_entropy(_scores(weight, bias, bags, options, counts), answers)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    right = _scores(weight, bias, *_bags(test)).argmax(-1) == _answers(test)
    return float(right.double().mean())


def _bags(examples: Sequence[Example]) -> tuple[Tensor, Tensor, Tensor]:
    """Which words occur, (N, V); each option's id, −1 for none (N, 3); how often it occurs (N, 3)."""
    bags = torch.zeros(len(examples), len(IDS))
    options, counts = torch.full((len(examples), 3), -1), torch.zeros(len(examples), 3, dtype=torch.int64)
    for i, example in enumerate(examples):
        others = [*example.words[: example.place], *example.words[example.place + 1 :]]
        bags[i, [IDS[word] for word in others]] = 1
        for j, option in enumerate(example.options):
            options[i, j], counts[i, j] = IDS[option], min(others.count(option), 3)
    return bags, options, counts


def _scores(weight: Tensor, bias: Tensor, bags: Tensor, options: Tensor, counts: Tensor) -> Tensor:
    """Each option's score, (N, 3)."""
    scores = (bags @ weight.T).gather(1, options.clamp(min=0)) + bias[counts]
    return scores.masked_fill(options < 0, float("-inf"))


def _answers(examples: Sequence[Example]) -> Tensor:
    return torch.tensor([example.options.index(example.answer) for example in examples])
