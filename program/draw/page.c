/* SPDX-License-Identifier: Apache-2.0 */
/* A self-contained HTML page. */
#include "program/draw/page.h"

#include <stdarg.h>
#include <string.h>

#include "program/draw/svg.h"

/* Two colours are set from palette.h, so that a page and its pictures agree; the greys are of the same family. */
static const char style[] =
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%;color-scheme:light}\n"
    "body{margin:0;background:#fff;color:var(--ink);font:15px/1.55 'Helvetica Neue',Helvetica,Arial,'Liberation Sans',"
    "'DejaVu Sans',sans-serif}\n"
    "main{max-width:1040px;margin:0 auto;padding:36px 28px 56px}\n"
    "header{margin-bottom:28px;padding-bottom:18px;border-bottom:2px solid var(--ink)}\n"
    "h1{font-size:28px;line-height:1.2;margin:0;letter-spacing:-.01em}\n"
    "h2{font-size:20px;line-height:1.3;margin:0 0 10px}\n"
    "h3{font-size:15px;margin:24px 0 8px}\n"
    "p{margin:8px 0;max-width:74ch}\n"
    ".lead{font-size:16px;color:var(--muted);margin:10px 0 0}\n"
    ".aside{color:var(--muted);font-size:14px;border-left:3px solid var(--faint);padding:2px 0 2px 14px;"
    "margin:14px 0}\n"
    "section{margin:0 0 44px}\n"
    "nav ul{columns:2 300px;list-style:none;margin:0 0 36px;padding:0;font-size:14px}\n"
    "nav li{margin:0;padding:2px 0;break-inside:avoid}\n"
    "a{color:var(--ok);text-decoration:none}\na:hover{text-decoration:underline}\n"
    "code,pre,.num{font-family:ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace}\n"
    "pre{background:var(--panel);border:1px solid var(--faint);border-radius:6px;padding:10px 14px;font-size:12.5px;"
    "line-height:1.5;overflow-x:auto;margin:10px 0}\n"
    ".verdict{font-weight:600;border-left:4px solid var(--muted);background:var(--panel);padding:8px 14px;"
    "max-width:none;margin:12px 0}\n"
    ".verdict.ok{border-color:var(--ok);color:var(--ok)}\n.verdict.bad{border-color:var(--bad);color:var(--bad)}\n"
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
                    {"bad", COLOUR_BAD, 0xff8f6b},     {NULL, COLOUR_PAPER, 0x14181d},
                    {NULL, COLOUR_SERIES_0, 0x6cb0ee}, {NULL, COLOUR_SERIES_3, 0xb794d1}};

static void dark_style(FILE *out) {
    const size_t count = sizeof dark_colours / sizeof *dark_colours;
    fputs("@media screen and (prefers-color-scheme:dark){\nhtml{color-scheme:dark}\n:root{", out);
    for (size_t i = 0; i < count; i++) {
        if (dark_colours[i].name)
            fprintf(out, "--%s:#%06x;", dark_colours[i].name, dark_colours[i].dark);
    }
    fputs("}\nbody{background:#14181d}\nsvg text{fill:var(--ink)}\n", out);
    for (size_t i = 0; i < count; i++) {
        const uint32_t light = dark_colours[i].light, dark = dark_colours[i].dark;
        fprintf(out,
                "svg [fill=\"#%06x\"]{fill:#%06x}svg [stroke=\"#%06x\"]{stroke:#%06x}"
                "svg text[style=\"fill:#%06x\"]{fill:#%06x !important}\n",
                light, dark, light, dark, light, dark);
    }
    fputs("}\n", out);
}

static void put_element(FILE *out, const char *tag, const char *class, const char *text) {
    fprintf(out, class ? "<%s class=\"%s\">" : "<%s>", tag, class);
    svg_escape(out, text);
    fprintf(out, "</%s>\n", tag);
}

#define FORMAT_TEXT(text, format)                                                                                      \
    do {                                                                                                               \
        va_list arguments;                                                                                             \
        va_start(arguments, format);                                                                                   \
        vsnprintf(text, sizeof text, format, arguments);                                                               \
        va_end(arguments);                                                                                             \
    } while (0)

static void begin(FILE *out, const char *title, const char *lead, bool adaptive) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n",
          out);
    put_element(out, "title", NULL, title);
    fprintf(out,
            "<style>\n:root{--ink:#%06x;--muted:#%06x;--rule:#%06x;--faint:#%06x;--panel:#%06x;--ok:#%06x;"
            "--bad:#%06x}\n",
            COLOUR_INK, COLOUR_MUTED, COLOUR_RULE, COLOUR_FAINT, COLOUR_PANEL, COLOUR_OK, COLOUR_BAD);
    fputs(style, out);
    svg_style(out);
    if (adaptive)
        dark_style(out);
    fputs("</style>\n</head>\n<body>\n<main>\n<header>\n", out);
    put_element(out, "h1", NULL, title);
    if (lead)
        put_element(out, "p", "lead", lead);
    fputs("</header>\n", out);
}

void page_begin(FILE *out, const char *title, const char *lead) {
    begin(out, title, lead, false);
}

void page_begin_adaptive(FILE *out, const char *title, const char *lead) {
    begin(out, title, lead, true);
}

void page_end(FILE *out, const char *note) {
    if (note)
        put_element(out, "footer", NULL, note);
    fputs("</main>\n</body>\n</html>\n", out);
}

static void put_id(FILE *out, const char *id) {
    for (; *id; id++) {
        bool plain = (*id >= '0' && *id <= '9') || (*id >= 'a' && *id <= 'z') || (*id >= 'A' && *id <= 'Z');
        fputc(plain || *id == '-' || *id == '_' ? *id : '-', out);
    }
}

void page_contents(FILE *out, const struct page_link *links, size_t count) {
    fputs("<nav>\n<ul>\n", out);
    for (size_t i = 0; i < count; i++) {
        fputs("<li><a href=\"#", out);
        put_id(out, links[i].id);
        fputs("\">", out);
        svg_escape(out, links[i].text);
        fputs("</a></li>\n", out);
    }
    fputs("</ul>\n</nav>\n", out);
}

void page_section_begin(FILE *out, const char *id, const char *heading) {
    fputs("<section", out);
    if (id) {
        fputs(" id=\"", out);
        put_id(out, id);
        fputc('"', out);
    }
    fputs(">\n", out);
    if (heading)
        put_element(out, "h2", NULL, heading);
}

void page_section_end(FILE *out) {
    fputs("</section>\n", out);
}

void page_heading(FILE *out, const char *heading) {
    put_element(out, "h3", NULL, heading);
}

void page_paragraph(FILE *out, const char *format, ...) {
    char text[4096];
    FORMAT_TEXT(text, format);
    put_element(out, "p", NULL, text);
}

void page_aside(FILE *out, const char *format, ...) {
    char text[4096];
    FORMAT_TEXT(text, format);
    put_element(out, "p", "aside", text);
}

void page_verdict(FILE *out, enum page_state state, const char *format, ...) {
    static const char *const classes[] = {"verdict", "verdict ok", "verdict bad"};
    char text[1024];
    FORMAT_TEXT(text, format);
    put_element(out, "p", classes[state], text);
}

/* Line by line, because svg_escape makes a blank of a line break. */
void page_code(FILE *out, const char *format, ...) {
    char text[8192];
    FORMAT_TEXT(text, format);
    fputs("<pre>", out);
    for (char *line = text; line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end++ = 0;
        svg_escape(out, line);
        fputs(end ? "\n" : "", out);
        line = end;
    }
    fputs("</pre>\n", out);
}

void page_table_begin(FILE *out, const char *columns, const char *caption) {
    fputs("<div class=\"scroll\"><table>\n", out);
    if (caption)
        put_element(out, "caption", NULL, caption);
    fputs("<thead><tr>", out);
    for (const char *at = columns; at;) {
        char text[256];
        const char *end = strchr(at, '|');
        bool left = *at == '<';
        snprintf(text, sizeof text, "%.*s", (int)(end ? end - at : (long)strlen(at)) - left, at + left);
        fputs(left ? "<th class=\"left\">" : "<th>", out);
        svg_escape(out, text);
        fputs("</th>", out);
        at = end ? end + 1 : NULL;
    }
    fputs("</tr></thead>\n<tbody>\n", out);
}

void page_row_begin(FILE *out) {
    fputs("<tr>", out);
}

void page_cell(FILE *out, enum page_state state, bool left, const char *format, ...) {
    static const char *const classes[] = {"", "ok", "bad"};
    char text[1024];
    FORMAT_TEXT(text, format);
    if (state == PAGE_NEUTRAL && !left)
        fputs("<td>", out);
    else
        fprintf(out, "<td class=\"%s%s%s\">", classes[state], state != PAGE_NEUTRAL && left ? " " : "",
                left ? "left" : "");
    svg_escape(out, text);
    fputs("</td>", out);
}

void page_row_end(FILE *out) {
    fputs("</tr>\n", out);
}

void page_table_end(FILE *out) {
    fputs("</tbody>\n</table></div>\n", out);
}

void page_figure_begin(FILE *out) {
    fputs("<figure>\n", out);
}

void page_figure_end(FILE *out, const char *caption) {
    if (caption)
        put_element(out, "figcaption", NULL, caption);
    fputs("</figure>\n", out);
}

void page_beside_begin(FILE *out) {
    fputs("<div class=\"beside\">\n", out);
}

void page_beside_end(FILE *out) {
    fputs("</div>\n", out);
}

void page_details_begin(FILE *out, const char *summary) {
    fputs("<details>\n", out);
    put_element(out, "summary", NULL, summary);
}

void page_details_end(FILE *out) {
    fputs("</details>\n", out);
}
