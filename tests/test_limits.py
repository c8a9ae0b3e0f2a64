"""Limits on text that the environment sets."""

import pytest

from playground.limits import read_limit


@pytest.mark.parametrize(
    ("text", "limit"),
    [(None, 8), ("3", 3), (" 4 ", 4), ("1_000", 1000), ("0", 8), ("-1", 8), ("", 8), ("many", 8), ("2.5", 8)],
)
def test_a_limit_is_what_the_environment_says_where_that_makes_sense(
    text: str | None, limit: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("PLAYGROUND_MAX_SENTENCES", raising=False)
    if text is not None:
        monkeypatch.setenv("PLAYGROUND_MAX_SENTENCES", text)
    assert read_limit("MAX_SENTENCES", 8) == limit
    assert bool(caplog.records) == (limit == 8 and text is not None)
