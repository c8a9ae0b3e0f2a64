"""Trained networks: the session's own, also after a reload, and the translator that comes with the app."""

import copy
import secrets

import streamlit as st

from playground.errors import UnavailableError, WeightsError
from playground.training.network import Network
from playground.training.trained_network import TrainedNetwork
from playground.web.session.networks import AFTER, BEFORE
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_in_session

SLOT = "_trained"
"""Session key of the `TrainedSlot`."""

SHOWN = "_trained_shown"
"""Session key of the network that the pages show: it changes between two runs of a page, never within one."""

NOT_IN_SESSION = "This network is not in your session; train one on the Training page, or load its file there."


class TrainedSlot:
    """Thread-safe slot for the session's latest trained network.

    Attributes:
        trained: the network.
        problem: why the latest one could not be kept, in one sentence; empty if it could.
        owner: what the browser tab is known by in `Services.kept_networks`, which nobody else can guess.
        came_back: whether the network is that of a session before a reload.
    """

    def __init__(self) -> None:
        self.trained: TrainedNetwork | None = None
        self.problem = ""
        self.owner = secrets.token_urlsafe(24)
        self.came_back = False

    def put(self, trained: TrainedNetwork) -> None:
        """Keep a network, in the memory of its training run or of its own; where there is none, keep the one before."""
        try:
            services().memory.reserve(trained)
        except WeightsError as error:
            self.problem = str(error)
        else:
            self.trained, self.problem, self.came_back = trained, "", False
            services().kept_networks.keep(self.owner, trained)

    def take_back(self, owner: str) -> None:
        """Go on as the owner of a network that an earlier session of the same tab has left, if it is still there."""
        trained = services().kept_networks.find(owner)
        if trained is not None and self.trained is None:
            self.owner = owner
            self.put(trained)
            self.came_back = self.trained is not None


def session_slot() -> TrainedSlot:
    """The session's slot."""
    slot: TrainedSlot = st.session_state.setdefault(SLOT, TrainedSlot())
    return slot


def update_shown() -> bool:
    """From now on, show the network in the slot, and keep it; returns whether that is another one than before."""
    slot = session_slot()
    before, now = shown_network(), slot.trained
    if now is not None:
        services().kept_networks.keep(slot.owner, now)  # anew, as an hour begins when its visitor was last seen
    st.session_state[SHOWN] = now
    return now is not before


def shown_network() -> TrainedNetwork | None:
    """The trained network that this run of a page shows, if this session has one."""
    trained: TrainedNetwork | None = st.session_state.get(SHOWN)
    return trained


def is_trained_network(weights: str) -> bool:
    """Whether `Setup.weights` is the key of a trained network, after training or before."""
    return weights.startswith(("trained-", "initial-"))


def find_network(key: str) -> TrainedNetwork:
    """The session's trained network, if it has this key, after training or before; else raises UnavailableError."""
    trained = shown_network()
    if trained is None or key not in {trained.key, trained.initial_key}:
        raise UnavailableError(NOT_IN_SESSION)
    return trained


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
    """What a page calls `Setup.weights`, whosever they are."""
    names = {"minilm": "trained weights", "random": ":orange-badge[random weights]"}
    if weights.startswith(BEFORE):
        return ":orange-badge[before training (random)]"
    if weights.startswith(AFTER):
        return "trained on the small English"
    return names.get(weights) or weights_label(weights) or "your own weights"


def weights_label(weights: str) -> str | None:
    """What a page calls `Setup.weights` where they are of the session's trained network."""
    trained = shown_network()
    if trained is None or weights not in {trained.key, trained.initial_key}:
        return None
    title = trained.task.title
    if weights == trained.initial_key:
        return f":orange-badge[before training (random)] {title}"
    return f"trained here: {title}, {trained.results.kept_step:,} steps"
