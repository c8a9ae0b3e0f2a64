"""Each stage of a walk as a formula, worked out in fp64 from what the model computed before it.

Legend: T tokens, H heads, D = d_model.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from playground.analysis import streams
from playground.analysis.walkthrough import ChangedPoint, Walk, change_point
from playground.config import ModelConfig
from playground.model.positions import alibi_slopes, distance_buckets
from playground.runs.arrays import Floats
from playground.text.wording import factor, number, sum_of_products


@dataclass(frozen=True)
class Step:
    """One stage, worked out."""

    formulas: tuple[str, ...]
    numbers: tuple[str, ...]
    by_hand: Floats
    """(1,) to (T,) or (D,)."""
    traced: Floats
    """What the model computed, before a change sets it; shaped as `by_hand`."""

    @property
    def off(self) -> float:
        """The largest difference of the two; infinities of one sign are equal."""
        with np.errstate(invalid="ignore"):
            return float(np.abs(np.where(self.by_hand == self.traced, 0, self.by_hand - self.traced)).max())


def work_out(walk: Walk, stage: str) -> Step:
    """Work out one stage."""
    with np.errstate(invalid="ignore", over="ignore"):  # what has left fp32's range is shown as such
        return _STEPS[stage](walk)


def _apply(walk: Walk, name: str, weight: Floats, x: Floats, bias: float) -> tuple[str, float]:
    result = float(weight.astype(np.float64) @ x + bias)
    return sum_of_products(name, weight, x, result, bias if walk.config.bias else None), result


def _embedding(walk: Walk) -> Step:
    config, learned, arrays = walk.config, walk.layer.learned, walk.layer.run.arrays
    x = arrays["embed.tokens"][walk.query].astype(np.float64)
    terms = {r"E_{\mathrm{id}}" if config.vocab_size else "v": number(x[0])}
    if config.vocab_size and config.scale_embeddings:
        root = rf"\sqrt{{{config.d_model}}} \cdot {factor(x[0] / math.sqrt(config.d_model))}"
        terms = {r"\sqrt{D}\, E_{\mathrm{id}}": root}
    positions, change = learned.get("embed.positions"), walk.layer.run.change("embed.sum")
    added = {
        "P_t": None if positions is None else positions[walk.query],
        "S_0": learned.get("embed.segments"),
        r"\Delta_t": None if change is None else change[walk.query],
    }
    for symbol, vector in added.items():
        if vector is not None:
            terms[symbol], x = factor(vector[0]), x + vector
    formulas = [f"x = {' + '.join(terms)}"]
    lines = [" = ".join(dict.fromkeys(("x_0", " + ".join(terms.values()), number(x[0]))))]  # one alone is its sum
    if config.embedding_norm:
        x, norm_formulas, norm_lines = _normalise(walk, "embed.norm", x.astype(np.float32))
        formulas, lines = [*formulas, *norm_formulas], [*lines, *norm_lines]
    traced = walk.layer.run.computed.get("embed.out", arrays["embed.out"])[walk.query]
    if config.d_embedding:
        line, y = _apply(walk, "x_0", learned["embed.project.weight"][0], x, learned["embed.project.bias"][0])
        formulas.append(r"x \leftarrow W_E\, x" + " + b_E" * config.bias)
        lines.append(line)
        x, traced = np.array([y]), traced[:1]
    return Step(tuple(formulas), tuple(lines), x, traced)


def _each_side(walk: Walk, names: str = "qk") -> Iterator[tuple[str, int, str]]:
    """Name, token, index in formulas."""
    for name in names:
        yield (name, walk.query, "t") if name == "q" else (name, walk.key, "j")


def _projections(walk: Walk) -> Step:
    learned, x, formulas, lines, results, traced = walk.layer.learned, walk.layer["attn.in"], [], [], [], []
    for name, token, index in _each_side(walk, "qkv"):
        traced.append(walk.projected(name)[token, 0])
        if name == "k" and walk.config.tied == "merged":
            formulas.append("k_j = x_j")
            lines.append(f"k_{{j,0}} = {number(x[token][0])}")
            results.append(x[token][0])
            continue
        weight, bias = learned[f"{name}.weight"][walk.head], learned[f"{name}.bias"][walk.head]
        line, result = _apply(walk, f"{name}_{{{index},0}}", weight, x[token], bias)
        lines.append(line)
        results.append(result)
        of = "V" if name == "v" else {"separate": name.upper(), "shared": "{QK}", "merged": "M"}[walk.config.tied]
        formulas.append(rf"{name}_{index} = W_{of}\, x_{index}".replace("W_M", "M") + rf" + b_{of}" * walk.config.bias)
    if walk.config.fused_qkv:
        head = f"^{{({walk.head})}}_{{QKV}}"
        formulas = [rf"[\, q_t \;;\; k_t \;;\; v_t \,] = W{head}\, x_t" + f" + b{head}" * walk.config.bias]
    return Step(tuple(formulas), tuple(lines), np.array(results), np.array(traced))


def _query_key_norm(walk: Walk) -> Step:
    learned, by_hand, traced, lines = walk.layer.learned, list[Floats](), list[Floats](), list[str]()
    for name, token, index in _each_side(walk):
        x, gain = walk.projected(name)[token].astype(np.float64), learned[f"{name}_norm.gain"]
        rms = math.sqrt(float((x * x).mean()) + walk.config.norm_eps)
        by_hand.append(gain * x / rms)
        traced.append(walk.normed(name)[token])
        fraction = rf"\frac{{{number(x[0])}}}{{{number(rms)}}}"
        lines.append(rf"{name}_{{{index},0}} = {factor(gain[0])} \cdot {fraction} = {number(by_hand[-1][0])}")
    root = r"\sqrt{\frac{1}{d_\text{head}} \sum_i %s_i^2 + \epsilon}"
    formulas = tuple(rf"{name}_i \leftarrow \gamma_i\, {name}_i \,/\, {root % name}" for name in "qk")
    return Step(formulas, tuple(lines), np.concatenate(by_hand), np.concatenate(traced))


def _rotation(walk: Walk) -> Step:
    by_hand, traced, lines = list[Floats](), list[Floats](), list[str]()
    for name, token, index in _each_side(walk):
        x = walk.normed(name)[token].astype(np.float64)
        first, second = np.split(x, 2)
        by_hand.append(walk.turn(x, token))
        traced.append(walk.layer.computed(f"attn.{name}")[walk.head, token])
        lines.append(
            rf"{name}_{{{index},0}} = {number(first[0])} \cdot \cos {token} - {factor(second[0])} \cdot \sin {token} = "
            f"{number(by_hand[-1][0])}"
        )
    width = "D" if walk.config.tied == "merged" else r"d_\text{head}"
    formulas = (
        r"x_{t,i} \leftarrow x_{t,i} \cos t\theta_i - x_{t,i+d/2} \sin t\theta_i",
        r"x_{t,i+d/2} \leftarrow x_{t,i+d/2} \cos t\theta_i + x_{t,i} \sin t\theta_i",
        rf"\theta_i = {walk.config.rotary_base_of(walk.layer.layer)}^{{-2i/d}}, \quad d = {width}",
    )
    return Step(formulas, tuple(lines), np.concatenate(by_hand), np.concatenate(traced))


def _position_bias(walk: Walk) -> Step:
    bias, scores = walk.position_bias(), walk.unmasked()
    distance, chosen = walk.key - walk.query, walk.key
    if walk.config.positions == "alibi":
        slope = float(alibi_slopes(walk.config.n_heads)[walk.head])
        formula = r"s_{t,j} \leftarrow s_{t,j} - m\, |t - j|"
        given = rf"b = -{number(slope)} \cdot {abs(distance)} = {number(bias[chosen])}"
    else:
        formula = r"s_{t,j} \leftarrow s_{t,j} + b_{\text{bucket}(j - t)}"
        sizes = walk.config.relative_buckets, walk.config.relative_distance
        bucket = int(distance_buckets(torch.tensor(distance), *sizes))
        given = rf"j - t = {distance} \text{{ is in bucket }} {bucket}: \quad b = {number(bias[chosen])}"
    line = rf"s_{{t,j}} = {number(walk.scaled()[chosen])} + {factor(bias[chosen])} = {number(scores[chosen])}"
    return Step((formula,), (given, line), scores[walk.allowed], walk.computed("attn.scores")[walk.allowed])


def _dot_products(walk: Walk) -> Step:
    products, q, k = walk.dot_products(), walk.of_query("attn.q"), walk.layer["attn.k"][walk.head, walk.key]
    traced = (walk.computed("attn.scores") - walk.position_bias()) * math.sqrt(walk.config.head_width)
    line = sum_of_products(r"q_t \cdot k_j", q, k, products[walk.key])
    formula = r"q_t \cdot k_j = \sum_i q_{t,i}\, k_{j,i}"
    return Step((formula,), (line,), products[walk.allowed], traced[walk.allowed])


def _scale(walk: Walk) -> Step:
    product, scaled, d_head = walk.dot_products()[walk.key], walk.scaled(), walk.config.head_width
    line = rf"s_{{t,j}} = \frac{{{number(product)}}}{{\sqrt{{{d_head}}}}} = {number(scaled[walk.key])}"
    formula = r"s_{t,j} = \frac{q_t \cdot k_j}{\sqrt{d_\text{head}}}"
    traced = walk.computed("attn.scores") - walk.position_bias()
    return Step((formula,), (line,), scaled[walk.allowed], traced[walk.allowed])


def _mask(walk: Walk) -> Step:
    scores = np.where(walk.allowed, walk.unmasked(), -np.inf)
    formula = r"s_{t,j} \leftarrow -\infty \quad \text{where } t \text{ may not attend to } j"
    line = rf"s_{{t,j}} = {number(scores[walk.key])}"
    return Step((formula,), (line,), scores, walk.computed("attn.scores"))


def _softmax(walk: Walk) -> Step:
    scores = walk.of_query("attn.scores").astype(np.float64)
    largest = scores.max()
    powers = np.exp(scores - largest)
    weights = powers / powers.sum()
    top = f"{number(scores[walk.key])} - {factor(largest)}"
    line = rf"a_{{t,j}} = \frac{{e^{{{top}}}}}{{{number(powers.sum())}}} = {number(weights[walk.key])}"
    formula = r"a_{t,j} = \frac{e^{s_{t,j} - m}}{\sum_i e^{s_{t,i} - m}}, \quad m = \max_i s_{t,i}"
    return Step((formula,), (line,), weights, walk.computed("attn.pattern"))


def _weighted_sum(walk: Walk) -> Step:
    weights, values = walk.of_query("attn.pattern").astype(np.float64), walk.layer["attn.v"][walk.head]
    z, heaviest = weights @ values, np.argsort(weights)[::-1]
    line = sum_of_products("z_{t,0}", weights[heaviest], values[heaviest, 0], z[0])
    return Step((r"z_t = \sum_j a_{t,j}\, v_j",), (line,), z, walk.computed("attn.z"))


def _merge(walk: Walk) -> Step:
    z, pieces = walk.layer["attn.z"], walk.pieces()
    merged = np.concatenate([z[head, token] for head, token in pieces])
    names = [rf"z^{{({head})}}_{{{token}}}" for head, token in pieces]
    shown = r" \;;\; ".join(names if len(names) <= 4 else [*names[:2], r"\dots", names[-1]])
    formula = r"c_t = [\, z^{(0)}_t \;;\; z^{(1)}_t \;;\; \dots \,]"
    if walk.config.head_merge == "reshape":
        formula = r"c = \mathrm{reshape}(z), \quad z: (H, T, d_\text{head}) \to c: (T, D)"
    line = rf"c_{{{walk.query}}} = [\, {shown} \,]"
    return Step((formula,), (line,), merged, walk.layer.merged[walk.query])


def _output_projection(walk: Walk) -> Step:
    learned, merged = walk.layer.learned, walk.layer.merged[walk.query]
    line, result = _apply(walk, "o_{t,0}", learned["o.weight"][0], merged, learned["o.bias"][0])
    formula = r"o_t = W_O\, c_t" + " + b_O" * walk.config.bias
    return Step((formula,), (line,), np.array([result]), walk.computed("attn.out")[:1])


def _residual(walk: Walk, name: str) -> Step:
    if name == "resid_mid":
        result, symbols, (stream, added) = "x'_t", ("x_t", "o_t"), walk.first_sum
    else:
        base = "y_t" if walk.config.norm_placement == "post" else "x'_t"
        result, symbols, (stream, added) = "x''_t", (base, "f_t"), walk.second_sum
    first = result.replace("_t", "_{t,0}")
    if not walk.config.residual:
        return Step((f"{result} = {symbols[1]}",), (f"{first} = {number(added[0])}",), added, walk.computed(name))
    summed = stream.astype(np.float64) + added
    line = f"{first} = {number(stream[0])} + {factor(added[0])} = {number(summed[0])}"
    return Step((f"{result} = {' + '.join(symbols)}",), (line,), summed, walk.computed(name))


def _norm(walk: Walk, name: str) -> Step:
    out, formulas, lines = _normalise(walk, name, walk.of_query(f"{name}.in"))
    return Step(formulas, lines, out, walk.of_query(f"{name}.out"))


def _normalise(walk: Walk, name: str, x: Floats) -> tuple[Floats, tuple[str, ...], tuple[str, ...]]:
    """A vector's norm, (D,), its formulas, and the same with numbers."""
    config, learned = walk.config, walk.layer.learned
    if config.norm == "none" or f"{name}.gain" not in learned:
        return x, ("y = x",), (f"y_0 = {number(x[0])}",)
    normalized, _ = streams.normalise_by_hand(x, config)
    gain, bias = learned[f"{name}.gain"], learned.get(f"{name}.bias")
    out = gain * normalized.astype(np.float64) + (0 if bias is None else bias)
    index = "" if config.norm == "scalar" else "_i"
    formula = rf"y_i = \gamma{index}\, \hat{{x}}_i" + ("" if bias is None else rf" + \beta{index}")
    line = sum_of_products("y_0", gain[:1], normalized[:1], out[0], None if bias is None else bias[0])
    return out, (streams.formula(config), formula), (streams.formula_with_numbers(x, config), line)


def _feed_forward(walk: Walk) -> Step:
    learned, x, hidden = walk.layer.learned, walk.of_query("ffn.in"), walk.of_query("ffn.hidden")
    definition, activate = _ACTIVATIONS[walk.config.activation]
    name, biased = rf"\mathrm{{{walk.config.activation}}}", walk.config.bias
    line, up = _apply(walk, "u_0", learned["up.weight"][0], x, learned["up.bias"][0])
    formulas, lines = [r"u = W_1\, y_t" + " + b_1" * biased], [line]
    results, traced = [up, activate(up)], [walk.of_query("ffn.up")[0], hidden[0]]
    if walk.config.gated:
        line, gate = _apply(walk, "g_0", learned["gate.weight"][0], x, learned["gate.bias"][0])
        formulas += [r"g = W_3\, y_t" + " + b_3" * biased, rf"h = {name}(u) \odot g, \quad {name}(u) = {definition}"]
        results, product = [up, gate, activate(up) * gate], activate(up) * gate
        traced.insert(1, walk.of_query("ffn.gate")[0])
        lines += [line, rf"h_0 = {name}({number(up)}) \cdot {factor(gate)} = {number(product)}"]
    else:
        formulas.append(rf"h = {name}(u) = {definition}")
        lines.append(f"h_0 = {name}({number(up)}) = {number(activate(up))}")
    line, down = _apply(walk, "f_{t,0}", learned["down.weight"][0], hidden, learned["down.bias"][0])
    formulas.append(r"f_t = W_2\, h" + " + b_2" * biased)
    by_hand, computed = np.array([*results, down]), np.array([*traced, walk.computed("ffn.out")[0]])
    return Step(tuple(formulas), (*lines, line), by_hand, computed)


_ACTIVATIONS: dict[str, tuple[str, Callable[[float], float]]] = {
    "relu": (r"\max(0, u)", lambda u: float(np.maximum(0, u))),
    "gelu": (r"u\, \Phi(u)", lambda u: u * (1 + math.erf(u / math.sqrt(2))) / 2),
    "gelu-tanh": (
        r"\tfrac{1}{2} u\, (1 + \tanh(\sqrt{2 / \pi}\, (u + 0.044715\, u^3)))",
        lambda u: u * (1 + math.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u**3))) / 2,
    ),
    "silu": (r"u\, \sigma(u)", lambda u: u / (1 + float(np.exp(-u)))),
}

_STEPS: dict[str, Callable[[Walk], Step]] = {
    "embedding": _embedding,
    "projections": _projections,
    "norm of q and k": _query_key_norm,
    "rotation": _rotation,
    "dot products": _dot_products,
    "scale": _scale,
    "distance bias": _position_bias,
    "mask": _mask,
    "softmax": _softmax,
    "weighted sum": _weighted_sum,
    "merge": _merge,
    "output projection": _output_projection,
    "norm after attention": partial(_norm, name="post_norm1"),
    "first residual": partial(_residual, name="resid_mid"),
    "first norm": partial(_norm, name="norm1"),
    "feed-forward": _feed_forward,
    "norm after feed-forward": partial(_norm, name="post_norm2"),
    "second residual": partial(_residual, name="resid_post"),
    "second norm": partial(_norm, name="norm2"),
}

STAGES = tuple(_STEPS)


def order(config: ModelConfig) -> tuple[str, ...]:
    """Return the stages in the order in which an architecture computes them."""
    has = {
        "norm of q and k": config.qk_norm,
        "rotation": config.positions == "rotary",
        "distance bias": config.has_position_bias,
        "norm after attention": config.norm_placement == "both",
        "norm after feed-forward": config.norm_placement == "both",
    }
    stages = [stage for stage in STAGES if has.get(stage, True)]
    if config.norm_placement != "post":
        stages = [stage for stage in stages if not stage.endswith(" norm")]
        stages.insert(stages.index("projections"), "first norm")
        stages.insert(stages.index("feed-forward"), "second norm")
    return tuple(stages)


def tutorial_b(config: ModelConfig) -> tuple[str, ...]:
    """Return the stages in tutorial B's order: from attention outwards."""
    attention = ("dot products", "scale", "mask", "softmax", "weighted sum")
    inner = (*attention, "projections", "merge", "output projection", "embedding")
    return (*inner, *(stage for stage in order(config) if stage not in inner))


# --- where changes set other numbers

_POINTS = {
    "embedding": (("embed.sum", "x_t"), ("embed.out", "x_t")),
    "projections": (("attn.v", "v_j"),),
    "mask": (("attn.scores", "s_{t,j}"),),
    "softmax": (("attn.pattern", "a_{t,j}"),),
    "weighted sum": (("attn.z", "z_t"),),
    "output projection": (("attn.out", "o_t"),),
    "first residual": (("resid_mid", "x'_t"),),
    "feed-forward": (("ffn.out", "f_t"),),
}
"""Points that a change may set after a stage, with their symbols."""

_MEETING = (("attn.q", "q_t"), ("attn.k", "k_j"))

_LAST = (("out", "y_t"),)


def list_changed_points(walk: Walk, stage: str) -> list[ChangedPoint]:
    """Return where changes set numbers of this walk after a stage."""
    stages = order(walk.config)
    points = _POINTS.get(stage, ()) + (_LAST if stage == stages[-1] else ())
    met = next(each for each in ("rotation", "norm of q and k", "projections") if each in stages)
    points = (_MEETING if stage == met else ()) + points
    found = (change_point(walk, point, symbol) for point, symbol in points)
    return [each for each in found if each is not None]
