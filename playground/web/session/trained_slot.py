"""What a session has trained, or loaded: kept in that session alone, freed with it, counted with visitors' files."""

from collections.abc import Iterator
from dataclasses import asdict

import streamlit as st
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import UnavailableError, WeightsError
from playground.text import Tokenizer
from playground.training.after.trained_network import TrainedNetwork
from playground.training.architecture import teacher_config
from playground.training.network import count_network
from playground.training.recipe import Recipe
from playground.training.tasks import Data
from playground.web.session import memory_budget
from playground.web.session.memory_budget import Held
from playground.weights.recognise import Recognised

SHELF = "_trained"
"""Session key of the `Shelf`."""

SHOWN = "_trained_shown"
"""Session key of the network that the pages show: it changes between two runs of a page, never within one."""

_WHILE_TRAINING = 6 * 4
"""Bytes for each parameter: weight, gradient, Adam's two averages, and a copy that is kept while another is made."""

ELSEWHERE = "This network is not in your session; train one on the Training page, or load its file there."


class Shelf:
    """Where a session's network lies; a thread that trains may put a newer one there at any time.

    Attributes:
        trained: the last one.
        problem: why the last one could not be kept, in one sentence, where it could not.
    """

    def __init__(self) -> None:
        self.trained: TrainedNetwork | None = None
        self.problem = ""

    def put(self, trained: TrainedNetwork, instead_of: Held | None = None) -> None:
        """Keep a network, in the room of its run or of its own, if there is any; the one before it stays if not."""
        try:
            memory_budget.hold(trained, instead_of)
        except WeightsError as error:
            self.problem = str(error)
        else:
            self.trained, self.problem = trained, ""


def shelf() -> Shelf:
    """The session's shelf."""
    if SHELF not in st.session_state:
        st.session_state[SHELF] = Shelf()
    found: Shelf = st.session_state[SHELF]
    return found


def take() -> bool:
    """From now on, show what lies on the shelf; returns whether that is another network than before."""
    before, now = shown(), shelf().trained
    st.session_state[SHOWN] = now
    return now is not before


def shown() -> TrainedNetwork | None:
    """The network that this run of a page shows, if this session has one."""
    found: TrainedNetwork | None = st.session_state.get(SHOWN)
    return found


def find(key: str) -> TrainedNetwork:
    """The network that is known by a key, as it is or as it was before training.

    Raises:
        UnavailableError: it is not this session's.
    """
    trained = shown()
    if trained is None or key not in {trained.key, trained.initial_key}:
        raise UnavailableError(ELSEWHERE)
    return trained


def tokenizer(key: str) -> Tokenizer:
    """The tokenizer of the network with this key; raises as `find`."""
    return find(key).tokenizer


def bytes_of_run(config: ModelConfig, recipe: Recipe, data: Data) -> int:
    """Memory that a run takes from its first step to its end, its teacher and its data included.

    Args:
        config: the architecture, with the task's vocabulary.
        recipe: the run.
        data: what is learnt from.
    """
    networks = (config, teacher_config(config)) if recipe.distill > 0 else (config,)
    n_parameters = sum(count_network(each, data.task, len(data.labels)) for each in networks)
    parts: Iterator[Tensor | None] = (
        part for examples in (data.train, data.validation) for part in vars(examples).values()
    )
    return _WHILE_TRAINING * n_parameters + sum(part.nbytes for part in parts if part is not None)


def decided(trained: TrainedNetwork) -> Recognised:
    """What the network decides, in the form in which a visitor's own file does: its shape and its seed."""
    known = asdict(trained.config) | {"seed": trained.recipe.seed}
    if trained.task.predicts_next:
        known["causal"] = trained.recipe.causal
    return Recognised("playground", known, asked={})


def label(weights: str) -> str | None:
    """How a page calls `Setup.weights` where they are of this session's network."""
    trained = shown()
    if trained is None or weights not in {trained.key, trained.initial_key}:
        return None
    title = trained.task.title
    if weights == trained.initial_key:
        return f":orange-badge[before training (random)] {title}"
    return f"trained here: {title}, {trained.results.kept_step:,} steps"
