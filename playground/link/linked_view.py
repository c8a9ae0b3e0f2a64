"""What a link shows, as an object: the architecture, the text, the weights, and the run that a page draws from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from playground.accounting import count_parameters
from playground.config import ModelConfig
from playground.errors import PlaygroundError, TooLargeError
from playground.link.changes import FittedChanges, fit_changes
from playground.link.places import Focus, choose_pair, last_places, nearest_places
from playground.link.run_choices import longest_sentence
from playground.model import Encoder
from playground.runs.budget import MAX_PARAMETERS
from playground.runs.encoder_run import Run, run
from playground.text import Batch, Tokenizer
from playground.weights import checkpoint


@dataclass(frozen=True, eq=False)
class LinkedView:
    """What a link shows, rebuilt as its page has it; `open_link` makes one."""

    page: str
    """Its page's path, such as `attention`; `overview` for the first page."""
    config: ModelConfig
    """The architecture, with the rows of the token table; 0 where words are vectors drawn from the seed."""
    weights: Literal["minilm", "random"]
    """`minilm`: the trained encoder; `random`: drawn from the seed."""
    text: tuple[str, ...]
    """The sentences; one at least."""
    sentence: int
    """The one that is looked at, counted from 0."""
    seed: int
    causal: bool
    """Whether no token may look at later ones."""
    tokenizer: Tokenizer
    values: Mapping[str, Any]
    """Every parameter of the link's format by its key, as the page has it: a page's own choices too."""
    notices: tuple[str, ...] = ()
    """A sentence on each thing that the link asks for and can't be, or that has to be known about it."""
    names_tokens: bool = True
    """Whether query and key are the link's own, or those of the default text."""
    pinned: "LinkedView | None" = None
    """The settings that are pinned beside these."""
    max_parameters: int = MAX_PARAMETERS
    """Of a model that is built here."""

    @cached_property
    def batch(self) -> Batch:
        """The sentences as padded token ids; raises as `Tokenizer.encode_batch`."""
        return self.tokenizer.encode_batch(self.text, longest_sentence(self.values))

    @cached_property
    def changes(self) -> FittedChanges:
        """The changes of the computation that the link makes, and why others of its changes cannot apply."""
        changes = self.values["do"]
        if not changes:
            return FittedChanges()
        return fit_changes(changes.made, self.config, self.batch, self.sentence, causal=self.causal)

    @cached_property
    def focus(self) -> Focus:
        """The layer, head, query and key that the link looks at: of this run, so the nearest that it has.

        Where the link names no token of its text, its run decides, as on the page; without a run, it is the nearest to
        the defaults.
        """
        n_real = len(self.batch.tokens[self.sentence])
        last = last_places(self.config.n_layers, self.config.n_heads, n_real, self.batch.ids.shape[1])
        asked = nearest_places(self.values, last)
        if self.names_tokens:
            return asked
        try:
            return choose_pair(self.run, asked)
        except PlaygroundError:
            return asked

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder with its weights, in eval mode, on the CPU; built when first asked for.

        Raises:
            TooLargeError: it has more than `max_parameters`; nothing was allocated.
            PretrainedError: the trained weights are not there any more.
        """
        if self.weights == "minilm":
            return checkpoint.load("minilm")[0]
        n = count_parameters(self.config).total
        if n > self.max_parameters:
            raise TooLargeError(
                f"This model has {n:,} parameters, and at most {self.max_parameters:,} are built: it can be counted, "
                f"but not run; a larger max_parameters would build it."
            )
        return Encoder(self.config, self.seed).requires_grad_(False)

    @cached_property
    def run(self) -> Run:
        """The forward pass of the sentence that is looked at, with the link's changes; arrays are read-only.

        It is computed when first asked for. `run.arrays` has every kept intermediate by its name, `run.pattern(layer)`
        the attention: (H, T, T).

        Raises:
            TooLargeError: the model, or what a run keeps of it, is too large.
            PretrainedError: the trained weights are not there any more.
        """
        return run(
            self.encoder,
            self.batch,
            self.sentence,
            seed=self.seed,
            causal=self.causal,
            interventions=self.changes.applied,
        )
