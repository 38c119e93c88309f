// SPDX-License-Identifier: Apache-2.0
// Swizzles, tiles and walks, as src/smem/swizzle.c, src/smem/smem_tile.c and program/smem/walk.c have them.

const NO_SWIZZLE = {bits: 0, base: 0, shift: 0};
const TYPES = {u8: 1, bf16: 2, f16: 2, f32: 4, f64: 8};
const MODES = {none: 0, "32B": 1, "64B": 2, "128B": 3};

// ---- swizzles: {bits, base, shift} is Swizzle<B, M, S> ------------------------------------------------

const swizzleOfMode = (mode) => ({bits: MODES[mode], base: 4, shift: 3});
const swizzleName = ({bits, base, shift}) => `Swizzle<${bits},${base},${shift}>`;

function checkSwizzle(swizzle) {
    const {bits, base, shift} = swizzle, distance = Math.abs(shift);
    if (bits + base + distance > 32)
        throw new Refusal(`${swizzleName(swizzle)} touches bits beyond the 32 of an address: ` +
            "B + M + |S| may be at most 32");
    if (bits !== 0 && distance < bits)
        throw new Refusal(`${swizzleName(swizzle)} XORs a field of ${bits} bits with one only ${distance} places ` +
            "away: |S| must be at least B");
}

// Of a swizzle that checkSwizzle() lets pass.
function applySwizzle({bits, base, shift}, address) {
    if (bits === 0)
        return address;
    const field = ((1 << bits) - 1) << base; // B <= |S|, so B <= 16
    const other = shift > 0 ? (address >>> shift) & field : (address & field) << -shift;
    return (address ^ other) >>> 0;
}

// A swizzle is linear: what it does to an address is the exclusive-or of what it does to the address's bits.
function cutsVectors(swizzle, width) {
    for (let bit = 0; bit < 32; bit++) {
        const from = (1 << bit) >>> 0, to = applySwizzle(swizzle, from);
        if (from < width ? to !== from : to % width !== 0)
            return true;
    }
    return false;
}

// ---- tiles: {rows, rowBytes, pitch, base, swizzle} ----------------------------------------------------

function checkTile({rows, rowBytes, pitch, base, swizzle}) {
    const bytes = rows * pitch;
    if (rows === 0 || rows > FACTS.tileRowsMax)
        throw new Refusal(`the tile has ${rows} rows, not 1 to ${FACTS.tileRowsMax}`);
    if (rowBytes === 0)
        throw new Refusal("the tile's rows have 0 bytes");
    if (pitch < rowBytes)
        throw new Refusal(`the tile's pitch of ${pitch} bytes is less than a row of ${rowBytes}`);
    if (bytes > FACTS.tileBytesMax)
        throw new Refusal(`${rows} rows of ${pitch} bytes make ${bytes} bytes, more than ${FACTS.tileBytesMax}`);
    if (base + bytes > ADDRESSES)
        throw new Refusal(`a tile of ${bytes} bytes at address ${base} ends beyond 2^32`);
    checkSwizzle(swizzle);
}

const tileAddress = (tile, row, byte) => applySwizzle(tile.swizzle, tile.base + row * tile.pitch + byte);

// The access of a walk {kind, width, matrices, inactive, row, byte} through the tile.
function placeWalk(tile, walk) {
    checkTile(tile);
    const {width, active} = accessShape(walk), lanes = lanesOf(active);
    for (const lane of lanes)
        if (walk.row[lane] >= tile.rows || walk.byte[lane] + width > tile.rowBytes)
            throw new Refusal(`lane ${lane}'s ${width} bytes from byte ${walk.byte[lane]} of row ${walk.row[lane]} ` +
                `leave the tile of ${tile.rows} rows of ${tile.rowBytes} bytes`);
    if (tile.swizzle.bits && cutsVectors(tile.swizzle, width))
        throw new Refusal(`${swizzleName(tile.swizzle)} tears the ${width} bytes of a lane apart`);
    const address = new Array(FACTS.lanes).fill(0);
    for (const lane of lanes)
        address[lane] = tileAddress(tile, walk.row[lane], walk.byte[lane]);
    return {kind: walk.kind, width: walk.width, matrices: walk.matrices, inactive: walk.inactive, address};
}

// ---- walks ------------------------------------------------------------------------------------------

// The walk of an access {kind, width, matrices, inactive} through a tile of elements, from lane 0's `at` {row, column}:
//     row        side by side along the rows, wrapping to the next row
//     column     one below the other, wrapping to the next column
//     ldmatrix   16 rows x 32 bytes, the fragment of mma.m16n8k16: lane l at row l mod 16, byte 16 * (l / 16)
function walkOf(name, tile, elementBytes, at, access) {
    const {width} = access, vectorsARow = Math.floor(tile.rowBytes / width), begin = at.column * elementBytes;
    if (width % elementBytes)
        throw new Refusal(`a lane's ${width} bytes cut elements of ${elementBytes}`);
    if (vectorsARow === 0)
        throw new Refusal(`a lane's ${width} bytes are more than a row of ${tile.rowBytes}`);
    if (begin % width)
        throw new Refusal(`lane 0 begins at byte ${begin} of a row, no multiple of a lane's ${width} bytes`);
    if (name === "ldmatrix" && !FACTS.kinds[access.kind].matrices)
        throw new Refusal("the walk of ldmatrix belongs to ldmatrix and stmatrix");
    const walk = {...access, row: [], byte: []}, column = begin / width;
    const first = name === "column" ? column * tile.rows + at.row : at.row * vectorsARow + column;
    for (let lane = 0; lane < FACTS.lanes; lane++) {
        const n = first + lane;
        if (name === "ldmatrix") {
            walk.row.push(at.row + lane % 16);
            walk.byte.push(begin + 16 * Math.floor(lane / 16));
        } else if (name === "column") {
            walk.row.push(n % tile.rows);
            walk.byte.push(width * Math.floor(n / tile.rows));
        } else {
            walk.row.push(Math.floor(n / vectorsARow));
            walk.byte.push(width * (n % vectorsARow));
        }
    }
    return walk;
}
