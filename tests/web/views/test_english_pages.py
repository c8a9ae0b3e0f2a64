"""Every page with an encoder of the small English, trained and not, in shapes that lack something."""

import pytest

from tests.web.app_test import PAGES, open_page, without_error

LINKS: tuple[dict[str, object], ...] = (
    {},
    {"untrained": "true", "n_layers": 1},
    {"norm": "none", "residual": "false", "positions": "none", "mask": -1, "b_n_layers": 4},
    {"weights": "minilm", "b_weights": "english", "b_n_layers": 1, "b_d_model": 64, "b_n_heads": 4},
)


@pytest.mark.sampled(40)
@pytest.mark.parametrize("link", LINKS, ids=range(len(LINKS)))
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens(page: str, link: dict[str, object]) -> None:
    without_error(open_page(page, **{"weights": "english", **link}))
