"""What writes to a token's vector, and what its network's own head reads off it at every depth."""

from collections.abc import Iterator

import pytest
import torch
from streamlit.runtime.caching import clear_session_resource_cache

from playground.training.network import Tagger
from tests.training.trained import trained
from tests.web.app_test import (
    SESSION,
    drawn_bars,
    open_page,
    open_panels,
    table,
    trained_trace,
    without_error,
)
from tests.web.sidebar.test_trained_panel import opened, switch

VIEW = "the query's stream"


@pytest.fixture(autouse=True)
def _new_visitor() -> Iterator[None]:
    clear_session_resource_cache(SESSION)
    yield
    clear_session_resource_cache(SESSION)


def test_shares_of_the_trained_models_vector_add_up_to_one() -> None:
    app = without_error(open_page("attention", attention_view=VIEW))
    assert sum(drawn_bars(app)["stream_shares"]["values"]) == pytest.approx(1, abs=1e-3)
    open_panels(app, "stream_shares_open")
    lengths = table(app, "length as written").set_index("source")["length as written"]
    trace = trained_trace()
    for i in range(6):
        for point, name in (("attn", "attention"), ("ffn", "feed-forward")):
            expected = float(trace[f"layers.{i}.{point}.out"][0, 10].norm())
            assert lengths[f"layer {i} {name}"] == pytest.approx(expected, rel=1e-4)
    assert all("choice 1" not in frame.value for frame in app.dataframe)


@pytest.mark.parametrize("task", ["reverse", "characters"])
def test_a_network_trained_here_is_read_by_its_own_head(task: str) -> None:
    one = trained(task)
    app = without_error(opened(one, "attention", attention_view=VIEW, query="3"))
    assert isinstance(one.network, Tagger)
    batch = one.tokenizer.encode_batch([one.example])
    n = batch.ids.shape[1]
    mask = torch.ones(1, n, n).tril().bool() if one.task.predicts_next else batch.mask
    with torch.no_grad():
        shares = one.network(batch.ids, mask)[0, 3].softmax(-1).numpy()
    read = table(app, "choice 1")
    assert len(read) == one.config.n_layers + 1
    assert read["choice 1"].iloc[-1] == f"{one.labels[int(shares.argmax())]}  {shares.max():.0%}"
    switch(app)
    assert len(table(without_error(app), "choice 1")) == one.config.n_layers + 1


def test_a_decoders_encoder_has_no_head() -> None:
    app = without_error(opened(trained("seq2seq-reverse"), "attention", attention_view=VIEW))
    assert all("choice 1" not in frame.value for frame in app.dataframe)
