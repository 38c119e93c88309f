# SPDX-License-Identifier: Apache-2.0
"""Shared memory on paper: how many wavefronts an access takes, and where a swizzle puts things. Needs no GPU."""

from . import _api, _library

KINDS = {
    "load": _api.GM_ACCESS_LOAD,
    "store": _api.GM_ACCESS_STORE,
    "ldmatrix": _api.GM_ACCESS_LDMATRIX,
    "stmatrix": _api.GM_ACCESS_STMATRIX,
    "cp_async": _api.GM_ACCESS_CP_ASYNC,
    "atomic": _api.GM_ACCESS_ATOMIC,
    "increment": _api.GM_ACCESS_INCREMENT,
    "cas": _api.GM_ACCESS_CAS,
}
MODES = {
    None: _api.GM_SWIZZLE_NONE,
    "none": _api.GM_SWIZZLE_NONE,
    "32B": _api.GM_SWIZZLE_32B,
    "64B": _api.GM_SWIZZLE_64B,
    "128B": _api.GM_SWIZZLE_128B,
}


def one_of(choices, value, what):
    if value not in choices:
        raise ValueError(f"there is no {what} {value!r}; there are {', '.join(str(name) for name in choices)}")
    return choices[value]


# ---- banks ----------------------------------------------------------------------------------------------------------


class BankMap:
    """How a warp's access meets the 32 banks; print() shows which lanes ride in which wavefront.

    wavefronts    that the access takes; ideal: when no two words share a bank
    conflicts     what the hardware counts as bank conflicts
    degree        the most words that one bank must serve
    words         different 4-byte words that are touched
    lanes         of each wavefront, the lanes that it serves
    """

    def __init__(self, access, title):
        self.title, self.map = title, _api.gm_bank_map()
        _library.load().gm_bank_map(access, self.map)
        cost = self.map.cost
        self.wavefronts, self.ideal, self.conflicts = cost.wavefronts, cost.ideal, cost.conflicts
        self.degree, self.words = cost.degree, cost.words
        served = [sorted({where for where in lane if where != _api.GM_NO_WAVEFRONT}) for lane in self.map.wavefront]
        self.lanes = [[lane for lane in range(_api.GM_LANES) if w in served[lane]] for w in range(self.wavefronts)]

    def __str__(self):
        lines = [
            f"{self.title}: {counted(self.wavefronts, 'wavefront')}, {self.ideal} at best, "
            f"{counted(self.conflicts, 'conflict')}; "
            f"{self.words} words, up to {self.degree} on a bank"
        ]
        lines += [f"  wavefront {at:2}  lanes {ranges(lanes)}" for at, lanes in enumerate(self.lanes)]
        return "\n".join(lines)

    __repr__ = __str__


def counted(number, what):
    return f"{number} {what}" + ("" if number == 1 else "s")


def ranges(numbers):
    """ "0-3 8" of [0, 1, 2, 3, 8]."""
    runs = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def bank(stride=None, *, address=None, kind="load", width=None, matrices=0, inactive=0):
    """The bank conflicts of one instruction of a warp: a BankMap.

    stride      lane i accesses element i * stride of `width` bytes
    address     instead: a function of the lane, or up to 32 byte addresses (further lanes take no part)
    kind        "load", "store", "ldmatrix", "stmatrix", "cp_async", "atomic", "increment", "cas"
    width       bytes a lane: 1, 2, 4, 8, 16; None: 4, of the matrix kinds 16
    matrices    of the matrix kinds: 1, 2, 4; 0: 4
    inactive    bit i: lane i takes no part

    bank(2) has two wavefronts; bank(address=lambda lane: lane * 128 ^ (lane & 7) << 4, kind="ldmatrix") has four, none
    too many. The model is docs/counters.md's. gristmill.Error: an address is no multiple of the width, or the like.
    """
    access = _api.gm_access(kind=one_of(KINDS, kind, "kind of access"), matrices=matrices, inactive=inactive)
    access.width = width or (16 if kind in ("ldmatrix", "stmatrix") else 4)
    if (stride is None) == (address is None):
        raise ValueError("say one of stride and address")
    if address is None:
        addresses = [lane * stride * access.width for lane in range(_api.GM_LANES)]
    else:
        addresses = [address(lane) for lane in range(_api.GM_LANES)] if callable(address) else list(address)
    if len(addresses) > _api.GM_LANES:
        raise ValueError(f"{len(addresses)} addresses for {_api.GM_LANES} lanes")
    for lane in range(_api.GM_LANES):
        if lane < len(addresses):
            access.address[lane] = addresses[lane]
        else:
            access.inactive |= 1 << lane
    what = f"stride {stride}" if address is None else f"{len(addresses)} addresses"
    return BankMap(access, f"{kind} of {access.width} bytes, {what}")


# ---- swizzles -------------------------------------------------------------------------------------------------------


class Swizzle:
    """Swizzle<bits, base, shift> of byte addresses, as in CuTe; print() shows where the chunks of a tile lie.

    swizzle(address) -> address. `span` and `pattern` are bytes, of the modes of TMA and WGMMA only, else None.
    """

    def __init__(self, raw, mode=None):
        self.raw, self.mode = raw, mode
        self.bits, self.base, self.shift = raw.bits, raw.base, raw.shift
        library = _library.load()
        self.span = library.gm_swizzle_span_bytes(MODES[mode]) if mode else None
        self.pattern = library.gm_swizzle_pattern_bytes(MODES[mode]) if mode else None

    def __call__(self, address):
        return _library.load().gm_swizzle_apply(self.raw, address)

    def prove(self, rows=8, row_bytes=None):
        """api.gm_swizzle_proof of a tile: found by going through every address and every column."""
        row_bytes = row_bytes or self.span or 128
        tile = _api.gm_smem_tile(rows=rows, row_bytes=row_bytes, swizzle=self.raw)
        proof = _api.gm_swizzle_proof()
        _library.load().gm_swizzle_prove(tile, proof)
        return proof

    def __str__(self):
        chunk = 1 << self.base
        row_bytes = max(self.span or 0, chunk << self.bits)
        rows = max(8, (2 << max(self.base + self.bits - 1 + self.shift, 0)) // row_bytes)
        columns = row_bytes // chunk
        lines = [
            f"Swizzle<{self.bits}, {self.base}, {self.shift}>"
            + (f", mode {self.mode}" if self.mode else "")
            + f": which chunk of {chunk} bytes lies where, {min(rows, 16)} rows of {row_bytes} bytes"
        ]
        for row in range(min(rows, 16)):
            start = row * row_bytes
            where = {self(start + at * chunk): at for at in range(columns)}
            lines.append(
                f"  row {row:2} " + "".join(f"{where.get(start + at * chunk, '?'):>4}" for at in range(columns))
            )
        return "\n".join(lines)

    __repr__ = __str__


def swizzle(mode="128B", *, bits=None, base=None, shift=None):
    """The Swizzle of a mode of TMA and WGMMA ("none", "32B", "64B", "128B"), or of bits, base and shift.

    print(swizzle("128B")); swizzle("64B")(0x1040); swizzle(bits=3, base=4, shift=3).prove(rows=64)
    """
    numbers = (bits, base, shift)
    if numbers == (None, None, None):
        number = one_of(MODES, mode, "swizzle mode")
        return Swizzle(_library.load().gm_swizzle_of_mode(number), mode or "none")
    if None in numbers:
        raise ValueError("a swizzle that is no mode has bits, base and shift")
    raw = _api.gm_swizzle(bits=bits, base=base, shift=shift)
    _library.load().gm_swizzle_check(raw)
    return Swizzle(raw)
