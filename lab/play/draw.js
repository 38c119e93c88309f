// SPDX-License-Identifier: Apache-2.0
// The pictures, as SVG in text: a tile or lines of memory, the wavefronts, the pads. One colour a bank, from
// program/draw/palette.c through FACTS; red is what waits.

const CELL = 25, TILE_ROW = 26, WAVE_ROW = 20, LABEL = 70, HEAD = 18, BARS = 46;
const DIGIT = 5.2; // of a bank's number
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

// The part of a tile that is drawn: from the first row and column on, or from lane 0's where the access leaves that.
function tileWindow(layout, walk, lanes) {
    const span = (values, count, most) => {
        const first = values.some((value) => value >= most) ? Math.max(Math.min(values[0], count - most), 0) : 0;
        return [first, Math.min(first + most, count)];
    };
    return {rows: span(lanes.map((lane) => walk.row[lane]), layout.tile.rows, ROWS_MAX),
        columns: span(lanes.map((lane) => Math.floor(walk.byte[lane] / layout.elementBytes)), layout.columns,
            COLUMNS_MAX)};
}

// What each lane touches within the window, as {row, first, count, lane} of the sheet.
function tileTouches({elementBytes}, walk, lanes, {rows, columns}) {
    return lanes.map((lane) => {
        const column = walk.byte[lane] / elementBytes, end = column + accessShape(walk).width / elementBytes;
        const first = Math.max(column, columns[0]);
        return {row: walk.row[lane] - rows[0], first: first - columns[0], count: Math.min(end, columns[1]) - first,
            lane};
    }).filter(({row, count}) => row >= 0 && row < rows[1] - rows[0] && count > 0);
}

// A sheet of a tile: rows of {label, cells: [{address, pad, row, column}]}, and what the lanes touch.
function tileSheet(layout, walk) {
    const {tile, elementBytes, columns} = layout, lanes = walk ? lanesOf(accessShape(walk).active) : [], rows = [];
    const drawn = tileWindow(layout, walk, lanes), touches = tileTouches(layout, walk, lanes, drawn);
    const end = drawn.columns[1] === columns ? columns + Math.min(layout.pad, PADS_MAX) : drawn.columns[1];
    for (let row = drawn.rows[0]; row < drawn.rows[1]; row++) {
        const cells = [];
        for (let column = drawn.columns[0]; column < end; column++)
            cells.push({address: tileAddress(tile, row, column * elementBytes), pad: column >= columns, row, column});
        rows.push({label: row, cells});
    }
    return {rows, touches, heads: rows[0].cells.map((cell) => cell.pad ? "pad" : cell.column), unit: elementBytes,
        corner: "row", note: windowNote(layout, drawn, lanes.length - touches.length)};
}

function windowNote({tile, columns: all}, {rows, columns}, outside) {
    if (rows[1] - rows[0] === tile.rows && columns[1] - columns[0] === all)
        return "";
    return `Rows ${rows[0]} to ${rows[1] - 1} and columns ${columns[0]} to ${columns[1] - 1} are drawn` +
        `${outside ? `; ${plural(outside, "lane")} of the access lie${outside === 1 ? "s" : ""} outside` : ""}.`;
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
    for (const lane of lanesOf(active)) { // a misaligned one may reach beyond its line
        const row = order.indexOf(Math.floor(access.address[lane] / LINE_BYTES)), first = bankOf(access.address[lane]);
        touches.push({row, first, count: Math.min(Math.max(1, width / WORD_BYTES), FACTS.banks - first), lane});
    }
    return {rows, touches, heads: rows[0].cells.map((cell) => cell.column), unit: WORD_BYTES, corner: "address",
        note: ""};
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

const bankLabel = (address, unit) => `${bankOf(address)}${unit > WORD_BYTES ? "+" : ""}`;

function drawTouchedCell(address, x, y, unit) {
    const [ground, ink] = FACTS.bankColours[bankOf(address)];
    return `<rect x="${x}" y="${y}" width="${CELL}" height="${TILE_ROW}" fill="${ground}"/>` +
        textAt(x + CELL / 2, y + TILE_ROW - 4, `bank ${ink}`, bankLabel(address, unit));
}

// The cells of a row that nobody touches: one rectangle for neighbours of a bank, and one text with a place for each of
// its characters, since a browser takes its time for thousands of texts.
function drawRow(cells, y, unit, isTouched) {
    const rects = [], places = [];
    let label = "", last = null;
    cells.forEach(({address, pad}, c) => {
        const bank = bankOf(address), x = LABEL + CELL * c, text = bankLabel(address, unit);
        if (isTouched(c)) {
            last = null;
            return;
        }
        for (let i = 0; i < text.length; i++)
            places.push((x + CELL / 2 + (i - text.length / 2) * DIGIT).toFixed(1));
        label += text;
        if (last && last.bank === bank && !pad) {
            last.width += CELL;
        } else {
            last = {bank, x, width: CELL, pad};
            rects.push(last);
        }
    });
    return rects.map(({bank, x, width, pad}) => `<rect x="${x}" y="${y}" width="${width}" height="${TILE_ROW}" ` +
        `fill="${FACTS.bankColours[bank][0]}" class="cell${pad ? " pad" : ""}"/>`).join("") +
        `<text x="${places.join(" ")}" y="${y + TILE_ROW - 9}" class="banks">${label}</text>`;
}

// The whole sheet. `marked`: a mask of lanes to be framed in red. `wave`: the one whose lanes stand out; -1: all.
function drawSheet(sheet, map, marked, wave, label) {
    const touches = mergedTouches(sheet, map), touched = new Set();
    const width = LABEL + CELL * sheet.heads.length + 2, height = HEAD + TILE_ROW * sheet.rows.length + 2;
    for (const {row, first, count} of touches)
        for (let i = 0; i < count; i++)
            touched.add(row * COLUMNS_MAX * 2 + first + i);
    const parts = [textAt(LABEL - 8, HEAD - 6, "head end", sheet.corner)];
    sheet.heads.forEach((head, i) => parts.push(textAt(LABEL + CELL * (i + 0.5), HEAD - 6, "head", head)));
    sheet.rows.forEach((row, r) => {
        const y = HEAD + TILE_ROW * r;
        parts.push(textAt(LABEL - 8, y + 17, "head end", row.label),
            drawRow(row.cells, y, sheet.unit, (c) => touched.has(r * COLUMNS_MAX * 2 + c)));
        row.cells.forEach(({address}, c) => {
            if (touched.has(r * COLUMNS_MAX * 2 + c))
                parts.push(drawTouchedCell(address, LABEL + CELL * c, y, sheet.unit));
        });
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

// A byte address as far as a cell has room for it.
function wordLabel(address) {
    const digits = address.toString(16);
    return digits.length <= 5 ? digits : `…${digits.slice(-4)}`;
}

// One row for each wavefront, one column for each bank: the lanes that get the bank's word, or the word. Phases stand
// apart.
function drawWaves(rides, wave, cells, label) {
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
                textAt(x + CELL / 2, y + 14, `${cells === "words" ? "word" : "lane"} ${ride.late ? "late" : ink}`,
                    cells === "words" ? wordLabel(ride.word) : lanesLabel(ride.lanes)));
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
