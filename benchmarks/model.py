"""The model beside torch's own: the same weights, the same numbers, how much slower."""

import importlib
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch
from torch import Tensor, nn

from benchmarks.results import Result, interleaved, paired_ratio
from playground.analysis.comparison import list_heads, measure_variants, score_change
from playground.config import ModelConfig
from playground.model import Encoder, Trace
from playground.model.attention import AttentionMask, attend
from playground.model.init import DROPOUT_POINTS, set_dropout
from playground.presets import PRESETS
from playground.runs import encoder_run
from playground.runs.encoder_run import intervention_trace
from playground.text import Batch, words
from playground.weights import load_weights
from playground.weights.huggingface import read_config

CONFIG = ModelConfig(vocab_size=0, d_model=512, n_heads=8, d_ff=2048, n_layers=6, positions="none", fused_qkv=True)
"""The base model of Vaswani et al. 2017, with the fused projection that torch's encoder has too."""

SIZES = ((1, 32, 100), (1, 128, 60), (8, 128, 20))
"""Sentences, tokens in each, rounds."""

N_PARTS_TOKENS = 32
"""Tokens of the sentence in which every head is switched off in turn."""

TRACE_LENGTHS = {16: 60, 32: 60, 64: 40, 128: 30, 256: 20}
"""Tokens of the one sentence that is traced, and rounds."""


def measure() -> Iterator[Result]:
    """Forward passes, and making a model."""
    yield from passes()
    yield from full_traces()
    yield from families()
    yield from family_steps()
    yield window()
    yield large_batch()
    yield from part_effects()
    yield construction()


@torch.inference_mode()
def passes() -> Iterator[Result]:
    """Untraced over torch's encoder, and traced over untraced."""
    layer = nn.TransformerEncoderLayer(CONFIG.d_model, CONFIG.n_heads, CONFIG.d_ff, batch_first=True)
    reference = nn.TransformerEncoder(layer, CONFIG.n_layers, enable_nested_tensor=False).eval()
    encoder = Encoder(CONFIG)
    load_weights(encoder, reference.state_dict(), "torch")
    for n_sentences, n_tokens, rounds in SIZES:
        x = torch.randn(n_sentences, n_tokens, CONFIG.d_model, generator=torch.Generator().manual_seed(0))
        torch.testing.assert_close(encoder.encode(x), reference(x), atol=1e-4, rtol=0)
        times = interleaved(
            {
                "torch": partial(reference, x),
                "untraced": partial(encoder.encode, x),
                "app": partial(traced, partial(encoder.encode, x), encoder_run.on_every_page),
                "full": partial(traced, partial(encoder.encode, x), everything),
            },
            rounds,
        )
        size = f"{n_sentences} × {n_tokens} tokens"
        yield compare(f"{size}: untraced pass / torch.nn.TransformerEncoder", times["untraced"], times["torch"], 1.05)
        yield compare(f"{size}: pass with the app's trace / untraced", times["app"], times["untraced"], 1.15)
        yield compare(f"{size}: pass with the full trace / untraced", times["full"], times["untraced"], 1.15)


@torch.inference_mode()
def full_traces() -> Iterator[Result]:
    """The full trace over Hugging Face's eager BertModel with attentions: the same weights, in MiniLM's shape."""
    config = PRESETS["minilm-l6"].config
    transformers = importlib.import_module("transformers")  # of requirements-bench.txt alone
    shape = transformers.BertConfig(
        vocab_size=config.vocab_size,
        hidden_size=config.d_model,
        num_hidden_layers=config.n_layers,
        num_attention_heads=config.n_heads,
        intermediate_size=config.d_ff,
        max_position_embeddings=config.max_len,
        attn_implementation="eager",
    )
    bert = transformers.BertModel(shape, add_pooling_layer=False).eval()
    encoder = Encoder(config, seed=None)
    load_weights(encoder, bert.state_dict(), "bert")
    for n_tokens, rounds in TRACE_LENGTHS.items():
        ids = torch.randint(config.vocab_size, (1, n_tokens), generator=torch.Generator().manual_seed(0))
        mask = torch.ones_like(ids)
        theirs = partial(bert, ids, mask, output_attentions=True)
        torch.testing.assert_close(encoder(ids, mask.bool()), theirs().last_hidden_state, atol=1e-4, rtol=0)
        ours = partial(traced, partial(encoder, ids, mask.bool()), everything)
        times = interleaved({"theirs": theirs, "ours": ours}, rounds)
        what = f"MiniLM's shape, {n_tokens} tokens: pass with the full trace / BertModel with attentions"
        yield compare(what, times["ours"], times["theirs"], 1.0)


FAMILY_LENGTHS = {16: 30, 64: 20, 128: 12, 512: 6}
"""Tokens of the one sentence that BERT's and ModernBERT's shapes read, and rounds."""

N_FAMILY_LAYERS = 6
"""Of 12 and of 22: enough for local and global layers."""


def build_families(attention: str) -> Iterator[tuple[str, nn.Module, Encoder]]:
    """BERT's and ModernBERT's base shapes as Hugging Face computes them, and our encoder with the same weights."""
    transformers = importlib.import_module("transformers")
    sizes = {
        "vocab_size": 1_000,
        "pad_token_id": 0,
        "num_hidden_layers": N_FAMILY_LAYERS,
        "attn_implementation": attention,
    }
    bert = transformers.BertModel(transformers.BertConfig(**sizes), add_pooling_layer=False)
    modern = transformers.ModernBertModel(transformers.ModernBertConfig(**sizes))
    for name, scheme, theirs in (("BERT", "bert", bert), ("ModernBERT", "modernbert", modern)):
        config, _ = read_config(theirs.config.to_dict())
        encoder = Encoder(config, seed=None)
        load_weights(encoder, theirs.eval().state_dict(), scheme)
        yield f"{name}'s base shape, {N_FAMILY_LAYERS} layers", theirs, encoder


@torch.inference_mode()
def families() -> Iterator[Result]:
    """Untraced passes over Hugging Face's with torch's fused attention; full traces over its eager ones."""
    for shape, theirs, encoder in build_families("sdpa"):
        for ids, rounds in draw_sentences(encoder):
            mask = torch.ones_like(ids)
            reference = partial(theirs, ids, mask)
            torch.testing.assert_close(encoder(ids, mask.bool()), reference().last_hidden_state, atol=1e-3, rtol=0)
            times = interleaved({"theirs": reference, "ours": partial(encoder, ids, mask.bool())}, rounds)
            what = f"{shape}, {ids.shape[1]} tokens: untraced pass / transformers' sdpa"
            yield compare(what, times["ours"], times["theirs"], 1.0)
    for shape, theirs, encoder in build_families("eager"):
        for ids, rounds in draw_sentences(encoder):
            mask = torch.ones_like(ids)
            reference = partial(theirs, ids, mask, output_attentions=True)
            ours = partial(traced, partial(encoder, ids, mask.bool()), everything)
            times = interleaved({"theirs": reference, "ours": ours}, rounds)
            what = f"{shape}, {ids.shape[1]} tokens: pass with the full trace / transformers' with attentions"
            yield compare(what, times["ours"], times["theirs"], 1.0)


def draw_sentences(encoder: Encoder) -> Iterator[tuple[Tensor, int]]:
    """Ids of one sentence of each length, and the rounds to measure it."""
    for n_tokens, rounds in FAMILY_LENGTHS.items():
        ids = torch.randint(encoder.config.vocab_size, (1, n_tokens), generator=torch.Generator().manual_seed(0))
        yield ids, rounds


def family_steps() -> Iterator[Result]:
    """A training step, forwards and backwards, of 8 sentences, over Hugging Face's with torch's fused attention."""
    for shape, theirs, encoder in build_families("sdpa"):
        set_dropout(encoder, dict.fromkeys(DROPOUT_POINTS, 0.0))
        for module in theirs.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        for n_tokens in (16, 64, 128):
            ids = torch.randint(1_000, (8, n_tokens), generator=torch.Generator().manual_seed(0))
            mask = torch.ones_like(ids)
            steps = {
                "theirs": partial(step, theirs.train(), ids, mask),
                "ours": partial(step, encoder.train(), ids, mask.bool()),
            }
            times = interleaved(steps, rounds=8)
            what = f"{shape}, 8 × {n_tokens} tokens: a training step / transformers' sdpa"
            yield compare(what, times["ours"], times["theirs"], 1.0)


def step(network: nn.Module, *inputs: Tensor) -> None:
    """One pass forwards and backwards; no optimiser."""
    network.zero_grad()
    output = network(*inputs)
    vectors = getattr(output, "last_hidden_state", output)
    # Not their squares: behind a norm these have no gradient, and numbers near 0 are slow.
    (vectors * torch.randn(vectors.shape, generator=torch.Generator().manual_seed(0))).sum().backward()


@torch.inference_mode()
def window() -> Result:
    """Attention of 2,048 tokens in ModernBERT's 12 heads of 64, within a window of 128, over attention to all."""
    q, k, v = torch.randn(3, 1, 12, 2_048, 64, generator=torch.Generator().manual_seed(0)).unbind()
    everywhere = AttentionMask()
    local = everywhere.within(128, 2_048, q.device)
    times = interleaved({"local": partial(attend, q, k, v, local), "global": partial(attend, q, k, v, everywhere)}, 20)
    return compare("2,048 tokens: attention in a window of 128 / to all tokens", times["local"], times["global"], 0.35)


@torch.inference_mode()
def large_batch() -> Result:
    """Tutorial C's own batch through its five layers, over torch's encoder of the same size."""
    config = PRESETS["tutorial-c"].config
    layer = nn.TransformerEncoderLayer(config.d_model, config.n_heads, config.d_ff, batch_first=True)
    reference = nn.TransformerEncoder(layer, config.n_layers, enable_nested_tensor=False).eval()
    x = torch.randn(30, 200, config.d_model, generator=torch.Generator().manual_seed(0))
    times = interleaved({"torch": partial(reference, x), "ours": partial(Encoder(config).encode, x)}, rounds=6)
    return compare("tutorial C, 30 × 200 tokens / torch.nn.TransformerEncoder", times["ours"], times["torch"], 1.0)


@torch.inference_mode()
def part_effects() -> Iterator[Result]:
    """Every head of MiniLM's shape switched off in turn, and a pass with one change, over a pass without.

    A head changes all that comes after it, so that the heads of six layers take the arithmetic of 12 · (6 + 5 + … + 1)
    layers, or 42 passes. Only where one pass leaves a processor idle, as on a GPU, does a batch make that much less.
    """
    config = PRESETS["minilm-l6"].config
    encoder = Encoder(config)
    tokens = [str(number) for number in range(N_PARTS_TOKENS)]
    batch = words([" ".join(tokens)]).encode_batch([" ".join(tokens)])
    parts = list_heads(config)
    untouched = encoder_run.run(encoder, batch)
    variants, score = [[part] for part in parts], score_change(untouched)
    times = interleaved(
        {
            "parts": lambda: measure_variants(variants, score, encoder, batch, untouched),
            "changed": lambda: encoder_run.run(encoder, batch, interventions=parts[:1]),
            "plain": lambda: encoder_run.run(encoder, batch),
            "none": lambda: encoder(batch.ids, batch.mask, _trace_unchanged(encoder, batch)),
            "trace": lambda: encoder(batch.ids, batch.mask, Trace(encoder_run.on_every_page)),
        },
        rounds=15,
    )
    size = f"MiniLM's shape, {batch.ids.shape[1]} tokens"
    what = f"{size}: all {len(parts)} heads switched off in turn / a run"
    yield compare(what, times["parts"], times["plain"], 12)
    yield compare(f"{size}: a run with one head switched off / a run", times["changed"], times["plain"], 1.15)
    yield compare(f"{size}: a pass that may be changed and is not / a traced pass", times["none"], times["trace"], 1.05)


def _trace_unchanged(encoder: Encoder, batch: Batch) -> Trace:
    """What a run without interventions is traced with."""
    return intervention_trace(
        encoder, batch, 0, [()], seed=0, causal=False, sources=None, keep=encoder_run.on_every_page
    )


def traced(forward: Callable[..., Tensor], keep: Callable[[str], bool]) -> None:
    """One pass whose trace is dropped at the end."""
    forward(trace=Trace(keep))


def everything(name: str) -> bool:
    """What a full trace keeps."""
    return True


def construction() -> Result:
    """A new model over drawing as many random numbers."""
    n = sum(parameter.numel() for parameter in Encoder(CONFIG, seed=None).parameters())
    generator = torch.Generator()
    times = interleaved(
        {"build": lambda: Encoder(CONFIG, seed=0), "draw": lambda: torch.empty(n).uniform_(-1, 1, generator=generator)},
        rounds=15,
    )
    return compare("a new model / its random numbers", times["build"], times["draw"], 1.3)


def compare(what: str, times: Sequence[float], reference: Sequence[float], target: float) -> Result:
    """The ratio of the rounds' times, with the medians behind it."""
    ms, reference_ms = 1000 * statistics.median(times), 1000 * statistics.median(reference)
    return Result(what, paired_ratio(times, reference), target, note=f"{ms:.1f} ms / {reference_ms:.1f} ms")
