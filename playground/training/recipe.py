"""A training run's recipe, task and data. Legend: N sequences, T tokens, T' targets of the longest."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Annotated, Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from playground.config import ModelConfig, check_fields
from playground.errors import RecipeError
from playground.text import Tokenizer, word_level_tokenizer
from playground.text.tokenizer import PAD, UNKNOWN, visible

TASK_NAMES = (
    "copy", "reverse", "sort", "count", "masked", "characters", "seq2seq-copy", "seq2seq-reverse", "seq2seq-translate",
)  # fmt: skip
OptimizerName = Literal["adam", "adamw", "sgd"]
ScheduleName = Literal["paper", "constant"]

_MAX_TEXT = 20_000


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Data, optimiser, and ten regularisers, each off at 0 or False; RecipeError if wrong."""

    task: str = "reverse"
    text: str = ""
    """Empty: Python's help topics."""
    length: Annotated[int, (2, 256)] = 12
    """Of the longest sequence, or of a window."""
    n_symbols: Annotated[int, (2, 26)] = 10
    n_train: Annotated[int, (1, 100_000)] = 4096
    n_validation: Annotated[int, (1, 4_096)] = 128
    seed: Annotated[int, (0, 2**31 - 1)] = 0

    steps: Annotated[int, (1, 100_000)] = 600
    batch_size: Annotated[int, (1, 512)] = 64

    optimizer: OptimizerName = "adam"
    """`adam` (Kingma & Ba 2015), `adamw` (Loshchilov & Hutter 2019), or `sgd` with momentum 0.9."""
    schedule: ScheduleName = "paper"
    """`paper`: up to `lr` in `warmup` steps, then down with 1/√step (Vaswani et al. 2017, section 5.3)."""
    lr: Annotated[float, (1e-8, 10_000)] = 2e-3
    warmup: Annotated[int, (1, 100_000)] = 100

    dropout_attention: Annotated[float, (0, 0.95)] = 0.0
    """Probability that an attention weight is zeroed."""
    dropout_residual: Annotated[float, (0, 0.95)] = 0.0
    """Of a number in what a sublayer adds."""
    causal: bool = True
    """Hide later characters where the next one is predicted."""
    weight_decay: Annotated[float, (0, 10)] = 0.0
    """λ of λ/2 · |w|², biases and norms left out; `adamw` takes λ · lr · w away."""
    layer_norm: bool = True
    label_smoothing: Annotated[float, (0, 0.95)] = 0.0
    """Share of each target spread over all classes (Szegedy et al. 2016, section 7)."""
    patience: Annotated[int, (0, 1_000)] = 0
    """Evaluations without a lower validation loss until it stops, with the best weights."""
    token_masking: Annotated[float, (0, 0.95)] = 0.0
    """Probability that a token is shown as [MASK]."""
    clip: Annotated[float, (0, 1_000_000)] = 0.0
    """Largest norm of the whole gradient (Pascanu et al. 2013)."""
    distill: Annotated[float, (0, 1)] = 0.0
    """Share of the loss that compares with a teacher, twice as wide and trained first (Hinton et al. 2015)."""
    temperature: Annotated[float, (0.1, 100)] = 2.0

    def __post_init__(self) -> None:
        if self.task not in TASK_NAMES:
            raise RecipeError("task", self.task, "is not a choice", TASK_NAMES)
        if len(self.text) > _MAX_TEXT:
            reason = f"has {len(self.text):,} characters"
            raise RecipeError("text", f"{self.text[:20]}…", reason, (f"{_MAX_TEXT:,} characters",))
        check_fields(self, RecipeError)


DATA_FIELDS = ("task", "text", "length", "n_symbols", "n_train", "n_validation", "seed")
"""What a recipe's data depend on."""

FORMER = {"mask_padding": True} | dict.fromkeys(
    ("noise", "shuffling", "span_masking", "token_swapping", "dropout_feedforward", "dropout_positions"), 0.0
)
"""Former fields, each as usual: they count in a run's key, and older files name them."""


def teacher_config(config: ModelConfig) -> ModelConfig:
    """Return the teacher's architecture: twice as wide."""
    return replace(config, d_model=2 * config.d_model, d_ff=2 * config.d_ff)


# --- tasks and their data

IGNORE = -100
"""Target where nothing is asked."""

MASK, BOS, EOS = "[MASK]", "[BOS]", "[EOS]"
SPECIALS = (PAD, UNKNOWN, MASK)
"""Begin every vocabulary; an encoder–decoder adds [BOS], [EOS]."""

PAD_ID, UNKNOWN_ID, MASK_ID, BOS_ID, EOS_ID = range(5)


@dataclass(frozen=True, eq=False)
class Examples:
    """Sequences with targets."""

    ids: Tensor
    """(N, T) int64; 0 after the end."""
    targets: Tensor
    """(N, T') int64 classes, or `IGNORE`; T' is T, with a decoder T + 1."""

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: Tensor | slice) -> "Examples":
        """Return some sequences, cut where the longest ends."""
        n_tokens = (self.ids[rows] != PAD_ID).sum(1)
        width = int(n_tokens.max()) if len(n_tokens) else 0
        extra = self.targets.shape[1] - self.ids.shape[1]
        return Examples(self.ids[rows, :width], self.targets[rows, : width + extra])

    def to(self, device: torch.device) -> "Examples":
        """Move them."""
        return Examples(self.ids.to(device), self.targets.to(device))

    @property
    def mask(self) -> Tensor:
        """(N, T) bool, True = a token."""
        return self.ids != PAD_ID

    @property
    def decoder_mask(self) -> Tensor:
        """(N, T') bool, True = a token."""
        return self.targets != IGNORE

    @property
    def decoder_ids(self) -> Tensor:
        """[BOS] and the target shifted right: (N, T') int64."""
        shifted = F.pad(self.targets[:, :-1], (1, 0), value=BOS_ID)
        return shifted.masked_fill(~self.decoder_mask, PAD_ID)

    @property
    def n_answers(self) -> int:
        """Number of asked positions."""
        return int((self.targets != IGNORE).sum())


def share_right(answers: Tensor, targets: Tensor) -> float:
    """Return the share of asked positions answered right."""
    right = (answers == targets)[targets != IGNORE]
    return float(right.to(torch.float64).mean())


@dataclass(frozen=True, eq=False)
class Task:
    """Something to learn."""

    name: str
    title: str
    """Its word in links."""
    _: KW_ONLY
    defaults: Mapping[str, Any] = field(default_factory=dict)
    ablation_sizes: Mapping[str, Any] = field(default_factory=dict)
    ablation_small: int = 100
    has_decoder: bool = False
    predicts_next: bool = False
    """Later tokens are hidden then."""
    reads_text: bool = False
    counts_symbols: bool = False

    def make_data(self, recipe: Recipe) -> "Data":
        """Return a recipe's data; RecipeError if there can be none."""
        raise NotImplementedError

    @property
    def unused_fields(self) -> set[str]:
        """The recipe's fields without effect."""
        return {
            *([] if self.reads_text else ["text"]),
            *([] if self.counts_symbols else ["n_symbols"]),
            *([] if self.predicts_next else ["causal"]),
        }

    def join(self, tokens: Iterable[str]) -> str:
        """Return tokens as text."""
        return ("" if self.reads_text else " ").join(tokens)

    def show_blanks(self, sequence: str) -> str:
        """Return a sequence with visible blanks."""
        return sequence.replace(" ", visible(" ")) if self.reads_text else sequence


@dataclass(frozen=True, eq=False)
class Data:
    """Everything that a task's network sees."""

    task: Task
    tokenizer: Tokenizer
    vocabulary: tuple[str, ...]
    labels: tuple[str, ...]
    train: Examples
    validation: Examples
    """Sequences that do not occur in `train`."""
    baseline: float
    """Validation share that the rule gets right."""
    example: str
    """The first validation sequence, as text."""

    def text(self, ids: list[int]) -> str:
        """Return ids as text."""
        return self.task.join(self.vocabulary[i] for i in ids)

    def without_examples(self, n_validation: int) -> "Data":
        """Return it with copies of the first validation sequences alone."""
        train, validation = self.train[torch.arange(0)], self.validation[torch.arange(n_validation)]
        return replace(self, train=train, validation=validation)


def build_data(
    task: Task,
    vocabulary: tuple[str, ...],
    train: Examples,
    validation: Examples,
    example: str,
    labels: tuple[str, ...] | None = None,
    baseline: float | None = None,
) -> Data:
    """Return data; by default classes are tokens, and the rule is the commonest training target."""
    tokenizer = word_level_tokenizer(vocabulary, blanks_between=not task.reads_text)
    labels = labels or tuple(map(tokenizer.id_to_token, range(len(vocabulary))))
    if baseline is None:
        commonest = train.targets[train.targets != IGNORE].bincount().argmax()
        baseline = share_right(commonest, validation.targets)
    return Data(task, tokenizer, vocabulary, labels, train, validation, baseline, example)


def generator(seed: int, purpose: str, device: torch.device | None = None) -> torch.Generator:
    """Return a generator of a seed and a purpose."""
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return torch.Generator(device or torch.device("cpu")).manual_seed(int.from_bytes(digest[:7], "big"))


def architecture(config: ModelConfig, recipe: Recipe, data: Data) -> ModelConfig:
    """Return an architecture with the task's vocabulary and the recipe's norms; RecipeError if max_len is too short."""
    longest = recipe.length + data.task.has_decoder  # its [BOS]
    if config.has_position_table and longest > config.max_len:
        reason = f"makes sequences of up to {longest} tokens, and the position table has max_len={config.max_len} rows"
        raise RecipeError("length", recipe.length, reason, (max(2, recipe.length - (longest - config.max_len)),))
    norm = config.norm if recipe.layer_norm else "none"
    return replace(config, vocab_size=data.tokenizer.vocab_size, norm=norm)
