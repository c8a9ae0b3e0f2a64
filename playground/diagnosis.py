"""Which mistake did I make? Somebody's intermediates beside the model's, and what explains the differences."""

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, permutations
from typing import Any

import numpy as np
import safetensors.numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import InputError
from playground.mistakes.edits import MASKED, Input, run_edited
from playground.mistakes.registry import MISTAKES, Mistake
from playground.model import Encoder
from playground.text.wording import join_words, quote_text, with_minus

TOLERANCE = 1e-4
"""How far a number may be off, as a share of the largest in its tensor, at least of 1."""

NOISE = 1e-2
"""Unexplained differences up to this share may be noise: lower precision, or another library."""

_RULED_OUT = 3
"""Mistakes that a report rules out."""


@dataclass(frozen=True)
class Difference:
    """A tensor that differs from the model's."""

    name: str
    off: float
    """The largest difference, a share as for `TOLERANCE`."""
    place: tuple[int, ...]
    theirs: float
    ours: float

    @property
    def where(self) -> str:
        """The place in words."""
        last = ("query", "key") if self.name.endswith((".scores", ".pattern")) else ("token", "number")
        axes = ("sentence", *["head"] * (len(self.place) == 4), *last)
        return ", ".join(f"{axis} {i}" for axis, i in zip(axes, self.place, strict=True))


@dataclass(frozen=True)
class Diagnosis:
    """What explains somebody's tensors."""

    differences: tuple[Difference, ...]
    n_compared: int
    config: ModelConfig
    explanations: Mapping[tuple[str, ...], str | None] = field(default_factory=dict)
    """All with the fewest mistakes; and the first tensor in which each differs from the first one."""
    ruled_out: Mapping[str, str] = field(default_factory=dict)
    """Mistakes that explain the first difference, and the tensor that rules each out."""
    first_tensors: tuple[Tensor, Tensor] | None = None
    """The first tensor that differs, and the model's."""
    swapped_axes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Where each of the model's axes was in a tensor that came with other axes."""
    is_noise: bool = False
    """Whether unexplained differences are small."""

    @property
    def first(self) -> str | None:
        """The first tensor that differs; None if all agree."""
        return self.differences[0].name if self.differences else None

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The first explanation, if any."""
        return next(iter(self.explanations), ())

    def report(self) -> str:
        """Return all findings in lines of markdown."""
        lines = ([line.replace("\n", "; ") for line in MISTAKES[key].write_lines(self.config)] for key in self.mistakes)
        mended = (f"Write `{right}` instead of `{wrong}`." for wrong, right in lines)
        found = [f"Explained by {_name_mistakes(self.mistakes)}."] if self.mistakes else []
        noise = ["This looks like noise, such as lower precision."] if self.is_noise else []
        counts = f"{len(self.differences)} of {self.n_compared} tensors differ from the model's."
        return "\n".join([counts, *found, *mended, *noise, *self.describe_details()])

    def describe_details(self) -> Iterator[str]:
        """Yield where tensors first differ, other explanations, and what was ruled out."""
        for name, order in self.swapped_axes.items():
            yield f"`{name}` was read with its axes in the order {order}."
        for each in self.differences[:1]:
            theirs, ours = (with_minus(f"{number:.6g}") for number in (each.theirs, each.ours))
            yield f"The first is `{each.name}`: most at {each.where} (from 0), {theirs} instead of {ours}."
        for keys, apart in islice(self.explanations.items(), 1, None):
            yield f"Explained as well by {_name_mistakes(keys)}.{f' `{apart}` would tell.' if apart else ''}"
        for key, name in islice(self.ruled_out.items(), _RULED_OUT):
            yield f"Not `{key}` alone: `{name}` would differ."


def _name_mistakes(keys: Sequence[str]) -> str:
    return join_words([f"{MISTAKES[key].title} (`{key}`)" for key in keys])


def diagnose(
    encoder: Encoder,
    ids: Tensor,
    tensors: Mapping[str, Any],
    mask: Tensor | None = None,
    *,
    tolerance: float = TOLERANCE,
) -> Diagnosis:
    """Compare somebody's intermediates with the model's, and find the mistakes that reproduce them.

    Args:
        encoder: with the weights that they used; it is left as it is.
        ids: token ids (B, T), or raw vectors (B, T, d_model).
        tensors: arrays by the names of a trace, any of them: `embed.out`, `layers.0.attn.q` (B, H, T, d_head), …; for
            a single sentence the first axis may be missing.
        mask: as `Encoder.forward` takes it.
        tolerance: see `TOLERANCE`; printed numbers need more.

    Raises:
        InputError: a name is none of the trace's, or an array has no shape that fits; and as `Encoder.forward`.
    """
    ours = run_edited(encoder, Input(ids, mask), [])
    theirs, swapped = _read_all(tensors, ours)
    search = _Search(encoder, Input(ids, mask, theirs), tolerance)
    measured = [_measure(name, tensor, ours[name], search.real) for name, tensor in theirs.items()]
    differences = tuple(each for each in measured if each.off > tolerance)
    found = Diagnosis(differences, len(theirs), encoder.config, swapped_axes=swapped)
    if not differences:
        return found
    first = differences[0]
    explanations, ruled_out = search.explain(first.name)
    is_noise = not explanations and max(each.off for each in differences) <= NOISE
    both = theirs[first.name], ours[first.name]
    return replace(found, explanations=explanations, ruled_out=ruled_out, first_tensors=both, is_noise=is_noise)


# --- what was given


def _read_all(tensors: Mapping[str, Any], ours: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return their tensors in the order of the computation, and moved axes."""
    if unknown := next((name for name in tensors if name not in ours), ""):
        near = [name for name in ours if name.rpartition(".")[2] == unknown.rpartition(".")[2]] or list(ours)
        name, meant = quote_text(unknown), quote_text(near[0])
        raise InputError(f"No tensor of this model is called {name}; did you mean {meant}?")
    if not tensors:
        raise InputError("There is no tensor to compare.")
    fitted = {name: _fit(name, _as_tensor(name, tensors[name]), ours[name]) for name in ours if name in tensors}
    moved = {name: order for name, (_, order) in fitted.items() if order != tuple(range(len(order)))}
    return {name: tensor for name, (tensor, _) in fitted.items()}, moved


def _as_tensor(name: str, value: Any) -> Tensor:
    try:
        array = value.detach().cpu().numpy() if isinstance(value, Tensor) else np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"it holds {array.dtype}")
        return torch.from_numpy(np.array(array, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(f"{quote_text(name)} is no array of numbers: {error}.") from error


def _fit(name: str, theirs: Tensor, ours: Tensor) -> tuple[Tensor, tuple[int, ...]]:
    """Return the tensor with the model's axes, and their order in theirs."""
    if theirs.ndim == ours.ndim - 1 and ours.shape[0] == 1:
        theirs = theirs[None]
    orders = permutations(range(ours.ndim)) if theirs.ndim == ours.ndim else ()
    fitting = [order for order in orders if theirs.permute(order).shape == ours.shape]
    if not fitting:
        raise InputError(
            f"{quote_text(name)} has the shape {tuple(theirs.shape)}; the model's is {tuple(ours.shape)}, and no order "
            "of its axes fits. torch.nn.MultiheadAttention needs batch_first=True and average_attn_weights=False."
        )
    if theirs.shape == ours.shape:
        return theirs, fitting[0]
    best = min(fitting, key=lambda order: float((theirs.permute(order) - ours).nan_to_num().abs().mean()))
    return theirs.permute(best), best


# --- a file of tensors

MAX_BYTES = 8 * 2**20
"""Of a file, and of all that it unpacks to."""

MAX_ARRAYS = 1_000

HOW_TO_SAVE = "np.savez(file, **tensors), or safetensors.numpy.save_file(tensors, file)"


def read_arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file by name: `.npz` or safetensors.

    Raises:
        InputError: it is neither, is damaged, or is larger than `MAX_BYTES`.
    """
    if len(data) > MAX_BYTES:
        raise InputError(f"The file has {len(data):,} bytes; at most {MAX_BYTES:,} are read. Save fewer tensors.")
    try:
        arrays = _read_npz(data) if data[:4] == b"PK\x03\x04" else safetensors.numpy.load(data)
    except InputError:
        raise
    except Exception as error:  # a damaged file raises what zipfile, NumPy's own parser and safetensors think of
        raise InputError(
            f"This is no readable file of tensors: save it with {HOW_TO_SAVE}. Pickles are not opened."
        ) from error
    if len(arrays) > MAX_ARRAYS:
        raise InputError(f"The file has {len(arrays):,} tensors; at most {MAX_ARRAYS:,} are read.")
    return arrays


def _read_npz(data: bytes) -> dict[str, NDArray[Any]]:
    entries = zipfile.ZipFile(io.BytesIO(data)).infolist()
    if len(entries) > MAX_ARRAYS or sum(entry.file_size for entry in entries) > MAX_BYTES:
        raise InputError(f"The file unpacks to more than {MAX_ARRAYS:,} tensors or {MAX_BYTES:,} bytes. Save fewer.")
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files if name != "about"}  # which files of this app have
    if not all(isinstance(each, np.ndarray) for each in arrays.values()):  # as in a file of torch.save
        raise ValueError("not only arrays")
    return arrays


def write_saving_code(config: ModelConfig, ids: Tensor, mask: Tensor | None) -> str:
    """Return code that saves what an `encoder` computes, by the names of a trace.

    `ids` are (1, T) int64; vectors (1, T, d_model) are called `x`.
    """
    norms = [] if config.norm == "none" else [*["norm1"] * config.has_norm1(0), "norm2"]
    hooks = "\n".join(f'keep("layers.0.{part}.out", encoder.layers[0].{part})' for part in ("attn", "ffn", *norms))
    is_text = not ids.is_floating_point()
    given = f"ids = torch.tensor({ids.tolist()})" if is_text else "# x: the words' vectors, from the exported code."
    if mask is not None:
        given += f"\nmask = torch.tensor({mask.int().tolist()}).bool()"
    call = f"encoder({'ids' if is_text else 'x'}{'' if mask is None else ', mask'})"
    return f"""import numpy as np
import torch

tensors = {{}}


def keep(name, module):
    def hook(module, inputs, output):
        output = output[0] if isinstance(output, tuple) else output
        tensors.setdefault(name, output.detach().float().cpu().numpy())

    module.register_forward_hook(hook)


# On the right: where these are in your own encoder.
{hooks}
keep("layers.0.out", encoder.layers[0])
keep("final", encoder)
{given}
{call}
np.savez("mine.npz", **tensors)
"""


# --- how two tensors differ


def _measure(name: str, theirs: Tensor, ours: Tensor, real: Tensor | None) -> Difference:
    """Return where two tensors differ most; rows of padding count without `real`."""
    theirs, ours = theirs.double(), ours.double()
    off, ours_seen = (theirs - ours).abs(), ours
    if name.endswith(".scores"):
        hidden = theirs <= MASKED, ours <= MASKED
        off = off.masked_fill(hidden[0] & hidden[1], 0.0).masked_fill(hidden[0] != hidden[1], torch.inf)
        ours_seen = ours.masked_fill(hidden[1], 0.0)
    off = off.masked_fill(theirs.isnan() & ours.isnan(), 0.0).nan_to_num(nan=torch.inf, posinf=torch.inf)
    if real is not None:
        rows = real.view(real.shape[0], *([1] * (off.ndim - 3)), real.shape[1], 1)  # tokens are the last axis but one
        off = off.masked_fill(~rows, 0.0)
    size, largest = float(ours_seen.nan_to_num().abs().max()), float(off.max())
    place = tuple(int(i) for i in np.unravel_index(int(off.argmax()), tuple(off.shape)))
    return Difference(name, largest / max(1.0, size), place, float(theirs[place]), float(ours[place]))


class _PartedError(Exception):
    """A tensor differs."""


class _Search:
    """Look for the fewest mistakes that reproduce what was given."""

    def __init__(self, encoder: Encoder, given: Input, tolerance: float) -> None:
        mask = torch.ones(1, 1, dtype=torch.bool) if given.mask is None else given.mask
        self.real = (mask if mask.ndim == 2 else mask.any(dim=-2)).expand(given.ids.shape[:2])  # not padding
        self._encoder, self._given, self._tolerance = encoder, given, tolerance
        self._names = list(given.theirs)
        self._candidates = [each for each in MISTAKES.values() if each.applies(encoder.config, given.mask)]

    def explain(self, first: str) -> tuple[dict[tuple[str, ...], str | None], dict[str, str]]:
        parted = {each.key: self._find_parting(each) for each in self._candidates}
        found: list[tuple[Mistake, ...]] = [(MISTAKES[key],) for key, name in parted.items() if name is None]
        after = self._names[self._names.index(first) + 1 :]
        ruled_out = {key: name for key, name in parted.items() if name is not None and name in after}
        if not found:
            # One of two along the way of the data mends the beginning, unless the first tensor shows both.
            found = self._find_pairs([MISTAKES[key] for key in ruled_out])
        if not found:
            found = self._find_pairs([each for each in self._candidates if self._changes(each, first)])
        return self._compare(found), ruled_out

    def _find_pairs(self, ones: Sequence[Mistake]) -> list[tuple[Mistake, ...]]:
        """Return the pairs with one of these that reproduce every tensor."""
        both = ({one.key, other.key} for one in ones for other in self._candidates if one.part != other.part)
        pairs = dict.fromkeys(tuple(each for each in self._candidates if each.key in pair) for pair in both)
        return [pair for pair in pairs if self._reproduces(pair)]

    def _find_parting(self, mistake: Mistake) -> str | None:
        """Return the first given tensor that a pass with this mistake does not have."""
        ours = self._run([mistake])
        return next((name for name in self._names if self._differs(name, ours[name])), None)

    def _reproduces(self, mistakes: Sequence[Mistake]) -> bool:
        """Return whether a pass with these mistakes has every given tensor."""

        def watch(name: str, tensor: Tensor) -> None:
            if name in self._names and self._differs(name, tensor.cpu()):
                raise _PartedError

        try:
            self._run(mistakes, watch)
        except _PartedError:
            return False
        return True

    def _run(self, mistakes: Sequence[Mistake], *watch: Callable[[str, Tensor], None]) -> Mapping[str, Tensor]:
        return run_edited(self._encoder, self._given, [each.making for each in mistakes], *watch)

    def _differs(self, name: str, ours: Tensor) -> bool:
        return _measure(name, self._given.theirs[name], ours, self.real).off > self._tolerance

    def _changes(self, mistake: Mistake, name: str) -> bool:
        ours, edited = (self._run(mistakes)[name] for mistakes in ([], [mistake]))
        return _measure(name, edited, ours, self.real).off > TOLERANCE

    def _compare(self, found: Sequence[tuple[Mistake, ...]]) -> dict[tuple[str, ...], str | None]:
        """Order the explanations, those that fit padding too first."""
        passes = {tuple(each.key for each in mistakes): self._run(mistakes) for mistakes in found}

        def parts(one: Mapping[str, Tensor], other: Mapping[str, Tensor], tolerance: float) -> list[str]:
            return [name for name in one if _measure(name, one[name], other[name], None).off > tolerance]

        order = sorted(passes, key=lambda keys: len(parts(self._given.theirs, passes[keys], self._tolerance)))
        return {keys: next(iter(parts(passes[keys], passes[order[0]], TOLERANCE)), None) for keys in order}
