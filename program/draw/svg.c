/* SPDX-License-Identifier: Apache-2.0 */
/* Writing SVG. Colours and sizes are in palette.h and in the table of roles below, nowhere else. */
#include "program/draw/svg.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "program/base/utf8.h"

#define SANS "'Helvetica Neue',Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif"
#define MONO "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"

static const struct {
    const char *class;
    double size, letter; /* of the font; width of an average letter over the size */
    bool mono, bold;
} roles[] = {
    [SVG_TITLE] = {"title", 17, 0.58, false, true},  [SVG_HEADING] = {"heading", 13, 0.58, false, true},
    [SVG_BODY] = {"body", 12, 0.55, false, false},   [SVG_BOLD] = {"bold", 12, 0.58, false, true},
    [SVG_SMALL] = {"small", 11, 0.55, false, false}, [SVG_CODE] = {"code", 11, 0.602, true, false},
    [SVG_CELL] = {"cell", 10, 0.602, true, false},   [SVG_TINY] = {"tiny", 8, 0.602, true, false},
};

void svg_number(FILE *out, double value) {
    char text[40];
    if (!isfinite(value) || fabs(value) > 1e9)
        value = 0;
    int length = snprintf(text, sizeof text, "%.2f", value);
    while (text[length - 1] == '0')
        text[--length] = 0;
    if (text[length - 1] == '.')
        text[--length] = 0;
    fputs(strcmp(text, "-0") == 0 ? "0" : text, out);
}

static const char *entity_of(char c) {
    return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : NULL;
}

void svg_escape(FILE *out, const char *text) {
    while (*text) {
        const size_t length = utf8_length(text);
        if (entity_of(*text))
            fputs(entity_of(*text), out);
        else if (length)
            fwrite(text, 1, length, out);
        else
            fputc((unsigned char)*text < 0x80 ? ' ' : '?', out);
        text += length ? length : 1;
    }
}

static void attribute(FILE *out, const char *name, double value) {
    fprintf(out, " %s=\"", name);
    svg_number(out, value);
    fputc('"', out);
}

void svg_style(FILE *out) {
    fprintf(out, "svg text{font-family:%s;fill:#%06x}\n", SANS, COLOUR_INK);
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        fprintf(out, "svg .%s{font-size:%gpx%s%s%s}\n", roles[i].class, roles[i].size,
                roles[i].bold ? ";font-weight:600" : "", roles[i].mono ? ";font-family:" : "",
                roles[i].mono ? MONO : "");
    }
    fputs("svg .middle{text-anchor:middle}\nsvg .end{text-anchor:end}\nsvg .strong{font-weight:700}\nsvg .small,svg "
          ".body,svg .bold{"
          "font-variant-numeric:tabular-nums}\n"
          "svg text{pointer-events:none}\n", /* so that what lies below a label shows its hover text */
          out);
}

void svg_begin(FILE *out, double width, double height, bool inside_page, const char *title) {
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"", out);
    attribute(out, "width", ceil(width));
    attribute(out, "height", ceil(height));
    fprintf(out, " viewBox=\"0 0 %.0f %.0f\">\n", ceil(width), ceil(height));
    if (title) {
        fputs("<title>", out);
        svg_escape(out, title);
        fputs("</title>\n", out);
    }
    if (inside_page)
        return;
    fputs("<style>\n", out);
    svg_style(out);
    fputs("</style>\n", out);
    svg_rect(out, 0, 0, ceil(width), ceil(height), (struct svg_paint){.fill = COLOUR_PAPER}, NULL);
}

void svg_end(FILE *out) {
    fputs("</svg>\n", out);
}

static void paint_attributes(FILE *out, struct svg_paint paint) {
    if (paint.fill)
        fprintf(out, " fill=\"#%06x\"", paint.fill);
    else
        fputs(" fill=\"none\"", out);
    if (paint.stroke)
        fprintf(out, " stroke=\"#%06x\"", paint.stroke);
    if (paint.stroke && paint.stroke_width > 0)
        attribute(out, "stroke-width", paint.stroke_width);
    if (paint.opacity > 0)
        attribute(out, "opacity", paint.opacity);
    if (paint.dashed)
        fputs(" stroke-dasharray=\"4 3\"", out);
}

/* Closes a shape's tag, with the hover text inside it when there is one. */
static void finish(FILE *out, const char *tag, const char *hover) {
    if (!hover) {
        fputs("/>\n", out);
        return;
    }
    fputs("><title>", out);
    svg_escape(out, hover);
    fprintf(out, "</title></%s>\n", tag);
}

void svg_rect(FILE *out, double x, double y, double width, double height, struct svg_paint paint, const char *hover) {
    fputs("<rect", out);
    attribute(out, "x", x);
    attribute(out, "y", y);
    attribute(out, "width", fmax(width, 0));
    attribute(out, "height", fmax(height, 0));
    if (paint.radius > 0)
        attribute(out, "rx", paint.radius);
    paint_attributes(out, paint);
    finish(out, "rect", hover);
}

void svg_circle(FILE *out, double x, double y, double radius, struct svg_paint paint, const char *hover) {
    fputs("<circle", out);
    attribute(out, "cx", x);
    attribute(out, "cy", y);
    attribute(out, "r", radius);
    paint_attributes(out, paint);
    finish(out, "circle", hover);
}

void svg_line(FILE *out, double x1, double y1, double x2, double y2, struct svg_paint paint) {
    fputs("<line", out);
    attribute(out, "x1", x1);
    attribute(out, "y1", y1);
    attribute(out, "x2", x2);
    attribute(out, "y2", y2);
    paint_attributes(out, paint);
    finish(out, "line", NULL);
}

void svg_path(FILE *out, const char *data, struct svg_paint paint) {
    fputs("<path d=\"", out);
    svg_escape(out, data);
    fputc('"', out);
    paint_attributes(out, paint);
    finish(out, "path", NULL);
}

void svg_text(FILE *out, struct svg_text where, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    static const char *const anchors[] = {[SVG_START] = "", [SVG_MIDDLE] = " middle", [SVG_END] = " end"};
    fprintf(out, "<text class=\"%s%s%s\"", roles[where.role].class, anchors[where.anchor],
            where.strong ? " strong" : "");
    attribute(out, "x", where.x);
    attribute(out, "y", where.y);
    if (where.ink && where.ink != COLOUR_INK)
        fprintf(out, " style=\"fill:#%06x\"", where.ink); /* an attribute would lose against the style sheet */
    fputc('>', out);
    svg_escape(out, text);
    fputs("</text>\n", out);
}

double svg_text_width(enum svg_role role, const char *text) {
    size_t letters = 0;
    for (; *text; text++)
        letters += ((unsigned char)*text & 0xc0) != 0x80;
    return (double)letters * roles[role].size * roles[role].letter;
}
