"""A text as an encoder reads it, in Python: `read`, and what the pages show of it as numbers."""

import os
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from playground.accounting import count_parameters
from playground.analysis.comparison import compare_points
from playground.analysis.sentences import find_partners
from playground.charts.names import token_names
from playground.config import ModelConfig
from playground.errors import ConfigError, InputError, InterventionError, UnknownNameError, list_nearest
from playground.language.family import find_or_train
from playground.language.network import EnglishNetwork, Spec
from playground.language.text import VOCABULARY
from playground.link.kinds import read_changes, read_param, write, write_changes
from playground.link.lab import Lab, Source, fill_in, hidden_word, pass_options, score_hidden, turn_on_text
from playground.link.opening import LinkedView, describe_cut
from playground.link.params import ARCHITECTURE, LOCKED, SHARED, default_values, model_config, spec_of, values_of
from playground.link.query import write_query
from playground.link.state import AFTER, BEFORE, State, TextKey, WeightsId
from playground.model import Encoder
from playground.model.changes import SUBLAYERS
from playground.notebook import show
from playground.pages import PAGES, SITE
from playground.pretrained import check_source, load
from playground.runs import encoder_run
from playground.runs.arrays import Array
from playground.runs.budget import MAX_PARAMETERS
from playground.runs.encoder_run import Run
from playground.text import Tokenizer
from playground.text.sentences import split_sentences
from playground.text.wording import quote_word
from playground.weights import checkpoint
from playground.weights.store import NetworkStore, default_folder

if TYPE_CHECKING:
    import pandas as pd

WEIGHTS = ("minilm", "english", "random")
"""Weights with a name."""

SETTINGS = tuple(key for key in SHARED if key not in ("text", "weights", "run", "do"))
"""What `read` takes by its name in a link."""

Loaded = tuple[Encoder, Tokenizer]

Weights = str | os.PathLike[str] | tuple[Any, Any]


def _check_name(name: object, names: Collection[str], what: str) -> None:
    if name not in names:
        raise UnknownNameError(f"No {what} is called {quote_word(str(name))}: {list_nearest(name, names)}.")


# --- a text and weights → a reading


class _Source(Source):
    """Weights that are in memory, or of the small English, which learns when it is asked for."""

    def __init__(self, given: Loaded | None) -> None:
        super().__init__(MAX_PARAMETERS if given is None else count_parameters(given[0].config).total)
        self._given = given

    def tokenizer(self, key: TextKey) -> Tokenizer:
        return super().tokenizer(key) if self._given is None else self._given[1]

    def encoder(self, weights: str, config: ModelConfig, seed: int) -> Encoder:
        return super().encoder(weights, config, seed) if self._given is None else self._given[0]

    def find_english(self, spec: Spec, *, is_trained: bool) -> EnglishNetwork | None:
        if not is_trained:
            return super().find_english(spec, is_trained=False)
        return self.remember(find_or_train, spec, lambda: find_or_train(spec, NetworkStore(default_folder())))


@cache
def _minilm() -> Loaded:
    return checkpoint.load("minilm")


def _open_weights(weights: object) -> tuple[str, Loaded | None]:
    """Return the weights' name in a link, and what is loaded of them already."""
    if isinstance(weights, tuple) and len(weights) == 2:
        is_own = isinstance(weights[0], Encoder) and isinstance(weights[1], Tokenizer)
        return "mine", weights if is_own else checkpoint.adopt(*weights)
    if not isinstance(weights, str | os.PathLike):
        raise InputError("A model in memory comes with its tokenizer: weights=(model, tokenizer).")
    if weights in WEIGHTS:
        return str(weights), _minilm() if weights == "minilm" else None
    if isinstance(weights, str):
        check_source(weights, WEIGHTS)
    return "mine", load(weights)


def _read_settings(weights: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings as a state has them, but for the sizes, which need not be stops of a slider."""
    decided = {"random": (), "english": ("tokenizer", "table_rows")}.get(weights, (*LOCKED, "seed"))
    for key, value in settings.items():
        _check_name(key, (*SETTINGS, "changes"), "setting")
        if key == "mask" and weights != "english":
            raise InputError('mask hides a word for weights="english" alone, which fills it in.')
        if key in decided:
            raise InputError(f'These weights decide {key}: weights="random" takes any.')
        if key not in ARCHITECTURE:
            nearest, wrong = read_param(SHARED[key], [write(value)])
            if wrong:
                raise ConfigError(key, value, wrong, (nearest,))
    return settings


def read(text: str, *, weights: Weights = "minilm", changes: str = "", **settings: Any) -> "Reading":
    """Let an encoder read a text, as the app does.

    Args:
        text: one sentence a line, of which `sentence` chooses one, from 1. The small English guesses a [MASK].
        weights: "minilm"; "english", which is trained if nobody has; "random"; a folder or a name on the hub, as
            `pretrained.load` opens it; or (encoder, tokenizer), of the playground or of transformers.
        changes: with commas between them; layers, heads, tokens count from 0, `*` is all. 3.1:zero, 3.1:mean (head 1 of
            layer 3), 3.attn:off, 3.ffn:off, 3.1:cut_4_7 (token 4 does not see 7), 3.1:weight_4_7_0.25, 3.*:hide_7,
            3.1:uniform_4, positions:shuffle_7, 3.out:patch_4_2 (from sentence 2); `~0.5` behind one makes half of it.
        settings: by their names in a link, such as n_layers, positions, causal, seed, tokenizer, sentence, mask.

    Raises a PlaygroundError that says what would work: UnknownNameError, ConfigError, InputError, InterventionError,
    PretrainedError, TooLargeError.
    """
    if not isinstance(text, str):
        raise InputError("read takes one text, with one sentence a line.")
    if isinstance(weights, tuple) and weights and isinstance(weights[0], EnglishNetwork):
        settings = values_of(weights[0].spec) | settings
        weights = "english"
    name, given = _open_weights(weights)
    chosen = _read_settings(name, settings) | {"text": text, "weights": name}
    if not isinstance(changes, str):
        raise InputError("changes is one text, such as '3.1:zero, 5.ffn:off'.")
    chosen["do"], wrong = read_changes(changes)
    if wrong:
        bad = next((item.strip() for item in changes.split(",") if read_changes(item)[1]), "a list of more than 64")
        raise InputError(f"{bad!r:.60} is no change such as '3.1:zero': help(read) lists them.")
    values = {key: value for key, value in (default_values(chosen) | chosen).items() if key in SHARED}
    own: dict[str, Any] = {}
    if name == "mine" and given is not None:
        values |= {key: getattr(given[0].config, key) for key in ARCHITECTURE}
        n_tokens, rows = given[1].vocab_size, given[0].config.vocab_size
        own = {"own_tokenizer": "own", "own_rows": rows}
        if 0 < rows < n_tokens:
            raise InputError(f"Your tokenizer has {n_tokens:,} tokens, your model rows for {rows:,}.")
    model_config(values, 1)  # what cannot be built is said before anything is
    key = (BEFORE if values["untrained"] else AFTER) + spec_of(values).key if name == "english" else name
    reading = Reading(Lab(State(values, WeightsId(key), **own), _Source(given)))
    for note in reading._check():
        warnings.warn(note, stacklevel=2)
    return reading


# --- what was read


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """A text as one encoder read it; `reading[name]` is any point of the pass, by its name in `Trace`.

    Layers and heads count from 0. L layers, H heads, T tokens.
    """

    lab: Lab

    @cached_property
    def run(self) -> Run:
        """The pass, with every point of the trace."""
        with turn_on_text(self.lab.source, self.lab.run_key) as (encoder, batch):
            options = pass_options(self.lab.run_key)
            return encoder_run.run(encoder, batch, self.lab.sentence, keep=lambda _: True, **options)

    @property
    def tokens(self) -> list[str]:
        """The sentence's tokens, without padding."""
        return self.run.real_tokens

    @property
    def config(self) -> ModelConfig:
        """The architecture."""
        return self.run.config

    @property
    def points(self) -> list[str]:
        """The names of everything that was computed."""
        return list(self.run.arrays)

    def __getitem__(self, point: str) -> Array:
        return self.run.arrays[point]

    def __iter__(self) -> Iterator[str]:
        return iter(self.run.arrays)

    def __repr__(self) -> str:
        weights, changed = self.lab["weights"], write_changes(self.run.interventions)
        subject = "own weights" if weights == "mine" else weights
        return self.run.describe(f"{subject}{changed and f' (changed: {changed})'} on")

    def pattern(self, layer: int, head: int) -> "pd.DataFrame":
        """Return a head's attention, (queries, keys): each row adds up to 1."""
        import pandas as pd

        for what, place, n in (("layer", layer, self.config.n_layers), ("head", head, self.config.n_heads)):
            if not isinstance(place, int) or not 0 <= place < n:
                raise InputError(f"There is no {what} {place!r:.20}: the {what}s are 0 to {n - 1}.")
        n, names = len(self.tokens), token_names(self.tokens)
        weights = self.run.pattern(layer)[head, :n, :n]
        return pd.DataFrame(weights, pd.Index(names, name="query"), pd.Index(names, name="key"))

    def answer(self, n: int = 5) -> list[tuple[str, float]]:
        """Return the `n` likeliest words for a hidden one, with probabilities; only weights="english" name words."""
        if not isinstance(n, int) or n < 1:
            raise InputError(f"answer({n!r:.20}) is no number of words, such as 5.")
        probabilities = fill_in(self.lab)[-1]
        return [(VOCABULARY[i], float(probabilities[i])) for i in np.argsort(-probabilities, kind="stable")[:n]]

    def logit_lens(self) -> "pd.DataFrame":
        """Return each word's probability at every depth, (L + 1, words), the likeliest first; of weights="english"."""
        import pandas as pd

        every = fill_in(self.lab)
        frame = pd.DataFrame(every, pd.RangeIndex(len(every), name="blocks passed"), list(VOCABULARY))
        return frame[[word for word, _ in self.answer(len(VOCABULARY))]]

    def effect_of(
        self, parts: str = "heads", on: Literal["sentence vector", "right answers"] = "sentence vector"
    ) -> "pd.DataFrame":
        """Return what each part does, by switching off one at a time: `heads` (L, H), or `sublayers` (L, 2).

        It is how far the sentence's vector moves, as a share of its length, or what the probability of the hidden word
        gains. Without the reading's changes.
        """
        import pandas as pd

        from playground.views.what_if_parts import SweepKey, measure_all

        columns: dict[str, pd.Index[Any]] = {
            "heads": pd.RangeIndex(self.config.n_heads, name="head"),
            "sublayers": pd.Index(SUBLAYERS.values(), name="sublayer"),
        }
        _check_name(parts, columns, "kind of parts")
        _check_name(on, ("sentence vector", "right answers"), "measure")
        lab, on_word = self.lab.without_changes, on == "right answers"
        effects = measure_all(lab, SweepKey(parts, on_word=on_word))
        if on_word:
            effects = effects - score_hidden(lab, lab.run.arrays["final"][None])
        layers = pd.RangeIndex(self.config.n_layers, name="layer")
        return pd.DataFrame(effects.reshape(len(layers), -1), layers, columns[parts])

    def patch(self, other: "str | Reading") -> "pd.DataFrame":
        """Return how much nearer another sentence comes if one vector is taken from it, (L + 1, T); 1 = all the way.

        Both have as many tokens. Without the reading's changes.
        """
        import pandas as pd

        from playground.views.what_if_parts import SweepKey, measure_all

        one, two = (
            each if isinstance(each, str) else each.lab.text.sentences[each.lab.sentence] for each in (self, other)
        )
        lab = self.lab.at(self.lab.state.with_sentences((one, two))).without_changes
        if lab.batch.tokens[0] == lab.batch.tokens[1]:
            raise InputError("Both are the same sentence, so there is no difference to patch.")
        if not find_partners(lab.batch, 0):
            n, others = map(len, lab.batch.tokens)
            raise InputError(
                f"Vectors are patched from another sentence of as many tokens; these have {n} and {others}."
            )
        shares = measure_all(lab, SweepKey("patches", source=1)).reshape(self.config.n_layers + 1, -1)
        depths = pd.RangeIndex(len(shares), name="blocks passed")
        return pd.DataFrame(shares, depths, pd.Index(token_names(self.tokens), name="token"))

    @property
    def link(self) -> str:
        """The link that shows the same in the app; InputError if no link can hold it."""
        if self.lab["weights"] == "mine":
            raise InputError("No link can carry these weights; show() draws the pages here.")
        for key, value in self.lab.values.items():
            nearest, wrong = read_param(SHARED[key], [write(value)])
            if wrong:
                raise InputError(f"No link can hold {key}={value!s:.40}; {write(nearest):.40} is the nearest.")
        return f"{SITE}/attention?{write_query(self.lab.values)}"

    def show(self, page: str = "attention") -> None:
        """Display a page of the app in a notebook, as `playground.show`."""
        _check_name(page, PAGES, "page")
        values = {**default_values(self.lab.values), **self.lab.values}
        show(LinkedView(page, self.lab, values, names_tokens=False))

    def _check(self) -> Iterator[str]:
        """Yield notes on what was changed to be read; raise for what can't be."""
        text, sentence = split_sentences(self.lab["text"]), self.lab["sentence"]
        if not text.sentences:
            raise InputError("The text is empty, so there is nothing to look at.")
        if sentence > len(text.sentences):
            raise ConfigError("sentence", sentence, "is not in this text", (len(text.sentences),))
        for reason in self.lab.fitted_changes.reasons.values():
            raise InterventionError(reason)
        if self.lab["mask"] >= 0 and hidden_word(self.lab) is None:
            raise InputError(f"mask={self.lab['mask']} is no word's position: they are 1 to {len(self.tokens) - 2}.")
        yield from (*text.notes, *describe_cut(self.lab))
        self.run  # noqa: B018 - what cannot run is said at once


# --- two of them


def compare(one: Reading, other: Reading) -> "pd.DataFrame":
    """Return how far two readings of the same tokens are apart, a row a point; shares are of the length in `one`."""
    from playground.views.compare import tabulate_differences

    if one.tokens != other.tokens:
        raise InputError("Two readings are compared token by token: both have to read the same ones.")
    points, widths = compare_points(one.run, other.run), f"{one.config.d_model} and {other.config.d_model}"
    if not points:
        raise InputError(f"No point has the same shape in both: d_model is {widths}.")
    return tabulate_differences(points).set_index("point")


def diff(one: ModelConfig | Reading, other: ModelConfig | Reading) -> dict[str, tuple[Any, Any]]:
    """Return the fields in which two architectures differ, each with both values; a reading counts as its config."""
    one, other = (getattr(each, "config", each) for each in (one, other))
    pairs = {field.name: (getattr(one, field.name), getattr(other, field.name)) for field in fields(ModelConfig)}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
