"""An encoder of the small English with its head, its answers, and its file."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import safetensors.torch
import torch
from torch import Tensor

from playground.accounting import count_parameters
from playground.config import ModelConfig, NonNegativeInt, check_fields, describe_config
from playground.errors import ConfigError, InputError, WeightsError
from playground.language.capabilities import Example
from playground.language.text import IDS, LONGEST, MASK_ID, PAD_ID, VOCABULARY, encode, english_tokenizer
from playground.model import Encoder, causal_and_padding
from playground.text import Tokenizer
from playground.text.foreign_json import read_json
from playground.training.network import Tagger
from playground.training.trained_network import fill_network
from playground.weights import read_metadata, read_tensors

VERSION = "1"
"""Of language and recipe."""

_SMALL = ModelConfig(vocab_size=len(VOCABULARY), d_model=64, n_heads=4, n_layers=2, d_ff=128, max_len=64, dropout=0.0)
BASE = replace(_SMALL, positions="rotary", rotary_base=30, norm_placement="pre", final_norm=True, activation="gelu")
"""What every other one is compared with."""

MAX_PARAMETERS, MAX_LAYERS = 1_000_000, 48
"""Of a network trained on demand."""


@dataclass(frozen=True)
class Spec:
    """All that a network depends on, beside `VERSION`."""

    config: ModelConfig = BASE
    causal: bool = False
    seed: NonNegativeInt = 0
    """Of weights, text and order."""

    @property
    def key(self) -> str:
        """A name for files and caches."""
        return hashlib.sha256(self.describe().encode()).hexdigest()[:32]

    def describe(self) -> str:
        """All of it and the version, as JSON."""
        return json.dumps([VERSION, describe_config(self.config), self.causal, self.seed], sort_keys=True)

    @property
    def n_parameters(self) -> int:
        """Of encoder and head."""
        return count_parameters(self.config).total + (self.config.d_model + 1) * len(VOCABULARY)

    def build(self, *, initial: bool = True) -> Tagger:
        """The network before training; without `initial` its shapes."""
        return Tagger(self.config, len(VOCABULARY), self.seed if initial else None)

    def mask(self, is_token: Tensor) -> Tensor:
        """(B, T) → (B, 1 or T, T) bool, True = may attend."""
        return causal_and_padding(is_token) if self.causal else is_token[:, None]


def check_spec(spec: Spec) -> None:
    """Refuse what can't be trained here: a ConfigError, or an InputError for more than `MAX_PARAMETERS`."""
    check_fields(spec, ConfigError)
    if spec.config.vocab_size != len(VOCABULARY):
        reason = "is not the number of words of the small English"
        raise ConfigError("vocab_size", spec.config.vocab_size, reason, (len(VOCABULARY),))
    if spec.config.max_len < LONGEST:
        raise ConfigError("max_len", spec.config.max_len, "is shorter than the longest sentence", (LONGEST,))
    if spec.config.n_layers > MAX_LAYERS:
        raise ConfigError("n_layers", spec.config.n_layers, "is more than are trained here", (MAX_LAYERS,))
    if spec.n_parameters > MAX_PARAMETERS:
        raise InputError(
            f"The network has {spec.n_parameters:,} parameters, more than the {MAX_PARAMETERS:,} that are trained here."
        )


@dataclass(frozen=True, eq=False)
class EnglishNetwork:
    """A trained encoder with its head, in eval mode, without gradients."""

    spec: Spec
    network: Tagger
    shares: Mapping[str, float]
    """Right, of held-out sentences, by capability."""

    @property
    def encoder(self) -> Encoder:
        """The encoder alone."""
        return self.network.encoder

    @property
    def tokenizer(self) -> Tokenizer:
        """The language's tokenizer."""
        return english_tokenizer()

    @cached_property
    def n_bytes(self) -> int:
        """Memory that the weights take."""
        return sum(parameter.nbytes for parameter in self.network.parameters())

    @torch.inference_mode()
    def predict(self, text: str, n: int = 5) -> list[tuple[str, float]]:
        """Return the `n` likeliest words for the one [MASK], or InputError."""
        ids = self.tokenizer.encode_batch([text]).ids
        places = (ids[0] == MASK_ID).nonzero().flatten().tolist()
        if len(places) != 1:
            raise InputError(f"The sentence has {len(places)} masks; write [MASK] once, for the word to guess.")
        logits = self.network(ids, self.spec.mask(ids != PAD_ID))[0, places[0]]
        best = logits.softmax(-1).topk(n)
        return [(VOCABULARY[i], p) for p, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)]


def untrained(spec: Spec) -> EnglishNetwork:
    """The network with random weights; shipped ones began with an earlier generator."""
    return EnglishNetwork(spec, spec.build().eval().requires_grad_(False), {})


def score_hidden(network: Tagger, spec: Spec, ids: Tensor, places: Tensor) -> Tensor:
    """Every word's score at each sentence's masked place: ids (B, T), places (B,) → (B, C)."""
    rows = torch.arange(len(ids), device=ids.device)
    masked = ids.index_put((rows, places), torch.tensor(MASK_ID, device=ids.device))
    logits: Tensor = network(masked, spec.mask(masked != PAD_ID))[rows, places]
    return logits


@torch.inference_mode()
def share_right(network: Tagger, spec: Spec, examples: Sequence[Example]) -> float:
    """Share of sentences whose right word beats its other options."""
    ids, places = (tensor.to(network.head.weight.device) for tensor in encode(examples))
    logits = score_hidden(network, spec, ids, places).tolist()
    n_right = sum(
        all(row[IDS[example.answer]] > row[IDS[word]] for word in example.options if word != example.answer)
        for row, example in zip(logits, examples, strict=True)
    )
    return n_right / len(examples)


def save(trained: EnglishNetwork) -> bytes:
    """Write a safetensors file, weights as float16."""
    shares = json.dumps(dict(trained.shares))
    metadata = {"format": f"small-english-{VERSION}", "spec": trained.spec.describe(), "shares": shares}
    tensors = {name: tensor.half().contiguous().clone() for name, tensor in trained.network.state_dict().items()}
    return safetensors.torch.save(tensors, metadata)


def load(content: bytes, spec: Spec) -> EnglishNetwork:
    """Read a file of `save`; WeightsError if it is damaged or another's."""
    tensors, metadata = read_tensors(content), read_metadata(content)
    if metadata.get("format") != f"small-english-{VERSION}":
        raise WeightsError("The file is not a network of this version of the small English.")
    if metadata.get("spec") != spec.describe():
        raise WeightsError("The file is of another network of the small English.")
    try:
        shares = {str(name): float(share) for name, share in read_json(metadata["shares"]).items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WeightsError("The file's description makes no sense: the file is damaged.") from error
    network = spec.build(initial=False)
    fill_network(network, tensors)
    return EnglishNetwork(spec, network, shares)
