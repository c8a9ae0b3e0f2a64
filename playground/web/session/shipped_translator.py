"""The translator that comes with the app, shared by all visitors."""

import copy
import logging

import streamlit as st

from playground.errors import PlaygroundError, UnavailableError
from playground.model import EncoderDecoder
from playground.runs.device import choose_device
from playground.training.after import shipped_network
from playground.training.after.trained_network import TrainedNetwork
from playground.web.server.settings import settings

logger = logging.getLogger(__name__)


@st.cache_resource(max_entries=1, show_spinner=False)
def translator() -> TrainedNetwork | None:
    """The network; None where its file is missing or is not the one that was shipped."""
    try:
        return shipped_network.load_translator()
    except PlaygroundError as error:
        logger.warning("The Decoder page goes on without its trained example: %s", error)
        return None


def find_translator() -> TrainedNetwork:
    """The network; raises UnavailableError where there is none."""
    found = translator()
    if found is None:
        raise UnavailableError("The trained example is not on this server.")
    return found


@st.cache_resource(max_entries=1, show_spinner=False)
def translator_on_device() -> EncoderDecoder:
    """A copy on the device where models run; raises as `find_translator`."""
    network = copy.deepcopy(find_translator().network).to(choose_device(settings().device))
    if not isinstance(network, EncoderDecoder):
        raise TypeError("the translator has a decoder")
    return network
