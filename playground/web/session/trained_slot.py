"""Trained networks: those that the session has trained or opened, and the translator that comes with the app."""

import copy

import streamlit as st

from playground.errors import UnavailableError, WeightsError
from playground.link.state import AFTER, BEFORE
from playground.training.network import Network
from playground.training.trained_network import KeptRun, TrainedNetwork, key_in, load, run_key, save
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_in_session

SLOT = "_trained"
"""Session key of the `TrainedSlot`."""

SHOWN = "_trained_shown"
"""Session key of the runs that the pages show: they change between two runs of a page, never within one."""

MOST_RUNS = 6
"""Runs that a session keeps; the oldest goes first."""

NOT_IN_SESSION = "This network is not in your session; train one on the Training page, or load its file there."


class TrainedSlot:
    """Thread-safe list of the trained networks of a session.

    Attributes:
        runs: each with its network, the newest last.
        problem: why the latest one could not be kept, in one sentence; empty if it could.
    """

    def __init__(self) -> None:
        self.runs: tuple[KeptRun, ...] = ()
        self.problem = ""

    @property
    def newest(self) -> KeptRun | None:
        """The run that was put here last."""
        return self.runs[-1] if self.runs else None

    @property
    def trained(self) -> TrainedNetwork | None:
        """The network of the newest run."""
        return self.runs[-1].network if self.runs else None

    def put(self, run: KeptRun) -> None:
        """Keep a run, in the memory of its training or of its own; where there is none, keep those before."""
        try:
            services().memory.reserve(run.network)
        except WeightsError as error:
            self.problem = str(error)
        else:
            others = (each for each in self.runs if each.key != run.key)
            self.runs, self.problem = (*others, run)[-MOST_RUNS:], ""

    def fetch(self, name: str) -> None:
        """Keep the run of this name too, if it was trained on this server before and is not here."""
        key = key_in(name)
        if not key or any(run.key == key for run in self.runs):
            return
        found = services().networks.store.find(key, lambda content: _read(content, key))
        if found is not None:
            self.put(KeptRun(found, "stored"))


def _read(content: bytes, key: str) -> TrainedNetwork:
    trained = load(content, max_parameters=services().settings.max_parameters)
    if run_key(trained.config, trained.recipe) != key:
        raise WeightsError("The file is of another run.")
    return trained


def is_shared(run: KeptRun) -> bool:
    """Whether its link brings a run: not one that was cancelled, learnt a visitor's own text, or came as a file."""
    trained = run.network
    return run.origin != "opened" and trained.results.outcome != "cancelled" and not trained.recipe.text


def store(run: KeptRun) -> None:
    """Keep a run on disk, if it is shared."""
    if is_shared(run):
        services().networks.store.keep(run.key, save(run.network))


def session_slot() -> TrainedSlot:
    """The session's slot."""
    slot: TrainedSlot = st.session_state.setdefault(SLOT, TrainedSlot())
    return slot


def update_shown() -> bool:
    """From now on, show the networks in the slot; returns whether those are others than before."""
    before, now = shown_runs(), session_slot().runs
    st.session_state[SHOWN] = now
    return [run.network for run in before] != [run.network for run in now]


def shown_runs() -> tuple[KeptRun, ...]:
    """The runs that this run of a page shows, the newest last."""
    runs: tuple[KeptRun, ...] = st.session_state.get(SHOWN, ())
    return runs


def shown_run(name: str = "") -> KeptRun | None:
    """The run of this name among those that are shown; without a name the newest."""
    key = key_in(name)
    return next((run for run in reversed(shown_runs()) if key in ("", run.key)), None)


def shown_network(name: str = "") -> TrainedNetwork | None:
    """The trained network of `shown_run`."""
    run = shown_run(name)
    return run.network if run else None


def is_trained_network(weights: str) -> bool:
    """Whether `State.weights` is the key of a trained network, after training or before."""
    return weights.startswith(("trained-", "initial-"))


def find_network(key: str) -> TrainedNetwork:
    """The session's trained network of this key, after training or before; raises UnavailableError without one."""
    for run in shown_runs():
        if key in {run.network.key, run.network.initial_key}:
            return run.network
    raise UnavailableError(NOT_IN_SESSION)


def network_on_device(weights: str) -> Network:
    """The session's network after training or before, on the device where models run; raises as `find_network`."""
    trained = find_network(weights)
    if weights == trained.key and services().device.type == "cpu":
        return trained.network
    return _copy_on_device(weights)


@cache_in_session(max_entries=2)
def _copy_on_device(weights: str) -> Network:
    trained = find_network(weights)
    model = trained.initial() if weights == trained.initial_key else copy.deepcopy(trained.network)
    return model.to(services().device)


def describe_weights(weights: str) -> str:
    """What a page calls `State.weights`, whosever they are."""
    names = {"minilm": "trained weights", "random": ":orange-badge[random weights]"}
    if weights.startswith(BEFORE):
        return ":orange-badge[before training (random)]"
    if weights.startswith(AFTER):
        return "trained on the small English"
    return names.get(weights) or weights_label(weights) or "your own weights"


def weights_label(weights: str) -> str | None:
    """What a page calls `State.weights` where they are of one of the session's trained networks."""
    try:
        trained = find_network(weights)
    except UnavailableError:
        return None
    title = trained.task.title
    if weights == trained.initial_key:
        return f":orange-badge[before training (random)] {title}"
    return f"trained here: {title}, {trained.results.kept_step:,} steps"
