"""Find the mistake: a small encoder that somebody got wrong, suspects, and tests.

A case follows from its seed and level alone. Every result of a test is computed, with the mistake made in the model's
own pass; what a right encoder with the same weights computes stands beside it where a test asks for it.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import ModelConfig
from playground.mistakes.edits import EditedTrace, Input, apply_makings, run_edited
from playground.mistakes.registry import MISTAKES
from playground.model import Encoder
from playground.text.wording import join_words

Array = NDArray[np.float32]

LEVELS = ("easy", "any", "two")
"""One mistake with clear signs; any one; two of different parts."""

MAX_SEED = 9_999

WORDS = ("[PAD]", "a", "cat", "dog", "sees", "the", "old", "red", "bird", "and", "runs", "home")
"""The vocabulary; the first is padding."""

N_TOKENS, N_PADDING = 8, 2

_BATCH = 16
"""Sequences in a step of training."""

_N_STEPS = 80
"""Of a short training."""

SEEN = 1e-3
"""The difference from which on a number is another one, as a share of the largest, or of 1 where that is smaller."""

_EASY = (
    "positions-not-added",
    "no-embedding-scale",
    "softmax-over-queries",
    "mask-forgotten",
    "mask-inverted",
    "mask-after-softmax",
    "no-peek-off-by-one",
    "residual-forgotten",
    "activation-forgotten",
    "shared-layers",
    "no-score-scale",
)

_LEFT_OUT = (
    "dropout-left-on", "eps-outside-root", "positions-twice", "positions-from-one",
    "sinusoids-in-halves", "exponent-per-column", "axes-exchanged", "output-projection-forgotten",
    "query-key-weights-swapped", "hides-itself", "causal-mask-left", "float-mask-added", "norm-over-sequence",
    "root-of-deviation", "other-eps", "gelu-by-tanh",
)  # fmt: skip
"""Other numbers in each run; of a decoder; one that needs an eps that nobody has; and those that came after links to
cases were sent: with them, such a link would open another case."""

_N_SUSPECTS = 5
"""Mistakes to choose from, those of the case among them; decoys come on top."""


# --- what looks wrong and is right


@dataclass(frozen=True)
class Decoy:
    """What looks wrong in the code of every case, and is right."""

    key: str
    title: str
    meaning: str
    """What that means, in a sentence that does not say whether it is right."""
    why: str
    """Why it is right."""
    part: str
    """The part of the code that it is in: beside a mistake of that part it would be none."""
    change: Callable[["Lab"], float]
    """How much is different without it: the largest difference of what it could spoil."""


def _merge_by_view(lab: "Lab") -> float:
    z = lab.ours["layers.0.attn.z"]  # (B, H, T, d_head)
    B, H, T, D = z.shape  # noqa: N806
    by_view = z.transpose(1, 2).contiguous().view(B, T, H * D)
    by_hand = torch.cat([z[:, head] for head in range(H)], dim=-1)
    return float((by_view - by_hand).abs().max())


def _scaled_table(lab: "Lab") -> float:
    """Against a table whose rows are √d_model times as long, read without the factor."""
    table = lab.encoder.state_dict()["embed.tokens.weight"] * lab.config.d_model**0.5
    return float((table[lab.given.ids] - lab.ours["embed.tokens"]).abs().max())


def _without_key_bias(lab: "Lab") -> float:
    """Of all weights of all layers, without the biases of the keys."""
    encoder = deepcopy(lab.encoder)
    weights = encoder.state_dict()
    biases = {name: torch.zeros_like(each) for name, each in weights.items() if name.endswith("attn.k.bias")}
    encoder.load_state_dict({**weights, **biases})
    others = run_edited(encoder, lab.given, [])
    names = [name for name in others if name.endswith(".pattern")]
    return max(float((others[name] - lab.ours[name]).abs().max()) for name in names)


_ALL_DECOYS = (
    Decoy(
        "view-after-transpose",
        "`view` merges heads after a transposed copy",
        "The axes are exchanged, the numbers copied in that order, and the heads joined.",
        "`transpose(1, 2).contiguous()` puts each token's heads side by side in memory first, so `view` reads them in "
        "the right order.",
        "merge",
        _merge_by_view,
    ),
    Decoy(
        "root-on-the-table",
        "token vectors are multiplied by √d_model",
        "That is done before their positions are added.",
        "Vaswani et al. 2017, section 3.4: the table's rows are short, because it also makes the outputs. A table with "
        "rows √d_model times as long, read without the factor, gives the same vectors.",
        "embedding",
        _scaled_table,
    ),
    Decoy(
        "bias-of-the-keys",
        "the keys have a bias",
        "One vector more is added to every key: k = W x + b.",
        "It adds q · b to every score of a query, the same number for each key, and the softmax sees differences of "
        "scores alone.",
        "keys",
        _without_key_bias,
    ),
)

DECOYS: Mapping[str, Decoy] = {each.key: each for each in _ALL_DECOYS}

SUSPECTS: tuple[str, ...] = (*(key for key in MISTAKES if key not in _LEFT_OUT), *DECOYS)
"""All that can be suspected, by their keys."""


def name_suspect(key: str) -> str:
    """What a suspect is said to be, in a few words."""
    return DECOYS[key].title if key in DECOYS else MISTAKES[key].title


def explain_suspect(key: str) -> str:
    """What a suspect means, in a sentence."""
    return DECOYS[key].meaning if key in DECOYS else MISTAKES[key].meaning


# --- a case


@dataclass(frozen=True)
class Case:
    """An encoder with mistakes, and who is suspected."""

    seed: int
    level: str
    config: ModelConfig
    mask: str
    """`none`, `padding` or `causal`: what the encoder is given."""
    mistakes: tuple[str, ...]
    suspects: tuple[str, ...]
    """Mistakes and decoys, in the order in which they are shown."""


def _build_mask(name: str) -> Tensor | None:
    if name == "none":
        return None
    if name == "causal":
        return torch.ones(N_TOKENS, N_TOKENS).tril().bool()[None]
    keys = torch.ones(1, N_TOKENS, dtype=torch.bool)
    keys[:, -N_PADDING:] = False
    return keys


Option = TypeVar("Option")


def _pick(draw: np.random.Generator, options: Sequence[Option]) -> Option:
    return options[int(draw.integers(len(options)))]


def _sample(draw: np.random.Generator, options: Sequence[Option], n: int) -> list[Option]:
    """So many of them, each once, in any order."""
    return [options[i] for i in draw.permutation(len(options))[:n].tolist()]


def _draw_config(draw: np.random.Generator) -> ModelConfig:
    return ModelConfig(
        vocab_size=len(WORDS),
        d_model=16,
        n_heads=4,
        n_layers=2,
        d_ff=32,
        positions="sinusoidal",
        scale_embeddings=True,
        norm_placement=_pick(draw, ("post", "pre")),
        activation=_pick(draw, ("relu", "gelu")),
        norm_eps=1e-5,
        dropout=0.0,
    )


@lru_cache(maxsize=256)
def open_lab(seed: int, level: str) -> "Lab":
    """The case of a seed and a level, with what can be tested of it: the same at any time.

    Args:
        seed: from 0 to `MAX_SEED`.
        level: one of `LEVELS`.
    """
    draw = np.random.default_rng([seed, LEVELS.index(level)])
    while True:
        config, mask = _draw_config(draw), _pick(draw, ("none", "padding", "causal"))
        possible = [key for key in SUSPECTS if key in MISTAKES and MISTAKES[key].applies(config, _build_mask(mask))]
        pool = [key for key in possible if key in _EASY or level != "easy"]
        mistakes = tuple(_sample(draw, pool, 2 if level == "two" else 1))
        parts = {MISTAKES[key].part for key in mistakes}
        others = _sample(draw, [key for key in possible if key not in mistakes], _N_SUSPECTS - len(mistakes))
        decoy = _pick(draw, [key for key, each in DECOYS.items() if each.part not in parts])
        suspects = _sample(draw, [*mistakes, *others, decoy], _N_SUSPECTS + 1)
        lab = Lab(Case(seed, level, config, mask, mistakes, tuple(suspects)))
        if len(parts) == len(mistakes) and lab.shows_each() and all(map(lab.find_alibi, others)):
            return lab


@dataclass(frozen=True, eq=False)
class Lab:
    """A case's encoder, what it computes with the mistakes, and what it would without."""

    case: Case

    @property
    def config(self) -> ModelConfig:
        """Of the encoder."""
        return self.case.config

    @cached_property
    def encoder(self) -> Encoder:
        """The right one; its biases are no zeros."""
        made = Encoder(self.config, self.case.seed).eval()
        generator = torch.Generator().manual_seed(self.case.seed)
        with torch.no_grad():
            for parameter in made.parameters():
                parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
        return made

    @cached_property
    def given(self) -> Input:
        """A sentence of eight words, of which the last two are padding under a padding mask."""
        draw = np.random.default_rng(self.case.seed)
        ids = _sample(draw, range(1, len(WORDS)), N_TOKENS)
        if self.case.mask == "padding":
            ids[-N_PADDING:] = [0] * N_PADDING
        return Input(torch.tensor([ids]), _build_mask(self.case.mask))

    @property
    def tokens(self) -> list[str]:
        """The words that it reads."""
        return [WORDS[i] for i in self.given.ids[0].tolist()]

    @property
    def n_real(self) -> int:
        """Tokens that are no padding."""
        return N_TOKENS - N_PADDING if self.case.mask == "padding" else N_TOKENS

    @cached_property
    def ours(self) -> Mapping[str, Tensor]:
        """What is right, by the names of a trace, in the order of the computation: each with a batch axis, of one."""
        return self._run((), self.given.ids)

    @cached_property
    def theirs(self) -> Mapping[str, Tensor]:
        """What the case computes."""
        return self._run(self.case.mistakes, self.given.ids)

    def run_theirs(self, ids: Tensor) -> Tensor:
        """What the case makes of other words, (1, T) int64: the real tokens' last vectors, (T', D)."""
        return self._run(self.case.mistakes, ids)["final"][0, : self.n_real]

    def run_ours(self, ids: Tensor) -> Tensor:
        """What is right for other words: (T', D)."""
        return self._run((), ids)["final"][0, : self.n_real]

    def _run(self, keys: Sequence[str], ids: Tensor) -> Mapping[str, Tensor]:
        return run_edited(self.encoder, Input(ids, self.given.mask), [MISTAKES[key].making for key in keys])

    def shows_each(self) -> bool:
        """Whether each mistake changes what the real tokens' vectors become, alone and beside the other."""
        whole = self.theirs["final"]
        for key in self.case.mistakes:
            alone = self._run((key,), self.given.ids)["final"]
            without = self._run([each for each in self.case.mistakes if each != key], self.given.ids)["final"]
            if not (self._differ(alone, self.ours["final"]) and self._differ(whole, without)):
                return False
        return True

    def find_alibi(self, key: str, name_tensor: Callable[[str], str] = str) -> str:
        """Why another mistake is none of the case's, by a number of it, in markdown; empty where nothing tells.

        Of one mistake it is what that mistake alone would make; of two, what it would make beside either of them.

        Args:
            key: of that mistake.
            name_tensor: what a name of a trace is called.
        """
        case = self.case
        if len(case.mistakes) == 1:
            sets: list[tuple[str, ...]] = [(key,)]
        else:
            sets = [(key, each) for each in case.mistakes if MISTAKES[each].part != MISTAKES[key].part]
        alibis = [self._find_difference(each, MISTAKES[key].shows, name_tensor) for each in sets]
        if not alibis or not all(alibis):
            return ""
        return f"{'If it were, ' if len(case.mistakes) == 1 else 'Beside either of the two mistakes, '}{alibis[0]}."

    def _find_difference(self, keys: tuple[str, ...], shows: str, name_tensor: Callable[[str], str]) -> str:
        """Where a pass with these mistakes is another one, as the end of a sentence; empty where it is not."""
        other = self._run(keys, self.given.ids)
        names = [name for name in other if name.endswith(shows)]
        for name in (*names, *other):
            one, theirs = (each[name][..., : self.n_real, :].numpy() for each in (other, self.theirs))
            if (np.isfinite(one) != np.isfinite(theirs)).any():
                return f"the mask would hide other cells of {name_tensor(name)} than it does here"
            if is_other(one, theirs):
                return f"{name_tensor(name)} would differ by up to {_largest_difference(one, theirs):.2g}"
        return ""

    def _differ(self, one: Tensor, other: Tensor) -> bool:
        return is_other(one[:, : self.n_real].numpy(), other[:, : self.n_real].numpy())

    @cached_property
    def losses(self) -> list[float]:
        """Of a short training with the case's mistakes, one a step: each token is to name the one before it."""
        return self._train(self.case.mistakes)

    @cached_property
    def right_losses(self) -> list[float]:
        """Of a short training without the mistakes."""
        return self._train(())

    def _train(self, keys: Sequence[str]) -> list[float]:
        """The losses of `_N_STEPS` steps of Adam, with `_BATCH` new sequences each."""
        encoder = deepcopy(self.encoder)
        head = nn.Linear(self.config.d_model, len(WORDS))
        generator = torch.Generator().manual_seed(self.case.seed)
        with torch.no_grad():
            head.weight.copy_(0.1 * torch.randn(head.weight.shape, generator=generator))
            head.bias.zero_()
        edited, edits = apply_makings(encoder, [MISTAKES[key].making for key in keys])
        mask = None if self.given.mask is None else self.given.mask.expand(_BATCH, *self.given.mask.shape[1:])
        optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=3e-3)
        losses = []
        for _ in range(_N_STEPS):
            ids = torch.randint(1, len(WORDS), (_BATCH, N_TOKENS), generator=generator)
            if self.case.mask == "padding":
                ids[:, -N_PADDING:] = 0
            final = edited(ids, mask, EditedTrace(edits, edited, mask))
            logits, answers = head(final[:, 1 : self.n_real]), ids[:, : self.n_real - 1]
            loss = F.cross_entropy(logits.flatten(0, 1), answers.flatten())
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            losses.append(float(loss.detach()))
        return losses


def is_other(one: NDArray[np.floating], other: NDArray[np.floating]) -> bool:
    """Whether two arrays differ by more than rounding."""
    if one.shape != other.shape:
        return True
    finite = np.isfinite(one) & np.isfinite(other)
    if not finite.all():
        return bool((np.isfinite(one) != np.isfinite(other)).any()) or is_other(one[finite], other[finite])
    size = max(1.0, float(np.abs(other).max(initial=0)))
    return float(np.abs(one - other).max(initial=0)) > SEEN * size


def _largest_difference(one: NDArray[np.floating], other: NDArray[np.floating]) -> float:
    """Of the numbers that are finite in both."""
    finite = np.isfinite(one) & np.isfinite(other)
    return float(np.abs(one[finite] - other[finite]).max(initial=0))


# --- tests


@dataclass(frozen=True)
class Finding:
    """What a test shows."""

    sentence: str
    """With its numbers, in markdown."""
    tells: bool
    """Whether a right encoder shows something else."""
    maps: Mapping[str, Array] = field(default_factory=dict)
    """Matrices to draw, by what they are."""
    of_tokens: bool = False
    """Whether a map's columns are tokens too, as its rows."""
    curves: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Losses by step, by whose they are."""


@dataclass(frozen=True)
class LabTest:
    """What can be tested."""

    key: str
    title: str
    effort: int
    """How much somebody does for it, as a key of `EFFORTS`."""
    run: Callable[[Lab], Finding]
    shows: str
    """What it shows, for whoever chooses among tests."""
    fits: Callable[[Case], bool] = lambda _: True
    """Whether it can be done in this case."""


def _ask_maker(lab: Lab) -> Finding:
    return Finding(" ".join(MISTAKES[key].symptom for key in lab.case.mistakes), False)


def _check_shapes(lab: Lab) -> Finding:
    wrong = [name for name in lab.ours if lab.theirs[name].shape != lab.ours[name].shape]
    told = f"{join_words([f'`{name}`' for name in wrong])} have other shapes." if wrong else "Every shape is right."
    n = len(lab.ours)
    return Finding(f"{told} That is of {n} tensors, from `embed.tokens` to `final`.", bool(wrong))


def _add_rows_up(lab: Lab) -> Finding:
    sums, right = (
        run["layers.0.attn.pattern"][0, :, : lab.n_real].sum(dim=-1).numpy() for run in (lab.theirs, lab.ours)
    )
    least, most = f"{sums.min():.2f}", f"{sums.max():.2f}"
    many = f"**{least}**" if least == most else f"between **{least}** and **{most}**"
    told = f"In layer 0, the weights of a query add up to {many}. Right is 1, for every query."
    return Finding(told, is_other(sums, right))


def _measure_lengths(lab: Lab) -> Finding:
    def lengths(run: Mapping[str, Tensor]) -> tuple[float, float]:
        tokens = run["embed.tokens"][0, : lab.n_real]
        positions = run["embed.sum"][0, : lab.n_real] - tokens
        return float(tokens.norm(dim=-1).mean()), float(positions.norm(dim=-1).mean())

    (tokens, positions), right = lengths(lab.theirs), lengths(lab.ours)
    of_table = _table_length(lab)
    told = (
        f"A token's vector has a mean length of **{tokens:.2f}**, what is added for its position **{positions:.2f}**. "
        f"Vectors of the table have a mean length of {of_table:.2f}; multiplied by √d_model, they have "
        f"{of_table * lab.config.d_model**0.5:.2f}."
    )
    return Finding(told, is_other(np.array([tokens, positions]), np.array(right)))


def _table_length(lab: Lab) -> float:
    """The mean length of the sentence's rows of the token table."""
    rows = lab.encoder.state_dict()["embed.tokens.weight"][lab.given.ids[0, : lab.n_real]]
    return float(rows.norm(dim=-1).mean())


def _compare_positions(lab: Lab) -> Finding:
    def rows(run: Mapping[str, Tensor]) -> Array:
        added: Array = (run["embed.sum"] - run["embed.tokens"])[0, : lab.n_real].numpy()
        return added

    theirs, right = rows(lab.theirs), rows(lab.ours)
    told = "What is added for each position, a row each, in its 16 numbers. A right table has waves of many lengths."
    return Finding(told, is_other(theirs, right), {"what is added for positions": theirs})


def _measure_norm(lab: Lab) -> Finding:
    def moments(run: Mapping[str, Tensor]) -> Array:
        x = run["layers.0.norm1.normalized"][0, : lab.n_real]
        found: Array = torch.stack([x.mean(-1), x.var(-1, correction=0), x.var(-1, correction=1)]).mean(-1).numpy()
        return found

    mean, biased, unbiased = theirs = moments(lab.theirs)
    told = (
        f"Behind layer 0's first norm, before gain and bias, a vector's numbers have the mean **{mean:z.3f}**. Their "
        f"variance is **{biased:.3f}** where the squares' sum is divided by n = 16, and **{unbiased:.3f}** by n − 1. "
        "LayerNorm makes the first of the two 1."
    )
    return Finding(told, is_other(theirs, moments(lab.ours)))


def _look_at_norm_input(lab: Lab) -> Finding:
    def matches(run: Mapping[str, Tensor]) -> Array:
        stream, normed = run["layers.0.attn.in"], run["embed.out"]
        around = [float((stream - normed)[0, : lab.n_real].abs().max())]
        read = run["layers.0.norm1.in"]
        around.append(float((read - normed)[0, : lab.n_real].abs().max()))
        return np.array(around, np.float32)

    attention, norm = theirs = matches(lab.theirs)
    told = (
        f"Attention of layer 0 reads the embeddings themselves: {_yes(attention)}. The first norm reads them: "
        f"{_yes(norm)}. It is to be {lab.config.norm_placement}-norm: "
        f"{_RIGHT_PLACES[lab.config.norm_placement]}."
    )
    return Finding(told, bool(((theirs > SEEN) != (matches(lab.ours) > SEEN)).any()))


_RIGHT_PLACES = {
    "pre": "the norm reads the embeddings, and attention reads what the norm gives",
    "post": "attention reads the embeddings, and the norm reads the sum behind it",
}
"""What the first norm and attention read in a right encoder."""


def _yes(difference: float) -> str:
    return "**yes**" if difference <= SEEN else f"**no**, they are up to {difference:.2f} apart"


def _count_negative(lab: Lab) -> Finding:
    def shares(run: Mapping[str, Tensor]) -> Array:
        hidden = run["layers.0.ffn.hidden"][0, : lab.n_real]
        return np.array([(hidden == 0).float().mean(), (hidden < 0).float().mean(), hidden.min()], np.float32)

    def judge(found: Array) -> tuple[bool, bool, bool]:
        return bool(found[0] > 0.05), bool(found[1] > 0.05), bool(found[2] < _LEAST_GELU)

    zero, below, least = theirs = shares(lab.theirs)
    told = (
        f"Of layer 0's hidden numbers, **{zero:.0%}** are 0 and **{below:.0%}** below 0; the least is {least:.2f}. "
        f"{_RIGHT_SIGNS[lab.config.activation]}"
    )
    return Finding(told, judge(theirs) != judge(shares(lab.ours)))


_RIGHT_SIGNS = {
    "relu": "It is to be ReLU, which makes every negative number 0.",
    "gelu": "It is to be GELU, which keeps negative numbers, but none below −0.17, and makes hardly any exactly 0.",
}
"""What the activation of a right encoder gives."""

_LEAST_GELU = -0.18
"""A little below the least value that a GELU has."""


def _score_by_hand(lab: Lab) -> Finding:
    def ratios(run: Mapping[str, Tensor]) -> Array:
        name = "layers.0.attn"
        q, k, scores = (run[f"{name}.{each}"][0] for each in ("q", "k", "scores"))
        seen = torch.isfinite(scores)
        by_hand = q @ k.transpose(-2, -1)
        kept = seen & (by_hand.abs() > 0.05)
        found: Array = (scores[kept] / by_hand[kept]).numpy()
        return found

    theirs, right = ratios(lab.theirs), ratios(lab.ours)
    spread = float(np.ptp(theirs)) if theirs.size else 0.0
    middle = float(np.median(theirs)) if theirs.size else float("nan")
    one = f"**{middle:.3f}** times q · k" if spread < SEEN else "no fixed multiple of q · k: the factor varies"
    width = lab.config.head_width
    told = f"In layer 0, a score is {one}. Right is 1 / √d_head = 1 / √{width} = {width**-0.5:.3f}."
    return Finding(told, is_other(np.array([middle, spread > SEEN]), np.array([np.median(right), False])))


def _check_sum(lab: Lab) -> Finding:
    def off(run: Mapping[str, Tensor]) -> float:
        after = run["layers.0.resid_mid"] - run["embed.out"] - run["layers.0.attn.out"]
        return float(after[0, : lab.n_real].abs().max())

    theirs = off(lab.theirs)
    verdict = "**is**" if theirs <= SEEN else f"is **not**, by up to {theirs:.2f},"
    told = (
        f"The stream after layer 0's attention {verdict} the sum of what went in and what attention wrote. "
        "A residual connection makes it that sum."
    )
    return Finding(told, (theirs > SEEN) != (off(lab.ours) > SEEN))


def _check_layers(lab: Lab) -> Finding:
    def nearest(run: Mapping[str, Tensor]) -> NDArray[np.bool_]:
        read, got = run["layers.1.ffn.in"], run["layers.1.ffn.up"]
        off = [float((block.ffn.up(read) - got).abs().max()) for block in lab.encoder.layers]  # type: ignore[operator,union-attr]
        return np.array([each <= SEEN for each in off])

    with torch.inference_mode():
        theirs, right = nearest(lab.theirs), nearest(lab.ours)
    which = join_words([f"layer {layer}'s" for layer in np.flatnonzero(theirs)]) or "no layer's"
    told = f"Layer 1's feed-forward computes with **{which}** weights. Each layer is to have weights of its own."
    return Finding(told, bool((theirs != right).any()))


def _permute(lab: Lab) -> Finding:
    order = torch.arange(N_TOKENS)
    order[: lab.n_real] = torch.arange(lab.n_real).flip(0)
    ids = lab.given.ids[:, order]

    def off(run: Callable[[Tensor], Tensor]) -> float:
        return float((run(ids) - run(lab.given.ids).flip(0)).abs().max())

    theirs, right = off(lab.run_theirs), off(lab.run_ours)
    told = f"The words in reverse order: each word's vector changes by up to **{theirs:.2f}**."
    return Finding(
        f"{told} Without positions it would stay, but for rounding; with them it changes.",
        (theirs > SEEN) != (right > SEEN),
    )


def _change_last(lab: Lab) -> Finding:
    ids = lab.given.ids.clone()
    ids[0, lab.n_real - 1] = 1 + ids[0, lab.n_real - 1] % (len(WORDS) - 1)

    def off(run: Callable[[Tensor], Tensor]) -> Array:
        moved: Array = (run(ids) - run(lab.given.ids)).abs().amax(dim=-1)[: lab.n_real - 1].numpy()
        return moved

    theirs, right = off(lab.run_theirs), off(lab.run_ours)
    moved = np.flatnonzero(theirs > SEEN)
    which = f"**{len(moved)}** of the {len(theirs)} tokens before it change"
    told = (
        f"Another last word, under a causal mask: {which if len(moved) else 'no token before it changes'}. "
        "None is to change, as the mask hides what comes later."
    )
    return Finding(told, bool(((theirs > SEEN) != (right > SEEN)).any()))


def _change_padding(lab: Lab) -> Finding:
    ids = lab.given.ids.clone()
    ids[0, lab.n_real :] = 3

    def off(run: Callable[[Tensor], Tensor]) -> float:
        return float((run(ids) - run(lab.given.ids)).abs().max())

    theirs, right = off(lab.run_theirs), off(lab.run_ours)
    told = (
        f"Other ids in the place of padding: the real tokens' vectors change by up to **{theirs:.2g}**. "
        "None is to change, as the mask hides padding."
    )
    return Finding(told, (theirs > SEEN) != (right > SEEN))


def _map_pattern(lab: Lab) -> Finding:
    theirs, right = (run["layers.0.attn.pattern"][0, :, : lab.n_real].numpy() for run in (lab.theirs, lab.ours))
    hidden = {
        "none": "Nothing is hidden, so every weight is to be above 0.",
        "padding": "Padding should be hidden: its columns 0, and no others.",
        "causal": "What comes later should be hidden: weights above the diagonal 0, and no others.",
    }[lab.case.mask]
    told = f"The weights of layer 0, head 0: a row is a query, a column a key. {hidden}"
    tells = bool(((theirs > SEEN) != (right > SEEN)).any())
    return Finding(told, tells, {"attention weights": theirs[0]}, True)


def _beside(name: str) -> Callable[[Lab], Finding]:
    def run(lab: Lab) -> Finding:
        theirs, right = (_first_map(each[name])[: lab.n_real] for each in (lab.theirs, lab.ours))
        is_wrong = is_other(theirs, right)
        most = _largest_difference(theirs, right)
        told = f"they part by up to **{most:.2f}**" if is_wrong else "they are **the same**"
        told = f"Beside a right encoder's, with the same weights, {told}."
        return Finding(told, is_wrong, {"this encoder": theirs, "a right one": right}, name.endswith("pattern"))

    return run


def _first_map(tensor: Tensor) -> Array:
    """The sentence's matrix, of the first head where there are heads: (T, …)."""
    while tensor.ndim > 2:
        tensor = tensor[0]
    found: Array = tensor.numpy()
    return found


def _train(lab: Lab) -> Finding:
    theirs, right = lab.losses, lab.right_losses
    ends = [float(np.mean(each[-10:])) for each in (theirs, right)]
    told = (
        f"Both learn for {len(theirs)} steps to name the word before each word. The loss ends at **{ends[0]:.2f}**; a "
        f"right encoder's ends at {ends[1]:.2f}. A guess costs ln 11 = {np.log(11):.2f}."
    )
    tells = abs(ends[0] - ends[1]) > 0.1 * max(ends)
    return Finding(told, tells, curves={"this encoder": theirs, "a right one": right})


_BESIDE = {
    "embed.out": "What the layers read",
    "layers.0.attn.q": "The queries of layer 0, head 0",
    "layers.0.attn.pattern": "The weights of layer 0, head 0",
    "layers.0.attn.out": "What attention of layer 0 writes",
    "layers.0.resid_mid": "The stream after attention of layer 0",
    "layers.0.ffn.out": "What the feed-forward network of layer 0 writes",
    "layers.0.out": "What leaves layer 0",
    "final": "What leaves the encoder",
}


_ALL_TESTS = (
    LabTest("shapes", "The shape of every tensor", 1, _check_shapes, "Which tensors have a wrong shape."),
    LabTest("row-sums", "Do weights add up to 1?", 1, _add_rows_up, "The sum of each query's attention weights."),
    LabTest(
        "lengths", "How long are embeddings?", 1, _measure_lengths,
        "The mean length of tokens' vectors, and of what is added for positions.",
    ),
    LabTest(
        "norm", "Mean and variance behind a norm", 1, _measure_norm,
        "The mean and the variance of a vector's numbers, just normed.",
    ),
    LabTest(
        "hidden", "Signs of hidden numbers", 1, _count_negative,
        "How many numbers are 0 or below it behind the activation of the feed-forward network.",
    ),
    LabTest(
        "norm-place", "What does the first norm read?", 2, _look_at_norm_input,
        "Whether the norm stands before or after its sublayer.",
    ),
    LabTest("score", "One score by hand", 2, _score_by_hand, "By which factor scores differ from query · key."),
    LabTest(
        "sum", "Is attention's input added?", 2, _check_sum, "Whether a sublayer's input is added to its output."
    ),
    LabTest("layers", "Whose weights has layer 1?", 2, _check_layers, "With which layer's weights layer 1 computes."),
    LabTest(
        "positions", "Map: what is added for positions", 2, _compare_positions,
        "The numbers that each position adds to its token's vector.",
    ),
    LabTest("pattern", "Map: attention weights", 2, _map_pattern, "How much each token looks at each, in one head."),
    LabTest("symptom", "Hint: what one would notice", 3, _ask_maker, "What somebody notices who has made the mistake."),
    LabTest(
        "permute", "Reverse the words", 3, _permute, "How far the words' last vectors move.",
        lambda case: case.mask != "causal",
    ),
    LabTest(
        "last-word", "Change the last word", 3, _change_last, "How many tokens before it change.",
        lambda case: case.mask == "causal",
    ),
    LabTest(
        "padding", "Change the padding", 3, _change_padding, "How far the real tokens' last vectors move.",
        lambda case: case.mask == "padding",
    ),
    *(
        LabTest(
            f"beside-{name.replace('.', '-')}", title, 4, _beside(name),
            f"Maps of `{name}`, here and in a right encoder with the same weights.",
        )
        for name, title in _BESIDE.items()
    ),
    LabTest("train", "Train both for 80 steps", 5, _train, "The losses of this encoder and of a right one."),
)  # fmt: skip

TESTS: Mapping[str, LabTest] = {each.key: each for each in _ALL_TESTS}
"""All tests, by their keys, those of little effort first."""

EFFORTS: Mapping[int, str] = {
    1: "A quick look",
    2: "A closer look",
    3: "A hint, or a change of what it reads",
    4: "Beside a right encoder with the same weights",
    5: "Training",
}
"""What the tests of each effort do."""


def offered_tests(case: Case) -> list[LabTest]:
    """Those that can be done in a case."""
    return [each for each in TESTS.values() if each.fits(case)]


def simplest_tests(lab: Lab) -> list[LabTest]:
    """Of each mistake, made alone, the simplest offered test that shows something else than in a right encoder."""
    return [_find_simplest(Lab(replace(lab.case, mistakes=(key,)))) for key in lab.case.mistakes]


def _find_simplest(lab: Lab) -> LabTest:
    return next(each for each in offered_tests(lab.case) if each.run(lab).tells)  # they are sorted by their effort


# --- how far somebody is


@dataclass(frozen=True)
class Attempt:
    """What somebody has tested and whom they have accused, in their order."""

    case: Case
    tests: tuple[str, ...] = ()
    accused: tuple[str, ...] = ()

    @property
    def taken(self) -> list[LabTest]:
        """The tests that were taken; those that do not fit the case are none."""
        offered = {each.key: each for each in offered_tests(self.case)}
        return [offered[key] for key in self.tests if key in offered]

    @property
    def found(self) -> list[str]:
        """The mistakes that were accused."""
        return [key for key in self.accused if key in self.case.mistakes]

    @property
    def wrong(self) -> list[str]:
        """The suspects that were accused and are none."""
        return [key for key in self.accused if key in self.case.suspects and key not in self.case.mistakes]

    @property
    def is_solved(self) -> bool:
        """Whether all mistakes are found."""
        return len(self.found) == len(self.case.mistakes)


def explain_innocence(lab: Lab, key: str, name_tensor: Callable[[str], str] = str) -> str:
    """Why a suspect is none, by a number of this case, in markdown; `name_tensor` as for `Lab.find_alibi`."""
    if key in DECOYS:
        decoy = DECOYS[key]
        change = decoy.change(lab)
        makes = f"a difference of {change:.0e}, which is rounding" if change else "no difference"
        return f"{decoy.why} Here it makes {makes}."
    return lab.find_alibi(key, name_tensor)
