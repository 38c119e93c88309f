// SPDX-License-Identifier: Apache-2.0
// The page: what the controls say becomes a question, and the question numbers and pictures, live. The hash has it all.

const byId = (id) => document.getElementById(id);
const form = byId("form");
// Controls that hold a text of the state as it is.
const FIELDS = ["by", "type", "walk", "address", "kind", "width", "matrices", "pad", "at", "base", "tiles",
    "other-bytes", "lanes"];
const KIND_TEXTS = {increment: "atomic, counting by 1", cas: "compare-and-swap"};
const WALK_HINTS = {
    row: "Lane 1 takes what follows lane 0's bytes, and at the end of a row the lanes go on with the next.",
    column: "Lane 1 takes what lies below lane 0's bytes, and at the bottom the lanes go on with the next column.",
    transpose: "One access stores along the rows, another loads down the columns.",
    ldmatrix: "Lane l gives the 16 bytes of row l mod 16 from byte 16 * (l / 16) on: a fragment of mma.m16n8k16.",
};
const USUAL_DEVICE = FACTS.devices.find((device) => device.key === FACTS.defaultDevice);
let state = stateOf(location.hash);
let shown = {}; // what is drawn: {layout, sheet, answer, advice}, as far as there is one

// ---- controls -------------------------------------------------------------------------------------------

// An <option> of each [value, text], and one of a value that is none of them, as a link may have.
function setOptions(select, options, value) {
    const all = options.some(([one]) => one === value) ? options : [...options, [value, value]];
    const html = all.map(([one, text]) => `<option value="${escapeText(one)}">${escapeText(text)}</option>`).join("");
    if (select.dataset.html !== html) // an open one is left alone
        select.innerHTML = select.dataset.html = html;
    select.value = value;
}

// The kinds and widths that the rest leaves.
function showKinds() {
    const tile = state.by === "tile", usual = tile && state.walk === "ldmatrix" ? "ldmatrix" : "load";
    const rule = FACTS.kinds.find(({name}) => name === (state.kind || usual)) || FACTS.kinds[0];
    const kinds = FACTS.kinds.filter(({matrices}) => !tile || !!matrices === (state.walk === "ldmatrix"));
    setOptions(form.elements.kind, kinds.map(({name}) => [name === usual ? "" : name, KIND_TEXTS[name] || name]),
        state.kind === usual ? "" : state.kind);
    const width = usualWidth(rule, tile && Number(TYPES[state.type]) || WORD_BYTES), widths = choicesOf(rule.widths);
    setOptions(form.elements.width, widths.map((one) => [one === width ? "" : `${one}`, `${one}`]),
        state.width === `${width}` ? "" : state.width);
    byId("kind-label").hidden = tile && state.walk === "transpose";
    byId("width-label").hidden = widths.length < 2;
    byId("matrices-label").hidden = !rule.matrices;
}

// What is being typed stays as it is. A link may have a pad that is no number, which its control cannot show.
function setControl(control, value) {
    const fit = control.type === "number" && isNaN(numberOf(value)) ? "" : value;
    if (control.value !== fit && document.activeElement !== control)
        control.value = fit;
}

function showState() {
    for (const part of document.querySelectorAll("[data-by]"))
        part.hidden = part.dataset.by !== state.by;
    showKinds();
    for (const name of FIELDS)
        setControl(form.elements[name], state[name]);
    const [rows, columns = ""] = state.tile.split("x");
    const mode = Object.hasOwn(MODES, state.swizzle) ? state.swizzle : "custom";
    setControl(byId("rows"), rows);
    setControl(byId("columns"), columns);
    setControl(byId("swizzle"), mode);
    setControl(byId("custom"), state.swizzle);
    byId("custom-label").hidden = mode !== "custom";
    byId("walk-hint").textContent = WALKS.includes(state.walk) ? WALK_HINTS[state.walk] : "";
}

// The controls -> the state. What another choice leaves without a meaning goes back to what is usual.
function readControls(changed) {
    for (const name of FIELDS)
        state[name] = form.elements[name].value.trim();
    state.tile = `${byId("rows").value.trim()}x${byId("columns").value.trim()}`;
    const mode = byId("swizzle").value;
    if (changed === byId("swizzle"))
        state.swizzle = mode === "custom" ? "3,4,3" : mode;
    else if (mode === "custom")
        state.swizzle = byId("custom").value.trim();
    if (changed.name === "by" || changed.name === "walk")
        Object.assign(state, {kind: "", matrices: "", width: "", show: ""});
    if (changed.name === "kind")
        Object.assign(state, {width: "", matrices: ""});
    if (changed.name === "type")
        state.width = "";
}

// ---- the answer -----------------------------------------------------------------------------------------

function showAnswers(answers, one) {
    const many = answers.length > 1, total = answers.reduce((sum, each) => sum + each.map.wavefronts, 0);
    byId("answer").innerHTML = answers.map((each) => costHtml(many ? each.title : "", each.map)).join("");
    byId("reason").textContent = (many ? `${total} wavefronts in all. The ${one.title}: ` : "") + reasonOf(one);
}

function showRefusal({message, misaligned}) {
    const sentence = misaligned ? `Illegal: ${message}` : message[0].toUpperCase() + message.slice(1);
    byId("answer").innerHTML =
        `<p class="verdict bad" id="refusal" data-sentence="${escapeText(message)}">${escapeText(sentence)}.</p>`;
    byId("reason").textContent = misaligned ? "The GPU stops the kernel with the error \"misaligned address\"." : "";
}

// ---- the pictures ---------------------------------------------------------------------------------------

const wave = () => Number(byId("wave").value); // the wavefront that stands out; -1: all

function sheetLegend(layout, sheet, red) {
    const ramp = FACTS.bankColours.map(([ground]) => ground);
    return (layout ? "A cell is an element, its small number its bank" :
        "A row is a line of 128 bytes, a column a bank") + ", its colour too: " +
        `0 <span class="key ramp" style="background:linear-gradient(90deg,${ramp})"></span> 31. What the access ` +
        `touches is framed, with the lane's number in bold${red ? `; <span class="key late"></span> ${red}` : ""}. ` +
        (layout ? "Click an element to have lane 0 begin there. " : "") + sheet.note;
}

// `one` is the access; its map is missing where it is illegal, and all of it where there is only a tile.
function showSheet(layout, one) {
    const sheet = layout ? tileSheet(layout, one && one.walk) : memorySheet(one.access);
    const marked = !one ? 0 : one.rides ? lateLanes(one.rides) : misalignedLanes(one.access);
    shown.sheet = sheet;
    byId("layout-title").textContent = layout ? "The tile" : "The memory";
    byId("layout-legend").innerHTML = sheetLegend(layout, sheet, marked && (one.map ? "waits" : "is misaligned"));
    byId("sheet").classList.toggle("places", !!layout);
    byId("sheet").innerHTML = drawSheet(sheet, one && one.map, marked, wave(),
        layout ? "The banks of the tile's elements, and the lanes that touch them" : "Lines of memory and their lanes");
    byId("sheet-readout").textContent = "";
}

function showRides({map, rides}) {
    const at = wave();
    byId("wave-name").textContent =
        at < 0 ? `all ${plural(map.wavefronts, "wavefront")}` : `wave ${at} of 0-${map.wavefronts - 1}`;
    byId("rides").innerHTML = drawWaves(rides, at, state.cells, "What each bank serves in each wavefront");
    for (const choice of byId("cells").querySelectorAll("input"))
        choice.checked = choice.value === (state.cells === "words" ? "words" : "lanes");
    byId("rides-readout").textContent = "";
    byId("together").innerHTML = ridesTable(rides, at);
}

function showAdvice(question) {
    try {
        const asked = readAdvice(state, question);
        shown.advice = advise(asked, USUAL_DEVICE);
        byId("advice").innerHTML = adviceHtml(asked, shown.advice, question.layout);
    } catch (refusal) {
        if (!(refusal instanceof Refusal))
            throw refusal;
        byId("advice").innerHTML = `<p>None, since without a pad ${escapeText(refusal.message)}.</p>`;
    }
}

// ---- all together ---------------------------------------------------------------------------------------

// What of the question can be read: {layout, question, answers}; and what not, a Refusal.
function ask() {
    const found = {answers: [], question: null, layout: null, refusal: null};
    try {
        if (state.by === "tile")
            found.layout = readTile(state);
        found.question = readQuestion(state);
        for (const one of found.question.accesses) {
            const map = bankMap(one.access);
            found.answers.push({...one, map, rides: bankRides(one.access, map)});
        }
    } catch (refusal) {
        if (!(refusal instanceof Refusal))
            throw refusal;
        found.refusal = refusal;
    }
    return found;
}

// Which of the accesses is shown: the one that was asked for, or the one with the most conflicts.
function shownOf(accesses, answers) {
    const asked = numberOf(state.show), conflicts = answers.map((one) => one.map.conflicts);
    return asked < accesses.length ? asked : Math.max(conflicts.indexOf(Math.max(...conflicts)), 0);
}

function showChoice(accesses, index) {
    const choices = accesses.map(({title}, i) => `<label><input type="radio" name="shown" value="${i}"` +
        `${i === index ? " checked" : ""}/> ${escapeText(title)}</label>`);
    byId("show").hidden = accesses.length < 2;
    byId("show").innerHTML = `<legend>Shown</legend>${choices.join("")}`;
}

function showPresets() {
    const now = hashOf(state), links = [...document.querySelectorAll("#presets a")];
    const here = links.find((link) => link.hash === now);
    for (const link of links)
        link.removeAttribute("aria-current");
    if (here)
        here.setAttribute("aria-current", "true");
    byId("lesson").textContent = here ? here.title : "";
    byId("lesson").hidden = !here;
}

function update() {
    showState();
    const {answers, question, layout, refusal} = ask(), accesses = question ? question.accesses : [];
    const index = shownOf(accesses, answers), one = refusal ? accesses[index] : answers[index];
    shown = {layout, answer: refusal ? null : one};
    byId("wave").max = refusal ? 0 : one.map.wavefronts - 1;
    byId("layout").hidden = !layout && !one;
    byId("waves").hidden = !!refusal;
    byId("cure").hidden = !question || !layout;
    showChoice(accesses, index);
    if (layout || one)
        showSheet(layout, one);
    if (refusal) {
        showRefusal(refusal);
    } else {
        showAnswers(answers, one);
        showRides(one);
        byId("lanes").innerHTML = lanesTable(one);
    }
    if (question && layout)
        showAdvice(question);
    byId("command").textContent = commandOf(state);
    showPresets();
}

function changeState(changes) {
    state = {...state, ...changes};
    byId("wave").value = -1;
    history.replaceState(null, "", hashOf(state));
    update();
}

// ---- events ---------------------------------------------------------------------------------------------

// The cell of the sheet below the pointer.
function cellAt(event) {
    const box = byId("sheet").querySelector("svg").getBoundingClientRect();
    const row = shown.sheet.rows[Math.floor((event.clientY - box.top - HEAD) / TILE_ROW)];
    return row && row.cells[Math.floor((event.clientX - box.left - LABEL) / CELL)];
}

function pointAtRides(event) {
    const group = event.target.closest("g.wave"), box = byId("rides").querySelector("svg").getBoundingClientRect();
    const bank = Math.floor((event.clientX - box.left - LABEL) / CELL);
    const ride = group && shown.answer.rides[group.dataset.wave][bank];
    byId("rides-readout").textContent = ride ? describeRide(group.dataset.wave, bank, ride) : "";
}

function pointAtSheet(event) {
    const cell = cellAt(event);
    byId("sheet-readout").textContent = cell ? describeCell(cell, shown.sheet.unit, shown.layout, shown.answer) : "";
}

function clickOnRides(event) {
    const group = event.target.closest("g.wave");
    if (!group)
        return;
    byId("wave").value = Number(group.dataset.wave) === wave() ? -1 : group.dataset.wave;
    update();
}

function clickOnSheet(event) {
    const cell = cellAt(event);
    if (shown.layout && cell && !cell.pad)
        changeState({at: `${cell.row},${cell.column}`});
}

function clickOnCure(event) {
    const {advice, layout} = shown, what = event.target.dataset.apply;
    if (what === "pad")
        changeState({pad: `${advice.padded.pad / layout.elementBytes}`, swizzle: "none"});
    else if (what === "swizzle")
        changeState({pad: "0", swizzle: Object.values(advice.swizzle).join()});
    else if (what === "plain")
        changeState({pad: "0", swizzle: "none"});
}

async function copy(text, what, where) {
    try {
        await navigator.clipboard.writeText(text);
        byId("copied").textContent = `The ${what} is copied.`;
    } catch (error) {
        byId("copied").textContent = `The browser does not let this page copy; the ${what} is in the ${where}.`;
    }
}

function listen() {
    const on = (id, event, run) => byId(id).addEventListener(event, run);
    on("form", "input", (event) => {
        readControls(event.target);
        changeState({});
    });
    on("form", "submit", (event) => event.preventDefault());
    on("show", "change", (event) => {
        changeState({show: event.target.value});
        byId("show").querySelector(":checked").focus();
    });
    on("cells", "change", (event) => changeState({cells: event.target.value}));
    on("wave", "input", update);
    on("rides", "click", clickOnRides);
    on("rides", "pointermove", pointAtRides);
    on("sheet", "click", clickOnSheet);
    on("sheet", "pointermove", pointAtSheet);
    on("cure", "click", clickOnCure);
    on("copy-command", "click", () => copy(byId("command").textContent, "command", "box above"));
    on("copy-link", "click", () => copy(location.href, "link", "address bar"));
    window.addEventListener("hashchange", () => {
        state = stateOf(location.hash);
        byId("wave").value = -1;
        update();
    });
}

function presetHtml([name, hash, lesson]) {
    return `<a href="${escapeText(hashOf(stateOf(hash)))}" title="${escapeText(lesson)}">${escapeText(name)}</a>`;
}

byId("presets").innerHTML =
    PRESETS.map(([group, cases]) => `<div><h3>${group}</h3>${cases.map(presetHtml).join("")}</div>`).join("");
listen();
update();
