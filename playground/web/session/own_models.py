"""A visitor's own models, kept in that session alone: one file, and the networks trained here."""

import copy
import hashlib
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import InputError, UnavailableError, WeightsError
from playground.jobs import JobHandle
from playground.link.state import AFTER, BEFORE
from playground.model import Encoder
from playground.runs.budget import check_budget
from playground.text import Tokenizer, published_tokenizer
from playground.text.foreign_json import read_json
from playground.training.network import Network
from playground.training.trained_network import TrainedNetwork, key_in, load, save
from playground.web.session.services import cache_in_session, services, session_results
from playground.weights import build_encoder, encoder_half, first_not_finite, read_tensors, recognise_tensors
from playground.weights.checkpoint import CONFIG, list_weights, read_tokenizer_file
from playground.weights.files import MAX_BYTES, check_size
from playground.weights.hub import fetch
from playground.weights.huggingface import read_config
from playground.weights.recognise import RecognisedWeights

OWN = "_own_models"
"""Session key of the `OwnModels`."""

MOST_RUNS = 6

NOT_IN_SESSION = "This network is not in your session; train one on the Training page, or load its file there."

_PREFIX = "own-"


@dataclass(eq=False)
class UploadedWeights:
    """The weights of a visitor's own file, and what reads text for them."""

    file: str
    sha256: str
    """Of its bytes; the weights' key."""
    tensors: Mapping[str, Tensor]
    """By the file's own names."""
    recognised: RecognisedWeights
    not_finite: str | None
    """The first tensor that is not finite."""
    tokenizer: Tokenizer | None = None
    """None: the sidebar's reads the text."""
    tokenizer_file: str = ""
    tokenizer_key: str = ""
    """Names its tokens in caches."""

    @property
    def n_bytes(self) -> int:
        """Memory of the tensors, and of the encoder."""
        return 2 * sum(tensor.nbytes for tensor in self.tensors.values())

    @property
    def token_rows(self) -> int:
        """Rows of the token table; 0 if there is none."""
        rows: int = self.recognised.settings["vocab_size"]
        return rows

    def read_with(self, tokenizer: Tokenizer | None, file: str = "") -> None:
        """Read text with a tokenizer from a file; None: with the sidebar's."""
        self.tokenizer, self.tokenizer_file = tokenizer, file
        self.tokenizer_key = f"{_PREFIX}{secrets.token_hex(16)}" if tokenizer else ""


class SessionExperiments:
    """A session's parts in jobs, by page; at most one of them is active."""

    def __init__(self) -> None:
        self.session = secrets.token_hex(8)
        """What tells a browser this session from an earlier one."""
        self._experiments: dict[str, JobHandle[Any]] = {}

    def get(self, page: str) -> JobHandle[Any] | None:
        """Return the page's latest experiment."""
        return self._experiments.get(page)

    def active_page(self) -> str | None:
        """Return the page whose experiment is active."""
        return next((page for page, experiment in self._experiments.items() if experiment.active), None)

    def start(self, page: str, create: Callable[[], JobHandle[Any]]) -> None:
        """Replace the page's experiment, unless any is active."""
        if self.active_page() is None:
            self._experiments[page] = create()

    def discard(self, page: str) -> None:
        """Stop a page's experiment and forget it."""
        experiment = self._experiments.pop(page, None)
        if experiment is not None:
            experiment.discard()

    def disconnect(self) -> None:
        """Stop everything; the results so far stay."""
        for experiment in self._experiments.values():
            experiment.stop(timeout=0)


class OwnModels:
    """A session's experiments and models; a training's thread may put one."""

    def __init__(self) -> None:
        self.experiments = SessionExperiments()
        self.upload: UploadedWeights | None = None
        self.runs: tuple[TrainedNetwork, ...] = ()
        """What was trained or opened, the newest last."""
        self.shown: tuple[TrainedNetwork, ...] = ()
        """What pages show; it changes between two runs of a page, never within one."""
        self.problem = ""
        """Why the latest one could not be kept."""

    @property
    def trained(self) -> TrainedNetwork | None:
        """The network that was put here last."""
        return self.runs[-1] if self.runs else None

    def put(self, trained: TrainedNetwork) -> None:
        """Keep a network, if there is memory for it."""
        try:
            services().memory.reserve(trained)
        except WeightsError as error:
            self.problem = str(error)
        else:
            others = (each for each in self.runs if each.run_key != trained.run_key)
            self.runs, self.problem = (*others, trained)[-MOST_RUNS:], ""

    def fetch(self, name: str) -> None:
        """Keep the network of this run's name too, if it was trained on this server before."""
        key = key_in(name)
        if key and key not in {each.run_key for each in self.runs}:
            found = services().store.find(key, lambda content: _read(content, key))
            if found is not None:
                self.put(replace(found, origin="stored"))

    def close_upload(self) -> None:
        """Forget the file, and what was computed with it."""
        self.upload = None
        session_results().clear()

    def update_shown(self) -> None:
        """Show the present networks from now on, and forget results of others."""
        if self.shown != self.runs:
            session_results().clear()
        self.shown = self.runs


def session_models() -> OwnModels:
    """Return what this session has of its own."""
    if OWN not in st.session_state:
        st.session_state[OWN] = OwnModels()
    own: OwnModels = st.session_state[OWN]
    return own


def session_experiments() -> SessionExperiments:
    """Return the session's experiments, which are stopped when the connection breaks."""
    experiments: SessionExperiments = _until_disconnect(session_models().experiments)
    return experiments


@st.cache_resource(scope="session", max_entries=1, on_release=SessionExperiments.disconnect, show_spinner=False)
def _until_disconnect(_experiments: SessionExperiments) -> SessionExperiments:
    return _experiments


def _read(content: bytes, key: str) -> TrainedNetwork:
    trained = load(content, max_parameters=services().settings.max_parameters)
    if trained.run_key != key:
        raise WeightsError("The file is of another run.")
    return trained


def is_shared(trained: TrainedNetwork) -> bool:
    """Return whether its link brings a network: not a cancelled one, nor a visitor's own text or file."""
    return trained.origin != "opened" and trained.results.outcome != "cancelled" and not trained.recipe.text


def store(trained: TrainedNetwork) -> None:
    """Keep a network on disk, if it is shared."""
    if is_shared(trained):
        services().store.keep(trained.run_key, save(trained))


def shown_network(name: str = "") -> TrainedNetwork | None:
    """Return the shown network of this run; without a name the newest."""
    key = key_in(name)
    return next((each for each in reversed(session_models().shown) if key in ("", each.run_key)), None)


def is_trained_network(weights: str) -> bool:
    """Return whether `State.weights` is a trained network's, after training or before."""
    return weights.startswith(("trained-", "initial-"))


def find_network(key: str) -> TrainedNetwork:
    """Return the session's trained network of this key; raises UnavailableError."""
    for each in session_models().shown:
        if key in {each.key, each.initial_key}:
            return each
    raise UnavailableError(NOT_IN_SESSION)


def network_on_device(weights: str) -> Network:
    """Return a network, as `find_network`, on the device where models run."""
    trained = find_network(weights)
    is_there = weights == trained.key and services().device.type == "cpu"
    return trained.network if is_there else _copy_on_device(weights)


@cache_in_session
def _copy_on_device(weights: str) -> Network:
    trained = find_network(weights)
    model = trained.initial() if weights == trained.initial_key else copy.deepcopy(trained.network)
    return model.to(services().device)


def describe_weights(weights: str) -> str:
    """Return what a page calls `State.weights`, whosever they are."""
    names = {"minilm": "trained weights", "random": ":orange-badge[random weights]"}
    if weights.startswith(BEFORE):
        return ":orange-badge[before training (random)]"
    if weights.startswith(AFTER):
        return "trained on the small English"
    return names.get(weights) or weights_label(weights) or "your own weights"


def weights_label(weights: str) -> str | None:
    """Return what a page calls `State.weights` of one of the session's trained networks."""
    try:
        trained = find_network(weights)
    except UnavailableError:
        return None
    title = trained.task.title
    if weights == trained.initial_key:
        return f":orange-badge[before training (random)] {title}"
    return f"trained here: {title}, {trained.results.kept_step:,} steps"


@cache_in_session
def uploaded_encoder(sha256: str, config: ModelConfig, seed: int) -> Encoder:
    """Return the encoder of the upload; raises UnavailableError."""
    upload = session_models().upload
    if upload is None or upload.sha256 != sha256:
        raise UnavailableError("These weights are not open in your session; open their file in the sidebar.")
    built = build_encoder(upload.tensors, upload.recognised, config, seed)
    return built.requires_grad_(False).to(services().device)


def find_tokenizer(key: str) -> Tokenizer | None:
    """Return the session's tokenizer of this key, None if it is everybody's; raises UnavailableError."""
    if is_trained_network(key):
        return find_network(key).tokenizer
    if not key.startswith(_PREFIX):
        return None
    upload = session_models().upload
    if upload is None or upload.tokenizer_key != key:
        raise UnavailableError("This vocabulary is not in your session; open its file in the sidebar.")
    return upload.tokenizer


def read_upload(
    file: str, data: Sequence[bytes], config_json: bytes | None = None, tokenizer_json: bytes | None = None
) -> UploadedWeights:
    """Read safetensors files, and what Hugging Face saves with them, and build the encoder once.

    Raises:
        InputError, WeightsError, PretrainedError, TooLargeError: they can't be used here.
    """
    check_size(sum(map(len, data)))
    tensors = encoder_half({name: tensor for part in data for name, tensor in read_tensors(part).items()})
    recognised = recognise_tensors(tensors) if config_json is None else _read_config(config_json)
    config = recognised.config()
    check_budget(config, services().settings.max_parameters)
    digest = hashlib.sha256(b"".join([*data, config_json or b""])).hexdigest()
    upload = UploadedWeights(file, digest, tensors, recognised, first_not_finite(tensors))
    if tokenizer_json is not None:
        tokenizer = published_tokenizer(tokenizer_json)
        if tokenizer.vocab_size > config.vocab_size:
            n, rows = f"{tokenizer.vocab_size:,}", f"{config.vocab_size:,}"
            raise InputError(f"The tokenizer.json has {n} tokens, and the token table {rows} rows.")
        upload.read_with(tokenizer, "tokenizer.json")
    services().memory.reserve(upload)
    build_encoder(tensors, recognised, config)
    return upload


def read_hub_model(name: str) -> UploadedWeights:
    """Read a model of the operator's list from the hub or its cache, as an upload; raises as `read_upload`."""
    if name not in services().settings.hub_models:
        raise InputError("This server does not open that model.")
    folder = fetch(name, MAX_BYTES)
    weights = [path.read_bytes() for path in list_weights(folder)]
    return read_upload(name, weights, (folder / CONFIG).read_bytes(), read_tokenizer_file(folder, {}))


def _read_config(data: bytes) -> RecognisedWeights:
    try:
        given = read_json(data)
    except ValueError as error:
        raise InputError(f"The config.json can't be read as JSON: {error}.") from error
    config, scheme = read_config(given)
    return RecognisedWeights(scheme, vars(config), {})
