"""Links from before a seed meant other random weights open, and say so where random weights are shown."""

import pytest

from playground.link.query import OTHER_WEIGHTS, VERSION
from tests.web.app_test import SMALL, choose, open_page, sentences, values

OTHER_NUMBERS = "seed 7 gives other ones now"


@pytest.mark.parametrize(
    ("page", "link", "is_said"),
    [
        ("attention", SMALL, True),
        ("attention", {"weights": "minilm"}, False),
        ("attention", {"n_layers": "2"}, True),
        ("norms", {"weights": "mine", "d_model": "16", "n_heads": "4"}, True),
        ("encoder_decoder", {}, False),
        ("encoder_decoder", SMALL, False),
        ("encoder_decoder", SMALL | {"encdec_source": "your text"}, True),
        ("gradient_flow", {"gradient_layers": "3"}, True),
        ("training", {}, True),
        ("tutorials", {}, True),
    ],
)
def test_a_link_of_version_1_speaks_of_random_weights_where_they_are(
    page: str, link: dict[str, str], is_said: bool
) -> None:
    app = open_page(page, v=OTHER_WEIGHTS, seed="7", **link)
    assert (OTHER_NUMBERS in sentences(app)) == is_said
    assert "another version" not in sentences(app)
    assert values(app, "seed") == {"seed": 7}
    assert "v" not in app.query_params
    assert OTHER_NUMBERS not in sentences(choose(app, seed=8))


@pytest.mark.parametrize("link", [{"v": VERSION}, {}])
def test_a_link_of_this_version_or_from_the_address_bar_says_nothing(link: dict[str, str]) -> None:
    assert sentences(open_page("attention", seed="7", **SMALL, **link)) == ""


def test_a_link_of_an_unknown_version_says_that_it_may_look_different() -> None:
    said = sentences(open_page("attention", v="3", seed="7", **SMALL))
    assert "another version" in said
    assert OTHER_NUMBERS not in said


def test_the_sentence_follows_to_a_page_with_random_weights_and_not_to_one_without() -> None:
    app = open_page("tutorials", v=OTHER_WEIGHTS, seed="7")
    assert OTHER_NUMBERS in sentences(app)
    assert OTHER_NUMBERS not in sentences(app.switch_page("../../pages/attention.py").run())
