"""Sections from templates: explanation and code of one configuration alone."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from playground.config import ModelConfig
from playground.export.written import SEPARATOR, Section
from playground.model.positions import alibi_slopes

_ROOM = 70
"""Columns that a literal may take in one line."""

_PIECE = 100
"""Columns of a piece of a longer literal."""


def string_literal(text: str) -> str:
    """Return a string literal; a longer one in pieces, between parentheses."""
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
    """Return a literal in one line, in the quotes that take fewer escapes."""
    literal = repr(text)
    if literal[0] == '"' or text.count('"') > text.count("'"):
        return literal
    inside = literal[1:-1].replace("\\'", "'").replace('"', '\\"')
    return f'"{inside}"'


def string_list(texts: Sequence[str]) -> str:
    """Return a list of strings; a longer one in rows that the formatter leaves."""
    return _list([quote(text) for text in texts])


def number_list(numbers: Sequence[float], digits: int = 7) -> str:
    """Return a list of numbers, whole ones as they are."""
    return _list([str(x) if isinstance(x, int) else json.dumps(float(f"{x:.{digits}g}")) for x in numbers])


def id_tensor(ids: Sequence[int]) -> str:
    """Return a call that makes a tensor (1, T)."""
    written = number_list(ids)
    return f"torch.tensor([{written}])".replace("]  # fmt: skip])", "]])  # fmt: skip")


def build_call(name: str, settings: Any) -> str:
    """Return a call that makes an equal dataclass, with an argument a line."""
    arguments = _list_settings(settings)
    return "\n".join([f"{name}(", *(f"    {each}," for each in arguments), ")"]) if arguments else f"{name}()"


def _list_settings(config: Any) -> list[str]:
    return [
        f"{each.name}={json.dumps(value) if isinstance(value, str) else repr(value)}"
        for each in fields(config)
        if (value := getattr(config, each.name)) != each.default
    ]


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


_TEMPLATES = Path(__file__).resolve().parent / "templates"


_NORMS = {"layer": "LayerNorm", "scalar": "ScalarNorm", "rms": "RMSNorm", "none": ""}
_ACTIVATIONS = {
    "relu": "ReLU, max(0, x)",
    "gelu": "GELU, x Φ(x)",
    "gelu-tanh": "GELU, with Φ(x) by a hyperbolic tangent",
    "silu": "SiLU, x σ(x)",
}


_SECTIONS_BEFORE = {"minilm": ["trained_files"], "file": ["own_weights"]}
_SECTIONS_BEHIND = {"minilm": ["trained_weights"], "random": ["random_weights"]}
"""On the weights, before the tokens and behind the model."""


def list_sections(config: ModelConfig, weights: str) -> list[str]:
    """Return the sections of an encoder and its sentence, in order."""
    return [
        "numbers",
        *_SECTIONS_BEFORE.get(weights, []),
        "tokens",
        *(["norm"] if config.norm != "none" else []),
        *("attention", "feedforward", "block"),
        *(["embedding"] if has_embeddings(config) else []),
        "encoder",
        *_SECTIONS_BEHIND.get(weights, []),
        *("run", "proof"),
    ]


def has_embeddings(config: ModelConfig) -> bool:
    """Whether anything is done to what an encoder reads, before its first block."""
    has_norm = config.embedding_norm and config.norm != "none"
    has_tables = config.vocab_size or config.has_position_table or config.n_segments
    return bool(has_tables or has_norm or config.d_embedding)


def render_sections(names: list[str], values: Mapping[str, Any]) -> list[Section]:
    """Return the sections of these templates."""
    sections = []
    for name in names:
        prose, _, code = _environment().get_template(f"{name}.py.jinja").render(values).partition(SEPARATOR)
        title, _, explanation = prose.partition("\n")
        sections.append(Section(name, title.removeprefix("# "), explanation.strip(), code.strip("\n")))
    return sections


def architecture_values(config: ModelConfig, *, has_mask: bool) -> dict[str, Any]:
    """Return what templates of a model's parts read."""
    normed, is_grouped = config.norm != "none", config.kv_heads < config.n_heads
    has_tables = bool(config.vocab_size or config.n_segments or config.positions in ("learned", "relative"))
    width = "d_embedding" if config.d_embedding else "d_model"
    adds, mask = config.has_position_bias or config.window > 0, "mask" if has_mask else ""

    def before(norm: str, x: str) -> str:
        return f"self.{norm}({x})" if normed and config.norm_placement != "post" else x

    def after(norm: str, sublayer: str) -> str:
        if normed and config.norm_placement == "both":
            sublayer = f"self.post_{norm}({sublayer})"
        added = f"x + {sublayer}" if config.residual else sublayer
        return f"self.{norm}({added})" if normed and config.norm_placement == "post" else added

    return {
        **asdict(config),
        "config_lines": _list_settings(config),
        "d_head": config.head_width,
        "has_own_width": config.d_head > 0,
        "heads_width": "n_heads * d_head" if config.d_head else "d_model",
        "kv_heads": config.kv_heads,
        "projected_heads": "H or n_kv_heads" if is_grouped else "H",
        "projected_width": "(H or n_kv_heads) · d_head" if is_grouped else "H · d_head" if config.d_head else "d_model",
        "is_grouped": is_grouped,
        "qk_width": "d_model" if config.tied == "merged" else "d_head",
        "embedding_width": width,
        "table_width": "table_width" if config.position_join == "concatenate" else width,
        "has_position_table": config.has_position_table,
        "linear": lambda d_in, d_out: f"nn.Linear({d_in}, {d_out}{'' if config.bias else ', bias=False'})",
        "adds_to_scores": adds,
        "added_lines": _added_lines(config, has_mask=has_mask) if adds else "",
        "alibi_slopes": alibi_slopes(config.n_heads).tolist(),
        **_layer_values(config),
        "norm_class": _NORMS[config.norm],
        "activation_name": _ACTIVATIONS[config.activation],
        "activate": 'F.gelu({}, approximate="tanh")'.format
        if config.activation == "gelu-tanh"
        else f"F.{config.activation}({{}})".format,
        "has_embeddings": has_embeddings(config),
        "has_tables": has_tables,
        "embedding_lines": _embedding_lines(config) if has_embeddings(config) else [],
        "mask": mask,
        "block_mask": "added" if adds else mask,
        "before": before,
        "after": after,
    }


def _added_lines(config: ModelConfig, *, has_mask: bool) -> str:
    """What is added to every layer's scores, and within a window."""
    if config.positions == "alibi":
        lines = ["added = position_bias(x.shape[1])  # (H, T, T)"]
    elif config.positions == "relative":
        lines = ["added = self.relative(distance_buckets(x.shape[1])).permute(2, 0, 1)  # (H, T, T)"]
    else:
        lines = ["added = torch.zeros(x.shape[1], x.shape[1])"]
    if has_mask:
        lines.append("added = added.masked_fill(~mask, -math.inf)  # so that their share of the softmax is 0")
    if config.window:
        lines.append("places = torch.arange(x.shape[1])")
        lines.append("near = (places[:, None] - places).abs() <= window // 2")
        lines.append("within = added.masked_fill(~near, -math.inf)")
    return "\n".join(f"        {line}" for line in lines)


def _layer_values(config: ModelConfig) -> dict[str, Any]:
    """What blocks are built with: some differ by their layer."""
    bases = [config.rotary_base_of(i) for i in range(config.n_layers)] if config.positions == "rotary" else []
    norms = [config.has_norm1(i) for i in range(config.n_layers)]
    two_bases = len(set(bases)) > 1
    by_layer = two_bases or len(set(norms)) > 1
    local, everywhere = config.local_rotary_base, config.rotary_base
    base = f"{local:_} if layer % {config.global_every} else {everywhere:_}" if two_bases else ""

    new = f"{_NORMS[config.norm]}()"
    first = new if norms[-1] else "nn.Identity()"
    if by_layer and norms[-1] and not norms[0]:
        first = f"{new} if layer else nn.Identity()"
    lines = [f"self.norm1, self.norm2 = {new}, {new}"]
    if first != new:
        lines = [f"self.norm1 = {first}", f"self.norm2 = {new}"]
    if config.norm_placement == "both":
        lines.append(f"self.post_norm1, self.post_norm2 = {new}, {new}")
    each = "EncoderBlock(i) for i in" if by_layer else "EncoderBlock() for _ in"
    return {
        "two_bases": two_bases,
        "base": "self.base" if two_bases else f"{bases[0]:_}" if bases else "",
        "by_layer": by_layer,
        "base_of_layer": base,
        "block_norms": [] if config.norm == "none" else lines,
        "layers": "[EncoderBlock()] * n_layers" if config.share_layers else f"{each} range(n_layers)",
    }


def _embedding_lines(config: ModelConfig) -> list[str]:
    """What the embeddings do, a line a step; the last returns."""
    scale = " * math.sqrt(d_model)" if config.scale_embeddings else ""
    rows = "self.positions.weight" if config.positions == "learned" else "self.sinusoids"
    offset = config.position_offset if config.positions == "learned" else 0
    taken = f"{offset} : {offset} + x.shape[1]" if offset else ": x.shape[1]"
    width, joins = "d_embedding" if config.d_embedding else "d_model", config.position_join == "concatenate"
    join, shape = f"x + {rows}[{taken}]", f"(T, {width}), broadcast over sentences"
    if joins:
        join, shape = f"torch.cat([x, {rows}[{taken}].expand(len(x), -1, -1)], dim=-1)", f"(B, T, {width})"
    steps = {
        f"self.tokens(ids){scale}  # (B, T, {'table_width' if joins else width})": config.vocab_size > 0,
        f"{join}  # {shape}": config.has_position_table,
        "F.pad(x, (0, table_width))  # no positions": joins and not config.has_position_table,
        "x + self.segments.weight[0]  # a single sentence is segment 0 throughout": config.n_segments > 0,
        "self.norm(x)": config.embedding_norm and config.norm != "none",
        "self.project(x)": config.d_embedding > 0,
    }
    *before, last = (step for step, is_taken in steps.items() if is_taken)
    return [*(f"x = {step}" for step in before), f"return {last}"]


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(  # noqa: S701 - it writes Python, and every text goes through `string_literal`
        loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    filters = (string_literal, string_list, number_list, id_tensor)
    environment.filters |= {function.__name__: function for function in filters}
    return environment
