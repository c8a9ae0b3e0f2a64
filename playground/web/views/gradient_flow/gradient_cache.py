"""Caches of the comparison of six encoders; they keep the norms of the gradients, never a model."""

from dataclasses import dataclass, replace

from torch import Tensor

from playground.analysis.gradient_variants import (
    LONGEST,
    Comparison,
    DepthNorms,
    SweepRequest,
    check_layers,
    common_config,
    compare,
    scale_weights,
)
from playground.config import ModelConfig
from playground.model import Encoder
from playground.text.batch import draw_vectors
from playground.web.choices.setup import Setup
from playground.web.session import caches
from playground.web.session.caches import TextKey
from playground.web.session.experiments import compute_on_cluster
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_for_everybody

SWEEP_DEPTHS = (1, 2, 4, 8, 16, 32)
"""Numbers of layers that the depth sweep tries, below the one that the page shows."""


def list_depths(n_layers: int) -> tuple[int, ...]:
    """The numbers of layers that the sweep shows, up to the page's own."""
    return (*(depth for depth in SWEEP_DEPTHS if depth < n_layers), n_layers)


@dataclass(frozen=True)
class ComparisonKey:
    """Everything that the page's numbers depend on; hashable, as the key of the caches."""

    text: TextKey
    """Its sentences are cut after `LONGEST` tokens."""
    sentence: int
    config: ModelConfig
    """What the six encoders share."""
    seed: int
    scale: float
    """A factor on the random weights of the linear maps."""
    causal: bool


def build_key(setup: Setup, n_layers: int, scale: float) -> ComparisonKey:
    """The key of the sidebar's choices and the page's own; there has to be a sentence."""
    text = replace(setup.text_key, max_tokens=min(setup.text_key.max_tokens, LONGEST))
    config = replace(setup.config, vocab_size=setup.random_table_rows)
    return ComparisonKey(text, setup.sentence, common_config(config, n_layers), setup["seed"], scale, setup["causal"])


@cache_for_everybody(max_entries=24)
def compare_variants(key: ComparisonKey) -> Comparison:
    """The six encoders at their full depth.

    Raises:
        TooLargeError: each would have more parameters than this server runs.
        BusyError: no turn came free.
        InputError: a tokenizer has no word for the text, or the position table leaves no room for its special tokens.
    """
    check_layers(key.config, services().settings.max_parameters)
    ids, vectors, depth = _token_ids(key), _vocabulary_vectors(key), key.config.n_layers
    with services().turns.take():
        return compare(
            key.config,
            key.seed,
            ids,
            (depth,),
            vectors=vectors,
            scale=key.scale,
            causal=key.causal,
            device=caches.device(),
            weights=_weights(key),
        )


@cache_for_everybody(max_entries=12)
def compare_depths(key: ComparisonKey) -> DepthNorms:
    """The first layer's gradient norms in the six, at `SWEEP_DEPTHS` and at their full depth.

    Raises as `compare_variants`, and ClusterError where a cluster has to compute it and can't.
    """
    full, n_layers = compare_variants(key).full_depth, key.config.n_layers
    shallow = _sweep(key, list_depths(n_layers)[:-1])
    last = {
        variant: {part: float(norms[0]) for part, norms in flow.gradients.items()} for variant, flow in full.items()
    }
    return {variant: {**shallow.get(variant, {}), n_layers: norms} for variant, norms in last.items()}


def _sweep(key: ComparisonKey, depths: tuple[int, ...]) -> DepthNorms:
    """The norms at depths below the page's own; on the cluster, where there is one."""
    if not depths:
        return {}
    config = replace(key.config, n_layers=depths[-1])
    ids = tuple(_token_ids(key).tolist())
    request = SweepRequest(config, key.seed, key.scale, ids, depths, _vocabulary_vectors(key), key.causal)
    if services().backend.is_remote:
        return compute_on_cluster(
            ("depth sweep", key, depths), replace(request, threads=services().settings.threads)
        ).norms
    with services().turns.take():
        sweep = replace(request, device=str(caches.device()), data=_weights(replace(key, config=config))).build()
        for _ in sweep.run():
            pass
    return sweep.state.norms


def _weights(key: ComparisonKey) -> Encoder:
    """The weights that the six share, of random tensors that other pages may have drawn already."""
    return scale_weights(caches.encoder("random", key.config, key.seed), key.scale)


def _token_ids(key: ComparisonKey) -> Tensor:
    """The sentence's tokens without padding: (T,) int64."""
    batch = caches.tokenize(key.text)
    return batch.ids[key.sentence][batch.mask[key.sentence]]


def _vocabulary_vectors(key: ComparisonKey) -> Tensor | None:
    """The vector of every word of the text, in the order of their ids, (words, d_model); None with a token table."""
    if key.config.vocab_size:
        return None
    tokenizer = caches.tokenizer(key.text)
    words = [tokenizer.id_to_token(i) for i in range(tokenizer.vocab_size)]
    return draw_vectors(words, key.config.d_model, key.seed)
