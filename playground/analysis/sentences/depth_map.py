"""Sentences on a plane, at every depth on the same two axes: one principal component analysis for all of them.

Legend: S depths, N sentences, D = d_model.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.runs.arrays import Array

Array64 = NDArray[np.float64]

_LEAST = 1e-12
"""What is rounding: a smaller share of the variance along an axis, or of the squared lengths in a depth's variance."""


@dataclass(frozen=True)
class DepthMap:
    """Where sentences lie on two axes that all depths share."""

    points: Array64
    """(S, N, 2)"""
    explained: tuple[float, float]
    """The share of all depths' variance along each axis, 0 … 1."""
    explained_at: Array64
    """(S, 2): the share of one depth's own variance along each axis; 0 where its sentences are one point."""


def map_depths(pooled: Array) -> DepthMap:
    """Fit two axes to the vectors of every depth together, and place each sentence at each depth on them.

    Each depth's mean over its sentences is taken off first: the axes show how sentences differ from each other, not how
    depths do. They are the first two principal axes of what is left, (S · N, D) (Pearson 1901; Jolliffe 2002, section
    3.5). An axis points to where its largest coordinate is positive, so that equal numbers give equal pictures.

    Args:
        pooled: (S, N, D), finite, D at least 2.
    """
    vectors = pooled.astype(np.float64)
    centred = vectors - vectors.mean(axis=1, keepdims=True)
    centred[np.square(centred).sum(axis=(1, 2)) <= _LEAST * np.square(vectors).sum(axis=(1, 2))] = 0
    axes = _principal_axes(centred.reshape(-1, centred.shape[-1]))
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    axes *= np.where(largest < 0, -1.0, 1.0)
    of_depth = np.square(centred).sum(axis=(1, 2))
    total = float(of_depth.sum())
    points = centred @ axes.T
    along = np.square(points).sum(axis=1)  # (S, 2)
    shares = along.sum(axis=0) / total if total else np.zeros(2)
    return DepthMap(
        points,
        (float(shares[0]), float(shares[1])),
        np.divide(along, of_depth[:, None], where=of_depth[:, None] > 0, out=np.zeros_like(along)),
    )


def describe_shares(drawn: DepthMap, depth: int) -> str:
    """How much of the sentences' differences the two axes hold, over all depths and at one of them."""
    if not any(drawn.explained):
        return "All sentences have the same vector at every depth: they lie on one point."
    told = f"They hold {100 * sum(drawn.explained):.0f} % of the variance of all depths"
    if not drawn.explained_at[depth].any():
        return f"{told}. At this depth all sentences have the same vector: they lie on one point."
    here = f"{100 * drawn.explained_at[depth].sum():.0f}"
    return f"{told}, and {here} % at this depth{'' if here == '100' else '; the rest is not seen here'}."


def _principal_axes(rows: Array64) -> Array64:
    """The two directions in which centred rows (M, D) vary most: (2, D), of length 1; zeros where there is none.

    From the smaller of the two products of the rows with themselves, which takes a tenth of the time of all singular
    vectors: rowsᵀ · rows has the axes as eigenvectors, and rows · rowsᵀ what they give each row.
    """
    is_wide = len(rows) < rows.shape[1]
    values, vectors = np.linalg.eigh(rows @ rows.T if is_wide else rows.T @ rows)
    axes: Array64 = np.zeros((2, rows.shape[1]))
    for number, place in enumerate(range(len(values) - 1, max(len(values) - 3, -1), -1)):
        if values[place] > _LEAST * values.sum():
            axis = rows.T @ vectors[:, place] if is_wide else vectors[:, place]
            axes[number] = axis / np.linalg.norm(axis)
    return axes
