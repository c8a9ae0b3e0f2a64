"""Properties of every architecture, over random small ones."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from playground import EncoderDecoder, ModelConfig, Trace
from tests.model.reference import vectors
from tests.model.strategies import Case, cases, configs

SUBLAYERS = {
    "encoder": (("attn", "norm1", "resid_mid"), ("ffn", "norm2", "resid_post")),
    "decoder": (
        ("self_attn", "norm1", "resid_mid"),
        ("cross_attn", "norm2", "resid_cross"),
        ("ffn", "norm3", "resid_post"),
    ),
}
"""Each half's sublayers in a block: its name, its norm's, and that of their sum."""


@given(configs(), st.integers(1, 4), st.integers(1, 4))
def test_each_sublayer_reads_the_stream_and_is_added_to_it(config: ModelConfig, n_source: int, n_target: int) -> None:
    model, trace, pre = EncoderDecoder(config, 13), Trace(), config.norm_placement != "post"
    model(torch.zeros(2, n_source, dtype=torch.int64), torch.zeros(2, n_target, dtype=torch.int64), trace=trace)
    for half, sublayers in SUBLAYERS.items():
        stream = trace[f"{half}.embed.out"]
        for block in (f"{half}.layers.{i}" for i in range(config.n_layers)):
            for sublayer, norm, added in sublayers:
                total = trace[f"{block}.{added}"]
                wrote = trace[f"{block}.{sublayer}.out"]
                if config.norm_placement == "both":
                    assert trace[f"{block}.post_{norm}.in"] is wrote
                    wrote = trace[f"{block}.post_{norm}.out"]
                assert torch.equal(total, wrote + (stream if config.residual else 0))
                assert trace[f"{block}.{norm}.in"] is (stream if pre else total)
                assert trace[f"{block}.{sublayer}.in"] is (trace[f"{block}.{norm}.out"] if pre else stream)
                stream = total if pre else trace[f"{block}.{norm}.out"]
            assert torch.equal(trace[f"{block}.out"], stream)
            stream = trace[f"{block}.out"]
        if config.embedding_norm:
            assert trace[f"{half}.embed.norm.in"] is trace[f"{half}.embed.sum"]
        if config.final_norm:
            assert trace[f"{half}.final_norm.in"] is stream
            stream = trace[f"{half}.final_norm.out"]
        assert torch.equal(trace[f"{half}.final"], stream)


@given(cases(), st.booleans())
def test_no_gradient_is_nan(case: Case, traced: bool) -> None:
    out = case.model(case.ids, case.mask, Trace() if traced else None)
    (out * vectors(*out.shape)).sum().backward()
    for name, parameter in case.model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


@given(cases(head_merge="transpose"), st.integers(1, 3))
def test_padding_never_changes_what_a_real_token_gets(case: Case, n_padding: int) -> None:
    B, T = case.ids.shape  # noqa: N806
    padded = torch.cat([case.ids, case.ids[:, :1].expand(B, n_padding)], dim=1)
    real = (torch.arange(T + n_padding) < T).expand(B, -1)
    torch.testing.assert_close(case.model(padded, real)[:, :T], case.model(case.ids), atol=1e-5, rtol=0)
