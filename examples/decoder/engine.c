/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"

#include "common.h"
#include "device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { UNDER_WAY = 2 /* steps, at most */, PROMPTS_MAX = 32 /* requests of a chunk */ };

/* ---- what a step is told -------------------------------------------------------------------------------- */

/* Arrays for so many rows and requests in one piece, here and on the device. The host has as many pieces as steps may be under
 * way, since the copy of one may not have begun when the next is written. */
struct letter {
    int64_t rows, requests, table_stride;
    size_t bytes;
    char *host[UNDER_WAY], *now;
    int turn;
    gm_device_ptr device;
    struct inputs inputs; /* where on the device, and: */
    size_t tokens, positions, slots, wanted, q_indptr, kv_len, temperatures, top_ps, min_ps, top_ks, seeds, steps;
    int32_t *table; /* of the host; sent apart, when requests come and go */
};

static size_t put(struct letter *letter, int64_t count, size_t bytes) {
    const size_t at = letter->bytes;
    letter->bytes += ((size_t)count * bytes + 15) / 16 * 16;
    return at;
}

static struct letter letter_create(int64_t rows, int64_t requests, int64_t table_stride) {
    struct letter l = {.rows = rows, .requests = requests, .table_stride = table_stride};
    l.tokens = put(&l, rows, 4), l.positions = put(&l, rows, 4), l.slots = put(&l, rows, 8);
    l.wanted = put(&l, requests, 4), l.q_indptr = put(&l, requests + 1, 4), l.kv_len = put(&l, requests, 4);
    l.temperatures = put(&l, requests, 4), l.top_ps = put(&l, requests, 4), l.min_ps = put(&l, requests, 4);
    l.top_ks = put(&l, requests, 4), l.seeds = put(&l, requests, 8), l.steps = put(&l, requests, 8);
    for (int i = 0; i < UNDER_WAY; i++)
        l.host[i] = pinned_allocate(l.bytes);
    l.table = pinned_allocate((size_t)(requests * table_stride) * sizeof *l.table);
    const gm_device_ptr d = l.device = device_allocate(l.bytes, "what a step is told");
    l.inputs =
        (struct inputs){.tokens = d + l.tokens,
                        .positions = d + l.positions,
                        .slots = d + l.slots,
                        .wanted = d + l.wanted,
                        .q_indptr = d + l.q_indptr,
                        .kv_len = d + l.kv_len,
                        .table = device_allocate((size_t)(requests * table_stride) * sizeof *l.table, "page tables"),
                        .temperatures = d + l.temperatures,
                        .top_ps = d + l.top_ps,
                        .min_ps = d + l.min_ps,
                        .top_ks = d + l.top_ks,
                        .seeds = d + l.seeds,
                        .steps = d + l.steps};
    return l;
}

static void letter_free(struct letter *l) {
    for (int i = 0; i < UNDER_WAY; i++)
        pinned_release(l->host[i]);
    pinned_release(l->table);
    device_release(l->device);
    device_release(l->inputs.table);
}

#define AT(letter, member, type) ((type *)(void *)((letter)->now + (letter)->member))

/* Begins a letter in which no row has a token and no request has rows. */
static void letter_begin(struct letter *l) {
    l->now = l->host[l->turn = (l->turn + 1) % UNDER_WAY];
    memset(l->now, 0, l->bytes);
    memset(AT(l, slots, char), 0xff, (size_t)l->rows * sizeof(int64_t));
}

static void letter_send(struct letter *l) {
    copy_to_device(l->device, l->now, l->bytes);
}

/* Pages of the request whose number in the step is `seat`. */
static void letter_seat(struct letter *l, int64_t seat, const struct request *r) {
    memcpy(l->table + seat * l->table_stride, r->pages, (size_t)r->page_count * sizeof *r->pages);
}

static void letter_send_table(struct letter *l, int64_t seats) {
    copy_to_device(l->inputs.table, l->table, (size_t)(seats * l->table_stride) * sizeof *l->table);
}

static int64_t slot_of(const struct request *r, int64_t page_size, int64_t position) {
    return r->pages[position / page_size] * page_size + position % page_size;
}

/* ---- an engine ------------------------------------------------------------------------------------------ */

struct kept_step {
    struct step_shape shape;
    struct step *step;
    struct graph *graph; /* of decoding */
    struct kept_step *next;
};

struct engine {
    gm_context *context;
    const struct model *model;
    struct engine_options options;
    struct cache cache;
    struct scratch scratch;
    struct letter prompts, decoding;
    struct kept_step *kept;

    int32_t *free_pages;
    int64_t free_count;
    struct request *waiting, *last_waiting; /* have no pages yet */
    struct request *reading, *last_reading; /* have pages, and a prompt that is not through */
    struct request **active;                /* decode together; the number of a request here is its seat */
    int64_t active_count;
    int is_stale; /* seats have changed: tables and tokens on the device are others */

    int32_t *sampled[UNDER_WAY]; /* of the host */
    struct mark *read[UNDER_WAY];
    int turn, under_way;
    struct engine_times times;
};

static int64_t pages_for(const struct engine_options *o, int64_t tokens) {
    return (tokens + o->page_size - 1) / o->page_size;
}

static int64_t page_bytes(const struct config *c, const struct engine_options *o) {
    return o->page_size * c->kv_heads * c->head_dim * ELEMENT_BYTES;
}

static int64_t pages_of_cache(const struct engine_options *o) {
    return o->max_requests * pages_for(o, o->context);
}

/* Of the keys of all layers, and as many of the values. */
static size_t half_cache_bytes(const struct config *c, const struct engine_options *o) {
    return (size_t)(c->layers * pages_of_cache(o) * page_bytes(c, o));
}

static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

size_t engine_bytes(const struct config *c, const struct engine_options *o) {
    return 2 * half_cache_bytes(c, o) +
           scratch_bytes(c, most(o->chunk, o->max_requests), most(o->max_requests, PROMPTS_MAX));
}

static void create_cache(struct engine *e) {
    const size_t bytes = half_cache_bytes(&e->model->config, &e->options);
    e->cache = (struct cache){.pages = pages_of_cache(&e->options),
                              .page_size = e->options.page_size,
                              .table_stride = pages_for(&e->options, e->options.context),
                              .k = device_zeros(bytes, "keys of the cache"),
                              .v = device_zeros(bytes, "values of the cache")};
    e->free_pages = grab((size_t)e->cache.pages, sizeof *e->free_pages);
    for (int64_t i = 0; i < e->cache.pages; i++)
        e->free_pages[e->free_count++] = (int32_t)(e->cache.pages - 1 - i);
}

struct engine *engine_create(gm_context *context, const struct model *model, const struct engine_options *options) {
    struct engine *e = grab(1, sizeof *e);
    *e = (struct engine){.context = context, .model = model, .options = *options};
    e->options.is_eager |= model->config.experts > 0; /* their rows' numbers are read back within a step */
    create_cache(e);
    const int64_t results = most(options->max_requests, PROMPTS_MAX);
    e->scratch = scratch_create(context, &model->config, most(options->chunk, options->max_requests), results,
                                options->plan_flags);
    e->prompts = letter_create(options->chunk, results, e->cache.table_stride);
    e->decoding = letter_create(options->max_requests, options->max_requests, e->cache.table_stride);
    e->decoding.inputs.tokens = e->scratch.sampled; /* a step's tokens are the next one's */
    e->active = grab((size_t)options->max_requests, sizeof *e->active);
    for (int i = 0; i < UNDER_WAY; i++) {
        e->sampled[i] = pinned_allocate((size_t)results * sizeof *e->sampled[i]);
        e->read[i] = mark_create();
    }
    return e;
}

void engine_free(struct engine *e) {
    device_wait();
    while (e->kept) {
        struct kept_step *next = e->kept->next;
        graph_destroy(e->kept->graph);
        step_destroy(e->kept->step);
        free(e->kept);
        e->kept = next;
    }
    for (int i = 0; i < UNDER_WAY; i++) {
        pinned_release(e->sampled[i]);
        mark_destroy(e->read[i]);
    }
    letter_free(&e->prompts);
    letter_free(&e->decoding);
    scratch_free(&e->scratch);
    device_release(e->cache.k);
    device_release(e->cache.v);
    free(e->free_pages);
    free(e->active);
    free(e);
}

struct engine_times engine_times(const struct engine *e) {
    return e->times;
}

void request_free(struct request *r) {
    free(r->made);
    free(r->pages);
    r->made = r->pages = NULL;
}

/* The step of this shape: planned when it is first wanted. */
static struct kept_step *step_of(struct engine *e, struct step_shape shape) {
    for (struct kept_step *k = e->kept; k; k = k->next)
        if (memcmp(&k->shape, &shape, sizeof shape) == 0)
            return k;
    struct kept_step *k = grab(1, sizeof *k);
    *k = (struct kept_step){.shape = shape, .next = e->kept};
    k->step = step_create(e->context, e->model, &e->cache, e->options.context, shape, e->options.plan_flags);
    return e->kept = k;
}

static int64_t power_of_two_from(int64_t count) {
    int64_t power = 1;
    while (power < count)
        power *= 2;
    return power;
}

/* Rows for which a step of a prompt is planned: powers of two, and from 256 on multiples of 256. */
static int64_t rows_planned(int64_t rows, int64_t limit) {
    return least(rows <= 256 ? power_of_two_from(rows) : (rows + 255) / 256 * 256, limit);
}

/* A step of prompts, which wants a token of each request. Attention chooses a family by the longest request, so that a plan
 * for which nobody's neighbours may matter is told of the longest that there can be. */
static struct step_shape prompt_shape(const struct engine *e, int64_t rows, int64_t requests) {
    const int is_invariant = (e->options.plan_flags & GM_PLAN_BATCH_INVARIANT) != 0;
    return (struct step_shape){rows, requests, is_invariant ? e->options.chunk : rows, requests, 0, 0};
}

/* ---- prompts -------------------------------------------------------------------------------------------- */

static void append(struct request **first, struct request **last, struct request *r) {
    r->next = NULL;
    if (*first)
        (*last)->next = r;
    else
        *first = r;
    *last = r;
}

static struct request *take_first(struct request **first) {
    struct request *r = *first;
    *first = r->next;
    return r;
}

void engine_add(struct engine *e, struct request *r) {
    const int64_t tokens = r->prompt_count + r->limit;
    if (r->prompt_count < 1 || r->limit < 1 || tokens > e->options.context)
        die("a prompt of %" PRId64 " tokens and %" PRId64 " more do not fit a context of %" PRId64, r->prompt_count,
            r->limit, e->options.context);
    r->made = grab((size_t)r->limit, sizeof *r->made);
    append(&e->waiting, &e->last_waiting, r);
}

static void give_pages(struct engine *e, struct request *r) {
    r->page_count = pages_for(&e->options, r->prompt_count + r->limit);
    r->pages = grab((size_t)r->page_count, sizeof *r->pages);
    for (int64_t i = 0; i < r->page_count; i++)
        r->pages[i] = e->free_pages[--e->free_count];
}

static void take_pages(struct engine *e, struct request *r) {
    for (int64_t i = 0; i < r->page_count; i++)
        e->free_pages[e->free_count++] = r->pages[i];
    r->page_count = 0;
}

/* Requests begin in their order, once there is a seat: there are as many pages as all seats can want. */
static void admit(struct engine *e) {
    int64_t seats = e->options.max_requests - e->active_count;
    for (const struct request *r = e->reading; r; r = r->next)
        seats--;
    while (e->waiting && seats-- > 0) {
        struct request *r = take_first(&e->waiting);
        give_pages(e, r);
        append(&e->reading, &e->last_reading, r);
    }
}

static void tell_sampling(struct letter *l, int64_t result, const struct request *r) {
    AT(l, temperatures, float)[result] = r->temperature;
    AT(l, top_ps, float)[result] = r->top_p > 0 ? r->top_p : 1;
    AT(l, min_ps, float)[result] = r->min_p;
    AT(l, top_ks, int32_t)[result] = r->top_k;
    AT(l, seeds, uint64_t)[result] = r->seed;
    AT(l, steps, int64_t)[result] = r->length; /* tokens before the one that is sampled */
}

/* The next rows of a prompt into the letter, from row `row` on. */
static void tell_rows(struct engine *e, struct request *r, int64_t seat, int64_t row, int64_t rows) {
    struct letter *l = &e->prompts;
    for (int64_t i = 0; i < rows; i++) {
        AT(l, tokens, int32_t)[row + i] = r->prompt[r->length + i];
        AT(l, positions, int32_t)[row + i] = (int32_t)(r->length + i);
        AT(l, slots, int64_t)[row + i] = slot_of(r, e->cache.page_size, r->length + i);
    }
    r->length += rows;
    AT(l, wanted, int32_t)[seat] = (int32_t)(row + rows - 1);
    AT(l, kv_len, int32_t)[seat] = (int32_t)r->length;
    tell_sampling(l, seat, r);
    letter_seat(l, seat, r);
}

static void take_token(struct engine *e, struct request *r, int32_t token) {
    const struct config *c = &e->model->config;
    if (r->is_done)
        return; /* it was under way when the text ended */
    if (r->made_count == 0)
        r->first_token = seconds();
    r->made[r->made_count++] = token;
    r->is_done = r->made_count == r->limit;
    for (int i = 0; i < c->end_token_count && !r->goes_on; i++)
        r->is_done |= token == c->end_tokens[i];
    e->times.made_tokens++;
    e->times.decoded_tokens += r->made_count > 1;
    if (r->on_token)
        r->on_token(r, token, r->user);
}

/* Requests whose prompts are through take seats, unless their first token was the last. */
static void seat_or_end(struct engine *e, struct request *r) {
    r->launched = 1;
    if (r->is_done) {
        take_pages(e, r);
        return;
    }
    e->active[e->active_count++] = r;
}

/* A step of prompts: rows of one request or several, in their order. */
static void advance_prompts(struct engine *e) {
    struct letter *l = &e->prompts;
    struct request *in_step[PROMPTS_MAX];
    int64_t rows = 0, seats = 0;
    const double begin = seconds();
    letter_begin(l);
    for (struct request *r = e->reading; r && rows < e->options.chunk && seats < PROMPTS_MAX; r = r->next) {
        const int64_t count = least(r->prompt_count - r->length, e->options.chunk - rows);
        tell_rows(e, r, seats, rows, count);
        rows += count;
        in_step[seats++] = r;
        AT(l, q_indptr, int32_t)[seats] = (int32_t)rows;
    }
    const int64_t planned = rows_planned(rows, e->options.chunk), requests = power_of_two_from(seats);
    for (int64_t i = seats + 1; i <= requests; i++)
        AT(l, q_indptr, int32_t)[i] = (int32_t)rows;
    letter_send(l);
    letter_send_table(l, seats);
    struct kept_step *step = step_of(e, prompt_shape(e, planned, requests));
    step_run(step->step, e->model, &e->cache, &l->inputs, &e->scratch);
    copy_to_host(e->sampled[0], e->scratch.sampled, (size_t)seats * sizeof(int32_t));
    device_wait();
    e->is_stale = 1; /* seats change, and tokens of the last step of decoding were overwritten */
    for (int64_t i = 0; i < seats && in_step[i]->length == in_step[i]->prompt_count; i++) {
        take_first(&e->reading);
        take_token(e, in_step[i], e->sampled[0][i]);
        seat_or_end(e, in_step[i]);
    }
    e->times.prompt_tokens += rows;
    e->times.prompt_seconds += seconds() - begin;
}

/* ---- decoding ------------------------------------------------------------------------------------------- */

/* The graph of a decoding step of so many requests, or of parts of it. */
static struct kept_step *decoding_of(struct engine *e, int64_t requests, int64_t parts) {
    struct kept_step *k = step_of(e, (struct step_shape){requests, requests, 1, 0, 1, parts});
    if (!k->graph && !e->options.is_eager) {
        graph_begin();
        step_run(k->step, e->model, &e->cache, &e->decoding.inputs, &e->scratch);
        k->graph = graph_end();
    }
    return k;
}

static void launch(struct engine *e, const struct kept_step *k) {
    if (k->graph)
        graph_launch(k->graph);
    else
        step_run(k->step, e->model, &e->cache, &e->decoding.inputs, &e->scratch);
}

/* Tables and tokens of seats that have changed. No step is under way. */
static void send_seats(struct engine *e) {
    int32_t *tokens = e->sampled[0];
    for (int64_t i = 0; i < e->active_count; i++) {
        letter_seat(&e->decoding, i, e->active[i]);
        tokens[i] = e->active[i]->made[e->active[i]->made_count - 1];
    }
    letter_send_table(&e->decoding, e->active_count);
    copy_to_device(e->scratch.sampled, tokens, (size_t)e->active_count * sizeof *tokens);
    device_wait();
    e->is_stale = 0;
}

/* The row of every active request: the token that was sampled last, where it goes, what it sees. */
static void launch_decoding(struct engine *e) {
    struct letter *l = &e->decoding;
    const int64_t requests = least(power_of_two_from(e->active_count), e->options.max_requests);
    const struct kept_step *k = decoding_of(e, requests, 0);
    letter_begin(l);
    for (int64_t i = 0; i < e->active_count; i++) {
        struct request *r = e->active[i];
        AT(l, positions, int32_t)[i] = (int32_t)r->length;
        AT(l, slots, int64_t)[i] = slot_of(r, e->cache.page_size, r->length);
        r->length++, r->launched++;
        AT(l, kv_len, int32_t)[i] = (int32_t)r->length;
        AT(l, q_indptr, int32_t)[i + 1] = (int32_t)(i + 1);
        tell_sampling(l, i, r);
    }
    for (int64_t i = e->active_count + 1; i <= requests; i++)
        AT(l, q_indptr, int32_t)[i] = (int32_t)e->active_count;
    letter_send(l);
    launch(e, k);
    e->turn = (e->turn + 1) % UNDER_WAY;
    copy_to_host(e->sampled[e->turn], e->scratch.sampled, (size_t)e->active_count * sizeof(int32_t));
    mark_here(e->read[e->turn]);
    e->under_way++;
    e->times.decode_steps++;
}

/* Tokens of the oldest step under way. 1: a text has ended. */
static int read_decoding(struct engine *e) {
    const int turn = (e->turn + UNDER_WAY + 1 - e->under_way) % UNDER_WAY;
    int has_ended = 0;
    mark_wait(e->read[turn]);
    e->under_way--;
    for (int64_t i = 0; i < e->active_count; i++) {
        take_token(e, e->active[i], e->sampled[turn][i]);
        has_ended |= e->active[i]->is_done;
    }
    return has_ended;
}

/* Whether every active request wants a token behind those under way. */
static int all_go_on(const struct engine *e) {
    for (int64_t i = 0; i < e->active_count; i++)
        if (e->active[i]->launched >= e->active[i]->limit)
            return 0;
    return 1;
}

/* Seats of those that are done go to the last ones. */
static void leave_seats(struct engine *e) {
    for (int64_t i = 0; i < e->active_count;) {
        if (!e->active[i]->is_done) {
            i++;
            continue;
        }
        take_pages(e, e->active[i]);
        e->active[i] = e->active[--e->active_count];
        e->is_stale = 1;
    }
}

static void settle(struct engine *e) {
    while (e->under_way)
        read_decoding(e);
    leave_seats(e);
}

static void advance_decoding(struct engine *e) {
    const double begin = seconds();
    if (e->is_stale) {
        settle(e);
        send_seats(e);
    }
    while (e->under_way < UNDER_WAY && all_go_on(e))
        launch_decoding(e);
    if (read_decoding(e))
        settle(e);
    e->times.decode_seconds += seconds() - begin;
}

int engine_advance(struct engine *e) {
    if (e->waiting)
        admit(e);
    if (e->reading) {
        settle(e);
        advance_prompts(e);
    }
    if (e->active_count)
        advance_decoding(e);
    return e->active_count || e->reading || e->waiting;
}

/* ---- logits, times, plans ------------------------------------------------------------------------------- */

/* A request that has pages from the first on, for those who measure. */
static struct request measured_request(struct engine *e, int64_t tokens) {
    struct request r = {.prompt_count = tokens, .page_count = pages_for(&e->options, tokens)};
    r.pages = grab((size_t)r.page_count, sizeof *r.pages);
    for (int64_t i = 0; i < r.page_count; i++)
        r.pages[i] = (int32_t)i;
    return r;
}

/* The next rows of one request alone. */
static void run_rows(struct engine *e, struct request *r, int64_t rows, struct step_shape shape) {
    const struct kept_step *k = step_of(e, shape);
    letter_begin(&e->prompts);
    tell_rows(e, r, 0, 0, rows);
    AT(&e->prompts, q_indptr, int32_t)[1] = (int32_t)rows;
    letter_send(&e->prompts);
    letter_send_table(&e->prompts, 1);
    step_run(k->step, e->model, &e->cache, &e->prompts.inputs, &e->scratch);
}

float *engine_logits(struct engine *e, const int32_t *tokens, int64_t count, int64_t chunk) {
    const int64_t vocabulary = e->model->config.vocabulary;
    float *logits = grab((size_t)(count * vocabulary), sizeof *logits);
    struct request r = measured_request(e, count);
    r.prompt = tokens;
    chunk = least(chunk, e->scratch.results);
    for (int64_t from = 0; from < count; from += chunk) {
        const int64_t rows = least(chunk, count - from);
        run_rows(e, &r, rows, (struct step_shape){rows, 1, rows, 0, 0, 0});
        copy_to_host(logits + from * vocabulary, e->scratch.logits, (size_t)(rows * vocabulary) * sizeof *logits);
        device_wait();
    }
    request_free(&r);
    return logits;
}

void engine_last_logits(struct engine *e, int64_t seat, float *logits) {
    const size_t bytes = (size_t)e->model->config.vocabulary * sizeof *logits;
    copy_to_host(logits, e->scratch.logits + (size_t)seat * bytes, bytes);
    device_wait();
}

void engine_fill_cache(struct engine *e) {
    const size_t bytes = half_cache_bytes(&e->model->config, &e->options);
    for (size_t from = 0; from < bytes; from += e->model->weight_bytes) {
        const size_t now = bytes - from < e->model->weight_bytes ? bytes - from : e->model->weight_bytes;
        copy_on_device(e->cache.k + from, e->model->weights, now);
        copy_on_device(e->cache.v + from, e->model->weights, now);
    }
}

/* Tokens far from each other, so that requests differ in the experts that they choose. */
static int32_t some_token(const struct engine *e, int64_t number) {
    return (int32_t)(number * 7919 % e->model->config.vocabulary);
}

static void send_first_tokens(struct engine *e, int64_t requests) {
    for (int64_t i = 0; i < requests; i++)
        e->sampled[0][i] = some_token(e, i);
    copy_to_device(e->scratch.sampled, e->sampled[0], (size_t)requests * sizeof(int32_t));
}

double engine_time_decode(struct engine *e, int64_t requests, int64_t length, int steps, int64_t parts) {
    struct letter *l = &e->decoding;
    struct mark *from = mark_create(), *to = mark_create();
    const int64_t pages = pages_for(&e->options, length);
    letter_begin(l);
    for (int64_t i = 0; i < requests; i++) {
        int32_t *table = l->table + i * l->table_stride;
        for (int64_t j = 0; j < pages; j++)
            table[j] = (int32_t)((i * pages + j) % e->cache.pages);
        const struct request r = {.pages = table};
        AT(l, positions, int32_t)[i] = (int32_t)(length - 1);
        AT(l, slots, int64_t)[i] = slot_of(&r, e->cache.page_size, length - 1);
        AT(l, kv_len, int32_t)[i] = (int32_t)length;
        AT(l, q_indptr, int32_t)[i + 1] = (int32_t)(i + 1);
    }
    letter_send(l);
    letter_send_table(l, requests);
    send_first_tokens(e, requests);
    const struct kept_step *k = decoding_of(e, requests, parts);
    mark_here(from);
    for (int i = 0; i < steps; i++)
        launch(e, k);
    mark_here(to);
    const double ms = mark_milliseconds(from, to) / steps;
    mark_destroy(from);
    mark_destroy(to);
    e->is_stale = 1;
    return ms;
}

double engine_time_prompt(struct engine *e, int64_t length) {
    struct mark *from = mark_create(), *to = mark_create();
    struct request r = measured_request(e, length);
    int32_t *tokens = grab((size_t)length, sizeof *tokens);
    for (int64_t i = 0; i < length; i++)
        tokens[i] = some_token(e, i);
    r.prompt = tokens;
    device_wait();
    mark_here(from);
    while (r.length < length) {
        const int64_t rows = least(length - r.length, e->options.chunk), planned = rows_planned(rows, e->options.chunk);
        run_rows(e, &r, rows, prompt_shape(e, planned, 1));
        if (r.length < length)
            mark_here(to), mark_wait(to); /* letters are two */
    }
    mark_here(to);
    const double ms = mark_milliseconds(from, to);
    mark_destroy(from);
    mark_destroy(to);
    request_free(&r);
    free(tokens);
    return ms;
}

void engine_explain(struct engine *e, int64_t requests, int64_t rows) {
    const struct kept_step *k = rows ? step_of(e, prompt_shape(e, rows, 1)) : decoding_of(e, requests, 0);
    step_explain(k->step, &e->scratch);
}
