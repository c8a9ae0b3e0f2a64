"""What a file's names and shapes tell about its model, what they leave open, and the encoder that comes of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from playground.config import ConfigError, ModelConfig, nearest_divisors
from playground.interop.loading import WeightsError, load_weights, respelled
from playground.interop.schemes import SCHEMES
from playground.model import Encoder, EncoderDecoder
from playground.presets import PRESETS

Shape = tuple[int, ...]

_LIKELY = {name: PRESETS[name].config if name in PRESETS else ModelConfig(vocab_size=0) for name in SCHEMES}
_LIKELY["bert"] = PRESETS["minilm-l6"].config

_OPEN = (
    "n_heads",
    "norm_placement",
    "norm_eps",
    "activation",
    "positions",
    "max_len",
    "scale_embeddings",
    "head_merge",
    "residual",
)
"""Fields that leave no trace in names and shapes, but for a table of positions."""

_OURS = {
    name: {theirs: ours for ours, names in scheme.names.items() for theirs in names} for name, scheme in SCHEMES.items()
}
"""Their name → ours, `{i}` standing for the layer, for each scheme."""


@dataclass(frozen=True)
class Recognised:
    """A file's naming scheme, and what is known of its encoder, by the fields of `ModelConfig`.

    Attributes:
        scheme: a key of `SCHEMES`.
        known: what the shapes tell; `vocab_size` is 0 where the file has no token table.
        asked: what they do not, each with what it mostly is in this scheme.
        tgt_vocab_size: words of the target language; 0 where there is no decoder.
    """

    scheme: str
    known: Mapping[str, Any]
    asked: Mapping[str, Any]
    tgt_vocab_size: int = 0

    def config(self, **answers: Any) -> ModelConfig:
        """The encoder's architecture; answers go before suggestions, and what is known before both.

        Raises:
            ConfigError: the answers do not fit what is known.
        """
        return ModelConfig(**{**self.asked, **answers, **self.known})


def recognise(header: Mapping[str, Shape]) -> Recognised:
    """Find the naming scheme of tensors, given as name → shape, and what they tell about the model.

    Raises:
        WeightsError: no scheme has these names, or the shapes describe no encoder.
    """
    scheme = _scheme_of(header)
    shapes, n_layers = _encoder_shapes(header, scheme)
    d_ff, d_model = _table(shapes, "layers.{i}.ffn.up.weight", scheme)
    if not d_model:
        raise WeightsError(
            f"{_their_name('layers.{i}.ffn.up.weight', scheme)} is missing; its shape tells d_ff and d_model."
        )
    known: dict[str, Any] = {
        "vocab_size": _table(shapes, "embed.tokens.weight", scheme)[0],
        "d_model": d_model,
        "n_layers": n_layers,
        "d_ff": d_ff,
        "norm": _norm(shapes, scheme, d_model),
        "final_norm": "final_norm.gain" in shapes,
        "embedding_norm": "embed.norm.gain" in shapes,
        "n_segments": _table(shapes, "embed.segments.weight", scheme)[0],
        "fused_qkv": SCHEMES[scheme].head_by_head,
    }
    computed = header.get(SCHEMES[scheme].position_table or "", ())
    if "embed.positions.weight" in shapes:
        known |= {"positions": "learned", "max_len": _table(shapes, "embed.positions.weight", scheme)[0]}
    elif len(computed) > 1:
        known["max_len"] = computed[-2]
    asked = {field: getattr(_LIKELY[scheme], field) for field in _OPEN if field not in known}
    return _checked(Recognised(scheme, known, asked, _target_words(header, scheme)))


def build_encoder(tensors: Mapping[str, Tensor], recognised: Recognised, config: ModelConfig, seed: int = 0) -> Encoder:
    """Make the encoder whose weights these are: of tutorial E the encoder half.

    Where the file has no token table but the config does, its rows are drawn from the seed.

    Raises:
        WeightsError: names the first tensor that is missing, of another shape, or one too many.
    """
    if recognised.scheme == "tutorial-e":
        both = EncoderDecoder(config, recognised.tgt_vocab_size, seed=None)
        load_weights(both, tensors, recognised.scheme)
        return both.encoder
    loaded = Encoder(replace(config, vocab_size=recognised.known["vocab_size"]), seed=None)
    load_weights(loaded, tensors, recognised.scheme)
    if loaded.config == config:
        return loaded
    encoder = Encoder(config, seed)
    encoder.load_state_dict(loaded.state_dict(), strict=False)
    return encoder


def _template(name: str) -> tuple[str, int | None]:
    """A foreign name with `{i}` for its layer, and the layer."""
    match = re.search(r"layers?\.([0-9]{1,9})\.", name)
    if match is None:
        return name, None
    return f"{name[: match.start(1)]}{{i}}{name[match.end(1) :]}", int(match[1])


def _scheme_of(header: Mapping[str, Shape]) -> str:
    """The scheme that knows the most of the names."""

    def n_known(scheme: str) -> int:
        return sum(_template(name)[0] in _OURS[scheme] for name in respelled(header, SCHEMES[scheme]))

    best = max(SCHEMES, key=n_known)
    if n_known(best) == 0:
        first = f", such as {next(iter(header))}," if header else ""
        raise WeightsError(
            f"These names{first} are of no model that is known here: the tutorials' encoders, "
            "torch.nn.TransformerEncoder, BERT, and the playground's own."
        )
    return best


def _encoder_shapes(header: Mapping[str, Shape], scheme: str) -> tuple[dict[str, Shape], int]:
    """Shapes by our name with `{i}`, of the first layer that has each, and how many layers there are."""
    shapes: dict[str, Shape] = {}
    layers = set()
    half = "encoder." if scheme == "tutorial-e" else ""
    for name, shape in respelled(header, SCHEMES[scheme]).items():
        template, layer = _template(name)
        ours = _OURS[scheme].get(template)
        if ours is not None and ours.startswith(half):
            shapes.setdefault(ours.removeprefix(half), shape)
            layers.add(layer)
    return shapes, len(layers - {None})


def _table(shapes: Mapping[str, Shape], ours: str, scheme: str) -> Shape:
    """The rows and columns of a matrix, (0, 0) where there is none."""
    shape = shapes.get(ours, (0, 0))
    if len(shape) != 2:
        raise WeightsError(f"{_their_name(ours, scheme)} has shape {shape}; a matrix is needed.")
    return shape


def _their_name(ours: str, scheme: str) -> str:
    names = SCHEMES[scheme].names
    return names[f"encoder.{ours}" if scheme == "tutorial-e" else ours][0].format(i=0)


def _norm(shapes: Mapping[str, Shape], scheme: str, d_model: int) -> str:
    """The kind of norm; only our own models may have none, or one without a bias."""
    gain = shapes.get("layers.{i}.norm1.gain")
    if scheme.startswith("playground"):
        if gain is None:
            return "none"
        if "layers.{i}.norm1.bias" not in shapes:
            return "rms"
    return "scalar" if gain == (1,) and d_model > 1 else "layer"


def _target_words(header: Mapping[str, Shape], scheme: str) -> int:
    """The words that tutorial E's decoder chooses from."""
    if scheme != "tutorial-e":
        return 0
    shape = header.get("decoder_embedding.weight", ())
    if len(shape) != 2 or shape[0] < 1:
        raise WeightsError("decoder_embedding.weight is missing or no matrix; its shape tells the target's vocabulary.")
    return shape[0]


def _checked(found: Recognised) -> Recognised:
    """The same with a number of heads that divides d_model, if the rest describes an encoder."""
    try:
        d_model = found.config(n_heads=1).d_model
        heads = found.asked["n_heads"]
        if d_model % heads:
            heads = nearest_divisors(d_model, heads)[0]
        found = replace(found, asked={**found.asked, "n_heads": heads})
        found.config()
    except ConfigError as error:
        raise WeightsError(f"These shapes describe no encoder: {error}") from error
    return found
