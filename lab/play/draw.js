// SPDX-License-Identifier: Apache-2.0
// The pictures, as SVG in text: a tile or lines of memory, the wavefronts, the pads. One colour a bank, from
// program/draw/palette.c through FACTS; red is what waits.

const CELL = 25, TILE_ROW = 26, WAVE_ROW = 20, LABEL = 58, HEAD = 18, BARS = 46;
const ROWS_MAX = 64, COLUMNS_MAX = 128, PADS_MAX = 16; // what is drawn of a tile

const escapeText = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const hex = (address) => "0x" + address.toString(16);
const bankOf = (address) => Math.floor(address / WORD_BYTES) % FACTS.banks;

// "5", "0-3", "0, 2, 4"
function lanesText(mask) {
    const runs = [];
    for (const lane of lanesOf(mask)) {
        const last = runs[runs.length - 1];
        if (last && last[1] === lane - 1)
            last[1] = lane;
        else
            runs.push([lane, lane]);
    }
    return runs.map(([first, last]) => first === last ? `${first}` : `${first}-${last}`).join(", ");
}

const lanesCount = (mask) => lanesOf(mask).length;

// What a cell has room for.
function lanesLabel(mask) {
    const text = lanesText(mask);
    return text.length <= 4 ? text : `×${lanesCount(mask)}`;
}

function svg(width, height, label, body) {
    return `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" ` +
        `aria-label="${escapeText(label)}">${body}</svg>`;
}

const textAt = (x, y, classes, text) => `<text x="${x}" y="${y}" class="${classes}">${escapeText(text)}</text>`;

// ---- a tile, or lines of memory ---------------------------------------------------------------------------

// The part of a tile that is drawn: from the first row and column, or from the first that is touched.
function tileWindow(layout, walk) {
    const touched = walk ? lanesOf(accessShape(walk).active) : [];
    const span = (values, count, most) => {
        const first = values.some((value) => value >= most) ? Math.min(Math.min(...values), count - most) : 0;
        return [Math.max(first, 0), Math.min(Math.max(first, 0) + most, count)];
    };
    return {rows: span(touched.map((lane) => walk.row[lane]), layout.tile.rows, ROWS_MAX),
        columns: span(touched.map((lane) => Math.floor(walk.byte[lane] / layout.elementBytes)), layout.columns,
            COLUMNS_MAX)};
}

// A sheet of a tile: rows of {label, cells: [{address, pad}]}, and what the lanes touch: {row, first, count, lane}.
function tileSheet(layout, walk) {
    const {tile, elementBytes, columns} = layout, shown = tileWindow(layout, walk), rows = [], touches = [];
    for (let row = shown.rows[0]; row < shown.rows[1]; row++) {
        const cells = [];
        const last = shown.columns[1] === columns ? columns + Math.min(layout.pad, PADS_MAX) : shown.columns[1];
        for (let column = shown.columns[0]; column < last; column++)
            cells.push({address: tileAddress(tile, row, column * elementBytes), pad: column >= columns, row, column});
        rows.push({label: row, cells});
    }
    for (const lane of walk ? lanesOf(accessShape(walk).active) : [])
        touches.push({row: walk.row[lane] - shown.rows[0], first: walk.byte[lane] / elementBytes - shown.columns[0],
            count: accessShape(walk).width / elementBytes, lane});
    const heads = rows[0].cells.map((cell) => cell.pad ? "pad" : cell.column);
    const cut = shown.rows[1] - shown.rows[0] < tile.rows || shown.columns[1] - shown.columns[0] < columns;
    return {rows, touches, heads, unit: elementBytes, corner: "row", headName: "column",
        note: cut ? `Rows ${shown.rows[0]} to ${shown.rows[1] - 1} and columns ${shown.columns[0]} to ` +
            `${shown.columns[1] - 1} are drawn.` : ""};
}

// A sheet of the lines of 128 bytes in which the addresses lie: a column is a bank.
function memorySheet(access) {
    const {width, active} = accessShape(access), lines = new Set();
    for (const lane of lanesOf(active))
        lines.add(Math.floor(access.address[lane] / LINE_BYTES));
    const order = [...lines].sort((a, b) => a - b), touches = [];
    const rows = order.map((line) => ({
        label: hex(line * LINE_BYTES),
        cells: Array.from({length: FACTS.banks},
            (_, bank) => ({address: line * LINE_BYTES + bank * WORD_BYTES, row: line, column: bank})),
    }));
    for (const lane of lanesOf(active))
        touches.push({row: order.indexOf(Math.floor(access.address[lane] / LINE_BYTES)),
            first: bankOf(access.address[lane]), count: Math.max(1, width / WORD_BYTES), lane});
    return {rows, touches, heads: rows[0].cells.map((cell) => cell.column), unit: WORD_BYTES, corner: "address",
        headName: "bank", note: ""};
}

// Lanes that touch the same cells, as one.
function mergedTouches(sheet, map) {
    const found = new Map();
    for (const touch of sheet.touches) {
        const key = `${touch.row} ${touch.first}`, known = found.get(key) || {...touch, lanes: 0, waves: new Set()};
        known.lanes |= 1 << touch.lane;
        if (map)
            known.waves.add(map.ride[touch.lane]);
        found.set(key, known);
    }
    return [...found.values()];
}

// The lanes that wait: their bank serves another word of their phase first.
function lateLanes(rides) {
    let late = 0;
    for (const wavefront of rides)
        for (const ride of wavefront)
            late |= ride && ride.late ? ride.lanes : 0;
    return late;
}

// The lanes whose address is no multiple of what they take.
function misalignedLanes(access) {
    const {width, active} = accessShape(access);
    return lanesOf(active).reduce((all, lane) => access.address[lane] % width ? all | 1 << lane : all, 0);
}

function drawCell(cell, x, y, unit, touched) {
    const bank = bankOf(cell.address), [ground, ink] = FACTS.bankColours[bank];
    const label = unit > WORD_BYTES ? `${bank}+` : bank;
    const classes = `cell${touched ? " touched" : ""}${cell.pad ? " pad" : ""}`;
    return `<rect x="${x}" y="${y}" width="${CELL}" height="${TILE_ROW}" fill="${ground}" class="${classes}"/>` +
        textAt(x + CELL / 2, y + TILE_ROW - (touched ? 4 : 9), `bank${touched ? " " + ink : ""}`, label);
}

// The whole sheet. `marked`: a mask of lanes to be framed in red. `wave`: the one whose lanes stand out; -1: all.
function drawSheet(sheet, map, marked, wave, label) {
    const touches = mergedTouches(sheet, map), touched = new Set();
    const width = LABEL + CELL * sheet.heads.length + 2, height = HEAD + TILE_ROW * sheet.rows.length + 2;
    for (const {row, first, count} of touches)
        for (let i = 0; i < count; i++)
            touched.add(row * 1024 + first + i);
    const parts = [textAt(LABEL - 8, HEAD - 6, "head end", sheet.corner)];
    sheet.heads.forEach((head, i) => parts.push(textAt(LABEL + CELL * (i + 0.5), HEAD - 6, "head", head)));
    sheet.rows.forEach((row, r) => {
        const y = HEAD + TILE_ROW * r;
        parts.push(textAt(LABEL - 8, y + 17, "head end", row.label));
        row.cells.forEach((cell, c) =>
            parts.push(drawCell(cell, LABEL + CELL * c, y, sheet.unit, touched.has(r * 1024 + c))));
    });
    for (const {row, first, count, lanes, waves} of touches) {
        const x = LABEL + CELL * first, y = HEAD + TILE_ROW * row;
        const ink = FACTS.bankColours[bankOf(sheet.rows[row].cells[first].address)][1];
        const dim = wave >= 0 && !waves.has(wave) ? " dim" : "";
        parts.push(`<g class="touch${lanes & marked ? " late" : ""}${dim}"><rect x="${x + 1}" y="${y + 1}" ` +
            `width="${CELL * count - 2}" height="${TILE_ROW - 2}"/>` +
            textAt(x + CELL / 2, y + 12, `lane ${ink}`, lanesLabel(lanes)) + "</g>");
    }
    return svg(width, height, label, parts.join(""));
}

// ---- wavefronts -----------------------------------------------------------------------------------------

// Above each bank a bar of the words that it has to serve.
function drawBars(rides) {
    const counts = Array.from({length: FACTS.banks}, (_, bank) => rides.filter((wavefront) => wavefront[bank]).length);
    const most = Math.max(...counts), scale = (BARS - 14) / Math.max(most, 4);
    return counts.map((count, bank) => {
        const x = LABEL + CELL * bank, top = BARS - Math.max(count * scale, count ? 3 : 0);
        const late = rides.some((wavefront) => wavefront[bank] && wavefront[bank].late);
        return count ? `<rect x="${x + 3}" y="${top}" width="${CELL - 6}" height="${BARS - top}" ` +
            `fill="${FACTS.bankColours[bank][0]}" class="bar${late ? " late" : ""}"/>` +
            textAt(x + CELL / 2, top - 3, `count${late ? " late" : ""}`, count) : "";
    }).join("");
}

// One row for each wavefront, one column for each bank: the lanes that get the bank's word. Phases stand apart.
function drawWaves(map, rides, wave, label) {
    const parts = [textAt(LABEL - 8, BARS - 3, "head end", "words"), drawBars(rides),
        textAt(LABEL - 8, BARS + HEAD - 5, "head end", "bank")];
    for (let bank = 0; bank < FACTS.banks; bank++)
        parts.push(textAt(LABEL + CELL * (bank + 0.5), BARS + HEAD - 5, "head", bank));
    let y = BARS + HEAD, phase = 0;
    rides.forEach((wavefront, w) => {
        const next = wavefront.find(Boolean).phase;
        y += next !== phase ? 6 : 0;
        phase = next;
        parts.push(`<g class="wave${wave >= 0 && wave !== w ? " dim" : ""}" data-wave="${w}">`,
            textAt(LABEL - 8, y + 14, "head end", `wave ${w}`),
            `<rect x="${LABEL}" y="${y}" width="${CELL * FACTS.banks}" height="${WAVE_ROW}" class="idle"/>`);
        wavefront.forEach((ride, bank) => {
            if (!ride)
                return;
            const [ground, ink] = FACTS.bankColours[bank], x = LABEL + CELL * bank;
            parts.push(`<rect x="${x}" y="${y}" width="${CELL}" height="${WAVE_ROW}" ` +
                `${ride.late ? "" : `fill="${ground}" `}class="ride${ride.late ? " late" : ""}"/>`,
                textAt(x + CELL / 2, y + 14, `lane ${ride.late ? "late" : ink}`, lanesLabel(ride.lanes)));
        });
        parts.push("</g>");
        y += WAVE_ROW;
    });
    return svg(LABEL + CELL * FACTS.banks + 2, y + 2, label, parts.join(""));
}

// ---- pads -----------------------------------------------------------------------------------------------

// A bar of wavefronts for each pad that was tried.
function drawLadder(advice, padNow) {
    const {ladder, padded, plain} = advice, step = 22, height = 96, foot = 18, left = 6;
    const most = Math.max(...ladder.map((rung) => rung.wavefronts));
    const parts = ladder.map(({pad, wavefronts, ideal}, i) => {
        const top = 16 + (height - 16 - foot) * (1 - wavefronts / most), x = left + step * i;
        const kind = wavefronts === ideal ? "good" : "poor";
        return `<rect x="${x + 2}" y="${top}" width="${step - 4}" height="${height - foot - top}" ` +
            `class="rung ${kind}${pad === padNow ? " now" : ""}"/>` +
            textAt(x + step / 2, top - 3, "count", wavefronts) +
            textAt(x + step / 2, height - 5, `head${pad === padded.pad && pad ? " best" : ""}`, pad);
    });
    return svg(left + step * ladder.length + 4, height,
        `wavefronts by pad: ${plain.wavefronts} without, ${padded.wavefronts} with ${plural(padded.pad, "byte")}`,
        parts.join(""));
}
