/* SPDX-License-Identifier: Apache-2.0 */
/* The style sheet of a page. */
#include "program/draw/page_style.h"

#include <stddef.h>
#include <stdint.h>

#include "program/draw/palette.h"
#include "program/draw/svg.h"

/* Two colours are set from palette.h, so that a page and its pictures agree; the greys are of the same family. */
static const char style[] =
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%;color-scheme:light}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 'Helvetica Neue',Helvetica,Arial,"
    "'Liberation Sans','DejaVu Sans',sans-serif}\n"
    "main{max-width:1040px;margin:0 auto;padding:36px 28px 56px}\n"
    "header{margin-bottom:28px;padding-bottom:18px;border-bottom:2px solid var(--ink)}\n"
    "h1{font-size:28px;line-height:1.2;margin:0;letter-spacing:-.01em}\n"
    "h2{font-size:20px;line-height:1.3;margin:0 0 10px}\n"
    "h3{font-size:15px;margin:24px 0 8px}\n"
    "article{margin:0 0 34px;padding-top:18px;border-top:1px solid var(--faint)}\n"
    "article>h3{font-size:17px;line-height:1.35;margin:0 0 6px}\n"
    "p{margin:8px 0;max-width:74ch}\n"
    ".lead{font-size:16px;color:var(--muted);margin:10px 0 0}\n"
    ".aside{color:var(--muted);font-size:14px;border-left:3px solid var(--faint);padding:2px 0 2px 14px;"
    "margin:14px 0}\n"
    "section{margin:0 0 44px}\n"
    "nav ul{columns:3 240px;list-style:none;margin:0 0 36px;padding:0;font-size:14px}\n"
    "nav li{margin:0;padding:2px 0;break-inside:avoid}\n"
    "nav li.section{font-weight:600;padding-top:8px;break-after:avoid}\nnav li.part{padding-left:14px}\n"
    "a{color:var(--ok);text-decoration:none}\na:hover{text-decoration:underline}\n"
    "code,pre,.num{font-family:ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace}\n"
    "pre{background:var(--panel);border:1px solid var(--faint);border-radius:6px;padding:10px 14px;font-size:12.5px;"
    "line-height:1.5;overflow-x:auto;margin:10px 0}\n"
    ".verdict{font-weight:600;border-left:4px solid var(--muted);background:var(--panel);padding:8px 14px;"
    "max-width:none;margin:12px 0}\n"
    ".verdict.ok{border-color:var(--ok);color:var(--ok)}\n.verdict.bad{border-color:var(--bad);color:var(--bad)}\n"
    ".marks{list-style:none;margin:10px 0;padding:0;font-size:14px}\n"
    ".marks li{margin:0 0 5px;padding-left:20px;text-indent:-20px}\n"
    ".marks b{display:inline-block;width:20px;text-indent:0}\n"
    ".marks .ok b{color:var(--ok)}\n.marks .bad,.marks .bad b{color:var(--bad)}\n"
    ".links{font-size:13px}\n"
    ".facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(140px,1fr));gap:10px;margin:18px 0}\n"
    ".facts div{background:var(--panel);border-radius:6px;padding:10px 14px}\n"
    ".facts dt{font-size:19px;font-weight:600;line-height:1.2;font-variant-numeric:tabular-nums}\n"
    ".facts dd{margin:0;font-size:13px;color:var(--muted)}\n"
    ".pair{display:grid;grid-template-columns:minmax(0,440px) minmax(0,1fr);gap:0 36px;align-items:start}\n"
    ".pair svg{width:100%}\n"
    ".scroll{overflow-x:auto;margin:14px 0}\n"
    "table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;font-weight:600;font-size:13px;padding-bottom:6px}\n"
    "th,td{padding:3px 9px;text-align:right;vertical-align:top;border-bottom:1px solid var(--faint)}\n"
    "th{font-weight:600;border-bottom:1.5px solid var(--rule);white-space:nowrap}\n"
    "th:first-child,td:first-child{padding-left:4px}\n"
    "td.left,th.left{text-align:left}\n"
    "td.ok{color:var(--ok);font-weight:600}\ntd.bad{color:var(--bad);font-weight:600}\n"
    "tbody tr:hover{background:var(--panel)}\n"
    "figure{margin:16px 0;overflow-x:auto}\nfigure svg{display:block;max-width:100%;height:auto}\n"
    "figcaption{color:var(--muted);font-size:13px;margin-top:6px}\n"
    ".beside{display:flex;flex-wrap:wrap;gap:8px 40px;align-items:flex-start}\n"
    "summary{cursor:pointer;color:var(--ok);font-size:14px}\ndetails{margin:12px 0}\n"
    "footer{border-top:1px solid var(--rule);color:var(--muted);font-size:13px;padding-top:12px}\n"
    "@media (max-width:820px){.pair{grid-template-columns:minmax(0,1fr)}.pair figure{max-width:520px}}\n"
    "@media (max-width:480px){main{padding:24px 14px 40px}.facts{grid-template-columns:1fr 1fr}}\n"
    "@page{margin:14mm}\n"
    "@media print{body{font-size:10pt}.aside{font-size:9pt}main{max-width:none;padding:0}\n"
    "figure,tr,.beside{break-inside:avoid}\n"
    "h2,h3{break-after:avoid}figure,.scroll{overflow:visible}a{color:inherit}\n"
    "*{-webkit-print-color-adjust:exact;print-color-adjust:exact}details::details-content{content-visibility:visible}}"
    "\n";

/* Dark greys, and the palette's colours lighter where they would sink. A shape's paint is an attribute, which yields to
 * a style sheet; a text's is a style, which yields to !important only. */
static const struct {
    const char *name;
    uint32_t light, dark;
} dark_colours[] = {{"ink", COLOUR_INK, 0xe6eaef},     {"muted", COLOUR_MUTED, 0x9aa5b1},
                    {"rule", COLOUR_RULE, 0x59626d},   {"faint", COLOUR_FAINT, 0x2b3138},
                    {"panel", COLOUR_PANEL, 0x1d2228}, {"ok", COLOUR_OK, 0x5cc3e0},
                    {"bad", COLOUR_BAD, 0xff8f6b},     {"paper", COLOUR_PAPER, 0x14181d},
                    {NULL, COLOUR_SERIES_0, 0x6cb0ee}, {NULL, COLOUR_SERIES_3, 0xb794d1}};

static void dark_style(FILE *out) {
    const size_t count = sizeof dark_colours / sizeof *dark_colours;
    fputs("@media screen and (prefers-color-scheme:dark){\nhtml{color-scheme:dark}\n:root{", out);
    for (size_t i = 0; i < count; i++) {
        if (dark_colours[i].name)
            fprintf(out, "--%s:#%06x;", dark_colours[i].name, dark_colours[i].dark);
    }
    fputs("}\nsvg text{fill:var(--ink)}\n", out);
    for (size_t i = 0; i < count; i++) {
        const uint32_t light = dark_colours[i].light, dark = dark_colours[i].dark;
        fprintf(out,
                "svg [fill=\"#%06x\"]{fill:#%06x}svg [stroke=\"#%06x\"]{stroke:#%06x}"
                "svg text[style=\"fill:#%06x\"]{fill:#%06x !important}\n",
                light, dark, light, dark, light, dark);
    }
    fputs("}\n", out);
}

void page_style(FILE *out, bool adaptive) {
    fprintf(out,
            ":root{--ink:#%06x;--muted:#%06x;--rule:#%06x;--faint:#%06x;--panel:#%06x;--ok:#%06x;"
            "--bad:#%06x;--paper:#%06x}\n",
            COLOUR_INK, COLOUR_MUTED, COLOUR_RULE, COLOUR_FAINT, COLOUR_PANEL, COLOUR_OK, COLOUR_BAD, COLOUR_PAPER);
    fputs(style, out);
    svg_style(out);
    if (adaptive)
        dark_style(out);
}
