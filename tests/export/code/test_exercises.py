"""The exercises of a notebook: each check takes right answers, refuses wrong ones, and shows neither."""

import re
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
import torch

from playground import Encoder, ModelConfig
from playground.accounting import count_parameters
from playground.analysis.gradients import backward
from playground.export import as_notebook
from playground.presets import PRESETS
from playground.text.tokenizer import draw_vectors
from tests.export.code.test_python_file import SMALL
from tests.export.code.written import code_cells

TEXT = "this is an example sentence"

SHARES = """
def parameter_shares(model):
    sums = dict.fromkeys(["embeddings", "attention", "feed_forward", "norms"], 0)
    for name, parameter in model.named_parameters():
        norms, attention = "norm" in name, "attn" in name
        kind = "norms" if norms else "attention" if attention else "feed_forward" if "ffn" in name else "embeddings"
        sums[kind] += parameter.numel()
    return {kind: n / sum(sums.values()) for kind, n in sums.items()}
"""

POST_NORM = """
class DecoderBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.cross = (nn.MultiheadAttention(d_model, n_heads, batch_first=True) for _ in range(2))
        self.ffn = FeedForward()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x, memory):
        ahead = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        x = self.norm1(x + self.own(x, x, x, attn_mask=ahead)[0])
        x = self.norm2(x + self.cross(x, memory, memory)[0])
        return self.norm3(x + self.ffn(x))
"""
PRE_NORM = (
    POST_NORM[: POST_NORM.index("        x = self.norm1")]
    + """
        y = self.norm1(x)
        x = x + self.own(y, y, y, attn_mask=ahead)[0]
        x = x + self.cross(self.norm2(x), memory, memory)[0]
        return x + self.ffn(self.norm3(x))
"""
)
TORCHS_OWN = """
class DecoderBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.TransformerDecoderLayer(d_model, n_heads, d_ff, batch_first=True)

    def forward(self, x, memory):
        return self.block(x, memory, tgt_mask=nn.Transformer.generate_square_subsequent_mask(x.shape[1]))
"""
NO_NORMS = re.sub(r"self\.norm\d\((.*)\)$", r"\1", POST_NORM, flags=re.MULTILINE)
ONLY_CROSS = """
class DecoderBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(d_model, d_model)

    def forward(self, x, memory):
        return x + (self.q(x) @ memory.transpose(1, 2)).softmax(dim=-1) @ memory
"""
CROSS, OWN, FFN = "self.cross(x, memory, memory)[0]", "self.own(x, x, x, attn_mask=ahead)[0]", "self.ffn(x)"

LENGTHS = """
def gradient_lengths(model):
    model.zero_grad()
    loss_of(model).backward()
    return [
        sum(p.grad.square().sum() for p in layer.parameters() if p.grad is not None).sqrt().item()
        for layer in model.layers
    ]
"""
PLAIN = """
class PlainBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn, self.ffn = Attention(), FeedForward()

    def forward(self, x, *mask):
        attended, pattern = self.attn(x, *mask)
        return self.ffn(attended), pattern


class PlainEncoder(Encoder):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(PlainBlock() for _ in range(n_layers))
"""


class Notebook:
    """A notebook's cells, run once up to the exercises."""

    def __init__(self, notebook: str) -> None:
        *given, self._shares, self._check_1, _, self._check_2, gradients, self._check_3, _ = code_cells(notebook)
        self._loss = gradients[: gradients.index("def gradient_lengths")]
        self.checks = (self._check_1, self._check_2, self._check_3)
        self._names: dict[str, Any] = {}
        run("\n".join(given), self._names)

    def shares(self, answer: str) -> str:
        return run(answer + self._check_1, dict(self._names))

    def decoder(self, answer: str) -> str:
        return run(answer + self._check_2, dict(self._names))

    def gradients(self, lengths: str, plain: str) -> str:
        return run(self._loss + lengths + plain + self._check_3, dict(self._names))


def run(code: str, names: dict[str, Any]) -> str:
    """What code prints, run where these names are known."""
    with redirect_stdout(StringIO()) as printed:
        exec(code, names)
    return printed.getvalue()


def verdicts(printed: str) -> dict[str, bool]:
    """By what a check looks at: whether it is called right."""
    found = re.findall(r"^([\w -]+):.*?(not yet right|right)$", printed, re.MULTILINE)
    return {name: verdict == "right" for name, verdict in found}


@pytest.fixture(scope="module")
def notebook() -> Notebook:
    return Notebook(as_notebook(SMALL, text=TEXT))


VARIANTS: Mapping[str, tuple[ModelConfig, dict[str, Any]]] = {
    "small": (SMALL, {}),
    "many norms": (replace(SMALL, embedding_norm=True, final_norm=True, norm="rms", norm_placement="pre"), {}),
    "tutorial A's norm, fused": (replace(SMALL, norm="scalar", fused_qkv=True, n_layers=1), {}),
    "causal": (replace(SMALL, activation="gelu"), {"causal": True}),
    "padding": (SMALL, {"text": f"{TEXT}\nOne more line, and it is much longer than the first one."}),
    "raw vectors": (replace(SMALL, vocab_size=0, positions="none"), {"tokenizer": "vectors"}),
    "no norms": (replace(SMALL, norm="none", residual=False), {}),
    "narrow": (replace(SMALL, d_model=8, d_ff=8, n_heads=1), {}),
    "torch's weights": (replace(SMALL, initialisation="torch", d_model=64), {}),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", VARIANTS)
def test_right_answers_are_called_right(name: str) -> None:
    config, options = VARIANTS[name]
    notebook = Notebook(as_notebook(config, **({"text": TEXT} | options)))
    shares = verdicts(notebook.shares(SHARES))
    assert list(shares) == ["embeddings", "attention", "feed_forward", "norms"]
    assert all(shares.values())
    for answer in (POST_NORM, PRE_NORM, TORCHS_OWN):
        decoder = verdicts(notebook.decoder(answer))
        assert decoder.keys() >= {"hides later tokens", "reads earlier tokens", "attends to the memory", "feed-forward"}
        assert ("norms" in decoder) == (config.norm != "none")
        assert all(decoder.values()), decoder
    gradients = verdicts(notebook.gradients(LENGTHS, PLAIN))
    assert gradients == {"gradient_lengths": True, "PlainEncoder": True}


@pytest.mark.long
def test_the_trained_encoder_has_right_answers_too() -> None:
    notebook = Notebook(as_notebook(PRESETS["minilm-l6"].config, weights="minilm", text=TEXT))
    assert all(verdicts(notebook.shares(SHARES)).values())
    assert all(verdicts(notebook.decoder(POST_NORM)).values())
    assert all(verdicts(notebook.gradients(LENGTHS, PLAIN)).values())


WRONG_SHARES = {
    "norms count as what they stand on": (SHARES.replace('"norm" in name', "False"), {"embeddings", "norms"}),
    "counts": (SHARES.replace("n / sum(sums.values())", "n"), {"embeddings", "attention", "feed_forward", "norms"}),
    "percentages": (SHARES.replace("n / sum", "100 * n / sum"), {"embeddings", "attention", "feed_forward", "norms"}),
    "tensors, not numbers": (
        SHARES.replace("parameter.numel()", "1"), {"embeddings", "attention", "feed_forward", "norms"}
    ),
    "biases forgotten": (
        SHARES.replace("parameter.numel()", "parameter.numel() * (parameter.dim() > 1)"),
        {"embeddings", "attention", "feed_forward", "norms"},
    ),
    "the first layer's alone": (
        SHARES.replace("parameter.numel()", 'parameter.numel() * ("layers.1" not in name)'),
        {"embeddings", "attention", "feed_forward", "norms"},
    ),
    "two names swapped": (SHARES.replace('"attn" in name', '"ffn" in name').replace('if "ffn" in', 'if "attn" in'),
        {"attention", "feed_forward"}),
    "a name is missing": (SHARES.replace("in sums.items()}", 'in sums.items() if kind != "norms"}'), {"norms"}),
    "a number that is none": (SHARES.replace("n / sum", "math.nan * n / sum"),
        {"embeddings", "attention", "feed_forward", "norms"}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_SHARES)
def test_wrong_shares_are_called_wrong(notebook: Notebook, name: str) -> None:
    answer, wrong = WRONG_SHARES[name]
    found = verdicts(notebook.shares(answer))
    assert {component for component, is_right in found.items() if not is_right} == wrong


def test_a_share_is_right_however_its_last_digits_are_rounded(notebook: Notebook) -> None:
    counted = count_parameters(SMALL)
    share = counted.by(lambda term: term.component)["norms"] / counted.total

    def is_right(share: float) -> bool:
        answer = f"def parameter_shares(model):\n    return {{'norms': {share!r}}}\n"
        return verdicts(notebook.shares(answer))["norms"]

    assert all(is_right(share + change) for change in (-4.9e-7, -1e-12, 0, 1e-12, 4.9e-7))
    assert not is_right(share - 2e-6)
    assert not is_right(share + 2e-6)


WRONG_DECODERS = {
    "a softmax over the memory alone": (
        ONLY_CROSS, {"reads earlier tokens", "norms", "feed-forward"}
    ),
    "no mask": (POST_NORM.replace(", attn_mask=ahead", ""), {"hides later tokens"}),
    "a mask that hides nothing": (POST_NORM.replace("triu(1)", "triu(9)"), {"hides later tokens"}),
    "a mask that hides earlier tokens": (POST_NORM.replace("triu(1)", "tril(-1)"),
        {"hides later tokens", "reads earlier tokens"}),
    "a mask that hides the token itself": (POST_NORM.replace("triu(1)", "triu()"), set()),
    "no self-attention": (POST_NORM.replace(f"x + {OWN}", "x"), {"reads earlier tokens"}),
    "the token before, in place of attention": (
        POST_NORM.replace(OWN, "F.pad(x, (0, 0, 1, -1))"), {"reads earlier tokens"}
    ),
    "no cross-attention": (POST_NORM.replace(f"x + {CROSS}", "x"), {"attends to the memory"}),
    "a mean of the memory": (
        POST_NORM.replace(CROSS, "memory.mean(1, keepdim=True)"), {"attends to the memory"}
    ),
    "one token of the memory": (POST_NORM.replace(CROSS, "memory[:, :1]"), {"attends to the memory"}),
    "self-attention twice": (POST_NORM.replace(CROSS, OWN), {"attends to the memory"}),
    "no feed-forward": (POST_NORM.replace(f"x + {FFN}", "x"), {"feed-forward"}),
    "a feed-forward without activation": (POST_NORM.replace(FFN, "self.ffn.down(self.ffn.up(x))"), {"feed-forward"}),
    "no norms": (NO_NORMS, {"norms"}),
    "two norms": (POST_NORM.replace("self.norm2(x + self.cross(x, memory, memory)[0])", f"x + {CROSS}"), {"norms"}),
    "a norm at the end alone": (
        NO_NORMS.replace("return x + self.ffn(x)", "return self.norm3(x + self.ffn(x))"), {"norms"}
    ),
    "a pre-norm too few": (PRE_NORM.replace("self.ffn(self.norm3(x))", "self.ffn(x)"), {"norms"}),
    "gains that are no norms": (POST_NORM.replace("nn.LayerNorm(d_model)", "Gain()")
        + "\n\nclass Gain(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + "        self.gain = nn.Parameter(torch.ones(d_model))\n\n    def forward(self, x):\n"
        + "        return self.gain * x\n", {"norms"}),
    "a length too many": (POST_NORM.replace("return self.norm3(x + self.ffn(x))", "return self.ffn(x)[:, 1:]"),
        {"shape"}),
    "attention to other sentences": (
        POST_NORM.replace(OWN, "self.own(*[x.transpose(0, 1)] * 3)[0].transpose(0, 1)"), {"reads earlier tokens"}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_DECODERS)
def test_wrong_decoder_blocks_are_called_wrong(notebook: Notebook, name: str) -> None:
    answer, wrong = WRONG_DECODERS[name]
    assert answer not in (POST_NORM, PRE_NORM)
    found = {each for each, is_right in verdicts(notebook.decoder(answer)).items() if not is_right}
    assert found >= wrong
    assert found


WRONG_LENGTHS = {
    "squares": LENGTHS.replace(".sqrt()", ""),
    "gradients of earlier calls are still there": LENGTHS.replace("    model.zero_grad()\n", ""),
    "one tensor a layer": LENGTHS.replace("layer.parameters()", "list(layer.parameters())[:1]"),
    "a sum of lengths": LENGTHS.replace("p.grad.square().sum()", "p.grad.norm()").replace(".sqrt()", ""),
    "the last layer first": LENGTHS.replace("in model.layers", "in reversed(model.layers)")
    .replace("reversed(model.layers)", "[*model.layers][::-1]"),
    "another loss": LENGTHS.replace("loss_of(model)", "model(ids)[0].square().mean()"),
    "the parameters' own lengths": LENGTHS.replace("p.grad.square()", "p.square()"),
    "one layer too few": LENGTHS.replace("in model.layers", "in model.layers[1:]"),
    "means": LENGTHS.replace("p.grad.square().sum()", "p.grad.square().mean()").replace(".sqrt()", ".mul(2)"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_LENGTHS)
def test_wrong_gradient_lengths_are_called_wrong(notebook: Notebook, name: str) -> None:
    answer = WRONG_LENGTHS[name]
    assert answer != LENGTHS
    assert not verdicts(notebook.gradients(answer, PLAIN))["gradient_lengths"]


RESIDUAL_ATTENTION = ("attended, pattern = self.attn(x, *mask)", "attended, pattern = self.attn(x, *mask)[0] + x, x")
WRONG_ENCODERS = {
    "the encoder itself": PLAIN.replace("PlainBlock() for", "EncoderBlock() for"),
    "a residual connection around attention": PLAIN.replace(*RESIDUAL_ATTENTION),
    "a residual connection around the feed-forward": PLAIN.replace(
        "self.ffn(attended)", "attended + self.ffn(attended)"
    ),
    "residual connections between the blocks": PLAIN
    + "\n    def forward(self, ids):\n        x = self.embed(ids)\n        for layer in self.layers:\n"
    + "            x = x + layer(x)[0]\n        return x, []\n",
    "a norm without parameters before attention": PLAIN.replace(
        "self.attn(x, ", "self.attn(F.layer_norm(x, (d_model,)), "
    ),
    "a norm without parameters between": PLAIN.replace("ffn(attended)", "ffn(F.layer_norm(attended, (d_model,)))"),
    "a norm without parameters at the end": PLAIN.replace(
        "self.ffn(attended)", "F.layer_norm(self.ffn(attended), (d_model,))"
    ),
    "a norm with parameters": PLAIN.replace("FeedForward()", "FeedForward()\n        self.norm1 = LayerNorm()").replace(
        "self.ffn(attended)", "self.norm1(self.ffn(attended))"
    ),
    "a block too few": PLAIN.replace("range(n_layers)", "range(n_layers - 1)"),
    "one block again and again": PLAIN.replace("PlainBlock() for _ in range(n_layers)", "[PlainBlock()] * n_layers"),
    "no embeddings": PLAIN
    + "\n    def forward(self, ids):\n        x = self.embed.tokens(ids)\n"
    + "        for layer in self.layers:\n            x = layer(x)[0]\n        return x, []\n",
}


@pytest.mark.parametrize("name", WRONG_ENCODERS)
def test_wrong_plain_encoders_are_called_wrong(notebook: Notebook, name: str) -> None:
    answer = WRONG_ENCODERS[name]
    assert answer != PLAIN
    lengths = LENGTHS.replace("for layer in model.layers", "for layer in [*model.layers, *model.layers][:n_layers]")
    assert verdicts(notebook.gradients(lengths, answer)) == {"gradient_lengths": True, "PlainEncoder": False}


@pytest.mark.parametrize("name", ["small", "many norms", "causal", "raw vectors"])
def test_the_lengths_are_those_of_page_gradient_flow(name: str) -> None:
    config, options = VARIANTS[name]
    code = as_notebook(config, **({"text": TEXT} | options))
    printed = Notebook(code).gradients(LENGTHS, PLAIN)
    as_on_the_page = [float(number) for number in re.findall(r"^layer \d: (\S+) as on the page", printed, re.MULTILINE)]
    words = sorted(set(TEXT.split())) if options.get("tokenizer") == "vectors" else None
    ids = torch.tensor(words_as_ids(code) if words is None else [words.index(word) for word in TEXT.split()])
    vectors = None if words is None else draw_vectors(words, config.d_model, seed=0)
    flow = backward(Encoder(config, seed=0), ids, vectors=vectors, causal=options.get("causal", False))
    assert as_on_the_page == pytest.approx(flow.gradients["whole layer"], rel=6e-3)
    assert min(as_on_the_page) > 1e-3, "gradients, and no rounding noise"


def words_as_ids(notebook: str) -> list[int]:
    """The ids that a notebook writes down."""
    (written,) = re.findall(r"^ids = torch\.tensor\(\[\[([\d, ]+)\]\]\)", "\n".join(code_cells(notebook)), re.MULTILINE)
    return [int(number) for number in written.split(",")]


def test_no_check_shows_its_answer(notebook: Notebook) -> None:
    shares, decoder, gradients = notebook.checks
    assert not re.search(r"0\.\d{3}", shares)
    assert "numel" not in shares
    assert not re.search(r"class |Attention|softmax|triu\(1\)", decoder)
    assert not re.search(r"backward|autograd|\.grad\b|Attention\(|FeedForward\(|Block\(", gradients)
