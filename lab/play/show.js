// SPDX-License-Identifier: Apache-2.0
// What stands on the page beside the pictures, as HTML in text: the cost and why, who rides together, the advice.

// ---- the cost -------------------------------------------------------------------------------------------

const fact = (name, value, classes = "") =>
    `<div><dt>${name}</dt><dd class="${classes}" data-fact="${name}">${value}</dd></div>`;

function costHtml(title, {wavefronts, ideal, conflicts, degree, words}) {
    const facts = [fact(wavefronts === 1 ? "wavefront" : "wavefronts", wavefronts, "main"), fact("ideal", ideal),
        fact(conflicts === 1 ? "conflict" : "conflicts", conflicts), fact("degree", degree),
        fact(words === 1 ? "word" : "words", words)];
    return `<div class="cost ${conflicts ? "bad" : "ok"}">${title ? `<h3>${escapeText(title)}</h3>` : ""}` +
        `<dl>${facts.join("")}</dl></div>`;
}

// The bank at which the most rides are late.
function busiestBank(rides) {
    const late = Array.from({length: FACTS.banks},
        (_, bank) => rides.filter((wavefront) => wavefront[bank] && wavefront[bank].late).length);
    return late.indexOf(Math.max(...late));
}

// Why an access costs what it costs, in a sentence or two.
function reasonOf({access, map, rides}) {
    const rule = FACTS.kinds[access.kind], sentences = [];
    if (!map.conflicts)
        sentences.push("No bank is asked for two words at once: no conflict.");
    else if (rule.lanesShare)
        sentences.push(`Bank ${busiestBank(rides)} is asked for ${map.degree} different words at once, and delivers ` +
            "one a wavefront.");
    else
        sentences.push(`Bank ${busiestBank(rides)} is asked by ${map.degree} lanes at once. They cannot share a ` +
            "word, and it serves one lane a wavefront.");
    if (map.phases.length > 1)
        sentences.push(`${plural(lanesCount(map.phases[0]), "lane")} of ${map.shape.width} bytes fill a line of ` +
            `128 bytes, so the lanes come in ${map.phases.length} phases: that is the ideal.`);
    if (rule.passes > 1)
        sentences.push("It reads and compares, then writes: each ride takes two wavefronts.");
    return sentences.join(" ");
}

// ---- tables ---------------------------------------------------------------------------------------------

// A name that begins with '<' is of a column that is aligned left, as in program/draw/page.h.
function tableHtml(names, rows) {
    const left = names.map((name) => name.startsWith("<") ? " class=left" : "");
    const cells = (tag, row) => row.map((cell, i) => `<${tag}${left[i]}>${cell}</${tag}>`).join("");
    return `<thead><tr>${cells("th", names.map((name) => name.replace(/^</, "")))}</tr></thead>` +
        `<tbody>${rows.map(({attributes = "", row}) => `<tr${attributes}>${cells("td", row)}</tr>`).join("")}</tbody>`;
}

// The lanes of each wavefront, and the words that several lanes get. `wave` is the one that stands out.
function ridesTable(rides, wave) {
    return tableHtml(["<wavefront", "<lanes", "banks busy", "<shared words"], rides.map((wavefront, w) => {
        const busy = wavefront.filter(Boolean), lanes = busy.reduce((all, ride) => all | ride.lanes, 0);
        const shared = busy.filter((ride) => lanesCount(ride.lanes) > 1);
        const words = shared.slice(0, 3).map((ride) => `${hex(ride.word)} to ${lanesText(ride.lanes)}`).join("; ");
        const more = shared.length > 3 ? ` and ${shared.length - 3} more` : "";
        return {attributes: w === wave ? " aria-current=true" : "",
            row: [w, lanesText(lanes), `${busy.length} of ${FACTS.banks}`, words + more]};
    }));
}

function lanesTable({access, map}) {
    const words = Math.ceil(map.shape.width / WORD_BYTES);
    return tableHtml(["lane", "byte address", "bank", "wavefront"], lanesOf(map.shape.active).map((lane) => {
        const address = access.address[lane], bank = bankOf(address);
        return {row: [lane, `<code>${hex(address)}</code>`, words > 1 ? `${bank}-${bank + words - 1}` : bank,
            map.ride[lane]]};
    }));
}

// ---- what lies below the pointer ------------------------------------------------------------------------

function describeCell(cell, unit, layout, answer) {
    const parts = [`address ${hex(cell.address)}`, `bank ${bankOf(cell.address)}`];
    if (layout)
        parts.unshift(cell.pad ? `pad of row ${cell.row}` : `row ${cell.row}, column ${cell.column}`);
    const touches = (lane) => cell.address + unit > answer.access.address[lane] &&
        cell.address < answer.access.address[lane] + answer.map.shape.width;
    const lanes = answer ? lanesOf(answer.map.shape.active).filter(touches) : [];
    const mask = lanes.reduce((all, lane) => all | 1 << lane, 0);
    if (mask)
        parts.push(`${lanes.length > 1 ? "lanes" : "lane"} ${lanesText(mask)}`,
            `wavefront ${[...new Set(lanes.map((lane) => answer.map.ride[lane]))].join(", ")}`);
    return parts.join(", ");
}

function describeRide(wavefront, bank, ride) {
    return `wavefront ${wavefront}, bank ${bank}: word ${hex(ride.word)} for ` +
        `${lanesCount(ride.lanes) > 1 ? "lanes" : "lane"} ${lanesText(ride.lanes)}${ride.late ? "; waited" : ""}`;
}

// ---- the advice -----------------------------------------------------------------------------------------

function padSentence({plain, padded}) {
    const extra = padded.bytes - plain.bytes, share = (100 * extra / plain.bytes).toFixed(1);
    const reached = padded.wavefronts === plain.ideal ? "the ideal" : `where ${plain.ideal} would be ideal`;
    return `A pad of <b data-fact="pad bytes">${padded.pad}</b> bytes a row makes ${plain.wavefronts} wavefronts ` +
        `<b>${padded.wavefronts}</b>, ${reached}. It costs ${extra} bytes a tile, ${share} %.`;
}

function adviceSentences(advice) {
    const {plain, padded, swizzle, swizzled, cure} = advice;
    if (cure === "none needed")
        return ["Without pad and swizzle the tile takes the ideal number of wavefronts: leave it as it is."];
    const sentences = [padded.pad ? padSentence(advice) : `No pad of up to ${PAD_MAX} bytes a row helps.`];
    if (swizzle.bits)
        sentences.push(`<b data-fact="swizzle">${swizzleName(swizzle)}</b> on byte addresses does it without a byte: ` +
            `${plain.wavefronts} wavefronts become ${swizzled}.`);
    else
        sentences.push("No swizzle of the unpadded rows reaches the ideal.");
    if (cure === "pad" && swizzle.bits)
        sentences.push("With the pad the index stays plain: row * pitch + byte.");
    if (cure === "nothing helps")
        sentences.push("Change which lane takes which element.");
    return sentences;
}

function adviceButtons({padded, swizzle}, {tile, pad, elementBytes}) {
    const buttons = [];
    if (padded.pad)
        buttons.push(["pad", `Pad the tile by ${plural(padded.pad / elementBytes, "element")}`]);
    if (swizzle.bits)
        buttons.push(["swizzle", `Swizzle it by ${Object.values(swizzle)}`]);
    if (pad || tile.swizzle.bits)
        buttons.push(["plain", "Take pad and swizzle away"]);
    return buttons.map(([what, text]) => `<button type="button" data-apply="${what}">${text}</button>`).join(" ");
}

// Per device the blocks that an SM holds of the plain and of the padded tile, and the cure there; and of the tile as it
// is, where it has another pad.
function devicesHtml(question, {plain, padded}, bytesNow) {
    const other = bytesNow !== plain.bytes && bytesNow !== padded.bytes;
    const rows = FACTS.devices.map((device) => {
        const here = advise(question, device);
        return {attributes: ` data-device="${device.key}" data-cure="${here.cure}" data-pad="${here.padded.pad}"`,
            row: [`<span title="${escapeText(device.name)}">${device.key}</span>`,
                `<span data-fact="blocks">${here.plain.blocks}</span>`,
                `<span data-fact="blocks padded">${here.padded.pad ? here.padded.blocks : "-"}</span>`,
                ...(other ? [blocksOnSm(device, question.tiles * bytesNow + question.otherBytes)] : []), here.cure]};
    });
    const names = ["<device", `tile of ${plain.bytes} bytes`, padded.pad ? `padded, ${padded.bytes} bytes` : "padded",
        ...(other ? [`as now, ${bytesNow} bytes`] : []), "<better cure"];
    const alone = question.tiles === 1 && question.otherBytes === 0 ? ", one tile a block" : "";
    return `<div class="box" tabindex="0" role="region" aria-label="Blocks per device"><table>` +
        `<caption>Blocks that an SM holds${alone}</caption>${tableHtml(names, rows)}</table></div>` +
        `<p class="hint">A swizzle is the better cure where the pad would cost a block.</p>`;
}

function adviceHtml(question, advice, layout) {
    const both = question.walks.length > 1 ? ", both accesses together" : "";
    return `<p>${adviceSentences(advice).join(" ")}</p><p>${adviceButtons(advice, layout)}</p>` +
        `<p class="hint">Wavefronts by bytes of pad a row${both}, in steps of ${advice.unit} bytes: what a lane ` +
        `takes, at least a word.</p><div class="box" tabindex="0" role="region" aria-label="Wavefronts by pad">` +
        `${drawLadder(advice, layout.pad * layout.elementBytes)}</div>` +
        devicesHtml(question, advice, layout.tile.rows * layout.tile.pitch);
}
