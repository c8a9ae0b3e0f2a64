"""The answers to made-up sequences by the plainest programs that say the same."""

from collections.abc import Callable

PLAIN: dict[str, Callable[[list[int], int], list[int]]] = {
    "copy": lambda row, _: list(row),
    "reverse": lambda row, _: row[::-1],
    "sort": lambda row, _: sorted(row),
    "count": lambda row, _: [row.count(symbol) - 1 for symbol in row],
    "brackets": lambda row, length: partners([symbol - 3 for symbol in row], length),
    "seq2seq-copy": lambda row, _: list(row),
    "seq2seq-reverse": lambda row, _: row[::-1],
}


def plain_answers(task: str, row: list[int], length: int) -> list[int]:
    """The right answers to a row of ids, in a recipe of this length."""
    return PLAIN[task](row, length)


def partners(symbols: list[int], none: int) -> list[int]:
    """Each bracket's partner by its definition: the innermost open one, if of its kind; else none."""
    places, stack = [none] * len(symbols), list[int]()
    for place, symbol in enumerate(symbols):
        if symbol % 2 == 0:
            stack.append(place)
        elif stack and symbols[stack[-1]] == symbol - 1:
            places[place] = stack[-1]
            places[stack.pop()] = place
    return places
