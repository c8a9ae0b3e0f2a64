"""The models of one session alone: of its upload, and of its trained network, before and after training."""

import copy

import streamlit as st

from playground.config import ModelConfig
from playground.errors import UnavailableError
from playground.model import Encoder
from playground.runs.device import choose_device
from playground.training.network import Network
from playground.web.server.settings import settings
from playground.web.session import trained_slot, uploaded_weights
from playground.weights import build_encoder


def encoder(weights: str, config: ModelConfig, seed: int) -> Encoder:
    """The encoder of an upload or a trained network; raises UnavailableError if this session does not hold it."""
    if is_trained_network(weights):
        return trained_network(weights).encoder
    return _uploaded_encoder(weights, config, seed)


def trained_network(weights: str) -> Network:
    """The session's network after training or before, on the device where models run; raises as `find_network`."""
    trained = trained_slot.find_network(weights)
    if weights == trained.key and choose_device(settings().device).type == "cpu":
        return trained.network
    return _network_on_device(weights)


def is_trained_network(weights: str) -> bool:
    """Whether `Setup.weights` is the key of a trained network, after training or before."""
    return weights.startswith(("trained-", "initial-"))


def clear() -> None:
    """Free this session's models."""
    _uploaded_encoder.clear()
    _network_on_device.clear()


@st.cache_resource(max_entries=2, show_spinner=False, scope="session")
def _network_on_device(weights: str) -> Network:
    trained = trained_slot.find_network(weights)
    model = trained.initial() if weights == trained.initial_key else copy.deepcopy(trained.network)
    return model.to(choose_device(settings().device))


@st.cache_resource(max_entries=1, show_spinner=False, scope="session")
def _uploaded_encoder(weights: str, config: ModelConfig, seed: int) -> Encoder:
    upload = uploaded_weights.current_upload()
    if upload is None or upload.sha256 != weights:
        raise UnavailableError("These weights are not open in your session; open their file in the sidebar.")
    built = build_encoder(upload.tensors, upload.recognised, config, seed)
    return built.requires_grad_(False).to(choose_device(settings().device))
