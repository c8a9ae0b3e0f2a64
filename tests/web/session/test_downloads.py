"""Files that visitors ask for are made in their turn."""

import pytest

from playground.errors import BusyError
from playground.web.session.downloads import in_turn
from playground.web.session.services import other_services
from playground.web.session.turns import Turns


def test_a_file_is_made_in_its_visitors_turn_and_a_long_one_beside_the_pages() -> None:
    short, long = in_turn(lambda: "short"), in_turn(lambda: "long", is_long=True)
    with other_services(turns=Turns(1, 0.01)):
        assert (short(), long()) == ("short", "long")
    with other_services(turns=Turns(0, 0.01)):
        assert long() == "long"
        with pytest.raises(BusyError):
            short()
