#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `gristmill lab play` in a real browser: what it shows is what `gristmill bank` says of the same access,
nothing is wider than the screen, and nothing is fetched or logged. Exit status 77 where there is no browser.

    browser_test.py PROGRAM [PICTURES]      PICTURES: a folder for pictures of the page, to be looked at
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import browser  # noqa: E402

DEVICES = ("a100", "h100", "h200", "a10", "rtx4090")
LOOKS = ((390, False), (1280, True))  # width, dark

# Beside the presets: hashes with something of every option, and such that are refused.
CASES = """
tile=32x32&walk=row&type=u8
tile=16x64&walk=row&type=bf16&width=8&at=3,4
tile=48x40&walk=column&type=u8&pad=4&width=4
tile=64x40&walk=column&type=bf16&pad=2
tile=32x16&walk=column&type=f64
tile=32x16&walk=column&type=f64&width=16&pad=2
tile=64x32&walk=column&kind=cp.async
tile=64x32&walk=column&kind=atomic&lanes=0-15
tile=64x32&walk=column&kind=cas&lanes=0xff
tile=64x32&walk=column&kind=increment&at=3,31&lanes=1,3,5-9
tile=64x64&walk=ldmatrix&type=f16&matrices=2&at=8,16&pad=8
tile=64x64&walk=ldmatrix&type=bf16&kind=stmatrix&matrices=1&swizzle=64B
tile=128x32&walk=ldmatrix&type=bf16&swizzle=32B&base=0x400
tile=32x64&walk=transpose&type=bf16&pad=2
tile=32x32&walk=transpose&swizzle=5,2,5&width=8
tile=8x128&walk=column&width=16&swizzle=128B
tile=300x200&walk=column&type=u8&at=250,150
tile=300x200&walk=column&type=u8&at=290,0
tile=8x600&walk=row&type=u8&width=16
tile=4x600&walk=row&type=u8&width=16&at=1,320&pad=300
tile=64x96&walk=column&swizzle=2,5,-3
tile=1000x64&walk=column&tiles=2
tile=32x5&walk=column&type=bf16
address=lane * 4 ^ (lane >> 3) << 4
address=0x80 %2B lane % 8 * 16&width=16
address=(31 - lane) * 2&width=2&kind=store
address=lane / 4 * 128&kind=cas
address=lane * 16&kind=ldmatrix&matrices=2
address=4294967292
address=lane * 4&width=8
address=lane * (4
address=-lane
address=1 << lane * 4
address=lanes
tile=32x32&walk=column&lanes=40
tile=32x32&walk=column&width=3
tile=32x32&walk=column&width=8&at=0,1
tile=32x32&walk=column&at=32,0
tile=32x32&walk=column&swizzle=5,2,4
tile=32x32&walk=column&width=16&swizzle=5,2,5
tile=32x32&walk=column&pad=-1
tile=2000x2000&walk=column
tile=8x8&walk=column
tile=32x32&walk=column&type=__proto__
tile=32x32&walk=constructor
tile=32x32&walk=column&swizzle=toString
tile=32x32&walk=transpose&show=length
tile=32x32&walk=transpose&show=0
tile=32x32&walk=column&cells=words
tile=&walk=&at=&pad=&kind=<b>
tile=32x32&walk=ldmatrix&lanes=0-7
tile=32x32&walk=ldmatrix&kind=load
tile=32x32&walk=transpose&kind=load
""".split("\n")[1:-1]

FACTS = """(() => {
    const fact = (part, name) => (part.querySelector(`[data-fact="${name}"]`) || {}).textContent || "";
    const number = (part, ...names) => Number(names.map((name) => fact(part, name)).find(Boolean));
    const refusal = document.getElementById("refusal"), cure = document.querySelector("#cure:not([hidden])");
    return {
        costs: [...document.querySelectorAll("#answer .cost")].map((cost) => [number(cost, "wavefronts", "wavefront"),
            number(cost, "ideal"), number(cost, "conflicts", "conflict"), number(cost, "degree"),
            number(cost, "words", "word")]),
        refusal: refusal && refusal.dataset.sentence,
        devices: cure ? [...cure.querySelectorAll("tr[data-device]")].map((row) => [row.dataset.device,
            row.dataset.cure, Number(row.dataset.pad), Number(fact(row, "blocks")), fact(row, "blocks padded")]) : [],
        pad: cure ? fact(cure, "pad bytes") : null, swizzle: cure ? fact(cure, "swizzle") : null,
        command: document.getElementById("command").textContent,
        waves: document.querySelectorAll("#waves:not([hidden]) g.wave").length,
        late: document.querySelectorAll("#waves:not([hidden]) rect.ride.late").length,
        touched: document.querySelectorAll("#layout:not([hidden]) g.touch").length,
        wide: document.documentElement.scrollWidth > window.innerWidth,
    };
})()"""


class Failures(list):
    count = 0

    def check(self, good, what):
        self.count += 1
        if not good:
            self.append(what)
            print("FAIL", what)


def run(program, words):
    return subprocess.run([program, *words], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})


def costs_of(text):
    """[wavefronts, ideal, conflicts, degree, words] of each access that `gristmill bank` printed."""
    costs, words = [], None
    for line in text.splitlines():
        if found := re.search(r", (\d+) different words?\.$", line):
            words = int(found[1])
        if found := re.match(r"(\d+) wavefronts?, the ideal: no bank conflict\.", line):
            costs.append([int(found[1]), int(found[1]), 0, 1, words])
        if found := re.match(r"(\d+) wavefronts where (\d+) would do: (\d+) conflicts?, (\d+)-way\.", line):
            costs.append([*map(int, found.groups()), words])
    return costs


def advice_of(text):
    """(cure, pad or 0, swizzle or None, blocks instead of others or None)"""
    sentence = re.search(r"^\d+ rows of \d+ bytes: (.*?)^$", text + "\n\n", re.M | re.S)[1].replace("\n", " ")
    cure = ("none needed" if "leave the tile as it is" in sentence else "pad" if sentence.startswith("a pad of") else
            "swizzle" if sentence.startswith("Swizzle<") else "nothing helps")
    pad = re.search(r"[aA] pad of (\d+) bytes a row", sentence)
    swizzle = re.search(r"Swizzle<[-\d,]+>", sentence)
    blocks = re.search(r"(\d+) blocks an SM instead of (\d+)", sentence) or \
        re.search(r"still (\d+) blocks? an SM", sentence)
    return cure, int(pad[1]) if pad else 0, swizzle and swizzle[0], blocks and [int(n) for n in blocks.groups()]


def check_refusal(failures, hash, facts, ran):
    """The program's sentence ends as the page's; where it names an option, the page says it in other words."""
    failures.check(ran.returncode == 2, f"{hash}: refused by the page, not by the program: {facts['refusal']}")
    theirs = ran.stderr.splitlines()[0] if ran.stderr else ""
    names = r"--(at|lanes|matrices|pad|tile|type|walk|kind|swizzle is|address gives)\b"
    same = facts["refusal"] in theirs or re.search(names, theirs)
    failures.check(same, f"{hash}: the page says `{facts['refusal']}`, the program `{theirs}`")


def check_advice(failures, program, hash, facts, words):
    """Of the plain tile, on every device."""
    plain, skip = [], False
    for word in words:
        skip = skip or word in ("--pad", "--swizzle")
        if not skip:
            plain.append(word)
        skip = word in ("--pad", "--swizzle")
    tiles = re.search(r"tiles=(\d+)", hash)
    for device, cure, pad, blocks, padded in facts["devices"]:
        ran = run(program, [*plain, "--advise", "--device", device, *(["--tiles", tiles[1]] if tiles else [])])
        theirs, their_pad, swizzle, their_blocks = advice_of(ran.stdout)
        failures.check(cure == theirs, f"{hash} on {device}: cure {cure}, not {theirs}")
        failures.check(not their_pad or pad == their_pad, f"{hash} on {device}: a pad of {pad}, not {their_pad}")
        failures.check(not swizzle or swizzle == facts["swizzle"], f"{hash}: {facts['swizzle']}, not {swizzle}")
        ours = [int(padded)] + ([blocks] if blocks != int(padded) else []) if padded.isdigit() else None
        failures.check(not their_blocks or ours == their_blocks,
                       f"{hash} on {device}: {ours} blocks, not {their_blocks}")


def check_case(failures, program, page, hash):
    page.evaluate(f"location.hash = {('#' + hash)!r}; new Promise(requestAnimationFrame)")
    page.evaluate("new Promise((done) => setTimeout(done))")
    facts = page.evaluate(FACTS)
    words = shlex.split(facts["command"])[1:]
    ran = run(program, words)
    if facts["refusal"] is not None:
        check_refusal(failures, hash, facts, ran)
    else:
        failures.check(ran.returncode == 0, f"{hash}: refused by the program: {ran.stderr}")
        failures.check(facts["costs"] == costs_of(ran.stdout), f"{hash}: {facts['costs']}, not {costs_of(ran.stdout)}")
        late = [len(re.findall(r"[!X]\d", waves)) for waves in re.findall(r"(?:^wave .*\n)+", ran.stdout, re.M)]
        failures.check((facts["waves"], facts["late"]) in zip([cost[0] for cost in facts["costs"]], late),
                       f"{hash}: {facts['late']} rides waited, not {late}")
        failures.check(facts["touched"] > 0, f"{hash}: nothing is touched")
    if facts["devices"]:
        check_advice(failures, program, hash, facts, words)
    failures.check(not facts["wide"], f"{hash}: wider than the screen")


def check_hands(failures, page):
    """Keys and clicks."""
    page.evaluate("location.hash = '#tile=32x32&walk=column'; new Promise((done) => setTimeout(done, 20))")
    page.evaluate("document.querySelector('[name=pad]').focus()")
    page.press("ArrowUp", 38)
    failures.check(page.evaluate("location.hash") == "#tile=32x32&walk=column&pad=1", "the key up on the pad")
    failures.check(page.evaluate(FACTS)["costs"] == [[1, 1, 0, 1, 32]], "a pad of 1 by key")
    page.press("ArrowDown", 40)
    failures.check(page.evaluate(FACTS)["costs"][0][0] == 32, "the key down on the pad")
    page.evaluate("document.getElementById('wave').focus()")
    page.press("ArrowRight", 39)
    failures.check(page.evaluate("document.querySelectorAll('g.wave.dim').length") == 31, "one wavefront by key")
    page.evaluate("document.querySelector('#cells [value=words]').click()")
    words = "[...document.querySelectorAll('#rides text.word')].map((text) => text.textContent)"
    failures.check(page.evaluate(words) == [f"{128 * lane:x}" for lane in range(32)], "words in the cells")
    page.evaluate("document.querySelector('#cells [value=lanes]').click()")
    page.evaluate("document.querySelector('[data-apply=swizzle]').click()")
    failures.check("swizzle=5%2C2%2C5" in page.evaluate("location.hash"), "the button of the swizzle")
    page.evaluate("document.querySelector('[data-apply=pad]').click()")
    failures.check("pad=1" in page.evaluate("location.hash"), "the button of the pad")
    page.evaluate("document.querySelector('[data-apply=plain]').click()")
    failures.check(page.evaluate("location.hash") == "#tile=32x32&walk=column", "the button that takes both away")
    page.evaluate("document.querySelector('[name=by][value=address]').focus()")
    page.press(" ", 32, " ")
    failures.check(page.evaluate("location.hash").startswith("#address="), "an expression by key")
    field = "document.querySelector('[name=address]')"
    page.evaluate(f"{field}.focus(), {field}.select()")
    page.call("Input.insertText", text="lane * 8")
    failures.check(page.evaluate(FACTS)["costs"] == [[2, 1, 1, 2, 32]], "an expression that is typed")
    page.evaluate("location.hash = '#tile=32x32&walk=column'; new Promise((done) => setTimeout(done, 20))")
    page.evaluate("""(() => { const cell = document.querySelector('#sheet rect.cell').getBoundingClientRect();
        const at = {bubbles: true, clientX: cell.x + 5, clientY: cell.y + 5};
        document.querySelector('#sheet svg').dispatchEvent(new PointerEvent('pointermove', at));
        document.querySelector('#sheet svg').dispatchEvent(new MouseEvent('click', at)); })()""")
    failures.check("at=0%2C1" in page.evaluate("location.hash"), "a click on an element")
    focused = set()
    page.evaluate("document.activeElement.blur()")
    for _ in range(60):
        page.press("Tab", 9)
        focused.add(page.evaluate("(({name, id, tagName}) => name || id || tagName)(document.activeElement)"))
    wanted = {"by", "rows", "columns", "type", "walk", "kind", "width", "pad", "swizzle", "wave", "A", "SUMMARY",
              "sheet", "rides"}
    failures.check(wanted <= focused, f"by Tab one does not come to {wanted - focused}")


def main():
    program, found = os.path.realpath(sys.argv[1]), browser.find()
    if not found:
        print("no Chromium in PATH, and no GM_BROWSER")
        return 77
    failures = Failures()
    with tempfile.TemporaryDirectory() as folder, browser.Page(found) as page:
        file = pathlib.Path(folder, "play.html")
        failures.check(run(program, ["lab", "play", str(file)]).returncode == 0, "the page is written")
        url = file.as_uri()
        page.size(1280)
        page.open(url)
        presets = page.evaluate("[...document.querySelectorAll('#presets a')].map((link) => link.hash.slice(1))")
        failures.check(len(presets) >= 15, f"{len(presets)} presets")
        for hash in presets + CASES:
            check_case(failures, program, page, hash)
        check_hands(failures, page)
        for width, dark in LOOKS:
            page.size(width)
            page.dark(dark)
            for number, hash in enumerate(presets):
                page.evaluate(f"location.hash = {('#' + hash)!r}; new Promise((done) => setTimeout(done))")
                failures.check(not page.evaluate(FACTS)["wide"], f"{hash}: wider than {width} pixels")
                if len(sys.argv) > 2:
                    name = f"{number:02}-{width}-{'dark' if dark else 'light'}.png"
                    page.picture(pathlib.Path(sys.argv[2], name), whole=True)
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            failures.check((ground == "rgb(255, 255, 255)") != dark, f"dark {dark}: ground {ground}")
        failures.check(not page.errors, f"the console has {page.errors[:3]}")
        failures.check(set(page.requests) <= {url}, f"fetched {set(page.requests) - {url}}")
    print(f"{failures.count - len(failures)} passed, {len(failures)} failed, 0 skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
