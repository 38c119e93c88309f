// SPDX-License-Identifier: Apache-2.0
// The padding adviser, as src/smem/pad.c and src/smem/swizzle_search.c have it: the smallest pad that helps and what it
// costs, or the smallest swizzle that costs no byte.

const PAD_MAX = FACTS.padMax; // one line: from there on the banks repeat
const BLOCK_SMEM_RESERVE = 1024, SMEM_GRANULE = 128; // as in src/host/occupancy.c
const BANK_LOW_BIT = 2, BANK_HIGH_BIT = 6, BANK_BITS = 5;

// Blocks of so much shared memory that an SM of the device holds; 0: not even one.
function blocksOnSm(device, bytes) {
    if (bytes > device.smemPerBlock)
        return 0;
    const taken = Math.ceil((bytes + BLOCK_SMEM_RESERVE) / SMEM_GRANULE) * SMEM_GRANULE;
    return Math.min(Math.floor(device.smemPerSm / taken), device.blocksMost);
}

function totalCost(tile, walks) {
    const total = {wavefronts: 0, ideal: 0};
    for (const walk of walks) {
        const {wavefronts, ideal} = bankMap(placeWalk(tile, walk));
        total.wavefronts += wavefronts;
        total.ideal += ideal;
    }
    return total;
}

const paddedTile = (tile, pad) => ({...tile, pitch: tile.rowBytes + pad, swizzle: NO_SWIZZLE});

// The wavefronts of every pad that may be tried, {pad, bytes, blocks, wavefronts}; the first has none.
function padLadder({tile, walks, tiles, otherBytes}, unit, device) {
    const ladder = [];
    for (let pad = 0; pad <= PAD_MAX; pad += unit) {
        const bytes = tile.rows * (tile.rowBytes + pad), blocks = blocksOnSm(device, tiles * bytes + otherBytes);
        const cured = ladder.some((rung) => rung.wavefronts === rung.ideal); // then nobody needs the rest
        if (pad && (bytes > FACTS.tileBytesMax || (blocks === 0 && ladder[0].blocks > 0) ||
                    (cured && tile.base + bytes > ADDRESSES)))
            break;
        ladder.push({pad, bytes, blocks, ...totalCost(paddedTile(tile, pad), walks)});
    }
    return ladder;
}

// ---- the smallest swizzle: fewest bits, then the highest base, then the smallest shift ----------------

function curesAll(tile, walks) {
    return walks.every((walk) => {
        try {
            return bankMap(placeWalk(tile, walk)).conflicts === 0;
        } catch (refusal) {
            return false; // it tears a lane's bytes apart
        }
    });
}

// The highest address bit that is not the same all over the tile.
function topVaryingBit({base, rows, pitch, rowBytes}) {
    return 31 - Math.clz32(base ^ (base + (rows - 1) * pitch + rowBytes - 1) | 1);
}

// Only bits of the bank change, and no piece smaller than a lane's vector moves; only bits that vary are read.
function findSwizzle(tile, walks) {
    const piece = Math.max(...walks.map((walk) => Math.log2(accessShape(walk).width))), top = topVaryingBit(tile);
    for (let bits = 1; bits <= BANK_BITS; bits++)
        for (let base = BANK_HIGH_BIT + 1 - bits; base >= piece; base--)
            for (let distance = bits; distance <= top; distance++)
                for (const shift of [distance, -distance]) {
                    const target = shift < 0 ? base + distance : base, source = shift < 0 ? base : base + distance;
                    if (target >= BANK_LOW_BIT && target + bits - 1 <= BANK_HIGH_BIT && source + bits - 1 <= top &&
                        curesAll({...tile, swizzle: {bits, base, shift}}, walks))
                        return {bits, base, shift};
                }
    return NO_SWIZZLE;
}

// ---- the advice ---------------------------------------------------------------------------------------

// A pad keeps the index simple; it must make room for a swizzle where that is better, or where the pad costs a block.
function chooseCure({plain, padded, swizzled}) {
    const padHelps = padded.wavefronts < plain.wavefronts, swizzleHelps = swizzled < plain.wavefronts;
    if (plain.wavefronts === plain.ideal)
        return "none needed";
    if (padHelps && swizzleHelps && padded.wavefronts === swizzled)
        return padded.blocks < plain.blocks ? "swizzle" : "pad";
    if (swizzleHelps && (!padHelps || swizzled < padded.wavefronts))
        return "swizzle";
    return padHelps ? "pad" : "nothing helps";
}

// The question is {tile, walks, tiles, otherBytes}: so many tiles and other bytes make up a block. The tile's pad and
// swizzle are ignored.
function advise(question, device) {
    const tile = paddedTile(question.tile, 0);
    checkTile(tile);
    const unit = Math.max(WORD_BYTES, ...question.walks.map((walk) => accessShape(walk).width));
    const ladder = padLadder({...question, tile}, unit, device), plain = ladder[0];
    const padded = ladder.reduce((best, rung) => rung.wavefronts < best.wavefronts ? rung : best);
    const advice = {unit, ladder, plain, padded, swizzle: NO_SWIZZLE, swizzled: plain.wavefronts};
    if (plain.wavefronts > plain.ideal) {
        advice.swizzle = findSwizzle(tile, question.walks);
        advice.swizzled = advice.swizzle.bits ? plain.ideal : plain.wavefronts;
    }
    advice.cure = chooseCure(advice);
    return advice;
}
