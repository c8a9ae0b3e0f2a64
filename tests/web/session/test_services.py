"""What a server has one of: built of its settings when it is first asked for, and replaced by a test in one place."""

from dataclasses import fields

from playground.web.server.settings import Settings
from playground.web.session.services import Services, build_services, other_services, services
from playground.web.session.turns import Turns


def test_they_follow_from_the_settings_and_share_nothing() -> None:
    settings = Settings(max_sessions=3, max_own_weights=5, max_cached_weights=7, max_cached_results=11)
    one, other = build_services(settings), build_services(settings)
    assert (one.visitors.limit, one.memory.max_bytes, one.random_weights.max_bytes) == (3, 5, 7)
    for field in fields(Services):
        if field.name != "settings":
            assert getattr(one, field.name) is not getattr(other, field.name), field.name


def test_a_test_replaces_some_for_as_long_as_it_likes() -> None:
    before, turns = services(), Turns(1, 1.0)
    with other_services(turns=turns) as changed:
        assert services() is changed
        assert (changed.turns, changed.results) == (turns, before.results)
        with other_services(settings=Settings(threads=3)):
            assert (services().settings.threads, services().turns) == (3, turns)
        assert services() is changed
    assert services() is before
