/* SPDX-License-Identifier: Apache-2.0 */
/* What an experiment found: the record that is judged, printed, written as JSON and read again. */
#ifndef LAB_RESULTS_H
#define LAB_RESULTS_H

#include <stdio.h>

#include "lab/lab.h"

enum agreement { NOT_MEASURED = 0, AGREES, DISAGREES, NOT_PREDICTED, AGREEMENTS };

struct record_quantity {
    char name[48], metric[256];
    double predicted, tolerance, counted, simulated;
    enum agreement agrees;           /* what was counted, with the prediction */
    enum agreement simulated_agrees; /* what was simulated, with what was counted, or else with the prediction */
};

struct record_point {
    char label[64], change[240];
    char source[96], kernel[64]; /* "ptx/strides.ptx", "lab_strides"; both "" for a baseline */
    bool too_large;              /* for the simulator */
    int result;                  /* LAB_NOT_CHECKED, LAB_CORRECT, LAB_WRONG */
    char wrong[200];
    struct record_quantity quantities[LAB_QUANTITIES_MAX];
    size_t quantity_count;
    double cycles_predicted, cycles_tolerance, cycles; /* NaN: none */
    enum agreement cycles_agree;
    bool timed;
    double us, us_p10, us_p90, gbs, tflops, sm_mhz, watts; /* NaN: not measured */
};

struct record_meta {
    char gpu[64], driver[96], toolkit[32], revision[64], date[32];
    char experiment[64], title[128], question[320], page[32];
    char counters[320];  /* "Nsight Compute 2025.3.0.0", or why not */
    bool counted;        /* the first of the two */
    char simulator[400]; /* "the simulated h200", or why not; "": nobody asked */
    bool simulated;      /* the first of the two */
    bool simulated_gpu;  /* there was no other GPU: nothing could be counted or timed */
    int rounds;          /* 0: no times were taken */
    double round_ms, warmup_s;
};

enum record_state { RECORD_AGREE, RECORD_DISAGREE, RECORD_NOT_MEASURED };

struct record {
    struct record_meta meta;
    struct record_point points[LAB_POINTS_MAX];
    size_t point_count;
    struct lab_claim claims[LAB_CLAIMS_MAX];
    size_t claim_count;
    /* Derived from the rest by record_judge(). */
    enum record_state state;
    char verdict[400]; /* "agree (12 points, 36 numbers, 3 claims)" */
    bool wrong;        /* a result is wrong */
};

/* The points and claims of a finished experiment; meta is the caller's, except for the experiment's own words. */
void record_fill(struct record *record, const struct lab *lab);
/* Every number against its prediction, and the verdict. */
void record_judge(struct record *record);

/* Writes to path.tmp and renames. 0, or -1 with a printed sentence. */
int record_write(const struct record *record, const char *path);
/* 0, or -1 with a printed sentence that names the file and what is wrong with it. The verdict is judged anew. */
int record_read(struct record *record, const char *path);

/* The table, the claims, and "strided-reads: agree (...)". */
void record_print(const struct record *record, FILE *out);

#endif
