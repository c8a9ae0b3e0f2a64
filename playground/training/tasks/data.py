"""A recipe's sequences, with everything that is asked about them: what a network learns from, and is measured on.

Legend: N sequences, T tokens, T' targets of the longest of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.errors import RecipeError
from playground.text import Tokenizer
from playground.text.builders import trained
from playground.text.tokenizer import PAD, UNKNOWN
from playground.training.losses import IGNORE
from playground.training.recipe import Recipe
from playground.training.seeding import generator
from playground.training.tasks.answers import answers, classes
from playground.training.tasks.catalogue import TASKS, Task
from playground.training.tasks.symbols import sequences, symbols
from playground.training.tasks.text_windows import MASK, hide, windows

BOS, EOS = "[BOS]", "[EOS]"
SPECIALS = (PAD, UNKNOWN, MASK)
"""The tokens that every vocabulary begins with; an encoder–decoder's goes on with [BOS] and [EOS]."""

MAX_TRAIN_TOKENS = 4_000_000
"""Of all training sequences together: they are held at once, and with their targets each takes up to 26 bytes."""

PAD_ID, UNKNOWN_ID, MASK_ID, BOS_ID, EOS_ID = range(5)


@dataclass(frozen=True, eq=False)
class Examples:
    """Sequences and their targets, on the CPU.

    Attributes:
        ids: (N, T) int64, what the encoder reads; 0 after the end.
        mask: (N, T) bool, True = a token.
        targets: (N, T') int64, a class for each token, or `IGNORE` where nothing is asked. T' is T without a decoder.
        decoder_ids: (N, T') int64, what the decoder reads: [BOS], and the target shifted right.
        decoder_mask: (N, T') bool, True = a token.
    """

    ids: Tensor
    mask: Tensor
    targets: Tensor
    decoder_ids: Tensor | None = None
    decoder_mask: Tensor | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: Tensor | slice) -> "Examples":
        """Some of the sequences, cut off where the longest of them ends."""
        mask = self.mask[rows]
        mask = mask[:, : _longest(mask)]
        ids, targets = self.ids[rows, : mask.shape[1]], self.targets[rows]
        if self.decoder_ids is None or self.decoder_mask is None:
            return Examples(ids, mask, targets[:, : mask.shape[1]])
        decoder_mask = self.decoder_mask[rows]
        width = _longest(decoder_mask)
        return Examples(ids, mask, targets[:, :width], self.decoder_ids[rows, :width], decoder_mask[:, :width])

    def to(self, device: torch.device) -> "Examples":
        """The same on another device."""
        decoder = (None if part is None else part.to(device) for part in (self.decoder_ids, self.decoder_mask))
        return Examples(self.ids.to(device), self.mask.to(device), self.targets.to(device), *decoder)


@dataclass(frozen=True, eq=False)
class Data:
    """Everything that a task's network sees.

    Attributes:
        task: what has to be learnt.
        tokenizer: reads text with the task's own vocabulary, into the ids that `train` and `validation` hold.
        vocabulary: the tokens as they are written, in the order of their ids.
        labels: what each class is called; for most tasks the vocabulary, made readable.
        train: what is learnt from.
        validation: sequences that do not occur in `train`.
        baseline: the share of validation targets that the task's simple rule gets right.
        example: the first validation sequence, as text.
    """

    task: Task
    tokenizer: Tokenizer
    vocabulary: tuple[str, ...]
    labels: tuple[str, ...]
    train: Examples
    validation: Examples
    baseline: float
    example: str

    def text(self, ids: list[int]) -> str:
        """Token ids as text, which the tokenizer reads back where no token is [UNK]."""
        return _joined(self.task, (self.vocabulary[i] for i in ids))


def make_data(recipe: Recipe) -> Data:
    """Make a recipe's data: the same for the same task, text, sizes and seed, whatever else the recipe says.

    Raises:
        RecipeError: there are too few different sequences or too many tokens, or the text can't be learnt from.
    """
    _check_size(recipe)
    return _text_data(recipe) if TASKS[recipe.task].material == "text" else _made_up(recipe)


def _check_size(recipe: Recipe) -> None:
    tokens = recipe.n_train * recipe.length
    if tokens > MAX_TRAIN_TOKENS:
        reason = f"sequences of up to {recipe.length} are {tokens:,} tokens, of which {MAX_TRAIN_TOKENS:,} are the most"
        raise RecipeError("n_train", recipe.n_train, reason, (MAX_TRAIN_TOKENS // recipe.length,))


def _made_up(recipe: Recipe) -> Data:
    task = TASKS[recipe.task]
    specials = (*SPECIALS, BOS, EOS) if task.kind == "seq2seq" else SPECIALS
    vocabulary = (*specials, *symbols(recipe))
    train, validation = (_questions(recipe, ids, len(specials)) for ids in sequences(recipe, len(specials)))
    example = _joined(task, (vocabulary[i] for i in validation[:1].ids[0].tolist()))
    tokenizer = trained(vocabulary, blanks_between=True)
    labels = classes(recipe, vocabulary)
    return Data(task, tokenizer, vocabulary, labels, train, validation, _commonest(train, validation), example)


def _questions(recipe: Recipe, ids: Tensor, first: int) -> Examples:
    """What is asked about sequences (N, T), and the right answers."""
    mask, right = ids > 0, answers(recipe, ids, first)
    if TASKS[recipe.task].kind == "seq2seq":
        return _for_decoder(ids, mask, right)
    return Examples(ids, mask, right.masked_fill(~mask, IGNORE))


def _for_decoder(ids: Tensor, mask: Tensor, said: Tensor) -> Examples:
    lengths, begin = mask.sum(1, keepdim=True), torch.full((len(ids), 1), BOS_ID)
    decoder_ids = torch.cat([begin, said], 1)  # (N, T + 1)
    decoder_mask = torch.arange(decoder_ids.shape[1]) <= lengths
    targets = torch.cat([said.masked_fill(~mask, IGNORE), torch.full_like(begin, IGNORE)], 1)
    return Examples(ids, mask, targets.scatter(1, lengths, EOS_ID), decoder_ids, decoder_mask)


def _text_data(recipe: Recipe) -> Data:
    task, cut = TASKS[recipe.task], windows(recipe, SPECIALS, UNKNOWN_ID)
    tokenizer = trained(cut.vocabulary, blanks_between=False)
    labels = tuple(map(tokenizer.id_to_token, range(tokenizer.vocab_size)))
    if recipe.task == "characters":
        train, validation = (_shifted(ids) for ids in (cut.train, cut.validation))
        baseline, example = _followers(cut.train_text, validation), cut.first
    else:
        train = _gaps(cut.train, generator(recipe.seed, "training gaps"))
        validation = _gaps(cut.validation, generator(recipe.seed, "validation gaps"))
        hidden = (validation.targets[0] != IGNORE).tolist()
        example = "".join(MASK if gap else character for gap, character in zip(hidden, cut.first, strict=True))
        baseline = _commonest(train, validation)
    return Data(task, tokenizer, cut.vocabulary, labels, train, validation, baseline, example)


def _shifted(ids: Tensor) -> Examples:
    """The next token is asked at every position: (N, T + 1) → T positions."""
    read = ids[:, :-1].contiguous()
    return Examples(read, torch.ones_like(read, dtype=torch.bool), ids[:, 1:].contiguous())


def _gaps(ids: Tensor, random: torch.Generator) -> Examples:
    read, hidden = hide(ids, MASK_ID, random)
    return Examples(read, torch.ones_like(hidden), ids.masked_fill(~hidden, IGNORE))


def _commonest(train: Examples, validation: Examples) -> float:
    answer = train.targets[train.targets != IGNORE].bincount().argmax()
    return _share_right(answer, validation.targets)


def _followers(text: Tensor, validation: Examples) -> float:
    """How often the commonest follower of the present character, in the training text, is the next one."""
    n = int(max(text.max(), validation.ids.max())) + 1
    counts = (text[:-1] * n + text[1:]).bincount(minlength=n * n).view(n, n)  # (character, follower)
    counts[counts.sum(1) == 0] = text.bincount(minlength=n)  # never seen there: the commonest of all
    return _share_right(counts.argmax(1)[validation.ids], validation.targets)


def _share_right(answers: Tensor, targets: Tensor) -> float:
    right = (answers == targets)[targets != IGNORE]
    return float(right.to(torch.float64).mean())


def _joined(task: Task, tokens: Iterable[str]) -> str:
    return ("" if task.material == "text" else " ").join(tokens)


def _longest(mask: Tensor) -> int:
    return int(mask.sum(1).max()) if len(mask) else 0
