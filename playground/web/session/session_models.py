"""The models of one session alone: a visitor's own file, and what was trained here, before and after."""

import copy

import streamlit as st

from playground.config import ModelConfig
from playground.errors import UnavailableError
from playground.model import Encoder
from playground.runs.device import choose_device
from playground.training.network import Network
from playground.web.server.settings import settings
from playground.web.session import memory_budget, trained_slot
from playground.weights import build_encoder


def encoder(weights: str, config: ModelConfig, seed: int) -> Encoder:
    """The encoder of weights that are neither the trained model's nor random; UnavailableError if they are not here."""
    return network(weights).encoder if trained_here(weights) else _own_encoder(weights, config, seed)


def network(weights: str) -> Network:
    """What was trained here, as it is or as it was before, where models run; raises as `find`."""
    trained = trained_slot.find(weights)
    if weights == trained.key and choose_device(settings().device).type == "cpu":
        return trained.network
    return _placed(weights)


def trained_here(weights: str) -> bool:
    """Whether `Setup.weights` are those of something that was trained here, before or after."""
    return weights.startswith(("trained-", "initial-"))


def forget() -> None:
    """Free this session's models."""
    _own_encoder.clear()
    _placed.clear()


@st.cache_resource(max_entries=2, show_spinner=False, scope="session")
def _placed(weights: str) -> Network:
    trained = trained_slot.find(weights)
    model = trained.initial() if weights == trained.initial_key else copy.deepcopy(trained.network)
    return model.to(choose_device(settings().device))


@st.cache_resource(max_entries=1, show_spinner=False, scope="session")
def _own_encoder(weights: str, config: ModelConfig, seed: int) -> Encoder:
    own = memory_budget.opened()
    if own is None or own.sha256 != weights:
        raise UnavailableError("These weights are not open in your session; open their file in the sidebar.")
    built = build_encoder(own.tensors, own.recognised, config, seed)
    return built.requires_grad_(False).to(choose_device(settings().device))
