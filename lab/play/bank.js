// SPDX-License-Identifier: Apache-2.0
// The bank model, as src/smem/bank.c has it: what one access of a warp costs in wavefronts, and who rides in which.
// The rules of each kind of access come from there, in FACTS.

const WORD_BYTES = 4;
const LINE_BYTES = FACTS.banks * WORD_BYTES; // one word of every bank: what a wavefront moves at most
const MATRIX_ROWS = 8;
const ADDRESSES = 2 ** 32;

// What the model refuses, with its sentence.
class Refusal extends Error {
    constructor(sentence, misaligned = false) {
        super(sentence);
        this.misaligned = misaligned;
    }
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// ---- lanes: bit i of a mask is lane i ---------------------------------------------------------------

const firstLanes = (count) => 0xffffffff >>> (FACTS.lanes - count);

function lanesOf(mask) {
    const lanes = [];
    for (let rest = mask; rest; rest &= rest - 1)
        lanes.push(31 - Math.clz32(rest & -rest));
    return lanes;
}

// ---- what an access may be --------------------------------------------------------------------------

// `choices` is a sum of powers of two; `value` must be one of them.
const isOneOf = (value, choices) => value !== 0 && (value & (value - 1)) === 0 && (value & choices) !== 0;

const choicesOf = (choices) => [1, 2, 4, 8, 16].filter((value) => value & choices);

// Of an access {kind, width, matrices, inactive, address}: the bytes at each lane's address, and lanes that have one.
function accessShape({kind, width, matrices, inactive}) {
    const rule = FACTS.kinds[kind];
    if (rule.matrices) {
        width = width || rule.widths;
        matrices = matrices || 4;
    }
    if (!isOneOf(width, rule.widths))
        throw new Refusal(`${rule.name} of ${width} bytes a lane: there is ${choicesOf(rule.widths).join(", ")}`);
    if (rule.matrices && !isOneOf(matrices, rule.matrices))
        throw new Refusal(`${rule.name} of ${matrices} matrices: there is ${choicesOf(rule.matrices).join(", ")}`);
    if (!rule.matrices && matrices)
        throw new Refusal(`${rule.name} of ${matrices} matrices: there is no such thing, leave it 0`);
    return {width, active: ~inactive & firstLanes(rule.matrices ? MATRIX_ROWS * matrices : FACTS.lanes)};
}

function checkAddress(lane, address, width) {
    if (address % width === 0)
        return;
    if (address > ADDRESSES - width)
        throw new Refusal(`the ${width} bytes of lane ${lane} at address ${address} end beyond 2^32`);
    throw new Refusal(`lane ${lane}'s address ${address} is no multiple of the ${width} bytes it asks for`, true);
}

// ---- which lanes ask together -----------------------------------------------------------------------

// Every pair of active lanes `distance` apart, 1 or 2, asks for the same address.
function pairsAgree(address, active, distance) {
    const lower = distance === 1 ? 0x55555555 : 0x33333333;
    for (let pairs = active & (active >>> distance) & lower; pairs; pairs &= pairs - 1) {
        const lane = 31 - Math.clz32(pairs & -pairs);
        if (address[lane] !== address[lane + distance])
            return false;
    }
    return true;
}

// The groups of lanes that the hardware serves by themselves, as masks: as many neighbours as fill a line of 128 bytes,
// or twice as many where a wide load asks for each address twice.
function accessPhases({kind, address}, {width, active}) {
    let lanes = LINE_BYTES / Math.max(width, WORD_BYTES);
    if (FACTS.kinds[kind].phasesMerge && lanes < FACTS.lanes &&
        (pairsAgree(address, active, 1) || pairsAgree(address, active, 2)))
        lanes *= 2;
    const phases = [];
    for (let first = 0; first < FACTS.lanes; first += lanes) {
        const phase = active & (firstLanes(lanes) << first);
        if (phase)
            phases.push(phase);
    }
    return phases;
}

// ---- who rides when ---------------------------------------------------------------------------------

// The cost of an access, and `ride`, the (first) wavefront that serves each lane; -1: none.
//
// Every address is a multiple of the width, so two lanes meet in one bank exactly when they meet in all banks of their
// granule, the width or at least a word. So it is enough to count per column of granules, 128 / granule of them.
function bankMap(access) {
    const shape = accessShape(access), rule = FACTS.kinds[access.kind];
    for (let lanes = shape.active; lanes; lanes &= lanes - 1) {
        const lane = 31 - Math.clz32(lanes & -lanes);
        checkAddress(lane, access.address[lane], shape.width);
    }
    const granuleBytes = Math.max(shape.width, WORD_BYTES), columns = LINE_BYTES / granuleBytes;
    const phases = accessPhases(access, shape), ride = new Array(FACTS.lanes).fill(-1);
    const served = new Map(); // granule -> 64 * phase + turn of it that served it last
    const map = {wavefronts: 0, ideal: phases.length * rule.passes, conflicts: 0, degree: 0, words: 0};
    for (let phase = 0; phase < phases.length; phase++) {
        const asked = new Array(columns).fill(0); // turns of each column in this phase
        let turns = 0;
        for (let lanes = phases[phase]; lanes; lanes &= lanes - 1) { // the lowest first
            const lane = 31 - Math.clz32(lanes & -lanes), granule = Math.floor(access.address[lane] / granuleBytes);
            const before = served.get(granule);
            let turn;
            if (rule.lanesShare && before !== undefined && before >> 6 === phase) {
                turn = before & 63;
            } else {
                turn = asked[granule % columns]++;
                served.set(granule, 64 * phase + turn);
            }
            ride[lane] = map.wavefronts + turn * rule.passes;
            turns = Math.max(turns, turn + 1);
        }
        map.wavefronts += turns * rule.passes;
        map.conflicts += turns - 1;
        map.degree = Math.max(map.degree, turns);
    }
    map.words = served.size * (granuleBytes / WORD_BYTES);
    return Object.assign(map, {ride, phases, shape});
}

// What each bank does in each wavefront: rides[wavefront][bank] is null where it is idle, or {word, lanes, late}: the
// word's address, the mask of the lanes that get it, and whether they waited for another word of the same phase.
function bankRides(access, map) {
    const passes = FACTS.kinds[access.kind].passes;
    const rides = Array.from({length: map.wavefronts}, () => new Array(FACTS.banks).fill(null));
    for (const [phase, mask] of map.phases.entries())
        for (const lane of lanesOf(mask)) {
            const first = Math.floor(access.address[lane] / WORD_BYTES), end = first + map.shape.width / WORD_BYTES;
            for (let word = first; word < end; word++)
                for (let pass = 0; pass < passes; pass++) {
                    const wavefront = rides[map.ride[lane] + pass], bank = word % FACTS.banks;
                    wavefront[bank] = wavefront[bank] || {word: word * WORD_BYTES, lanes: 0, phase, late: false};
                    wavefront[bank].lanes |= 1 << lane;
                }
        }
    for (let bank = 0; bank < FACTS.banks; bank++)
        markLate(rides.map((wavefront) => wavefront[bank]).filter(Boolean));
    return rides;
}

// The rides of one bank, in order. The second of an access that takes two wavefronts is as late as the first.
function markLate(rides) {
    for (let i = 1; i < rides.length; i++)
        rides[i].late = rides[i].lanes === rides[i - 1].lanes ? rides[i - 1].late :
            rides[i].phase === rides[i - 1].phase;
}
