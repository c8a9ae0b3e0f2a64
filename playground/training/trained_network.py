"""What a training leaves behind: a network, its name in links, its file."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import safetensors.torch
import torch
from torch import Tensor

from playground.config import ModelConfig, check_fields, describe_config
from playground.errors import ConfigError, WeightsError
from playground.model import Encoder
from playground.runs.budget import check_budget, check_pair_budget
from playground.text import Tokenizer
from playground.text.foreign_json import read_json
from playground.training.network import Network, build_network, evaluate
from playground.training.recipe import FORMER, Data, Recipe, Task, architecture
from playground.training.tasks import TASKS, make_data
from playground.training.trainer import Trainer
from playground.weights import first_not_finite, read_metadata, read_tensors
from playground.weights.load import check_tensors
from playground.weights.recognise import MAX_COMPUTED_POSITIONS, RecognisedWeights

FORMAT = "playground-trained-3"
"""Which parts there are, and what they mean."""

OTHER_WEIGHTS = ("playground-trained-1", "playground-trained-2")
"""Their seed gives other initial weights now."""

TRANSLATOR = Path(__file__).with_name("translator.safetensors")
"""Shipped; the Decoder page names its heads."""

Steps = Annotated[int, (0, 10**9)]
Share = Annotated[float, (0, 1)]


@dataclass(frozen=True)
class Results:
    """How a run went, in small numbers."""

    outcome: Literal["finished", "stopped early", "diverged", "cancelled"]
    steps: Steps
    kept_step: Steps
    baseline: Share
    validation_loss: Annotated[float, (0, 10**12)]
    validation_accuracy: Share

    def __post_init__(self) -> None:
        check_fields(self, ConfigError)


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A trained network, in eval mode, without gradients."""

    recipe: Recipe
    config: ModelConfig
    network: Network
    tokenizer: Tokenizer
    labels: tuple[str, ...]
    example: str
    results: Results
    key: str
    """Of recipe, architecture and weights."""
    has_initial: bool = True
    """Whether its seed gives them."""
    origin: Literal["trained", "stored", "opened"] = "trained"
    """By this session, another one on this server, or of a file."""

    @property
    def task(self) -> Task:
        """Its task."""
        return TASKS[self.recipe.task]

    @property
    def encoder(self) -> Encoder:
        """The encoder (half)."""
        return self.network.encoder

    @property
    def run_key(self) -> str:
        """What its run is stored by."""
        return run_key(self.config, self.recipe)

    @property
    def run_name(self) -> str:
        """What a link calls its run: the key, and its accuracy in ten thousandths."""
        return f"{self.run_key}-{round(10_000 * self.results.validation_accuracy)}"

    @property
    def initial_key(self) -> str:
        """Its key before training."""
        return self.key.replace("trained-", "initial-")

    @property
    def recognised(self) -> RecognisedWeights:
        """Its shape and seed."""
        known = asdict(self.config) | {"seed": self.recipe.seed}
        if self.task.predicts_next:
            known["causal"] = self.recipe.causal
        return RecognisedWeights("playground", known, open_settings={})

    @property
    def n_bytes(self) -> int:
        """Memory of the weights before and after training."""
        return 2 * sum(parameter.nbytes for parameter in self.network.parameters())

    def initial(self) -> Network:
        """Return the network before training."""
        return build_network(self.config, self.task, len(self.labels), self.recipe.seed).requires_grad_(False)


def from_trainer(trainer: Trainer) -> TrainedNetwork:
    """Return a copy of what a run has reached."""
    tensors = {name: tensor.detach().cpu().clone() for name, tensor in trainer.network.state_dict().items()}
    network = build_network(trainer.config, trainer.data.task, len(trainer.data.labels), None)
    fill_network(network, tensors)
    evaluation, cpu = trainer.history.at(trainer.kept_step), torch.device("cpu")
    measure = evaluation.validation if evaluation else evaluate(network, trainer.data.validation, trainer.recipe, cpu)
    results = Results(
        outcome=trainer.outcome or "cancelled",
        steps=trainer.step,
        kept_step=trainer.kept_step,
        baseline=trainer.data.baseline,
        validation_loss=measure.loss,
        validation_accuracy=measure.accuracy,
    )
    return _trained_network(trainer.recipe, trainer.config, network, trainer.data, results)


def fill_network(network: Network, tensors: Mapping[str, Tensor]) -> None:
    """Fill a network of shapes; WeightsError for a tensor that does not fit."""
    check_tensors(tensors, {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}, "network")
    wrong = first_not_finite(dict(tensors))
    if wrong is not None:
        raise WeightsError(f"{wrong} holds NaN or an infinite number.")
    network.load_state_dict(tensors, assign=True)
    network.requires_grad_(False)


def _trained_network(
    recipe: Recipe, config: ModelConfig, network: Network, data: Data, results: Results
) -> TrainedNetwork:
    tensors = network.state_dict()
    parts = [asdict(recipe), describe_config(config), list(tensors)]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
    for tensor in tensors.values():
        digest.update(tensor.contiguous().numpy().tobytes())
    key = f"trained-{digest.hexdigest()}"
    return TrainedNetwork(recipe, config, network, data.tokenizer, data.labels, data.example, results, key)


# --- its file


def save(trained: TrainedNetwork) -> bytes:
    """Write a safetensors file."""
    told = {name: asdict(vars(trained)[name]) for name in ("recipe", "results")}
    told["config"] = describe_config(trained.config)
    parts = {name: json.dumps(each, sort_keys=True) for name, each in told.items()}
    tensors = {name: tensor.clone() for name, tensor in trained.network.state_dict().items()}  # layers may share some
    return safetensors.torch.save(tensors, {"format": FORMAT if trained.has_initial else OTHER_WEIGHTS[-1], **parts})


def load(content: bytes, *, max_parameters: int) -> TrainedNetwork:
    """Read a file of `save`; WeightsError, RecipeError or TooLargeError if it is wrong."""
    tensors, metadata = read_tensors(content), read_metadata(content)
    recipe, config, results = read_description(metadata)
    if config.n_layers > len(tensors) or config.max_len > MAX_COMPUTED_POSITIONS:
        raise WeightsError(f"The file describes {config.n_layers:,} layers and {config.max_len:,} positions: too many.")
    check_budget(config, max_parameters)
    data = make_data(replace(recipe, n_train=1))  # the vocabulary and the validation set are the same with all of them
    if architecture(config, recipe, data) != config:
        raise WeightsError("The file's architecture has another vocabulary or other norms than its recipe makes.")
    if data.task.has_decoder:
        check_pair_budget(config, len(data.labels), max_parameters)
    network = build_network(config, data.task, len(data.labels), None)
    fill_network(network, tensors)
    trained = _trained_network(recipe, config, network, data, results)
    return replace(trained, has_initial=metadata["format"] == FORMAT)


def read_description(metadata: Mapping[str, str]) -> tuple[Recipe, ModelConfig, Results]:
    """Read a file's metadata; WeightsError says what is wrong."""
    if metadata.get("format") not in (FORMAT, *OTHER_WEIGHTS):
        raise WeightsError(
            f"This file was not saved by the Training page, as {FORMAT}. If it holds an encoder's weights, choose the "
            "weights `mine` in the sidebar to open it."
        )
    recipe, config, results = (
        _read_part(metadata, name, kind)
        for name, kind in (("recipe", Recipe), ("config", ModelConfig), ("results", Results))
    )
    return recipe, config, results


def _read_part(metadata: Mapping[str, str], name: str, kind: Any) -> Any:
    try:
        values = read_json(metadata[name])
        json.dumps(values, ensure_ascii=False).encode()  # half of a surrogate pair, which JSON can name, is no text
        values = {key: value for key, value in values.items() if key not in FORMER or value != FORMER[key]}
        if not all(_is_setting(key, value) for key, value in values.items()):
            raise ValueError
        return kind(**values)
    except ConfigError as error:
        raise WeightsError(f"The file's {name} makes no sense: {error}") from error
    except (KeyError, ValueError, AttributeError, TypeError) as error:  # missing, no JSON, no settings, unknown ones
        raise WeightsError(f"The file's {name} is damaged.") from error


def _is_setting(key: str, value: Any) -> bool:
    if isinstance(value, str):
        return key == "text" or re.fullmatch(r"[\w -]{1,40}", value) is not None
    return isinstance(value, int | float) and abs(value) < 10**12


def load_translator() -> TrainedNetwork:
    """Return the shipped translator."""
    return load(TRANSLATOR.read_bytes(), max_parameters=1_000_000)


# --- its run among others


def run_key(config: ModelConfig, recipe: Recipe) -> str:
    """Hash all that a run depends on."""
    parts = [FORMAT, describe_config(replace(config, dropout=0.0)), asdict(recipe) | FORMER]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


_NAME = re.compile("([0-9a-f]{32})(?:-([0-9]{1,5}))?")
"""Of a run in links; the share may be missing."""


def key_in(name: str) -> str:
    """Return the key in a run's name; empty if it is none."""
    match = _NAME.fullmatch(name)
    return match[1] if match else ""


def describe_origin(trained: TrainedNetwork, name: str) -> str:
    """Say if a link's network was stored, or was trained again and differs."""
    match, right = _NAME.fullmatch(name), trained.results.validation_accuracy
    told = ["It was trained on this server before."] if trained.origin == "stored" else []
    if match and match[2] and int(match[2]) != round(10_000 * right):
        told.append(f"It is right in {right:.2%}; the link's network was in {int(match[2]) / 10_000:.2%}.")
    return " ".join(told)
