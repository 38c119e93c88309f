#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tiles save a product of n x n matrices in rows, of fp32: a model to read and to change (docs/course/README.md).

    lab/reuse.py [N] [TILE ...] [--memory TB/s] [--peak TFLOPS]        by default 1024, and tiles of 8, 16 and 32

A block of tile x tile threads makes as many elements of the product. For each k-block it loads a tile of A and one of B, each
element once, and an element then serves `tile` multiplications. Without tiles a thread loads both factors of each of its
multiplications, and a block of 32 x 32 has warps of 32 columns in one row. Threads outside of the matrices load nothing.

The columns: words loaded, and how often each element is; sectors of 32 bytes and requests of warps, as
`gristmill lab run reuse` counts them; operations for a byte loaded; and TFLOPS that a memory would allow from which all of
those bytes came, up to the peak. Products of n up to 128 are also worked out tile by tile, which counts the loads one by one, and
compared with row times column.
"""
import argparse
import sys

WARP, WORD, SECTOR = 32, 4, 8  # lanes; bytes; words


def request(n, tile, row0, column0, first):
    """The words that lanes first, first + 1 ... of a warp load of a tile that begins at (row0, column0)."""
    threads = ((row0 + i // tile, column0 + i % tile) for i in range(first, min(first + WARP, tile * tile)))
    return [row * n + column for row, column in threads if row < n and column < n]


def with_tiles(n, tile):
    """(words, sectors, requests): each tile of either matrix is loaded by as many blocks as the product has along it."""
    words = sectors = requests = 0
    for row0 in range(0, n, tile):
        for column0 in range(0, n, tile):
            for first in range(0, tile * tile, WARP):
                loaded = request(n, tile, row0, column0, first)
                words += len(loaded)
                sectors += len({word // SECTOR for word in loaded})
                requests += bool(loaded)
    times = 2 * -(-n // tile)
    return words * times, sectors * times, requests * times


def without(n):
    """The same; for a row and a k a warp loads one word of A, which its lanes share, and a row of B's words."""
    warps = [range(column0, min(column0 + WARP, n)) for column0 in range(0, n, WARP)]
    of_b = sum(len({(k * n + column) // SECTOR for column in columns}) for k in range(n) for columns in warps)
    return 2 * n ** 3, n * (n * len(warps) + of_b), 2 * n * n * len(warps)


def multiply(a, b, n, tile):
    """(the product, words loaded), as a kernel does it."""
    c, loaded = [[0] * n for _ in range(n)], 0
    for row0 in range(0, n, tile):
        for column0 in range(0, n, tile):
            for k0 in range(0, n, tile):
                a_tile = [row[k0:k0 + tile] for row in a[row0:row0 + tile]]
                b_tile = [row[column0:column0 + tile] for row in b[k0:k0 + tile]]
                loaded += sum(map(len, a_tile)) + sum(map(len, b_tile))
                for i, a_row in enumerate(a_tile):
                    for j in range(len(b_tile[0])):
                        c[row0 + i][column0 + j] += sum(x * row[j] for x, row in zip(a_row, b_tile))
    return c, loaded


def check(n, tile, words):
    """Whether tiles leave the product as it is, and load as many words as the model says."""
    a, b = ([[(i * n + j) * step % around - around // 2 for j in range(n)] for i in range(n)]
            for step, around in ((7, 11), (5, 13)))
    columns = list(zip(*b))
    expected = [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]
    return multiply(a, b, n, tile) == (expected, words)


def size(text):
    if not 1 <= int(text) <= 8192:
        raise argparse.ArgumentTypeError(f"{text} is not from 1 to 8192")
    return int(text)


def rate(text):
    if not float(text) > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return float(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n", nargs="?", type=size, default=1024)
    parser.add_argument("tile", nargs="*", type=size)
    parser.add_argument("--memory", type=rate, default=4.8, help="TB/s (default: an H200's 4.8)")
    parser.add_argument("--peak", type=rate, default=66.9, help="TFLOPS (default: an H200's 66.9)")
    given = parser.parse_args()
    n, wrong = given.n, 0
    print(f"{n} x {n} x {n}: {2 * n ** 3} operations, {2 * n * n} elements")
    print(f"{'tile':>4} {'words':>12} {'an element':>10} {'sectors':>12} {'requests':>10} {'operations a byte':>17} "
          f"{'TFLOPS':>7}")
    for tile in [0, *(given.tile or [8, 16, 32])]:
        words, sectors, requests = with_tiles(n, tile) if tile else without(n)
        intensity = 2 * n ** 3 / (WORD * words)
        allowed = min(given.peak, intensity * given.memory)
        print(f"{tile or 'none':>4} {words:12} {words / (2 * n * n):10.6g} {sectors:12} {requests:10} {intensity:17.3g} "
              f"{allowed:7.3g}")
        if tile and n <= 128 and not check(n, tile, words):
            print(f"tiles of {tile}: not the product, or not as many loads")
            wrong = 1
    sys.exit(wrong)


if __name__ == "__main__":
    main()
