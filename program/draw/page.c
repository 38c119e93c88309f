/* SPDX-License-Identifier: Apache-2.0 */
/* A self-contained HTML page. */
#include "program/draw/page.h"

#include <stdarg.h>
#include <string.h>

#include "program/draw/page_style.h"
#include "program/draw/svg.h"

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
    fputs("<style>\n", out);
    page_style(out, adaptive);
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
        fputs(links[i].part ? "<li class=\"part\"><a href=\"#" : "<li class=\"section\"><a href=\"#", out);
        put_id(out, links[i].to);
        fputs("\">", out);
        svg_escape(out, links[i].text);
        fputs("</a></li>\n", out);
    }
    fputs("</ul>\n</nav>\n", out);
}

void page_links(FILE *out, const struct page_link *links, size_t count) {
    fputs("<p class=\"links\">", out);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? " · <a href=\"" : "<a href=\"", out);
        svg_escape(out, links[i].to);
        fputs("\">", out);
        svg_escape(out, links[i].text);
        fputs("</a>", out);
    }
    fputs("</p>\n", out);
}

static void begin_block(FILE *out, const char *tag, const char *id, const char *heading_tag, const char *heading) {
    fprintf(out, "<%s", tag);
    if (id) {
        fputs(" id=\"", out);
        put_id(out, id);
        fputc('"', out);
    }
    fputs(">\n", out);
    if (heading)
        put_element(out, heading_tag, NULL, heading);
}

void page_section_begin(FILE *out, const char *id, const char *heading) {
    begin_block(out, "section", id, "h2", heading);
}

void page_section_end(FILE *out) {
    fputs("</section>\n", out);
}

void page_part_begin(FILE *out, const char *id, const char *heading) {
    begin_block(out, "article", id, "h3", heading);
}

void page_part_end(FILE *out) {
    fputs("</article>\n", out);
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

void page_list_begin(FILE *out) {
    fputs("<ul class=\"marks\">\n", out);
}

void page_item(FILE *out, enum page_state state, const char *format, ...) {
    static const char *const openings[] = {"<li>", "<li class=\"ok\"><b>✓</b>", "<li class=\"bad\"><b>✗</b>"};
    char text[1024];
    FORMAT_TEXT(text, format);
    fputs(openings[state], out);
    svg_escape(out, text);
    fputs("</li>\n", out);
}

void page_list_end(FILE *out) {
    fputs("</ul>\n", out);
}

void page_facts_begin(FILE *out) {
    fputs("<dl class=\"facts\">\n", out);
}

void page_fact(FILE *out, const char *number, const char *what) {
    fputs("<div>", out);
    put_element(out, "dt", NULL, number);
    put_element(out, "dd", NULL, what);
    fputs("</div>\n", out);
}

void page_facts_end(FILE *out) {
    fputs("</dl>\n", out);
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

void page_pair_begin(FILE *out) {
    fputs("<div class=\"pair\">\n<div>\n", out);
}

void page_pair_middle(FILE *out) {
    fputs("</div>\n<div>\n", out);
}

void page_pair_end(FILE *out) {
    fputs("</div>\n</div>\n", out);
}

void page_details_begin(FILE *out, const char *summary) {
    fputs("<details>\n", out);
    put_element(out, "summary", NULL, summary);
}

void page_details_end(FILE *out) {
    fputs("</details>\n", out);
}
