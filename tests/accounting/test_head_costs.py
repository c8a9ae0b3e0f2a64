"""What all heads cost is what attention costs, but for the one bias that belongs to none."""

import pytest

from playground import Encoder, ModelConfig, count_parameters
from playground.accounting import count_attention_head, count_flops, count_head_flops
from tests.model.reference import small_config


@pytest.mark.parametrize("config", [small_config(), small_config(fused_qkv=True), small_config(n_heads=1)])
def test_heads_are_a_layers_attention_without_the_bias_of_its_output(config: ModelConfig) -> None:
    heads = config.n_heads * count_attention_head(config).total
    attention = count_parameters(config).by(lambda term: term.component)["attention"]
    assert config.n_layers * (heads + config.d_model) == attention


def test_a_heads_parameters_are_those_that_nothing_depends_on_without_it() -> None:
    config = small_config(n_layers=1)
    encoder, head = Encoder(config, seed=3), slice(config.d_head, 2 * config.d_head)  # head 1
    own = [encoder.get_parameter(f"layers.0.attn.{name}")[head] for name in ("q.weight", "k.weight", "v.weight")]
    own += [encoder.get_parameter(f"layers.0.attn.{name}")[head] for name in ("q.bias", "k.bias", "v.bias")]
    own.append(encoder.get_parameter("layers.0.attn.o.weight")[:, head])
    assert count_attention_head(config).total == sum(part.numel() for part in own)


@pytest.mark.parametrize("n_tokens", [1, 7])
def test_heads_do_all_of_attentions_work(n_tokens: int) -> None:
    config = small_config()
    heads = config.n_layers * config.n_heads * count_head_flops(config, n_tokens).total
    assert heads == count_flops(config, n_tokens).by(lambda term: term.component)["attention"]
