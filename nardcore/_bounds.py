"""How far a mean may stray, however often one looks."""

from __future__ import annotations

import math

__all__ = ["anytime_bound"]

_ETA, _S = 2.0, 1.4
_ZETA = 3.1055472779775810  # of 1.4
_K1 = (_ETA**0.25 + _ETA**-0.25) / math.sqrt(2)
_K2 = (math.sqrt(_ETA) + 1) / 2


def anytime_bound(squares: float, most: float, alpha: float) -> float:
    """Give what a sum of differences of mean 0 ever reaches only with a chance of `alpha`.

    The stitched boundary of Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric,
    nonasymptotic confidence sequences", Annals of Statistics 49 (2021), Theorem 1, for the
    empirical variance of their Theorem 4 with predictions of 0: for any differences that are at
    least ``-most`` and whose mean is at most 0, the chance that their sum is ever, at any number of
    trials, as large as this bound for the sum of their squares is at most `alpha`.

    Parameters
    ----------
    squares
        The sum of the squares of the differences so far.
    most
        No difference is larger, either way.
    alpha
        The chance of being wrong, ever.

    Returns
    -------
    float
        The bound of the sum.

    Examples
    --------
    >>> round(anytime_bound(1000.0, 2.0, 0.05) / 1000, 3)
    0.14
    >>> round(anytime_bound(100_000.0, 2.0, 0.05) / 100_000, 4)
    0.013
    """
    least = most * most
    v = max(squares, least)
    ell = _S * math.log(math.log2(v / least) + 1) + math.log(_ZETA) - math.log(alpha)
    reach = _K2 * most * ell
    return math.sqrt(_K1**2 * v * ell + reach**2) + reach
