// SPDX-License-Identifier: Apache-2.0
// What is asked, as texts by the names that `gristmill bank` has for its options; the URL's hash holds the same names.

// Empty: whatever the kind or the type usually has; of `show`, the access with the most conflicts. `by` says which of
// `tile` and `address` counts; the hash has that one. `cells`: what the cells of the wavefronts name, lanes or words.
const DEFAULTS = {
    by: "tile", tile: "32x32", type: "f32", walk: "column", at: "0,0", pad: "0", swizzle: "none", base: "0",
    address: "lane * 4", kind: "", width: "", matrices: "", lanes: "", tiles: "1", "other-bytes": "0", show: "",
    cells: "lanes",
};
const OF_BOTH = ["kind", "width", "matrices", "lanes"];
const OF_TILE = ["tile", "type", "walk", "at", "pad", "swizzle", "base", ...OF_BOTH];
const OF_ADDRESS = ["address", ...OF_BOTH];
const OF_ADVICE = ["tiles", "other-bytes"];
const WALKS = ["row", "column", "transpose", "ldmatrix"];

// ---- hash and command line ----------------------------------------------------------------------------

const optionsOf = (state) => (state.by === "tile" ? OF_TILE : OF_ADDRESS).filter(
    (name) => state[name] !== DEFAULTS[name] || ["tile", "walk", "address"].includes(name));

function hashOf(state) {
    const words = new URLSearchParams();
    for (const name of optionsOf(state))
        words.set(name, state[name]);
    for (const name of state.by === "tile" ? [...OF_ADVICE, "show", "cells"] : ["cells"])
        if (state[name] !== DEFAULTS[name])
            words.set(name, state[name]);
    return "#" + words;
}

function stateOf(hash) {
    const words = new URLSearchParams(hash.replace(/^#/, "")), state = {...DEFAULTS};
    for (const name of Object.keys(DEFAULTS))
        if (name !== "by" && words.has(name))
            state[name] = words.get(name);
    state.by = words.has("address") && !words.has("tile") ? "address" : "tile";
    return state;
}

function commandOf(state) {
    const quoted = (text) => /^[\w.,-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
    return "gristmill bank" + optionsOf(state).map((name) => ` --${name} ${quoted(state[name])}`).join("");
}

// ---- reading ------------------------------------------------------------------------------------------

// Decimal or 0x..., without signs and blanks; NaN: none.
const numberOf = (text) => /^([0-9]+|0[xX][0-9a-fA-F]+)$/.test(text) ? Number(text) : NaN;

function readNumber(what, text, least, most) {
    const number = numberOf(text);
    if (!(number >= least && number <= most))
        throw new Refusal(`${what} is a whole number from ${least} to ${most}, not \`${text.slice(0, 40)}\``);
    return number;
}

function readPair(what, text, between) {
    const [first, second, ...rest] = text.split(between).map(numberOf);
    if (!(first <= FACTS.tileBytesMax && second <= FACTS.tileBytesMax) || rest.length)
        throw new Refusal(`${what} are two whole numbers such as 32${between}33, not \`${text.slice(0, 40)}\``);
    return [first, second];
}

function readSwizzle(text) {
    if (Object.hasOwn(MODES, text))
        return swizzleOfMode(text);
    const fields = /^([^,]+),([^,]+),(-?)([^,]+)$/.exec(text) || [];
    const [bits, base, shift] = [fields[1], fields[2], fields[4]].map((field) => numberOf(field || ""));
    if (!(bits <= 32 && base <= 32 && shift <= 32))
        throw new Refusal("a swizzle is none, 32B, 64B, 128B, or three numbers B,M,S on byte addresses, not " +
            `\`${text.slice(0, 40)}\``);
    const swizzle = {bits, base, shift: fields[3] ? -shift : shift};
    checkSwizzle(swizzle);
    return swizzle;
}

// "0-7,16" or a mask "0xff"; the lanes that take no part.
function readLanes(text) {
    let active = text.startsWith("0x") ? numberOf(text) : 0;
    for (const item of text.startsWith("0x") ? [] : text.split(",")) {
        const [first, last = first, ...rest] = item.split("-").map(numberOf);
        if (!(first <= last && last < FACTS.lanes) || rest.length)
            active = NaN;
        for (let lane = first; lane <= last && active === active; lane++)
            active |= 1 << lane;
    }
    if (!(active < ADDRESSES)) // NaN as well
        throw new Refusal("lanes are of 0 to 31, such as 0-7,16, or a mask such as 0xff, not " +
            `\`${text.slice(0, 40)}\``);
    if (active === 0)
        throw new Refusal("no lane is left");
    return ~active;
}

// ---- from texts to accesses -----------------------------------------------------------------------------

function usualWidth(rule, elementBytes) {
    if (rule.widths === 4 || rule.widths === 16) // atomics, ldmatrix
        return rule.widths;
    return rule.name === "cp.async" ? 16 : elementBytes;
}

// Kind, width, matrices and lanes, without addresses.
function readShape(state, usualKind, elementBytes) {
    const kind = FACTS.kinds.findIndex((rule) => rule.name === (state.kind || usualKind)), rule = FACTS.kinds[kind];
    if (!rule)
        throw new Refusal(`there is no access of the kind \`${state.kind.slice(0, 40)}\``);
    if (state.matrices && !rule.matrices)
        throw new Refusal(`matrices belong to ldmatrix and stmatrix, not to ${rule.name}`);
    const access = {
        kind,
        width: state.width ? readNumber("width", state.width, 1, 16) : usualWidth(rule, elementBytes),
        matrices: !rule.matrices ? 0 : state.matrices ? readNumber("matrices", state.matrices, 1, 4) : 4,
        inactive: state.lanes ? readLanes(state.lanes) : 0,
    };
    accessShape(access);
    const missing = rule.matrices ? access.inactive & firstLanes(MATRIX_ROWS * access.matrices) : 0;
    if (missing)
        throw new Refusal(`${accessName(access)} takes the addresses of lanes 0 to ` +
            `${MATRIX_ROWS * access.matrices - 1}, and lane ${lanesOf(missing)[0]} has none`);
    return access;
}

// "load of 4 bytes a lane", "ldmatrix.x4"
function accessName({kind, width, matrices}) {
    const rule = FACTS.kinds[kind];
    return rule.matrices ? `${rule.name}.x${matrices}` : `${rule.name} of ${plural(width, "byte")} a lane`;
}

function readAddresses(text, access) {
    const address = new Array(FACTS.lanes).fill(0);
    for (const lane of lanesOf(accessShape(access).active)) {
        address[lane] = expressionValue(text, lane);
        if (!(address[lane] >= 0 && address[lane] < ADDRESSES))
            throw new Refusal(`lane ${lane} has the address ${address[lane]}, which is not 0 to 2^32 - 1`);
    }
    return {...access, address};
}

function readTile(state) {
    if (!Object.hasOwn(TYPES, state.type))
        throw new Refusal(`there is no element type \`${state.type.slice(0, 40)}\``);
    if (!WALKS.includes(state.walk))
        throw new Refusal(`there is no walk \`${state.walk.slice(0, 40)}\``);
    const elementBytes = TYPES[state.type], [rows, columns] = readPair("rows x columns", state.tile, "x");
    const pad = readNumber("a pad", state.pad, 0, FACTS.tileBytesMax), rowBytes = columns * elementBytes;
    const tile = {
        rows, rowBytes, pitch: rowBytes + pad * elementBytes,
        base: readNumber("the base", state.base, 0, ADDRESSES - 1),
        swizzle: readSwizzle(state.swizzle),
    };
    checkTile(tile);
    const [row, column] = readPair("row and column of lane 0", state.at, ",");
    if (row >= rows || column >= columns)
        throw new Refusal(`lane 0 begins at ${state.at}, outside a tile of ${state.tile}`);
    return {tile, columns, elementBytes, pad, at: {row, column}};
}

// The walks: [what it does, walk, kind where none is said].
function passesOf(state) {
    if (state.walk !== "transpose")
        return [["", state.walk, state.walk === "ldmatrix" ? "ldmatrix" : "load"]];
    if (state.kind)
        throw new Refusal("transpose stores along the rows and loads down the columns; it has no other kind");
    return [["along the rows", "row", "store"], ["down the columns", "column", "load"]];
}

// {layout, accesses: [{title, access, walk}]}, without a tile no layout and walk; or a Refusal that says what is wrong.
function readQuestion(state) {
    if (state.by !== "tile") {
        const access = readAddresses(state.address, readShape(state, "load", WORD_BYTES));
        return {accesses: [{title: accessName(access), access}]};
    }
    const layout = readTile(state);
    const accesses = passesOf(state).map(([does, name, kind]) => {
        const shape = readShape(state, kind, layout.elementBytes);
        const walk = walkOf(name, layout.tile, layout.elementBytes, layout.at, shape);
        return {title: does ? `${FACTS.kinds[shape.kind].name} ${does}` : accessName(shape), walk,
            access: placeWalk(layout.tile, walk)};
    });
    return {layout, accesses};
}

// What advise() is asked.
function readAdvice(state, {layout, accesses}) {
    return {tile: layout.tile, walks: accesses.map((one) => one.walk),
        tiles: readNumber("tiles a block", state.tiles, 1, 65536),
        otherBytes: readNumber("other bytes", state["other-bytes"], 0, 1 << 20)};
}
