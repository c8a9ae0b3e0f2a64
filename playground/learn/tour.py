"""What a tour is: a few steps on the app's own pages, as data: an experiment, or a lesson.

A step of an experiment is a sentence and one thing to do, and notices by itself when that is done. It then says what
came of it, and waits until the visitor goes on. At its end a tour says one true sentence about the visitor's own run,
and a test that can refute it. A step of a lesson opens a state
of the app, and waits until the visitor goes on.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from playground.charts.markdown import quote_token
from playground.link.opening import Focus
from playground.link.params import PARAMS
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.text import Batch
from playground.text.nouns import choose_pronoun
from playground.text.sentences import PRONOUNS
from playground.training.answers import Head, Reversal
from playground.training.trained_network import TrainedNetwork
from playground.views.attention.explanation import HeadsRun
from playground.views.similarity.sentences import Sentences

START: Mapping[str, Any] = {key: param.default for key, param in PARAMS.items()}
"""Every parameter's default, by its key in the link."""


@dataclass(frozen=True)
class TourState:
    """What a step is told of a session, cheap enough for every run of a page."""

    page: str
    """The open page, by its path."""
    values: Mapping[str, Any] = field(default_factory=lambda: START)
    """Every parameter of the link, by its key: of the sidebar, the focus (`query`, …), `do`, and of all pages."""
    began: Mapping[str, Any] = field(default_factory=lambda: START)
    """The same, when the step began or its guess was made."""
    actions: frozenset[str] = frozenset()
    """What the visitor did by hand since the step began: `cell chosen`, `computation opened`, `link copied`."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """What the visitor answered on this tour, by the step's name."""
    tokens: tuple[str, ...] = ()
    """Of the shown sentence, without padding; none where it cannot be read."""
    special: tuple[bool, ...] = ()
    """Which of them the tokenizer added."""
    batch: Batch | None = field(default=None, compare=False)
    """The text that they are of; None where it cannot be read."""
    has_focus: bool = True
    """Whether `query` and `key` were chosen in the present text: else they are those of another one."""
    trained: TrainedNetwork | None = field(default=None, compare=False)
    """The network that this session has trained; None before there is one."""

    def has_changed(self, key: str) -> bool:
        """Whether a parameter has another value than when the step began."""
        return bool(self.values[key] != self.began[key])

    def place(self, key: str) -> int | None:
        """Where the token of a parameter stands, such as `query` or `attention_rival`; None where it names none."""
        value = str(self.values[key])
        is_known = self.has_focus and value.isdecimal() and int(value) < len(self.tokens)
        return int(value) if is_known else None

    def is_word(self, place: int | None) -> bool:
        """Whether a word of the sentence, or a part of one, stands there: nothing added, and no punctuation mark."""
        return place is not None and self.tokens[place].isalnum() and not self.special[place]

    def word(self, place: int | None, otherwise: str = "the word") -> str:
        """A token in markdown; `otherwise` where there is none."""
        if place is None:
            return otherwise
        return f"*{self.tokens[place]}*" if self.tokens[place].isalnum() else quote_token(self.tokens[place])

    @property
    def pronoun(self) -> int | None:
        """Where the pronoun stands that is asked about: the chosen query if it is one, else as of `choose_pronoun`."""
        words = ["" if special else token for token, special in zip(self.tokens, self.special, strict=True)]
        query = self.place("query")
        return query if query is not None and words[query].lower() in PRONOUNS else choose_pronoun(words)


@dataclass(frozen=True)
class Evidence:
    """What a tour may compute of the visitor's own run; all functions may raise a `PlaygroundError`."""

    state: TourState
    heads: Callable[[], HeadsRun]
    """The sentence's run without the visitor's changes, and what explains its heads."""
    find_focus: Callable[[], Focus]
    """The layer, head, query and key that the visitor looks at, as that run has them."""
    run_changed: Callable[[Sequence[Change]], Run]
    """The run of the sentence with these changes, and without the visitor's."""
    compare_sentences: Callable[[Sequence[str]], Sentences]
    """Sentences beside each other, as the page Similarity compares them, without changes."""
    find_trained: Callable[[], TrainedNetwork | None]
    """The network that this session has trained; None before there is one."""
    measure_reversal: Callable[[Sequence[Head]], Reversal]
    """What its heads do for a reversal on its validation set, with these switched off."""


Choices = Mapping[str, Any]
"""Values of parameters, by their keys in the link; `query`, `key`, `do` (a `Changes`) and `text` among them."""


def _nothing(_: object) -> None:
    return None


@dataclass(frozen=True)
class Step:
    """One thing to do."""

    name: str
    sentence: Callable[[TourState], str]
    """What to do, in markdown."""
    is_done: Callable[[TourState], bool]
    page: str | None = None
    """Where it is done, by the page's path; None: on every page."""
    target: str | None = None
    """The container there that the visitor needs, by its key; None: what is needed is in the sidebar."""
    target_on_phone: str | None = None
    """The container that the visitor needs where columns are stacked, if it is another."""
    has_target: Callable[[TourState], bool] = lambda _: True
    """Whether the page has that container."""
    hides: tuple[str, ...] = ()
    """Containers, by their keys, that would give away what is to be guessed: they are not seen until it is done."""
    hint: Callable[[TourState], str | None] = _nothing
    """What has to be done before, or what went wrong, if anything."""
    answers: Callable[[TourState], Mapping[str, str]] = lambda _: {}
    """What can be guessed, each a button: its word in `TourState.answers` → its label. One of them does the step, and
    shows the step's target."""
    sets_answer: Callable[[Evidence, str], Choices] | None = None
    """What the visitor's guess chooses, by its word."""
    result: Callable[[Evidence], str] | None = None
    """What came of the step, said in place of its sentence once it is done, until the visitor goes on; markdown. None:
    there is nothing to be read, and the tour goes on at once."""
    begins: Callable[[Evidence], Choices] | None = None
    """What is chosen as the step begins; None: nothing."""
    scrolls: bool = False
    """Whether the step's target is scrolled to once the step has begun and the visitor is on its page."""
    meanwhile: str | None = None
    """The container, by its key, that is scrolled to instead until the step is done."""
    sets: Callable[[Evidence], Choices] | None = None
    """What a press on “Do it for me” chooses; None: there is no such button."""
    is_needed: bool = False
    """Whether the next steps need what this one sets: who skips it has it set."""
    set_label: str = "Do it for me"
    skip_label: str = "Skip"
    opens: str = ""
    """The link, from its page's path on, of the state that the step begins with; empty: it begins where one is."""

    def words(self, state: TourState) -> tuple[object, ...]:
        """All that the line of a step to be done says: it is drawn anew where that is something else than before."""
        has_target = self.target is not None and self.has_target(state)
        return self.sentence(state), self.hint(state), has_target, tuple(self.answers(state).items())


Verdict = Literal["held", "refuted", "undecided", "untested"]


@dataclass(frozen=True)
class Conclusion:
    """What a tour ends with, in markdown."""

    sentence: str
    """One true sentence about the visitor's own run."""
    test: str
    """What can refute it, and what came out; or why it could not be tested."""
    verdict: Verdict
    """What came out, in a word."""
    more: str = ""
    """What else the run showed."""


@dataclass(frozen=True)
class SmallMap:
    """A picture of weights, a cell each."""

    cells: Array
    """(R, C), from 0 to 1."""
    caption: str
    """What rows and columns are, in a few words; markdown."""
    finding: str = ""
    """What it shows, in a sentence, if anything is to be said; markdown."""
    row: tuple[int, str] | None = None
    """The row that is lit, if one is, and its name, a plain text."""
    columns: tuple[tuple[int, str], ...] = ()
    """Columns that have a name, from left to right, two at most, and the plain texts."""


@dataclass(frozen=True)
class SmallNumbers:
    """A picture of a few numbers in large letters."""

    numbers: Mapping[str, str]
    """By what they are of, plain texts."""
    caption: str
    """What they are, in a few words; markdown."""


@dataclass(frozen=True)
class Tour:
    """A few steps."""

    name: str
    """In the link."""
    title: str
    """What its card asks, as a question or a request; markdown."""
    question: str
    """What a student finds out, in one sentence; markdown."""
    minutes: int
    """About; 0 where that depends on the machine."""
    page: str
    """Where it begins, by the page's path."""
    steps: tuple[Step, ...]
    starts: Callable[[Evidence], Choices] = lambda _: {}
    """What the press that begins it chooses."""
    conclude: Callable[[Evidence], Conclusion] | None = None
    """None: it ends with what was found of its exercises."""
    picture: Callable[[Evidence], SmallMap | SmallNumbers | None] | None = None
    """What its card shows, a true result, if there is one; None where it has no card."""
    own_title: Callable[[TourState], str] = lambda _: ""
    """The title for the visitor's own sentence, where it is another one; markdown."""
    needs: Callable[[TourState], str] = lambda _: ""
    """What the visitor's text lacks, and what its `example` is, in markdown; empty where it lacks nothing."""
    example: str = ""
    """A text that lacks nothing."""
    exercises: tuple[str, ...] = ()
    """Those that it asks, by their keys."""
    rivals: Callable[[TourState], Collection[str]] = lambda _: ()
    """The keys, by their words in the link, that Attention offers for the chosen one's rival; empty: all of them."""
    onward: tuple[str, str] = ("step-by-step", "See one vector, number by number")
    """The page to go on to, by its path, and what the link to it says."""

    def title_for(self, state: TourState) -> str:
        """The title for the visitor's own sentence; markdown."""
        return self.own_title(state) or self.title


def judge_guess(guess: str, right: str, labels: Mapping[str, str]) -> str:
    """Whether a guess was right, as a sentence; `labels` are what each is called on its button."""
    return "You were right." if guess == right else f"Your guess, “{labels[guess].lower()}”, was wrong."
