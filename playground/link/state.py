"""What was chosen, as one record, and the small keys that results are kept by."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

from playground.config import ModelConfig
from playground.link import params
from playground.link.kinds import Changes
from playground.link.query import choose_tokenizer, longest_sentence
from playground.model.changes import Change
from playground.text import Sentences, split_sentences

AFTER, BEFORE = "english-", "english before training-"
"""How the names of the small English's weights begin; the key of its `Spec` follows."""

Owner = str
"""Who may see what weights compute: the only session, by its id."""

EVERYBODY: Owner = ""


class WeightsId(str):
    """The name of weights, with whose they are."""

    __slots__ = ("_owner",)
    _owner: Owner

    def __new__(cls, name: str, owner: Owner = EVERYBODY) -> Self:  # noqa: D102
        made = super().__new__(cls, name)
        made._owner = owner
        return made

    def owner(self) -> Owner:
        """Return whose weights they are."""
        return self._owner


MINILM, RANDOM = WeightsId("minilm"), WeightsId("random")

TRANSLATOR = WeightsId("translator")
"""The shipped translator: its weights in keys, and its tokenizer as `TextKey.tokenizer`."""


def is_random(weights: str) -> bool:
    """Whether weights are random: nothing was learnt."""
    return weights == "random" or weights.startswith(("initial-", BEFORE))


@dataclass(frozen=True)
class TextKey:
    """What a batch of tokens depends on."""

    tokenizer: str
    """Its name, or the key of a network or upload with its own."""
    vocab_size: int
    """What `bpe` is trained to; 0 for the others."""
    max_tokens: int
    """Where sentences are cut."""
    sentences: tuple[str, ...]
    hidden: tuple[int, int] | None = None
    """The sentence and the position of the word that is hidden."""


class RunKey(NamedTuple):
    """What the run of one sentence depends on."""

    text: TextKey
    sentence: int
    """Counted from 0."""
    weights: WeightsId
    config: ModelConfig
    seed: int
    causal: bool
    interventions: tuple[Change, ...] = ()

    def owner(self) -> Owner:
        """Return who may see the run."""
        return self.weights.owner()


@dataclass(frozen=True)
class State:
    """Everything that a run depends on: equal states give the same runs."""

    values: Mapping[str, Any]
    """The link's parameters that all pages share, settled."""
    weights: WeightsId
    """`minilm`, `random`, the SHA-256 of an upload, or the key of a network."""
    own_tokenizer: str = ""
    """Key of the tokenizer that a file or a trained network brought."""
    own_rows: int = 0
    """Rows of its token table."""
    listed: tuple[str, ...] = ()
    """Sentences of a page's own instead of the text's."""
    chosen: Mapping[str, Any] | None = None
    """What was chosen, if nobody has trained such an encoder and `values` are the nearest one's."""

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    @cached_property
    def text(self) -> Sentences:
        """The sentences, with notes on what had to change."""
        return Sentences(self.listed, ()) if self.listed else split_sentences(self["text"])

    @property
    def sentence(self) -> int:
        """The sentence to look at, from 0."""
        return min(int(self["sentence"]), len(self.text.sentences)) - 1

    @property
    def is_english(self) -> bool:
        """Whether its encoder is of the small English."""
        return bool(self["weights"] == "english")

    @property
    def asked(self) -> Mapping[str, Any]:
        """What was chosen, whether the network is there or not."""
        return self.values if self.chosen is None else self.chosen

    @property
    def is_random(self) -> bool:
        """Whether nothing was learnt."""
        return is_random(self.weights)

    @property
    def takes_vectors(self) -> bool:
        """Whether words are drawn as vectors."""
        has_network = self.is_english or (self["weights"] == "trained here" and self.own_tokenizer != "")
        return self["tokenizer"] == "vectors" and not has_network

    @cached_property
    def text_key(self) -> TextKey:
        """What the tokens depend on."""
        sentences, longest = self.text.sentences, longest_sentence(self.values)
        if self.is_english:
            hidden = None if self["mask"] == params.NO_MASK else (self.sentence, int(self["mask"]))
            return TextKey("english", 0, longest, sentences, hidden)
        chosen, vocab_size = choose_tokenizer(self.values)
        return TextKey(self.own_tokenizer or chosen, vocab_size, longest, sentences)

    def with_changes(self, made: Changes) -> "State":
        """Return the state with these changes of the computation."""
        return self if self["do"] == made else replace(self, values={**self.values, "do": made})

    def with_sentences(self, sentences: tuple[str, ...], sentence: int = 0) -> "State":
        """Return the state with other sentences, one of which, from 0, is looked at."""
        return replace(self, listed=sentences, values={**self.values, "sentence": sentence + 1})
