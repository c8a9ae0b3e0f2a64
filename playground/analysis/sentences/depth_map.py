"""Sentences on a plane, at every depth on the same two axes: one principal component analysis for all of them.

Legend: S depths, N sentences, D = d_model.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.runs.arrays import Array

Array64 = NDArray[np.float64]


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
    depths do. They are the first two right singular vectors of what is left, (S · N, D) (Pearson 1901; Jolliffe 2002,
    section 3.5). An axis points to where its largest coordinate is positive, so that equal numbers give equal pictures.

    Args:
        pooled: (S, N, D), finite, D at least 2.
    """
    vectors = pooled.astype(np.float64)
    centred = vectors - vectors.mean(axis=1, keepdims=True)
    flat = centred.reshape(-1, centred.shape[-1])
    _, sizes, axes = np.linalg.svd(flat, full_matrices=False)
    axes = _pad_axes(axes[:2])
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    axes *= np.where(largest < 0, -1.0, 1.0)
    points = centred @ axes.T
    total, of_depth = float(np.square(sizes).sum()), np.square(centred).sum(axis=(1, 2))
    along = np.square(points).sum(axis=1)  # (S, 2)
    shares = along.sum(axis=0) / total if total else np.zeros(2)
    return DepthMap(
        points,
        (float(shares[0]), float(shares[1])),
        np.divide(along, of_depth[:, None], where=of_depth[:, None] > 0, out=np.zeros_like(along)),
    )


def _pad_axes(axes: Array64) -> Array64:
    """Two axes, the second of zeros where one depth of one sentence has but one."""
    return np.concatenate([axes, np.zeros((2 - len(axes), axes.shape[1]))])
