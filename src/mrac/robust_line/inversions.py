"""Counts, samples or lists the inversions of a permutation.

An inversion is a pair of values of which the larger comes first. The permutation is sorted by its bits, highest bit
first: one level splits every block of values that share their higher bits into those with a 0 and those with a 1, in
their order. A 0 that comes after c ones of its block closes c inversions, and over all levels each inversion is closed
exactly once. No step depends on a comparison, so nothing is mispredicted: about 1 ns per value and level.
"""

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.runtime.jit import kernel

Permutation = NDArray[np.uint32]

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@kernel
def _count_level(source: Permutation, target: Permutation, bit: int) -> int:
    """Splits every block of `source` by `bit` into `target` and counts the inversions that this level closes.

    Indices are unsigned, since for signed ones numba adds the test for a negative index to each access.
    """
    size = source.size
    half = 1 << bit
    shift = np.uint64(bit)
    first_one = np.uint64(half)
    closed = 0
    for start in range(0, size, 2 * half):
        stop = min(start + 2 * half, size)
        block = source[start:stop]
        split = target[start:stop]
        ones = _ZERO
        passed = _ZERO
        for at in range(np.uint64(stop - start)):
            value = block[at]
            one = (np.uint64(value) >> shift) & _ONE
            place = at - ones
            split[place + ((first_one + ones - place) & (_ZERO - one))] = value
            passed += ones
            ones += one
        # `passed` also counts what each one found before it, 0 + 1 + ... + (ones - 1): cheaper than a select above.
        closed += int(np.int64(passed) - np.int64(ones) * (np.int64(ones) - 1) // 2)
    return closed


@kernel
def bit_length(size: int) -> int:
    """Returns the number of bits that hold the values 0 .. size - 1."""
    bits = 0
    while (1 << bits) < size:
        bits += 1
    return bits


@kernel
def count_inversions(permutation: Permutation, scratch: Permutation, spare: Permutation) -> int:
    """Counts the inversions of `permutation`.

    Args:
        permutation: (K,) the values 0 .. K - 1 in any order; left as it is.
        scratch: (K,) overwritten.
        spare: (K,) overwritten.

    Returns:
        The number of pairs i < j with permutation[i] > permutation[j].
    """
    for i in range(permutation.size):
        scratch[i] = permutation[i]
    count = 0
    for bit in range(bit_length(permutation.size) - 1, -1, -1):
        count += _count_level(scratch, spare, bit)
        scratch, spare = spare, scratch
    return count


@kernel
def _target(number: int, step: float, seed: int) -> int:
    """Draws one inversion of the stratum `number`: an index out of [number * step, (number + 1) * step).

    The hash is splitmix64 of the stratum's number: deterministic, and without a state to carry along.
    """
    z = (np.uint64(number) + np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    share = np.float64((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
    return int((number + share) * step)


@kernel
def _inversion_slopes(
    scratch: Permutation, spare: Permutation, x: FloatArray, y: FloatArray, slopes: FloatArray, step: float, seed: int
) -> tuple[int, int]:
    """Writes the slope of one inversion per `step` of them to `slopes` until it is full, of every one where it is 0.

    Returns:
        (number of slopes written, number of inversions).
    """
    drawn = 0
    seen = 0
    target = 0 if step == 0.0 else _target(0, step, seed)
    for bit in range(bit_length(scratch.size) - 1, -1, -1):
        half = 1 << bit
        for start in range(0, scratch.size, 2 * half):
            zeros = start
            ones = start + half
            for at in range(start, min(start + 2 * half, scratch.size)):
                value = scratch[at]
                if (value >> np.uint32(bit)) & np.uint32(1):
                    spare[ones] = value
                    ones += 1
                    continue
                spare[zeros] = value
                zeros += 1
                closed = seen + ones - (start + half)
                while target < closed and drawn < slopes.size:
                    other = spare[start + half + target - seen]
                    slopes[drawn] = np.divide(y[other] - y[value], x[other] - x[value])
                    drawn += 1
                    target = drawn if step == 0.0 else _target(drawn, step, seed)
                seen = closed
        scratch, spare = spare, scratch
    return drawn, seen


@kernel
def sample_inversion_slopes(
    scratch: Permutation, spare: Permutation, x: FloatArray, y: FloatArray, total: int, seed: int, slopes: FloatArray
) -> int:
    """Computes the slopes of about `slopes.size` inversions, drawn evenly from all of them.

    Args:
        scratch: (K,) the permutation; overwritten.
        spare: (K,) overwritten.
        x: (K,) abscissa of the point that each value stands for.
        y: (K,) its ordinate.
        total: number of inversions.
        seed: of the draw.
        slopes: (m,) the slopes drawn, m <= total.

    Returns:
        The number of slopes written, m but for rounding of the last stratum.
    """
    return _inversion_slopes(scratch, spare, x, y, slopes, total / slopes.size, seed)[0]


@kernel
def list_inversion_slopes(
    scratch: Permutation, spare: Permutation, x: FloatArray, y: FloatArray, slopes: FloatArray
) -> int:
    """Computes the slopes of all inversions; arguments as in `sample_inversion_slopes`.

    Returns:
        The number of inversions; those beyond `slopes.size` are counted and not written.
    """
    return _inversion_slopes(scratch, spare, x, y, slopes, 0.0, 0)[1]
