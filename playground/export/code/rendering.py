"""Sections from templates: explanation and code of one configuration alone."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from playground.accounting import count_parameters
from playground.accounting.counts import Component
from playground.config import ModelConfig
from playground.export.code.export import SEPARATOR, Section
from playground.export.code.shown import ShownEncoder
from playground.training.recipe import Recipe
from playground.weights import checkpoint

LINE_LENGTH = 120
_ROOM = 70
"""Columns that a literal may take in one line, beside what stands before and after it."""

_PIECE = 100
"""Columns of a line that holds a piece of a longer literal."""


def string_literal(text: str) -> str:
    """A string; a longer one in several pieces, between parentheses."""
    if len(quote(text)) <= _ROOM:
        return quote(text)
    pieces = []
    while text:
        n = next(n for n in range(min(_PIECE, len(text)), 0, -1) if len(quote(text[:n])) <= _PIECE)
        blank = text.rfind(" ", n // 2, n) + 1 if n < len(text) else 0
        pieces.append(text[: blank or n])
        text = text[blank or n :]
    return "\n".join(["(", *(f"    {quote(piece)}" for piece in pieces), ")"])


def quote(text: str) -> str:
    """A string in one line: in double quotes, or in single ones where that takes fewer escapes."""
    mark = "'" if text.count('"') > text.count("'") else '"'
    return mark + "".join(_escape(character, mark) for character in text) + mark


def string_list(texts: Sequence[str]) -> str:
    """A list of strings; a longer one in rows that the formatter is told to leave."""
    return _list([quote(text) for text in texts])


def number_list(numbers: Sequence[float], digits: int = 7) -> str:
    """A list of numbers, whole ones as they are and others with so many digits."""
    return _list([str(x) if isinstance(x, int) else json.dumps(float(f"{x:.{digits}g}")) for x in numbers])


def id_tensor(ids: Sequence[int]) -> str:
    """A call that makes a tensor (1, T) of ids."""
    written = number_list(ids)
    return f"torch.tensor([{written}])".replace("]  # fmt: skip])", "]])  # fmt: skip").replace("([[\n", "([[\n")


def _list(items: Sequence[str]) -> str:
    in_one_line = f"[{', '.join(items)}]"
    if len(in_one_line) <= _ROOM:
        return in_one_line
    rows = [""]
    for item in items:
        if rows[-1] and len(rows[-1]) + len(item) > _PIECE:
            rows.append("")
        rows[-1] += f" {item}," if rows[-1] else f"{item},"
    return "\n".join(["[", *(f"    {row}" for row in rows), "]  # fmt: skip"])


def _escape(character: str, mark: str) -> str:
    if character in ("\\", mark):
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_TEMPLATES = Path(__file__).resolve().parent / "templates"


_NORMS = {"layer": "LayerNorm", "scalar": "ScalarNorm", "rms": "RMSNorm", "none": ""}
_ACTIVATIONS = {"relu": "ReLU, max(0, x)", "gelu": "GELU, x Φ(x)", "silu": "SiLU, x σ(x)"}


_SECTIONS_BEFORE = {"minilm": ["trained_files"], "file": ["own_weights"]}
_SECTIONS_BEHIND = {"minilm": ["trained_weights"], "random": ["random_weights"]}
"""Sections on the weights, before the tokens and behind the model."""


def encoder_sections(shown: ShownEncoder) -> list[Section]:
    """The sections of an encoder and its sentence, in the order in which their code runs."""
    config = shown.config
    names = [
        "numbers",
        *_SECTIONS_BEFORE.get(shown.weights, []),
        "tokens",
        *(["norm"] if config.norm != "none" else []),
        "attention",
        "feedforward",
        "block",
        *(["embedding"] if has_embeddings(config) else []),
        "encoder",
        *_SECTIONS_BEHIND.get(shown.weights, []),
        "run",
        "proof",
    ]
    return list(render_sections(names, _encoder_values(shown)))


def exercise_sections(shown: ShownEncoder) -> list[Section]:
    """Tutorial D's three exercises on this encoder, each with its check, and another encoder beside it."""
    names = ["exercise_shares", "exercise_decoder", "exercise_gradients", "another_encoder"]
    return list(render_sections(names, _encoder_values(shown)))


def _list_settings(config: ModelConfig) -> list[str]:
    """The arguments that make a config, without those that are as they are anyway."""
    return [
        f"{each.name}={json.dumps(value) if isinstance(value, str) else repr(value)}"
        for each in fields(config)
        if (value := getattr(config, each.name)) != each.default
    ]


def has_embeddings(config: ModelConfig) -> bool:
    """Whether anything is done to what an encoder reads, before its first block."""
    has_norm = config.embedding_norm and config.norm != "none"
    return bool(config.vocab_size or config.positions != "none" or config.n_segments or has_norm)


def render_sections(names: list[str], values: Mapping[str, Any]) -> Iterator[Section]:
    """The sections of these templates, filled in with values."""
    for name in names:
        text = _environment().get_template(f"{name}.py.jinja").render(values)
        prose, _, code = text.partition(SEPARATOR)
        title, _, explanation = prose.partition("\n")
        yield Section(name, title.removeprefix("# "), explanation.strip(), code.strip("\n"))


@dataclass(frozen=True)
class MaskArgument:
    """How a function takes a mask: its parameter, and what its caller writes."""

    param: str
    arg: str
    is_optional: bool = False


NO_MASK = MaskArgument("", "")
MASK = MaskArgument(", mask: Tensor", ", mask")
OPTIONAL_MASK = MaskArgument(", mask: Tensor | None = None", ", mask", is_optional=True)


def architecture_values(
    config: ModelConfig,
    *,
    mask: MaskArgument,
    attention_mask: MaskArgument | None = None,
    recipe: Recipe | None = None,
) -> dict[str, Any]:
    """What templates of a model's parts read: how encoders take a mask, and attention, where that is another way."""
    noise, dropout = (recipe.noise, recipe.dropout_positions) if recipe else (0.0, 0.0)
    normed = config.norm != "none"
    has_tables = bool(config.vocab_size or config.n_segments or config.positions == "learned")

    def before(norm: str, x: str) -> str:
        return f"self.{norm}({x})" if normed and config.norm_placement == "pre" else x

    def after(norm: str, sublayer: str) -> str:
        added = f"x + {sublayer}" if config.residual else sublayer
        return f"self.{norm}({added})" if normed and config.norm_placement == "post" else added

    return {
        **asdict(config),
        "config_lines": _list_settings(config),
        "d_head": config.d_head,
        "norm_class": _NORMS[config.norm],
        "activation_name": _ACTIVATIONS[config.activation],
        "activation_call": f"F.{config.activation}",
        "has_embeddings": has_embeddings(config),
        "has_tables": has_tables,
        "has_normal": config.initialisation == "torch" and has_tables,
        "embedding_lines": _embedding_lines(config, noise, dropout) if has_embeddings(config) else [],
        "mask": mask,
        "attention_mask": attention_mask or mask,
        "has_memory": False,
        "has_two_tables": False,
        "has_halves": False,
        "recipe": recipe,
        "dropped": lambda place: recipe is not None and vars(recipe)[f"dropout_{place}"] > 0,
        "before": before,
        "after": after,
    }


def _embedding_lines(config: ModelConfig, noise: float, dropout: float) -> list[str]:
    """What the embeddings do, a line a step; the last returns."""
    scale = " * math.sqrt(d_model)" if config.scale_embeddings else ""
    rows = "self.positions.weight" if config.positions == "learned" else "self.sinusoids"
    steps = {
        f"self.tokens(ids){scale}  # (B, T, d_model)": config.vocab_size > 0,
        f"x + {rows}[: x.shape[1]]  # (T, d_model), broadcast over sentences": config.positions != "none",
        "x + self.segments.weight[0]  # a single sentence is segment 0 throughout": config.n_segments > 0,
        "self.norm(x)": config.embedding_norm and config.norm != "none",
        f"add_noise(x, {noise})": noise > 0,
        f'dropout(x, {dropout}, "positions")': dropout > 0,
    }
    *before, last = (step for step, is_taken in steps.items() if is_taken)
    return [*(f"x = {step}" for step in before), f"return {last}"]


def _share_hashes(config: ModelConfig, salt: str) -> dict[str, str]:
    """Hashes of each component's share of the parameters, in millionths, as the notebook's check makes them."""
    counted = count_parameters(config)
    sums = counted.by(lambda term: term.component)
    millionths = {name: round(sums.get(name, 0) / counted.total * 1e6) for name in get_args(Component)}
    return {name: sha256(f"{salt} {name} {n}".encode()).hexdigest() for name, n in millionths.items()}


def _encoder_values(shown: ShownEncoder) -> dict[str, Any]:
    has_mask = shown.causal or shown.n_padding > 0
    salt = sha256(repr(shown.config).encode()).hexdigest()[:8]
    return {
        **architecture_values(shown.config, mask=MASK if has_mask else NO_MASK),
        "seed": shown.seed,
        "weights": shown.weights,
        "minilm": {
            "package": checkpoint.MINILM_PACKAGE,
            "requirement": checkpoint.MINILM_REQUIREMENT,
            "sha256": {name: checkpoint.MINILM_SHA256[name] for name in (checkpoint.WEIGHTS, checkpoint.VOCABULARY)},
        },
        "text": shown.text,
        "tokenizer": shown.tokenizer,
        "tokens": shown.tokens,
        "n_tokens": len(shown.tokens),
        "ids": shown.ids,
        "width": shown.width,
        "n_padding": shown.n_padding,
        "n_cut": shown.n_cut,
        "pad_id": shown.ids[-1],
        "causal": shown.causal,
        "focus": shown.place,
        "expected": shown.expected,
        **(shown.own_weights.values if shown.own_weights else {}),
        "share_salt": salt,
        "share_hashes": _share_hashes(shown.config, salt),
        "n_parameters": f"{count_parameters(shown.config).total:_}",
    }


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(  # noqa: S701 - it writes Python, and every text of a visitor goes through `literals`
        loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    filters = (string_literal, string_list, number_list, id_tensor)
    environment.filters |= {function.__name__: function for function in filters}
    return environment
