"""What a training run leaves behind: a network for every page, and its file, which a stranger may have written."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any, Literal

import safetensors.torch
import torch
from torch import Tensor

from playground.config import ModelConfig, check_fields
from playground.errors import ConfigError, WeightsError
from playground.model import Encoder
from playground.runs.budget import check_budget, check_pair_budget
from playground.text import Tokenizer
from playground.text.foreign_json import read_json
from playground.text.wording import quote_text
from playground.training.network import Network, build_network, count_network, evaluate
from playground.training.recipe import FORMER, Recipe, architecture
from playground.training.tasks import TASKS, Data, Task, make_data
from playground.training.trainer import Trainer
from playground.weights import first_not_finite, read_metadata, read_tensors
from playground.weights.load import check_tensors
from playground.weights.recognise import MAX_COMPUTED_POSITIONS, RecognisedWeights

FORMAT = "playground-trained-3"
"""Which parts there are, and what they mean."""

OTHER_WEIGHTS = ("playground-trained-1", "playground-trained-2")
"""Formats of files whose seed gives other initial weights now."""

AT_FIRST = {
    "recipe": (
        *("task", "text", "length", "n_symbols", "n_train", "n_validation", "seed", "steps", "batch_size"),
        *("optimizer", "schedule", "lr", "warmup", "dropout_attention", "dropout_feedforward", "dropout_residual"),
        *("dropout_positions", "mask_padding", "causal", "weight_decay", "layer_norm", "label_smoothing", "patience"),
        *("token_masking", "clip", "distill", "temperature"),
    ),
    "config": (
        *("vocab_size", "d_model", "n_heads", "n_layers", "d_ff", "max_len", "dropout", "norm_placement", "norm"),
        *("norm_eps", "final_norm", "activation", "positions", "scale_embeddings", "embedding_norm", "n_segments"),
        *("fused_qkv", "head_merge", "residual"),
    ),
}
"""By part: fields of every file; later ones have defaults."""

RunOutcome = Literal["finished", "stopped early", "diverged", "cancelled"]
Steps = Annotated[int, (0, 10**9)]
Share = Annotated[float, (0, 1)]
Loss = Annotated[float, (0, 10**12)]


@dataclass(frozen=True)
class Results:
    """How a run went, in small numbers."""

    outcome: RunOutcome
    steps: Steps
    """Optimisation steps done."""
    kept_step: Steps
    """The step whose weights were kept."""
    baseline: Share
    validation_loss: Loss
    """In nats."""
    validation_accuracy: Share

    def __post_init__(self) -> None:
        check_fields(self, ConfigError)


def write_description(
    recipe: Recipe, config: ModelConfig, results: Results, *, has_initial: bool = True
) -> dict[str, str]:
    """The metadata of a file."""
    parts = {"recipe": asdict(recipe), "config": asdict(config), "results": asdict(results)}
    written = FORMAT if has_initial else OTHER_WEIGHTS[-1]
    return {"format": written, **{name: json.dumps(part, sort_keys=True) for name, part in parts.items()}}


def read_description(metadata: Mapping[str, str]) -> tuple[Recipe, ModelConfig, Results]:
    """Read a file's metadata, each part checked alone; WeightsError says what is wrong."""
    if "format" not in metadata:
        raise WeightsError(
            "This file was not saved by the Training page: it has weights but no recipe. Choose the weights `mine` in "
            "the sidebar to open it."
        )
    if metadata["format"] not in (FORMAT, *OTHER_WEIGHTS):
        raise WeightsError(
            f"This file says that it is {quote_text(metadata['format'])}; "
            f"this version of the playground reads {FORMAT}."
        )
    return (
        _read_part(metadata, "recipe", Recipe),
        _read_part(metadata, "config", ModelConfig),
        _read_part(metadata, "results", Results),
    )


def _read_part(metadata: Mapping[str, str], name: str, kind: Any) -> Any:
    try:
        values = read_json(metadata[name])
        json.dumps(values, ensure_ascii=False).encode()
    except KeyError:
        raise WeightsError(f"The file's description has no {name}: the file is damaged.") from None
    except UnicodeEncodeError as error:  # JSON can name half of a surrogate pair, which no text may hold
        raise WeightsError(f"The file's {name} holds half a character: the file is damaged.") from error
    except ValueError as error:  # not JSONDecodeError alone: `int` refuses a number of 4,301 digits
        raise WeightsError(f"The file's {name} is not valid JSON: the file is damaged.") from error
    if not isinstance(values, dict):
        raise WeightsError(f"The file's {name} is not a list of settings: the file is damaged.")
    known = [field.name for field in fields(kind)]
    values = {key: value for key, value in values.items() if key not in FORMER or value != FORMER[key]}
    for key, value in values.items():
        if key not in known:
            raise WeightsError(f"The file's {name} has a setting {quote_text(key)}, which is not known here.")
        if not _is_setting(key, value):
            shown = quote_text(str(value)[:100])
            raise WeightsError(f"The file's {name} says {key}={shown}, which is no setting.")
    missing = next((key for key in AT_FIRST.get(name, known) if key not in values), None)
    if missing is not None:
        raise WeightsError(f"The file's {name} does not say {missing}.")
    try:
        return kind(**values)
    except ConfigError as error:
        part = {"config": "architecture", "results": "list of results"}.get(name, name)
        raise WeightsError(f"The file's {part} makes no sense: {error}") from error


def _is_setting(key: str, value: Any) -> bool:
    if isinstance(value, str):
        return key == "text" or re.fullmatch(r"[\w -]{1,40}", value) is not None
    return isinstance(value, int | float) and abs(value) < 10**12


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A trained network, in eval mode, without gradients."""

    recipe: Recipe
    config: ModelConfig
    """The architecture, with the task's vocabulary."""
    network: Network
    """An encoder with a head, or an encoder–decoder."""
    tokenizer: Tokenizer
    labels: tuple[str, ...]
    """What each class is called."""
    example: str
    """A validation sequence as text."""
    results: Results
    key: str
    """A hash of recipe, architecture and weights."""
    has_initial: bool = True
    """Whether its seed gives its initial weights."""

    @property
    def task(self) -> Task:
        """What it has learnt."""
        return TASKS[self.recipe.task]

    @property
    def encoder(self) -> Encoder:
        """The encoder, or the encoder half."""
        return self.network.encoder

    @property
    def initial_key(self) -> str:
        """The same before training."""
        return self.key.replace("trained-", "initial-")

    @property
    def recognised(self) -> RecognisedWeights:
        """Its shape and seed, as an upload has them."""
        known = asdict(self.config) | {"seed": self.recipe.seed}
        if self.task.predicts_next:
            known["causal"] = self.recipe.causal
        return RecognisedWeights("playground", known, open_settings={})

    @property
    def n_bytes(self) -> int:
        """Memory of both sets of weights."""
        return 2 * sum(parameter.nbytes for parameter in self.network.parameters())

    def initial(self) -> Network:
        """The network before training."""
        return build_network(self.config, self.task, len(self.labels), self.recipe.seed).requires_grad_(False)


def from_trainer(trainer: Trainer) -> TrainedNetwork:
    """A copy of what a run has reached."""
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


def save(trained: TrainedNetwork) -> bytes:
    """Write a safetensors file."""
    metadata = write_description(trained.recipe, trained.config, trained.results, has_initial=trained.has_initial)
    tensors = {name: tensor.clone() for name, tensor in trained.network.state_dict().items()}  # layers may share some
    return safetensors.torch.save(tensors, metadata)


def load(content: bytes, *, max_parameters: int) -> TrainedNetwork:
    """Read a file of `save`; all is checked first.

    Raises:
        WeightsError: the file is damaged, of another kind, or does not fit itself.
        RecipeError: its recipe does not fit its architecture.
        TooLargeError: it has more than `max_parameters`.
    """
    tensors = read_tensors(content)
    metadata = read_metadata(content)
    recipe, config, results = read_description(metadata)
    if config.n_layers > len(tensors) or config.max_len > MAX_COMPUTED_POSITIONS:
        raise WeightsError(
            f"The file describes {config.n_layers:,} layers and {config.max_len:,} positions; it holds "
            f"{len(tensors):,} tensors, and {MAX_COMPUTED_POSITIONS:,} positions are the most."
        )
    check_budget(config, max_parameters)
    data = make_data(replace(recipe, n_train=1))  # the vocabulary and the validation set are the same with all of them
    if architecture(config, recipe, data) != config:
        norms = "" if recipe.layer_norm else " and no norms"
        raise WeightsError(
            f"The file's recipe makes a vocabulary of {data.tokenizer.vocab_size} tokens{norms}; its architecture has "
            f"{config.vocab_size:,}, and the norms “{config.norm}”."
        )
    n_classes, n_in_file = len(data.labels), sum(tensor.numel() for tensor in tensors.values())
    if data.task.has_decoder:
        check_pair_budget(config, n_classes, max_parameters)
    needed = count_network(config, data.task, n_classes)
    if n_in_file != needed:
        raise WeightsError(f"The file describes a network of {needed:,} parameters, and holds {n_in_file:,}.")
    network = build_network(config, data.task, n_classes, None)
    fill_network(network, tensors)
    trained = _trained_network(recipe, config, network, data, results)
    return replace(trained, has_initial=metadata["format"] == FORMAT)


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
    digest = hashlib.sha256(json.dumps([asdict(recipe), asdict(config), list(tensors)], sort_keys=True).encode())
    for tensor in tensors.values():
        digest.update(tensor.contiguous().numpy().tobytes())
    key = f"trained-{digest.hexdigest()}"
    return TrainedNetwork(recipe, config, network, data.tokenizer, data.labels, data.example, results, key)
