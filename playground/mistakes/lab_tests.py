"""Tests of the bug lab: each measures the case's encoder and a right one with the same weights."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from playground.mistakes.bug_lab import BUG_LAB, SEEN, WORDS, Array, Case, Lab, Pass, is_other
from playground.mistakes.registry import MISTAKES


@dataclass(frozen=True)
class Finding:
    """What a test shows."""

    theirs: Array
    right: Array
    """The same of a right encoder."""
    sentence: str
    tells: bool
    """Whether the two differ."""


@dataclass(frozen=True)
class LabTest:
    """Something that can be tested."""

    key: str
    title: str
    measure: Callable[[Pass], Array]
    """Return the numbers that it is about."""
    judge: Callable[[Array], NDArray[Any]] = np.asarray
    """Return what of them tells a right encoder from a wrong one."""
    effort: int = 4
    """A key of `EFFORTS`."""
    shows: str = "The numbers here, and in a right encoder with the same weights."
    """What it shows, for students who choose among tests."""
    sentence: str = "Largest difference from a right encoder with the same weights: **{most:.2f}**."
    draws: str = "both numbers"
    """Words on the map of its numbers, if there is one: columns of `numbers` or `tokens`; `both` encoders."""
    masks: Sequence[str] = ("none", "padding", "causal")
    """Cases in which it can be done."""

    def run(self, lab: Lab) -> Finding:
        """Measure the case and a right encoder."""
        theirs, right = self.measure(lab.theirs), self.measure(lab.ours)
        finite = np.isfinite(theirs) & np.isfinite(right)
        most = float(np.abs(theirs[finite] - right[finite]).max(initial=0))
        symptom = " ".join(MISTAKES[key].symptom for key in lab.case.mistakes)
        sentence = self.sentence.format(theirs=theirs, right=right, most=most, symptom=symptom)
        return Finding(theirs, right, sentence, is_other(self.judge(theirs), self.judge(right)))


def _numbers(*values: Any) -> Array:
    return np.array([float(value) for value in values], np.float32)


def _count_shapes(run: Pass) -> Array:
    right = run.lab.ours.tensors
    return _numbers(sum(run[name].shape != tensor.shape for name, tensor in right.items()), len(right))


def _sum_rows(run: Pass) -> Array:
    sums = run.read("layers.0.attn.pattern").sum(dim=-1)
    return _numbers(sums.min(), sums.max())


def _measure_lengths(run: Pass) -> Array:
    tokens = run.read("embed.tokens")
    rows = run.lab.encoder.state_dict()["embed.tokens.weight"][run.lab.given.ids[0, : run.lab.n_real]]
    vectors = (tokens, run.read("embed.sum") - tokens, rows, rows * run.lab.case.config.d_model**0.5)
    return _numbers(*(each.norm(dim=-1).mean() for each in vectors))


def _measure_norm(run: Pass) -> Array:
    x = run.read("layers.0.norm1.normalized")
    return _numbers(x.mean(), x.var(-1, correction=0).mean(), x.var(-1, correction=1).mean())


def _count_signs(run: Pass) -> Array:
    hidden = run.read("layers.0.ffn.hidden")
    return _numbers((hidden == 0).float().mean(), (hidden < 0).float().mean(), hidden.min())


def _judge_signs(found: Array) -> NDArray[Any]:
    """Many zeros, many negative numbers, and numbers below the least value of GELU."""
    return _numbers(found[0] > 0.05, found[1] > 0.05, found[2] < -0.18)


def _measure_norm_place(run: Pass) -> Array:
    stream = run.read("embed.out")
    reads = ("layers.0.attn.in", "layers.0.norm1.in")
    return _numbers(*((run.read(name) - stream).abs().max() for name in reads))


def _measure_scores(run: Pass) -> Array:
    q, k, scores = (run[f"layers.0.attn.{each}"][0] for each in ("q", "k", "scores"))
    by_hand = q @ k.transpose(-2, -1)
    kept = torch.isfinite(scores) & (by_hand.abs() > 0.05)
    factors = scores[kept] / by_hand[kept]
    return _numbers(factors.median(), factors.max() - factors.min())


def _measure_sum(run: Pass) -> Array:
    return _numbers(
        (run.read("layers.0.resid_mid") - run.read("embed.out") - run.read("layers.0.attn.out")).abs().max()
    )


@torch.inference_mode()
def _compare_layers(run: Pass) -> Array:
    layers: Any = run.lab.encoder.layers
    read, got = run["layers.1.ffn.in"], run["layers.1.ffn.up"]
    return _numbers(*((block.ffn.up(read) - got).abs().max() for block in layers))


def _read_map(name: str, run: Pass) -> Array:
    """Return the sentence's matrix, of head 0 if there are heads."""
    rows = run.read(name)
    found: Array = (rows[0] if rows.ndim > 2 else rows).numpy()
    return found


def _reverse_words(run: Pass) -> Array:
    n, ids = run.lab.n_real, run.lab.given.ids
    reverse = torch.cat([ids[:, :n].flip(1), ids[:, n:]], dim=1)
    return _numbers((run.final(reverse) - run.read("final").flip(0)).abs().max())


def _change_last_word(run: Pass) -> Array:
    ids = run.lab.given.ids.clone()
    ids[0, -1] = 1 + ids[0, -1] % (len(WORDS) - 1)
    return _numbers(((run.final(ids) - run.read("final")).abs().amax(dim=-1)[:-1] > SEEN).sum())


def _change_padding(run: Pass) -> Array:
    ids = run.lab.given.ids.clone()
    ids[0, run.lab.n_real :] = 3
    return _numbers((run.final(ids) - run.read("final")).abs().max())


def _is_there(found: Array) -> NDArray[Any]:
    return _numbers(*(found.ravel() > SEEN))


_MEASURES: Mapping[str, tuple[Callable[[Pass], Array], Callable[[Array], NDArray[Any]]]] = {
    "shapes": (_count_shapes, np.asarray),
    "row-sums": (_sum_rows, np.asarray),
    "lengths": (_measure_lengths, np.asarray),
    "norm": (_measure_norm, np.asarray),
    "hidden": (_count_signs, _judge_signs),
    "pattern": (partial(_read_map, "layers.0.attn.pattern"), _is_there),
    "norm-place": (_measure_norm_place, _is_there),
    "score": (_measure_scores, lambda found: _numbers(found[0], found[1] > SEEN)),
    "sum": (_measure_sum, _is_there),
    "layers": (_compare_layers, _is_there),
    "positions": (lambda run: (run.read("embed.sum") - run.read("embed.tokens")).numpy(), np.asarray),
    "symptom": (lambda run: _numbers(), np.asarray),
    "permute": (_reverse_words, _is_there),
    "last-word": (_change_last_word, _is_there),
    "padding": (_change_padding, _is_there),
}
"""What each test measures, and what of it tells; the tests beside a right encoder measure a tensor each."""


def _build_test(key: str, words: Mapping[str, Any]) -> LabTest:
    point = key.removeprefix("beside-").replace("-", ".")
    measure, judge = _MEASURES.get(key, (partial(_read_map, point), np.asarray))
    shown = {"draws": ""} if key in _MEASURES else {}
    return LabTest(**{"key": key, "measure": measure, "judge": judge, **shown, **words})


TESTS: Mapping[str, LabTest] = {key: _build_test(key, words) for key, words in BUG_LAB["tests"].items()}
"""All tests by their keys, those of little effort first."""

EFFORTS: Mapping[int, str] = BUG_LAB["efforts"]
"""What the tests of each effort do."""


def offered_tests(case: Case) -> list[LabTest]:
    """Return those that can be done in a case."""
    return [each for each in TESTS.values() if case.mask in each.masks]


def simplest_tests(lab: Lab) -> list[LabTest]:
    """Return, for each mistake made alone, the simplest test in which it differs from a right encoder."""
    alone = [Lab(replace(lab.case, mistakes=(key,))) for key in lab.case.mistakes]
    return [next(test for test in offered_tests(each.case) if test.run(each).tells) for each in alone]


@dataclass(frozen=True)
class Attempt:
    """What somebody has tested and accused, in their order."""

    lab: Lab
    tests: tuple[str, ...] = ()
    accused: tuple[str, ...] = ()

    @property
    def taken(self) -> list[LabTest]:
        """The tests that were taken, without those that do not fit the case."""
        offered = {each.key: each for each in offered_tests(self.lab.case)}
        return [offered[key] for key in self.tests if key in offered]

    @property
    def found(self) -> list[str]:
        """The mistakes that were accused."""
        return [key for key in self.accused if key in self.lab.case.mistakes]

    @property
    def wrong(self) -> list[str]:
        """The suspects that were accused and are none."""
        case = self.lab.case
        return [key for key in self.accused if key in case.suspects and key not in case.mistakes]

    @property
    def is_solved(self) -> bool:
        """Whether all mistakes are found."""
        return len(self.found) == len(self.lab.case.mistakes)
