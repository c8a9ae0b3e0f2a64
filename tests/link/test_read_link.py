"""A link's texts as values, with a sentence on whatever is wrong."""

import pytest

from playground.link.link_values import VERSION, LinkReading, read_link


def test_a_link_is_read_but_for_what_has_a_widget_or_is_no_parameter() -> None:
    texts = {"v": [VERSION], "seed": ["3"], "n_layers": ["junk"], "utm": ["x"]}
    assert read_link(texts, with_widgets=["n_layers"]) == LinkReading({"seed": 3}, [], is_exact=True)


def test_a_link_of_version_1_is_remembered_and_rewritten() -> None:
    """Its version leaves the address: what a visitor changes afterwards was not drawn as in version 1."""
    reading = read_link({"v": ["1"], "seed": ["3"]}, with_widgets=[])
    assert reading == LinkReading({"seed": 3}, [], is_exact=False, means_other_weights=True)
    for texts in ({"v": [VERSION]}, {}, {"v": ["0"]}, {"v": ["1", VERSION]}):
        assert not read_link(texts, with_widgets=[]).means_other_weights


@pytest.mark.parametrize(
    ("texts", "n_sentences"),
    [
        ({"seed": ["junk"]}, 1),
        ({"causal": ["TRUE"]}, 0),
        ({"v": ["0"]}, 1),
        ({"v": ["3"]}, 1),
        ({"v": ["2"], "seed": ["1", "2"]}, 0),
    ],
)
def test_a_link_that_another_hand_wrote_is_not_exact(texts: dict[str, list[str]], n_sentences: int) -> None:
    reading = read_link(texts, with_widgets=[])
    assert not reading.is_exact
    assert len(reading.sentences) == n_sentences
