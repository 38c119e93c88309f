/* SPDX-License-Identifier: Apache-2.0 */
/* A self-contained HTML page: inline style, no scripts, nothing from elsewhere; good on a screen and on paper.
 * All text is escaped here. Order of the calls:
 *     page_begin   [page_contents]   { page_section_begin  ...  page_section_end }   page_end  */
#ifndef PROGRAM_DRAW_PAGE_H
#define PROGRAM_DRAW_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* `lead`: one or two sentences below the title; NULL: none. */
void page_begin(FILE *out, const char *title, const char *lead);
/* The same, light or dark as the reader's system is. Only for pages without text on coloured grounds. */
void page_begin_adaptive(FILE *out, const char *title, const char *lead);
/* `note`: a line at the foot, such as the command that made the page; NULL: none. */
void page_end(FILE *out, const char *note);

struct page_link {
    const char *to; /* the id of a section, or of page_links() a path */
    const char *text;
    bool part; /* of the section before it */
};
/* A list of links to sections and their parts. */
void page_contents(FILE *out, const struct page_link *links, size_t count);
/* Links to other files, in one line. */
void page_links(FILE *out, const struct page_link *links, size_t count);

/* `id`: letters, digits, '-' and '_'; NULL: none. `heading` NULL: a section without one. */
void page_section_begin(FILE *out, const char *id, const char *heading);
void page_section_end(FILE *out);
/* The same of a part of a section, with a smaller heading. */
void page_part_begin(FILE *out, const char *id, const char *heading);
void page_part_end(FILE *out);
void page_heading(FILE *out, const char *heading); /* a smaller one inside a section */
void page_paragraph(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Small explanatory text, set apart from the facts. */
void page_aside(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Text as it is, in letters of one width: a command, some output. */
void page_code(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum page_state { PAGE_NEUTRAL, PAGE_OK, PAGE_BAD };
/* One strong line: what came out. */
void page_verdict(FILE *out, enum page_state state, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A list: page_list_begin, page_item for each, page_list_end. An item that is not neutral begins with its mark. */
void page_list_begin(FILE *out);
void page_item(FILE *out, enum page_state state, const char *format, ...) __attribute__((format(printf, 3, 4)));
void page_list_end(FILE *out);

/* Numbers that sum up a page, each with what it counts: page_facts_begin, page_fact for each, page_facts_end. */
void page_facts_begin(FILE *out);
void page_fact(FILE *out, const char *number, const char *what);
void page_facts_end(FILE *out);

/* A table: columns separated by '|'; one that begins with '<' is aligned left, the others right. `caption`: a few
 * words; NULL: none. Then rows: page_row_begin, one page_cell for each column, page_row_end. */
void page_table_begin(FILE *out, const char *columns, const char *caption);
void page_row_begin(FILE *out);
void page_cell(FILE *out, enum page_state state, bool left, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void page_row_end(FILE *out);
void page_table_end(FILE *out);

/* A picture goes between the two: svg_begin(out, ..., true, ...) ... svg_end(out). */
void page_figure_begin(FILE *out);
void page_figure_end(FILE *out, const char *caption); /* NULL: none */
/* What comes between them stands side by side where there is room. */
void page_beside_begin(FILE *out);
void page_beside_end(FILE *out);

/* Pictures on the left, text on the right; below them where there is no room: page_pair_begin, the pictures,
 * page_pair_middle, the text, page_pair_end. */
void page_pair_begin(FILE *out);
void page_pair_middle(FILE *out);
void page_pair_end(FILE *out);

/* What is folded away until it is asked for. */
void page_details_begin(FILE *out, const char *summary);
void page_details_end(FILE *out);

#endif
