#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `gristmill lab report`, made of the committed results: whole, folded, light and dark, and its figures true.

    lab_report_check.py PROGRAM GPU PAGE     PAGE is written; run it in the checkout
"""
import html.parser
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

WIDTH = 360  # of a figure, which a telephone of 390 pixels shows unscaled beside its margins
LEAST_LETTERS = 11
ARTICLES = {"transpose": 3, "reuse": 2, "gemm-fp32": 7, "reduction": 2}  # experiments, and their articles' figures
VOID = {"meta"}
PAIRS = 6  # bars of an article in the figure of kernels without shared memory and with it


class Page(html.parser.HTMLParser):
    """Every element's path from the root, in order, and whether all are closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.problems, self.headings, self.links, self.ids = [], [], [], [], set()
        self.articles = {}  # by id: the tags that begin in it, each with those around it
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"not closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag in VOID:
            return
        if tag == "article":
            self.articles[attributes["id"]] = []
        if "article" in self.open:
            list(self.articles.values())[-1].append((tag, tuple(self.open), attributes))
        if re.fullmatch(r"h\d", tag):
            self.headings.append(int(tag[1]))
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "script" or "src" in attributes:
            self.problems.append(f"{tag}: a script, or something from elsewhere")
        if "id" in attributes:
            if attributes["id"] in self.ids:
                self.problems.append(f"two have the id {attributes['id']}")
            self.ids.add(attributes["id"])
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")


def check_article(name, tags):
    """Figures come before all else but the verdict, and every table is folded away."""
    names = [tag for tag, _, _ in tags]
    if names[0] != "h3" or "svg" not in names:
        yield f"{name}: no question, or no figure"
    elif names.index("svg") > min(names.index(tag) for tag in ("ul", "details")):
        yield f"{name}: its figure does not come first"
    for tag, around, attributes in tags:
        if tag in ("table", "pre") and "details" not in around:
            yield f"{name}: a {tag} that is not folded"
        if tag == "details" and "open" in attributes:
            yield f"{name}: details that are open"
        if tag == "table" and "div" not in around[around.index("details"):]:
            yield f"{name}: a table without a box to scroll in"
        if tag == "svg" and float(attributes["width"]) > WIDTH:
            yield f"{name}: a figure {attributes['width']} wide"


def check_headings(levels):
    if levels[:2] != [1, 2] or any(after > before + 1 for before, after in zip(levels, levels[1:])):
        yield f"headings of levels {levels}"


def check_links(page, links, ids):
    for link in links:
        if link.startswith("#"):
            if link[1:] not in ids:
                yield f"no place {link}"
        elif not (page.parent / link).is_file():
            yield f"no file {link}"


def check_sources(articles, text):
    """The host code that an experiment links is the file that has it."""
    for name in articles:
        article = text.split(f'<article id="{name}">')[1].split("</article>")[0]
        source = re.search(r">(lab/\w+\.c)</a>", article)
        if not source or f'.name = "{name}"' not in pathlib.Path(source[1]).read_text():
            yield f"{name} is not in {source and source[1]}"


def check_course(articles, text):
    """An experiment whose table a page of the course has leads to that page, or to another one that has it."""
    pages = {path.stem: path.read_text() for path in pathlib.Path("docs/course").glob("*.md")}
    for name in articles:
        having = [stem for stem, page in pages.items() if re.search(rf"<!-- lab:{name}[ >]", page)]
        article = text.split(f'<article id="{name}">')[1].split("</article>")[0]
        linked = re.search(r"docs/course/([\w-]+)\.md", article)
        if not linked or (having and linked[1] not in having):
            yield f"{name} leads to {linked and linked[1]}, and stands in {having}"


def numbers(element, *names):
    return [float(element.get(name)) for name in names]


def check_bars(name, svg):
    """Where a bar's hover text has the same number twice, measured and predicted, it ends at its tick."""
    ticks = [numbers(line, "x1", "y1", "y2") for line in svg.iter("line") if line.get("stroke-width") == "2"]
    for rect in svg.iter("rect"):
        title = rect.find("title")
        match = title is not None and re.search(r": (\S+); predicted: (\S+?)(\.( |$)|$)", title.text)
        if not match or match[1] != match[2]:
            continue
        x, y, width, height = numbers(rect, "x", "y", "width", "height")
        near = [tick for tick, top, bottom in ticks if top < y and bottom > y + height]
        if len(near) != 1 or abs(near[0] - (x + width)) > 0.5:
            yield f"{name}: {title.text}: a bar to {x + width}, ticks at {near}"


def check_figures(text, sizes):
    """Of every experiment; returns what is wrong, and how many of the articles' bars each has."""
    problems, articles = [], {}
    for name, article in re.findall(r'<article id="([\w-]+)">(.*?)</article>', text, re.DOTALL):
        for source in re.findall(r"<svg.*?</svg>", article, re.DOTALL):
            svg = xml.etree.ElementTree.fromstring(source.replace(' xmlns="http://www.w3.org/2000/svg"', ""))
            problems += check_bars(name, svg)
            small = {kind for element in svg.iter("text") for kind in element.get("class").split()
                     if sizes.get(kind, LEAST_LETTERS) < LEAST_LETTERS}
            problems += [f"{name}: letters that are {small}"] if small else []
            whose = [title.text for title in svg.iter("title")
                     if re.search(r", (a V100 in the articles|a table in print|an A6000's ladder): [\d.]", title.text)]
            articles[name] = articles.get(name, 0) + len(whose)
    return problems, {name: count for name, count in articles.items() if count}


def main():
    program, gpu, page = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    subprocess.run([program, "lab", "report", "--gpu", gpu, "--out", page], check=True, stdout=subprocess.DEVNULL)
    text = page.read_text()
    parsed = Page(text)
    sizes = {kind: float(size) for kind, size in re.findall(r"svg \.(\w+)\{font-size:([\d.]+)px", text)}
    problems, articles = check_figures(text, sizes)
    problems += parsed.problems
    problems += check_headings(parsed.headings)
    problems += check_links(page, parsed.links, parsed.ids)
    problems += check_course(parsed.articles, text)
    problems += check_sources(parsed.articles, text)
    for name, tags in parsed.articles.items():
        problems += check_article(name, tags)
    results = {path.stem for path in pathlib.Path(f"bench/results/{gpu}/lab").glob("*.json")}
    if set(parsed.articles) != results:
        problems.append(f"experiments that only the page or the results have: {set(parsed.articles) ^ results}")
    if articles != ARTICLES:
        problems.append(f"bars of articles: {articles}")
    pairs = re.search(r'<section id="pairs">.*?</section>', text, re.DOTALL)
    if not pairs or pairs[0].count(", a V100 in an article: ") != PAIRS:
        problems.append("the pairs are not beside an article's")
    if "prefers-color-scheme:dark" not in text:
        problems.append("no dark mode")
    print("\n".join(problems) or f"{len(parsed.articles)} experiments, {text.count('<svg')} figures")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
