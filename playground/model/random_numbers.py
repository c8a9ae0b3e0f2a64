"""Random matrices that are the same on every machine, and whose corners do not depend on their size.

The numbers come from Philox4x64-10, a generator that computes the n-th number from a key and n (Salmon et al. 2011,
"Parallel random numbers: as easy as 1, 2, 3"). The key is a matrix's name under a seed, n begins anew in every tile: a
larger matrix has more tiles, and in the tiles of a smaller one the same numbers. Bits become numbers by operations that
IEEE 754 rounds in one way alone; a library's logarithm and sine may differ in the last bit from another's.
"""

import hashlib
import math
from collections.abc import Callable, Sequence

import numpy as np

TILE = (512, 64)
"""Rows and columns of a tile: as many numbers as a cache holds, no wider than most matrices.

Another size would give every seed other numbers."""

_ARTANH = [1 / n for n in range(1, 17, 2)]
"""artanh(x) = x + x³/3 + x⁵/5 + …"""

_SIN, _COS = ([(-1) ** n / math.factorial(2 * n + k) for n in range(8)] for k in (1, 0))
"""sin(x) = x − x³/3! + x⁵/5! − …, cos(x) = 1 − x²/2! + x⁴/4! − …"""


def fill_uniform(matrix: np.ndarray, seed: int, name: str, bound: float) -> None:
    """Fill a float matrix (rows, columns) with numbers in [−bound, bound], each as likely as any other."""
    _fill(matrix, seed, name, lambda integers: integers.astype(np.float32), np.float32(bound * 2.0**-31))


def fill_normal(matrix: np.ndarray, seed: int, name: str, deviation: float) -> None:
    """Fill a float matrix (rows, columns) with normal numbers of mean 0 and this standard deviation."""
    _fill(matrix, seed, name, standard_normal, np.float64(deviation))


def _fill(
    matrix: np.ndarray, seed: int, name: str, transform: Callable[[np.ndarray], np.ndarray], factor: np.floating
) -> None:
    """Fill a matrix with `factor` times what `transform` makes of each tile's random integers, int32."""
    key = hashlib.blake2b(f"{seed:d}/{name}".encode(), digest_size=16).digest()
    bits = np.random.Philox(key=int.from_bytes(key, "little"))
    state = bits.state
    n_rows, n_columns = TILE
    for i in range(0, len(matrix), n_rows):
        for j in range(0, matrix.shape[1], n_columns):
            tile = matrix[i : i + n_rows, j : j + n_columns]
            state["state"]["counter"][1:3] = i, j
            bits.state = state
            words = bits.random_raw(len(tile) * n_columns // 2)  # of 64 bits: two integers each
            integers = words.astype("<u8", copy=False).view("<i4").reshape(len(tile), n_columns)
            np.multiply(transform(integers)[:, : tile.shape[1]], factor, out=tile, casting="same_kind")


def standard_normal(integers: np.ndarray) -> np.ndarray:
    """Standard normal numbers (R, C) float64 from random integers (R, C) int32, two from two (Box & Muller 1958).

    With u in (0, 1) and an angle α, these are √(−2 ln u) cos α and √(−2 ln u) sin α.
    """
    u = (integers[:, 0::2] + (2.0**31 + 0.5)) * 2.0**-32
    angle = integers[:, 1::2] * (math.pi * 2.0**-31)  # −π ≤ α < π
    radius = np.sqrt(-2 * _log(u))
    turned = math.pi / 2 - np.abs(angle)  # cos α = sin(π/2 − |α|), and both series need few terms within ±π/2
    square = turned * turned
    numbers = np.empty(integers.shape)
    np.multiply(radius, turned * _series(_SIN, square), out=numbers[:, 0::2])
    np.multiply(radius, np.copysign(_series(_COS, square), angle), out=numbers[:, 1::2])
    return numbers


def _log(x: np.ndarray) -> np.ndarray:
    """ln x: where x = m 2ᵉ with ½ ≤ m < 1, and c = √½, it is (e − ½) ln 2 + 2 artanh((m − c) / (m + c))."""
    m, e = np.frexp(x)
    c = math.sqrt(0.5)
    ratio = (m - c) / (m + c)
    log: np.ndarray = (e - 0.5) * 0.6931471805599453 + 2 * ratio * _series(_ARTANH, ratio * ratio)
    return log


def _series(coefficients: Sequence[float], x: np.ndarray) -> np.ndarray:
    """The sum of coefficients[n] xⁿ, by Horner's rule."""
    total = x * coefficients[-1]
    for coefficient in coefficients[-2:0:-1]:
        total += coefficient
        total *= x
    total += coefficients[0]
    return total
