// SPDX-License-Identifier: Apache-2.0
// Compares what the page of `gristmill lab play` computes with what play_patterns wrote of the C model:
//
//     play_patterns COUNT SEED | node model.js PAGE
//
// The last line is "N passed, N failed, N skipped", of records.
"use strict";
const fs = require("fs");
Error.stackTraceLimit = 0; // a fifth of the records is refused

const INVALID_ARGUMENT = 1, MISALIGNED = 3; // of enum gm_status
const CURES = ["none needed", "pad", "swizzle", "nothing helps"];

// The page's scripts but the last, which is about the page itself.
function model(page) {
    const script = /<script>\n([^]*?)\n\/\/ ======== lab\/play\/page\.js/.exec(page)[1].replace("(() => {", "");
    const names = "FACTS, Refusal, bankMap, bankRides, placeWalk, walkOf, advise, expressionValue";
    return new Function(`${script}\nreturn {${names}};`)();
}
const M = model(fs.readFileSync(process.argv[2], "utf8"));

// ---- a record: words that are read one after the other ---------------------------------------------------

let words, at;
const word = () => words[at++];
const signed = () => words[at++] | 0;
function array(count) {
    at += count;
    return words.subarray(at - count, at);
}
const readAccess = () => ({kind: word(), width: word(), matrices: word(), inactive: word()});
const readTile = () => ({rows: word(), rowBytes: word(), pitch: word(), base: word(),
    swizzle: {bits: word(), base: word(), shift: signed()}});

// What `compute` gives, as the C model's answer has it.
function answer(compute) {
    try {
        return [0, ...compute()];
    } catch (refusal) {
        if (!(refusal instanceof M.Refusal))
            throw refusal;
        return [refusal.misaligned ? MISALIGNED : INVALID_ARGUMENT];
    }
}

function digest(rides) {
    let sum = 0;
    for (const wavefront of rides)
        for (const ride of wavefront)
            sum = Math.imul(sum, 31) + (ride ? ride.word + 2 : 1) | 0;
    return sum >>> 0;
}

function mapOf(access, withWords) {
    const map = M.bankMap(access), {wavefronts, ideal, conflicts, degree, words} = map;
    return [wavefronts, ideal, conflicts, degree, words, ...(withWords ? [digest(M.bankRides(access, map))] : []),
        ...map.ride.map((wavefront) => wavefront & 255)];
}

const WALKS = ["row", "column", "transpose", "ldmatrix"];
function readWalk() {
    const tile = readTile(), access = readAccess(), name = word(), elementBytes = word();
    const start = {row: word(), column: word()};
    return {tile, walk: (other = name) => M.walkOf(WALKS[other], tile, elementBytes, start, access)};
}

function adviceOf({tile, walk}) {
    const second = word(), tiles = word(), otherBytes = word(), device = M.FACTS.devices[word()];
    return () => {
        const walks = second === 0xffffffff ? [walk()] : [walk(), walk(second)];
        const {unit, plain, padded, swizzle, swizzled, cure} = M.advise({tile, walks, tiles, otherBytes}, device);
        return [unit, padded.pad, plain.wavefronts, padded.wavefronts, plain.ideal, plain.bytes, padded.bytes,
            plain.blocks, padded.blocks, swizzle.bits, swizzle.base, swizzle.shift >>> 0, swizzled,
            CURES.indexOf(cure)];
    };
}

function expressionOf() {
    const lane = word(), text = Buffer.from(array(word())).toString();
    try {
        const value = BigInt.asUintN(64, BigInt(M.expressionValue(text, lane)));
        return [0, Number(value & 0xffffffffn), Number(value >> 32n)];
    } catch (error) {
        if (!(error instanceof M.Refusal))
            throw error;
        const sentence = error.message.replace(/^column \d+: /, "");
        return [1, error.column, sentence.length, ...Buffer.from(sentence, "latin1")];
    }
}

function accessOf() {
    const withWords = word(), access = {...readAccess(), address: array(32)};
    return () => mapOf(access, withWords);
}

function placedOf() {
    const withWords = word(), tile = readTile(), walk = {...readAccess(), row: array(32), byte: array(32)};
    return () => mapOf(M.placeWalk(tile, walk), withWords);
}

function walkOf() {
    const withWords = word(), {tile, walk} = readWalk();
    return () => mapOf(M.placeWalk(tile, walk()), withWords);
}

const ANSWERS = [
    ["accesses", () => answer(accessOf())],
    ["placed walks", () => answer(placedOf())],
    ["walks", () => answer(walkOf())],
    ["advice", () => answer(adviceOf(readWalk()))],
    ["expressions", expressionOf],
];

// ---- all records -----------------------------------------------------------------------------------------

const counts = ANSWERS.map(() => [0, 0, 0]); // passed, failed, answered by a refusal
let shown = 0;

function compare(record) {
    words = record;
    at = 0;
    const type = word(), ours = ANSWERS[type][1](), theirs = words.subarray(at);
    const same = ours.length === theirs.length && ours.every((one, i) => one === theirs[i]);
    counts[type][same ? 0 : 1]++;
    counts[type][2] += theirs[0] !== 0;
    if (!same && shown++ < 5)
        console.log(`FAIL ${ANSWERS[type][0]}: ${[...words.subarray(0, at)]}\n` +
            `     ours ${ours}\n     C's  ${[...theirs]}`);
}

// Records may be cut by the ends of what is read.
function readAll() {
    const buffer = Buffer.alloc(1 << 22);
    let kept = 0;
    for (;;) {
        let read;
        try {
            read = fs.readSync(0, buffer, kept, buffer.length - kept);
        } catch (error) {
            if (error.code === "EAGAIN")
                continue;
            throw error;
        }
        if (read === 0)
            return kept;
        const all = new Uint32Array(buffer.buffer, buffer.byteOffset, (kept + read) >> 2);
        let first = 0;
        while (first < all.length && first + 1 + all[first] <= all.length) {
            compare(all.subarray(first + 1, first + 1 + all[first]));
            first += 1 + all[first];
        }
        buffer.copyWithin(0, 4 * first, kept + read);
        kept = kept + read - 4 * first;
    }
}

const rest = readAll();
const passed = counts.filter(([alike, different]) => alike && !different).length; // kinds of answers, not patterns
const failed = counts.length - passed + (rest ? 1 : 0);
ANSWERS.forEach(([name], type) =>
    console.log(`${name}: ${counts[type][0]} alike, ${counts[type][1]} different; ${counts[type][2]} of them refused`));
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed ? 1 : 0;
