/* SPDX-License-Identifier: Apache-2.0 */
/* Which figures the report draws of an experiment, and of what. */
#ifndef LAB_FIGURES_H
#define LAB_FIGURES_H

#include "lab/lab_results.h"

enum figure_form {
    FIGURE_BARS,  /* a bar for {row} under a heading {group}; several of a row, one for each {column} */
    FIGURE_LINES, /* over {x}, a line for each {row} */
    FIGURE_DOTS,  /* what was measured over what was predicted */
    FIGURE_CELLS  /* {row} by {column}, or by {x} */
};

enum figure_value {
    FIGURE_RATE,     /* GB/s or TFLOPS, else the time */
    FIGURE_QUANTITY, /* as counted, else as simulated */
    FIGURE_EXCESS,   /* of a quantity over its prediction */
    FIGURE_CYCLES,
    FIGURE_LABEL, /* {y} */
    FIGURE_RESULT /* whether it is the predicted one; cells only */
};

struct figure {
    const char *experiment;
    enum figure_form form;
    const char *labels; /* pattern of the points' labels; other points are left out */
    enum figure_value value;
    const char *quantity; /* its name */
    double per;           /* values are divided by this; 0: they are not */
    const char *title;    /* what is shown, with its unit; NULL: the value says it */
    const char *x_axis;   /* of lines */
    const char *article;  /* whose figures stand beside ours, by experiment->article(); NULL: nobody's */
    const char *whole;    /* values are percent of this point's; NULL: they are not */
};

enum { FIGURES_MAX = 3 };
/* Those that are listed of an experiment, in their order; their number. */
size_t figures_listed(const char *experiment, struct figure figures[FIGURES_MAX]);
/* One that suits what was measured, for an experiment that is not listed, or without what its figures show. */
struct figure figure_usual(const struct record *record);

#endif
