/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill sim step: a GEMM that stops at a PTX line, and a prompt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/sim/simulator.h"
#include "program/smem/numbers.h"
#include "program/sim/step_show.h"
#include "host/table.h"

struct stepper {
    const struct simulator *simulator;
    uint32_t asked; /* --line; 0: the first instruction */
    uint32_t line;  /* stop there: a line with an instruction; 0: at no line */
    int warp;       /* of any CTA; -1: any */
    int cta;        /* linear; -1: any */
    uint32_t steps; /* stop after so many further instructions of the warp that stopped last; 0: no */
    int step_warp;
    uint32_t step_cta[3];
    uint32_t warps;      /* of a CTA */
    bool stopped;        /* anywhere, so far */
    bool quit;           /* the launch was ended at the prompt */
    bool begun, refused; /* `asked` was looked up; it was in vain */
    bool ended, interactive;
};

static const char prompt_help[] =
    "  s [N]             step N instructions of this warp (1)      c   go on to the next stop\n"
    "  b LINE            stop at this PTX line instead             w N|*  only in warp N\n"
    "  p                 the registers of this instruction         r %r1 %p2 ...  these registers\n"
    "  m ADDRESS [BYTES] shared memory, 32 banks a row             x SPAN ADDRESS [BYTES]  with what a swizzle keeps "
    "where\n"
    "  a                 mbarriers                                 l [N]  PTX around\n"
    "  q                 end the launch\n";

/* The next word of the line, a number, decimal or 0x; *value stays as it is where the line ends. False: the word is no
 * number, and that was said. */
static bool take_number(uint32_t *value) {
    const char *word = strtok(NULL, " \t\n"), *end = word;
    if (!word || (number_take(&end, UINT32_MAX, value) && *end == '\0'))
        return true;
    printf("%s is no number\n", word);
    return false;
}

static void show_memory(const struct stepper *s, struct gm_sim_view *view, uint32_t span) {
    const char *address = strtok(NULL, " \t\n");
    uint32_t from, bytes = 1024;
    if (!address || !number_take(&address, UINT32_MAX, &from) || *address)
        printf("say which address\n");
    else if (take_number(&bytes) && !step_show_shared(s->simulator, view, from, bytes, span))
        printf("%#x is outside this CTA's shared memory\n", from);
}

static void show_swizzled(const struct stepper *s, struct gm_sim_view *view) {
    uint32_t span = 0;
    if (!take_number(&span))
        return;
    if (span == 32 || span == 64 || span == 128)
        show_memory(s, view, span);
    else
        printf("a swizzle span is 32, 64 or 128 bytes\n");
}

static void show_registers(const struct stepper *s, struct gm_sim_view *view) {
    for (const char *name; (name = strtok(NULL, " ,\t\n")) != NULL;)
        if (!step_show_register(s->simulator, view, name))
            printf("this kernel has no register %s\n", name);
}

static void show_lines(const struct stepper *s, struct gm_sim_view *view) {
    uint32_t around = 6;
    if (take_number(&around))
        step_show_lines(s->simulator, view, around);
}

/* Commands that only look. False: not one of them. */
static bool look(const struct stepper *s, struct gm_sim_view *view, const char *command) {
    switch (command[0]) {
    case 'p':
        step_show_operands(s->simulator, view);
        return true;
    case 'r':
        show_registers(s, view);
        return true;
    case 'm':
        show_memory(s, view, 0);
        return true;
    case 'x':
        show_swizzled(s, view);
        return true;
    case 'a':
        step_show_mbarriers(s->simulator, view);
        return true;
    case 'l':
        show_lines(s, view);
        return true;
    default:
        return false;
    }
}

enum go { STAY, GO_ON, STOP };

/* Stops at the first instruction from `line` on. False: there is none, and that was said. */
static bool set_line(struct stepper *s, struct gm_sim_view *view, uint32_t line) {
    const uint32_t found = line ? s->simulator->view_line_from(view, line) : 0;
    if (!found)
        printf("no instruction of this kernel stands at PTX line %u or behind it\n", line);
    else
        s->line = found;
    return found != 0;
}

/* Stops only in this warp. False: there is none, and that was said. */
static bool set_warp(struct stepper *s, uint32_t warp) {
    if (warp >= s->warps)
        printf("a CTA of this kernel has warps 0 to %u, and no %u\n", s->warps - 1, warp);
    else
        s->warp = (int)warp;
    return warp < s->warps;
}

static void take_line(struct stepper *s, struct gm_sim_view *view) {
    uint32_t line = 0;
    if (take_number(&line))
        set_line(s, view, line);
}

static void take_warp(struct stepper *s, const char *word) {
    uint32_t warp = 0;
    if (!word || strcmp(word, "*") == 0)
        s->warp = -1;
    else if (number_take(&word, UINT32_MAX, &warp) && *word == '\0')
        set_warp(s, warp);
    else
        printf("say which warp, or *\n");
}

static enum go obey(struct stepper *s, struct gm_sim_view *view, const char *command) {
    if (look(s, view, command))
        return STAY;
    switch (command[0]) {
    case 's':
        s->steps = 1;
        return take_number(&s->steps) && s->steps ? GO_ON : STAY;
    case 'c':
        return GO_ON;
    case 'q':
        s->quit = true;
        return STOP;
    case 'b':
        take_line(s, view);
        return STAY;
    case 'w':
        take_warp(s, strtok(NULL, " \t\n"));
        return STAY;
    default:
        fputs(prompt_help, stdout);
        return STAY;
    }
}

static bool is_stop(struct stepper *s, struct gm_sim_view *view, const uint32_t cta[3], int warp) {
    if (s->steps && warp == s->step_warp && memcmp(cta, s->step_cta, sizeof s->step_cta) == 0)
        return --s->steps == 0;
    return s->line && s->simulator->view_line(view) == s->line && (s->warp < 0 || s->warp == warp) &&
           (s->cta < 0 || (uint32_t)s->cta == cta[0]);
}

static int stop(struct gm_sim_view *view, void *arg) {
    struct stepper *s = arg;
    uint32_t cta[3], mask;
    uint64_t time;
    int warp;
    char line[256];
    if (!s->begun) {
        s->begun = true;
        s->refused = s->asked && !set_line(s, view, s->asked);
    }
    if (s->refused)
        return 1;
    s->simulator->view_where(view, cta, &warp, &mask, &time);
    if (s->ended || !is_stop(s, view, cta, warp))
        return 0;
    s->stopped = true;
    s->steps = 0;
    s->step_warp = warp;
    memcpy(s->step_cta, cta, sizeof s->step_cta);
    step_show_place(s->simulator, view);
    for (;;) {
        if (s->interactive)
            fputs("(sim) ", stdout);
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin)) { /* no more commands: run to the end */
            s->ended = true;
            return 0;
        }
        const char *command = strtok(line, " \t\n");
        const enum go go = command ? obey(s, view, command) : STAY;
        if (go != STAY)
            return go == STOP;
    }
}

static int step(const struct sim_request *request, struct stepper *s) {
    struct simulator simulator;
    char sentence[240];
    if (simulator_open(&simulator, request) != 0)
        return EXIT_CODE_FAILURE;
    s->simulator = &simulator;
    s->interactive = isatty(STDIN_FILENO);
    if (s->interactive)
        fputs(prompt_help, stdout);
    simulator.set_step(stop, s, 0, -1, -1);
    const enum sim_outcome outcome = sim_gemm_run(&simulator, request, sentence, sizeof sentence);
    simulator.set_step(NULL, NULL, 0, -1, -1);
    if (outcome != SIM_FAILED && !s->refused) {
        printf("%s\n", s->quit                  ? "ended at the prompt: D was not compared"
                       : outcome == SIM_CORRECT ? "the end: every element of D is right, bit for bit"
                                                : sentence);
        simulator_print_reports(&simulator);
    }
    simulator_close(&simulator);
    if (outcome == SIM_CORRECT && !s->stopped)
        complain(s->line ? "it never stopped: no warp that was asked for came to PTX line %u"
                         : "it never stopped: there is no such CTA",
                 s->line);
    return s->quit || (outcome == SIM_CORRECT && s->stopped) ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

static const char about[] =
    "Runs one GEMM on the simulated GPU and stops before a PTX line (of build/kernels/<kernel>.ptx). At each stop it\n"
    "reads commands from the standard input, a line each:\n\n"
    "  s [N]               step N instructions of this warp        c          on to the next stop\n"
    "  b LINE              stop at this line instead               w N|*      only in warp N\n"
    "  p                   registers of this instruction           r %r1 ...  these registers\n"
    "  m ADDRESS [BYTES]   shared memory, 32 banks a row           a          mbarriers\n"
    "  x SPAN ADDRESS [BYTES]  the same with the logical chunk that a swizzle keeps at each place\n"
    "  l [N]               PTX around                              q          end the launch\n\n"
    "examples:\n"
    "  gristmill sim step gemm_sm80_bf16_tn_64x64x64_s4_c1x1_w2x2_xor --warp 1\n"
    "  printf 'p\\na\\nm 0x400 256\\nq\\n' | gristmill sim step gemm_sm90_bf16_tn_64x64x64_s12_c1x1_w1_sw128";

int command_sim_step(int argc, char **argv) {
    enum { OWN = 3 };
    struct sim_request request = {0};
    const char *warp = NULL, *cta = NULL;
    int line = 0;
    struct args_option options[SIM_REQUEST_OPTIONS + OWN] = {
        {"line", "N", ARGS_POSITIVE, &line,
         "the PTX line to stop at; `sim run --count` lists some (default: the first instruction)"},
        {"warp", "N", ARGS_TEXT, &warp, "only in this warp"},
        {"cta", "N", ARGS_TEXT, &cta, "only in this CTA (its %ctaid.x)"},
    };
    sim_request_options(&request, options + OWN);
    const struct args_command command = {"gristmill sim step KERNEL [options]", about, options,
                                         sizeof options / sizeof *options};
    uint32_t warp_number = 0, cta_number = 0;
    const int code = sim_request_read(&request, &command, argc, argv);
    if (code != SIM_GO)
        return code;
    const uint32_t warps = (uint32_t)gm_kernels[request.row].threads / 32;
    if ((warp && number_read("--warp", warp, 0, warps - 1, &warp_number) != 0) ||
        (cta && number_read("--cta", cta, 0, INT32_MAX, &cta_number) != 0))
        return EXIT_CODE_USAGE;
    struct stepper stepper = {.asked = (uint32_t)line,
                              .steps = !line, /* else the first instruction of this warp */
                              .step_warp = (int)warp_number,
                              .step_cta = {cta_number},
                              .warps = warps,
                              .warp = warp ? (int)warp_number : -1,
                              .cta = cta ? (int)cta_number : -1};
    return step(&request, &stepper);
}
