"""Which mistake did I make? Somebody's intermediates beside the model's own: where they part, and what explains it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import InputError
from playground.mistakes.edits import MASKED, Input, run_edited
from playground.mistakes.registry import MISTAKES, Mistake
from playground.model import Encoder
from playground.text.wording import count_noun, join_words, quote_text, with_minus

TOLERANCE = 1e-4
"""How far a number may be off, as a share of the largest in its tensor, or of 1 where that is smaller."""

NOISE = 1e-2
"""Up to which share differences may be noise: lower precision, or another library."""

_SAME_DEGREE = 10
"""How many times larger noise may become from what came before to the first tensor that differs."""

_BEHIND_DROPOUT = ("embed.out", "attn.out", "ffn.out")
"""Ends of names of tensors that show what was dropped."""

MOST_TOGETHER = 2
"""Mistakes that are looked for at once."""

_RULED_OUT = 3
"""Mistakes of which a report says why they are none."""


@dataclass(frozen=True)
class Difference:
    """A tensor that is not as the model has it."""

    name: str
    off: float
    """The largest difference, as a share as of `TOLERANCE`."""
    place: tuple[int, ...]
    """Where that is, an index for each axis."""
    theirs: float
    ours: float
    """The two numbers there."""
    of_largest: float = 0.0
    """The largest difference, as a share of the largest number in its tensor."""

    @property
    def where(self) -> str:
        """The place, each index with what it counts."""
        axes: tuple[str, ...] = ("sentence", "head", "token", "number")
        if self.name.endswith((".scores", ".pattern")):
            axes = ("sentence", "head", "query", "key")
        if len(self.place) == 3:
            axes = (axes[0], *axes[2:])
        if len(self.place) != len(axes):
            return str(list(self.place))
        return ", ".join(f"{axis} {i}" for axis, i in zip(axes, self.place, strict=True))


@dataclass(frozen=True)
class Explanation:
    """Mistakes that together reproduce every tensor."""

    mistakes: tuple[str, ...]
    """Keys of the registry."""
    tells_apart: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    """Of each other explanation, the first tensor in which the two differ; without those that differ in none."""

    @property
    def which(self) -> str:
        """Its mistakes, as a sentence points at them."""
        return "this mistake" if len(self.mistakes) == 1 else "these two mistakes"


@dataclass(frozen=True)
class Diagnosis:
    """What was found."""

    differences: tuple[Difference, ...]
    """Of the given tensors, in the order of the computation."""
    n_compared: int
    config: ModelConfig
    """The model's."""
    explanations: tuple[Explanation, ...] = ()
    """With equally few mistakes each; none where nothing differs, or nothing explains it."""
    ruled_out: Mapping[str, str] = field(default_factory=dict)
    """Mistakes that would explain the first difference, and the tensor that speaks against each alone."""
    theirs: Mapping[str, Tensor] = field(default_factory=dict)
    """The given tensors, with the model's axes."""
    swapped_axes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Tensors that came with other axes: the place of each of the model's axes in theirs."""
    is_noise: bool = False
    """Whether no mistake explains small differences, and what was computed before is off to the same degree."""
    not_excluded: tuple[str, ...] = ()
    """Where nothing explains the differences, what could and leaves no trace in the given tensors."""

    @property
    def first(self) -> str | None:
        """The first name, in the order of the computation, that differs; None where all agree."""
        return self.differences[0].name if self.differences else None

    @property
    def mistakes(self) -> tuple[str, ...]:
        """Keys of mistakes that together reproduce every tensor, fewest first; () where none do or none is needed."""
        return self.explanations[0].mistakes if self.explanations else ()

    def report(self, *, tells_best: bool = True, whose: str = "your") -> str:
        """Sentences, one a line: where, how far, what would explain it, and what was ruled out by which tensor.

        Args:
            tells_best: whether they say which mistakes explain it best, and the lines that mend these.
            whose: before *tensors*, in a sentence.
        """
        return "\n".join(self._sentences(tells_best, whose))

    def _sentences(self, tells_best: bool, whose: str) -> Iterator[str]:
        for name, order in self.swapped_axes.items():
            yield f"`{name}` has its axes in another order, {order}; it is read so."
        n = self.n_compared
        tensors = count_noun(n, "tensor")
        if not self.differences:
            yield f"All {tensors} agree with the model." if n > 1 else "The tensor agrees with the model."
            return
        first = self.differences[0]
        yield (
            f"Of {tensors}, {len(self.differences)} differ{'s' if len(self.differences) == 1 else ''}. The first is "
            f"`{first.name}`. It differs most at {first.where}, all counted from 0: {whose} number is "
            f"{with_minus(f'{first.theirs:.6g}')}, the model's {with_minus(f'{first.ours:.6g}')}."
        )
        if self.is_noise:
            largest = max(each.off for each in self.differences)
            yield (
                f"No mistake explains it, and nothing is off by more than {largest:.1g} of its tensor's largest: "
                "that looks like noise, such as lower precision."
            )
        elif not self.explanations:
            yield f"No mistake that is known here, and no two of them, reproduce all of {whose} tensors."
            if self.not_excluded:
                yield f"These tensors alone do not exclude {' or '.join(self.not_excluded)}."
        for explanation in self.explanations:
            if tells_best or explanation is not self.explanations[0]:
                titles = join_words([f"{MISTAKES[key].title} (`{key}`)" for key in explanation.mistakes])
                yield f"With {explanation.which} the model computes all of {whose} tensors: {titles}."
                for key in explanation.mistakes:
                    wrong, right = (line.replace("\n", "; ") for line in MISTAKES[key].write_lines(self.config))
                    yield f"Write `{right}` instead of `{wrong}`."
            for other, name in explanation.tells_apart.items():
                yield f"`{name}` would tell it from {join_words([f'`{key}`' for key in other])}."
        for key, name in list(self.ruled_out.items())[:_RULED_OUT]:
            yield f"It is not `{key}` alone: with that, `{name}` would differ from {whose} numbers."


Progress = Callable[[int, int], None]
"""Takes how many passes are done, and how many there are at most."""


def diagnose(
    encoder: Encoder,
    ids: Tensor,
    tensors: Mapping[str, Any],
    mask: Tensor | None = None,
    *,
    tolerance: float = TOLERANCE,
    on_progress: Progress = lambda done, most: None,
) -> Diagnosis:
    """Compare somebody's intermediates with the model's, and find the mistakes that reproduce them.

    Args:
        encoder: with the weights that they used; it is left as it is.
        ids: token ids (B, T), or raw vectors (B, T, d_model).
        tensors: arrays by the names of a trace, any of them: `embed.out`, `layers.0.attn.q` (B, H, T, d_head), …; for
            a single sentence the first axis may be missing.
        mask: as `Encoder.forward` takes it.
        tolerance: as of `TOLERANCE`; printed numbers need more.
        on_progress: told after each pass.

    Raises:
        InputError: a name is none of the trace's, or an array has no shape that fits; and as `Encoder.forward`.
    """
    given = Input(ids, mask)
    ours = run_edited(encoder, given, [])
    theirs, swapped = _read_all(tensors, ours)
    given = Input(ids, mask, theirs)
    real = _find_real(mask, ids)
    compare = partial(_compare, tolerance=tolerance)
    measured = [_measure(name, tensor, ours[name], real) for name, tensor in theirs.items()]
    differences = tuple(each for each in measured if each.off > tolerance)
    found = Diagnosis(differences, len(theirs), encoder.config, theirs=theirs, swapped_axes=swapped)
    if not differences:
        return found
    search = _Search(encoder, given, real, compare, on_progress)
    explanations, ruled_out = search.explain(differences)
    found = replace(found, explanations=explanations, ruled_out=ruled_out)
    if explanations:
        return found
    before = [each.of_largest for each in measured[: measured.index(differences[0])]]
    is_small = max(each.off for each in differences) <= NOISE
    starts = differences[0].name == next(iter(ours)) or differences[0].of_largest <= _SAME_DEGREE * max(
        before, default=0
    )
    if is_small and starts:
        return replace(found, is_noise=True)
    shows_dropout = any(name.endswith(_BEHIND_DROPOUT) for name in theirs)
    possible = {"lower precision": is_small, "dropout that was left on": not shows_dropout}
    return replace(found, not_excluded=tuple(what for what, may_be in possible.items() if may_be))


# --- what was given


def _read_all(tensors: Mapping[str, Any], ours: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Their tensors in the order of the computation, and of which the axes had to be moved."""
    unknown = [name for name in tensors if name not in ours]
    if unknown:
        near = [name for name in ours if name.rpartition(".")[2] == unknown[0].rpartition(".")[2]][:3]
        hint = f"; did you mean {join_words([quote_text(name) for name in near])}?" if near else "."
        raise InputError(f"No tensor of this model is called {quote_text(unknown[0])}{hint}")
    if not tensors:
        raise InputError("There is no tensor to compare.")
    read: dict[str, Tensor] = {}
    swapped: dict[str, tuple[int, ...]] = {}
    for name in (name for name in ours if name in tensors):
        tensor, order = _fit(name, _as_tensor(name, tensors[name]), ours[name])
        read[name] = tensor
        if order is not None:
            swapped[name] = order
    return read, swapped


def _as_tensor(name: str, value: Any) -> Tensor:
    try:
        array = value.detach().cpu().numpy() if isinstance(value, Tensor) else np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise InputError(f"{quote_text(name)} holds no numbers but {array.dtype}.")
        return torch.from_numpy(np.array(array, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(f"{quote_text(name)} can't be read as an array: {error}.") from error


def _fit(name: str, theirs: Tensor, ours: Tensor) -> tuple[Tensor, tuple[int, ...] | None]:
    """The tensor with the model's axes, and their order where they had to be moved."""
    if theirs.ndim == ours.ndim - 1 and ours.shape[0] == 1:
        theirs = theirs[None]
    if theirs.shape == ours.shape:
        return theirs, None
    if theirs.ndim == ours.ndim:
        orders = [each for each in permutations(range(ours.ndim)) if theirs.permute(each).shape == ours.shape]
        if orders:
            best = min(orders, key=lambda order: float((theirs.permute(order) - ours).nan_to_num().abs().mean()))
            return theirs.permute(best), best
    raise InputError(
        f"{quote_text(name)} has the shape {tuple(theirs.shape)}; the model's is {tuple(ours.shape)}, and no order of "
        f"its axes fits.{_explain_shape(name, theirs, ours)}"
    )


def _explain_shape(name: str, theirs: Tensor, ours: Tensor) -> str:
    """A sentence on what torch.nn.MultiheadAttention returns by default, where it is that; else nothing."""
    if not name.endswith((".scores", ".pattern")):
        return ""
    B, H, T, _ = ours.shape  # noqa: N806
    if theirs.shape[-2:] == (T, T) and theirs.numel() * H == ours.numel():
        return " That is the mean over heads: ask for average_attn_weights=False."
    if theirs.shape[-2:] == (B, B) and theirs.shape.numel() in (T * B * B, T * H * B * B):
        return " Attention ran over the batch, not over the tokens: set batch_first=True."
    return ""


def _find_real(mask: Tensor | None, ids: Tensor) -> Tensor:
    """(B, T) bool, True = a token, not padding: one that some query may attend to."""
    if mask is None:
        return torch.ones(ids.shape[:2], dtype=torch.bool)
    keys = mask if mask.ndim == 2 else mask.any(dim=-2)
    return keys.expand(ids.shape[:2])


# --- how two tensors differ


Compare = Callable[[str, Tensor, Tensor, Tensor | None], Difference | None]


def _compare(
    name: str, theirs: Tensor, ours: Tensor, real: Tensor | None, tolerance: float = TOLERANCE
) -> Difference | None:
    """Where and how far two tensors differ at most; None where they agree. Rows of padding count without `real`."""
    found = _measure(name, theirs, ours, real)
    return found if found.off > tolerance else None


def _measure(name: str, theirs: Tensor, ours: Tensor, real: Tensor | None) -> Difference:
    theirs, ours = theirs.double(), ours.double()
    off = (theirs - ours).abs()
    if name.endswith(".scores"):
        hidden = theirs <= MASKED, ours <= MASKED
        off = off.masked_fill(hidden[0] & hidden[1], 0.0).masked_fill(hidden[0] != hidden[1], torch.inf)
        ours_seen = ours.masked_fill(hidden[1], 0.0)
    else:
        ours_seen = ours
    off = off.masked_fill(theirs.isnan() & ours.isnan(), 0.0).nan_to_num(nan=torch.inf, posinf=torch.inf)
    if real is not None:
        rows = real.view(real.shape[0], *([1] * (off.ndim - 3)), real.shape[1], 1)  # tokens are the last axis but one
        off = off.masked_fill(~rows, 0.0)
    size, largest = float(ours_seen.nan_to_num().abs().max()), float(off.max())
    place = tuple(int(i) for i in np.unravel_index(int(off.argmax()), tuple(off.shape)))
    of_largest = largest / size if size else largest
    return Difference(name, largest / max(1.0, size), place, float(theirs[place]), float(ours[place]), of_largest)


class _PartedError(Exception):
    """A pass has another tensor than somebody."""


class _Search:
    """Looks for the fewest mistakes that reproduce everything that was given."""

    def __init__(self, encoder: Encoder, given: Input, real: Tensor, compare: Compare, on_progress: Progress) -> None:
        self._encoder, self._given, self._real = encoder, given, real
        self._compare, self._on_progress = compare, on_progress
        self._names = list(given.theirs)
        self._candidates = [each for each in MISTAKES.values() if each.applies(encoder.config, given.mask)]
        self._most = len(self._candidates)
        self._n_passes = 0

    def explain(self, differences: Sequence[Difference]) -> tuple[tuple[Explanation, ...], dict[str, str]]:
        """All explanations of the smallest size, and what speaks against each mistake that explains the beginning."""
        first = self._names.index(differences[0].name)
        reach = {each.key: self._find_first((each,)) for each in self._candidates}
        found: list[tuple[Mistake, ...]] = [(MISTAKES[key],) for key, place in reach.items() if place is None]
        later = {key: place for key, place in reach.items() if place is not None and place > first}
        ruled_out = {key: self._names[place] for key, place in later.items()}
        if not found:
            # One of two along the way of the data mends the beginning, unless the first tensor shows both.
            found = self._find_pairs([MISTAKES[key] for key in later])
        if not found:
            found = self._find_pairs(self._list_shown(self._names[first]))
        return self._describe(found), ruled_out

    def _find_pairs(self, ones: Sequence[Mistake]) -> list[tuple[Mistake, ...]]:
        """Each of these with any other of another part, where the two reproduce every tensor."""
        pairs = dict.fromkeys(
            self._in_order(one, other) for one in ones for other in self._candidates if one.part != other.part
        )
        self._most += len(pairs)
        return [pair for pair in pairs if self._reproduces(pair)]

    def _reproduces(self, mistakes: Sequence[Mistake]) -> bool:
        """Whether a pass with these mistakes has every given tensor; it ends at the first that it has not."""

        def watch(name: str, tensor: Tensor) -> None:
            theirs = self._given.theirs.get(name)
            if theirs is not None and self._compare(name, theirs, tensor.cpu(), self._real) is not None:
                raise _PartedError

        self._count_pass()
        try:
            run_edited(self._encoder, self._given, [each.making for each in mistakes], watch)
        except _PartedError:
            return False
        return True

    def _count_pass(self) -> None:
        self._n_passes += 1
        self._on_progress(self._n_passes, self._most)

    def _list_shown(self, name: str) -> list[Mistake]:
        """The mistakes that change a tensor."""
        ours = run_edited(self._encoder, self._given, [])[name]
        passes = {each: run_edited(self._encoder, self._given, [each.making])[name] for each in self._candidates}
        return [each for each, theirs in passes.items() if _compare(name, theirs, ours, self._real) is not None]

    def _in_order(self, one: Mistake, other: Mistake) -> tuple[Mistake, Mistake]:
        first, second = sorted((one, other), key=self._candidates.index)
        return first, second

    def _find_first(self, mistakes: Sequence[Mistake]) -> int | None:
        """The place of the first tensor that these mistakes do not reproduce; None where they reproduce all."""
        ours = run_edited(self._encoder, self._given, [each.making for each in mistakes])
        self._count_pass()
        for place, (name, theirs) in enumerate(self._given.theirs.items()):
            if self._compare(name, theirs, ours[name], self._real) is not None:
                return place
        return None

    def _describe(self, found: Sequence[tuple[Mistake, ...]]) -> tuple[Explanation, ...]:
        """The explanations, those that fit padding too first, each with what would tell it from the others."""
        passes = {keys_of(each): run_edited(self._encoder, self._given, [m.making for m in each]) for each in found}

        def misses(keys: tuple[str, ...]) -> int:
            theirs = self._given.theirs.items()
            return sum(self._compare(name, tensor, passes[keys][name], None) is not None for name, tensor in theirs)

        order = sorted(passes, key=misses)
        return tuple(
            Explanation(
                keys,
                {
                    other: name
                    for other in order
                    if other != keys and (name := _first_apart(passes[keys], passes[other])) is not None
                },
            )
            for keys in order
        )


def keys_of(mistakes: Iterable[Mistake]) -> tuple[str, ...]:
    """Their keys."""
    return tuple(each.key for each in mistakes)


def _first_apart(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> str | None:
    """The first tensor in which two passes differ, padding counted; None where they are the same."""
    return next((name for name in one if _compare(name, one[name], other[name], None) is not None), None)
