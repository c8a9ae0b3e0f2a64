"""Where in a run its changes were made, and which of them are of the model rather than of one sentence."""

from collections.abc import Iterable

from playground.model.interventions import HideToken, Intervention, PatchVector, SetRow, SetWeight, first_layer


def list_places(interventions: Iterable[Intervention]) -> list[tuple[int, int | None]]:
    """The first depth that each change reaches, and the token that it changes there, None for all; each place once.

    A depth counts the blocks passed: 0 is the embeddings.
    """
    return list(dict.fromkeys((first_layer(each) + 1, _changed_token(each)) for each in interventions))


def names_no_token(intervention: Intervention) -> bool:
    """Whether a change means the same in every sentence: it names no token, and takes nothing from another sentence."""
    match intervention:
        case PatchVector() | SetWeight() | HideToken():
            return False
        case SetRow(query=query):
            return query is None
        case _:
            return True


def _changed_token(intervention: Intervention) -> int | None:
    match intervention:
        case PatchVector(point="k" | "v"):
            return None  # every query reads it
        case PatchVector(token=token):
            return token
        case SetRow(query=query) | SetWeight(query=query):
            return query
        case _:
            return None
