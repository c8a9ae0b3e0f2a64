"""Files that visitors ask for are made in their turn."""

import pytest

from playground.errors import BusyError
from playground.web.session.downloads import in_turn
from playground.web.session.services import other_services
from playground.web.session.turns import Turns


def test_a_file_is_made_in_its_visitors_turn_and_a_long_one_beside_the_pages() -> None:
    with other_services(turns=Turns(1, 0.01)) as here:
        short, long = in_turn(lambda: "short"), in_turn(lambda: "long", is_long=True)
        assert (short(), long()) == ("short", "long")
        with here.turns._short.hold("another", 1.0, lambda: None):
            assert long() == "long"
            with pytest.raises(BusyError):
                short()
