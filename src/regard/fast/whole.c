/* A first encoder layer and a decoder as one call each way: what inside.py and reading_inside.py do call by call, from symbols
 * on, with dropout and the layers around. It follows kernels.c, whose loops and products it puts together. Nothing is asked of
 * Python meanwhile, and what does not outlive a call lies in one room, which the cache still holds from the call before. */

/* Pieces of the room, line by line; without one (0), only how much they need. */
typedef struct { number *begin; long used; } bench;

static number *cut(bench *room, long count) {
    number *here = room->begin ? room->begin + room->used : 0;
    room->used += (count + LINE - 1) / LINE * LINE;
    return here;
}

/* How many numbers a call needs: what its layout takes of no room */
#define SIZE(name, type, lay) \
    long name(const type *given) { \
        bench room = {0, 0}; \
        lay(given, &room); \
        return room.used; \
    }

static long larger(long one, long other) { return one > other ? one : other; }

static long panelled(long outputs, long inputs) { return (outputs + PANEL - 1) / PANEL * PANEL * inputs; }

/* Dropout by the draws of `drop`: those below `least` of 2^16 */
typedef struct { long least, low, high; number scale; } noise;

static void drop_all(const noise *how, long threads, long count, const number *from, number *to) {
    if (how->least)
        drop(threads, count, how->least, how->low, how->high, &how->scale, from, to);
    else
        memcpy(to, from, sizeof(number) * count);
}

/* `size` numbers from place `at` of `count` on, dropped and added to what is there, or instead of it */
static void drop_row(const noise *how, long count, long at, long size, int onto, const number *restrict from,
                     number *restrict to) {
    long half = (count + 1) / 2, first = at >= half ? 0 : half - at < size ? half - at : size;
    uint32_t low = (uint32_t)how->low, high = (uint32_t)how->high, least = (uint32_t)how->least;
    number scale = how->scale;
    for (long k = 0; k < first; k++) {
        uint32_t draw = stirred((uint32_t)(at + k), low, high) & 0xffff;
        to[k] = (onto ? to[k] : 0.0f) + (draw >= least ? scale * from[k] : 0.0f);
    }
    for (long k = first; k < size; k++) {
        uint32_t draw = stirred((uint32_t)(at + k - half), low, high) >> 16;
        to[k] = (onto ? to[k] : 0.0f) + (draw >= least ? scale * from[k] : 0.0f);
    }
}

/* y = x W^T + bias of a layer whose weights are not packed yet; `turned`, x W for the gradient of x. They have room. */
static void layer(long threads, long rows, long outputs, long inputs, int turned, const number *x, long stride,
                  const number *weight, const number *bias, int squash, number *y, long width, number *packed) {
    pack(outputs, inputs, turned ? 1 : inputs, turned ? outputs : 1, weight, packed);
    affine(threads, rows, outputs, inputs, stride, width, squash, x, packed, bias, y);
}

/* y += x W */
static void add_turned(long threads, long rows, long outputs, long inputs, const number *x, long stride,
                       const number *weight, number *y, number *packed) {
    pack(outputs, inputs, 1, outputs, weight, packed);
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
        share my = mine(rows);
        add_apart(my.last - my.first, outputs, inputs, x + my.first * stride, stride, packed, y + my.first * outputs,
                  outputs);
    }
}

static void sum_rows(long rows, long size, const number *from, number *restrict to) {
    memset(to, 0, sizeof(number) * size);
    for (long r = 0; r < rows; r++)
        for (long k = 0; k < size; k++) to[k] += from[r * size + k];
}

/* One LSTM layer in one or both directions over embedded symbols: x_j = drop(E[symbol_j]), values = drop(h). tokens (B, S) and
 * lengths (B); turns: begin (S + 1), order and rank (B), see lstm_run. inputs (R, E), gates (R; `apart`) and kept (D, 3, R, H)
 * are remembered for the way back; R is at most B S. values (B, S, D H) and last (B, D H) come out. */
typedef struct {
    long threads, team, rows, places, embed, size, directions, apart;
    noise word_noise, value_noise;
    const int64_t *tokens, *lengths;
    const number *table, *drive[2], *recurrence[2], *bias[2], *past_bias[2];
    int64_t *turns;
    number *inputs, *gates, *kept, *values, *last;
    const number *into_values, *into_last;
    number *into_table, *into_drive[2], *into_recurrence[2], *into_bias[2];
    long symbols;
} heard;

typedef struct { const int64_t *begin, *order, *rank; long all; } turns;

static turns turns_of(const heard *h) {
    int64_t *begin = h->turns, *order = begin + h->places + 1;
    return (turns){begin, order, order + h->rows, begin[h->places]};
}

/* Sequences from the longest to the shortest, and where the rows of each place begin. Returns how many rows there are; −1: a
 * length is below 0 or beyond the places. */
long hear_turns(const heard *h) {
    int64_t *begin = h->turns, *order = begin + h->places + 1, *rank = order + h->rows;
    long next = 0;
    for (long length = h->places; length >= 0; length--)
        for (long row = 0; row < h->rows; row++)
            if (h->lengths[row] == length) rank[row] = next, order[next++] = row;
    if (next < h->rows) return -1;
    for (long place = 0, live = h->rows; place <= h->places; place++) {
        begin[place] = place ? begin[place - 1] + live : 0;
        while (live > 0 && h->lengths[order[live - 1]] <= place) live--;
    }
    return begin[h->places];
}

typedef struct { number *raw, *ends, *bias, *packed; } hear_room;

static hear_room lay_hear(const heard *h, bench *room) {
    long gates = 4 * h->size, values = h->rows * h->places * h->directions * h->size;
    number *raw = cut(room, values), *ends = cut(room, 2 * h->rows * h->size), *bias = cut(room, gates);
    return (hear_room){raw, ends, bias, cut(room, panelled(gates, larger(h->embed, h->size)))};
}

SIZE(hear_size, heard, lay_hear)

void hear(const heard *h, number *begin) {
    bench all = {begin, 0};
    hear_room room = lay_hear(h, &all);
    turns by = turns_of(h);
    long size = h->size, gates = 4 * size, wide = h->directions * size, places = h->places, embed = h->embed;
    long words = h->rows * places * embed;
    for (long place = 0; place < places; place++)
        for (long row = by.begin[place]; row < by.begin[place + 1]; row++) {
            long at = by.order[row - by.begin[place]] * places + place;
            drop_row(&h->word_noise, words, at * embed, embed, 0, h->table + h->tokens[at] * embed, h->inputs + row * embed);
        }
    memset(room.raw, 0, sizeof(number) * h->rows * places * wide);
    for (long d = 0; d < h->directions; d++) {
        number *x = h->gates + d * gates, *states = h->kept + 3 * d * by.all * size, *carries = states + by.all * size;
        for (long k = 0; k < gates; k++) room.bias[k] = h->bias[d][k] + h->past_bias[d][k];
        layer(h->threads, by.all, gates, embed, 0, h->inputs, embed, h->drive[d], room.bias, 0, x, h->apart, room.packed);
        pack(gates, size, size, 1, h->recurrence[d], room.packed);
        memset(room.ends, 0, sizeof(number) * 2 * h->rows * size);
        lstm_run(h->team, places, h->rows, size, h->apart, d, 1, places * wide, wide, by.begin, by.order, room.packed, x,
                 states, carries, carries + by.all * size, room.ends, room.ends + h->rows * size, room.raw + d * size);
        for (long row = 0; row < h->rows; row++)
            memcpy(h->last + by.order[row] * wide + d * size, room.ends + row * size, sizeof(number) * size);
    }
    drop_all(&h->value_noise, h->threads, h->rows * places * wide, room.raw, h->values);
}

typedef struct { number *into_raw, *into_gates, *into_inputs, *ends, *bias, *room; } hear_back_room;

static hear_back_room lay_hear_back(const heard *h, bench *room) {
    long gates = 4 * h->size, values = h->rows * h->places * h->directions * h->size, all = h->turns[h->places];
    long packed = panelled(larger(h->embed, h->size), gates);
    long sums = h->threads * (gradient_room(h->size) + gradient_room(h->embed));
    number *into_raw = cut(room, values), *into_gates = cut(room, all * h->apart), *into_inputs = cut(room, all * h->embed);
    number *ends = cut(room, 2 * h->rows * h->size), *bias = cut(room, h->team * gates);
    return (hear_back_room){into_raw, into_gates, into_inputs, ends, bias, cut(room, larger(packed, sums))};
}

SIZE(hear_back_size, heard, lay_hear_back)

void hear_back(const heard *h, number *begin) {
    bench all = {begin, 0};
    hear_back_room room = lay_hear_back(h, &all);
    turns by = turns_of(h);
    long size = h->size, gates = 4 * size, wide = h->directions * size, places = h->places, embed = h->embed;
    long words = h->rows * places * embed, each = gradient_room(size) + gradient_room(embed);
    int64_t sizes[2] = {size, embed};
    drop_all(&h->value_noise, h->threads, h->rows * places * wide, h->into_values, room.into_raw);
    for (long d = 0; d < h->directions; d++) {
        number *states = h->kept + 3 * d * by.all * size, *carries = states + by.all * size;
        number *slopes = room.into_gates + d * gates, *x[2] = {states, h->inputs};
        number *y[2] = {h->into_recurrence[d], h->into_drive[d]};
        for (long row = 0; row < h->rows; row++)
            memcpy(room.ends + row * size, h->into_last + by.order[row] * wide + d * size, sizeof(number) * size);
        memset(room.ends + h->rows * size, 0, sizeof(number) * h->rows * size);
        memset(room.bias, 0, sizeof(number) * h->team * gates);
        pack(size, gates, 1, size, h->recurrence[d], room.room);
        lstm_run_backward(h->team, places, h->rows, size, h->apart, d, 1, places * wide, wide, by.begin, by.order,
                          room.room, h->gates + d * gates, carries, carries + by.all * size, room.into_raw + d * size,
                          slopes, room.ends, room.ends + h->rows * size, room.bias);
        sum_rows(h->team, gates, room.bias, h->into_bias[d]);
        gradients(h->threads, by.all, gates, h->apart, 2, each, slopes, sizes, sizes, x, y, room.room);
        if (d == 0)
            layer(h->threads, by.all, embed, gates, 1, slopes, h->apart, h->drive[d], 0, 0, room.into_inputs, embed,
                  room.room);
        else
            add_turned(h->threads, by.all, embed, gates, slopes, h->apart, h->drive[d], room.into_inputs, room.room);
    }
    memset(h->into_table, 0, sizeof(number) * h->symbols * embed);
    for (long row = 0; row < h->rows; row++)
        for (long place = 0; place < h->lengths[row]; place++) {
            long at = row * places + place, turn = by.begin[place] + by.rank[row];
            if (h->tokens[at]) /* padding learns nothing */
                drop_row(&h->word_noise, words, at * embed, embed, 1, room.into_inputs + turn * embed,
                         h->into_table + h->tokens[at] * embed);
        }
}

/* A decoder that reads before it moves, from symbols to what its output layer gets:
 *     x_t = drop(E[y_{t-1}]),  [c_t; s_t] as in read_run, of keys W_k h_j + b_k,  readout_t = drop(tanh(W_c [c_t; s_t] + b_c))
 * tokens (B, T) lie `token_stride` apart; values (B, S, V); first (B, 2 H) has the first states and carries. words (T, B, E), powers (B,
 * S, A), gates, raised, seen, carries, squashed as in read_run and mixed (T, B, R), before dropout, are remembered; weights (T, B,
 * S) and readouts (T, B, R) come out. into_weights may be 0. */
typedef struct {
    long threads, team, rows, places, steps, embed, size, width, hidden, read, apart, token_stride, symbols;
    noise word_noise, readout_noise;
    const int64_t *tokens;
    const number *values;
    const uint8_t *mask;
    const number *first, *table, *key, *key_bias, *query, *v, *drive, *bias, *past_bias, *context_drive,
        *recurrence, *mix, *mix_bias;
    number *words, *powers, *gates, *raised, *seen, *carries, *squashed, *mixed, *weights, *readouts;
    const number *into_readouts, *into_weights;
    number *into_values, *into_first, *into_table, *into_key, *into_key_bias, *into_query, *into_v,
        *into_drive, *into_bias, *into_context_drive, *into_recurrence, *into_mix, *into_mix_bias;
} recited;

typedef struct { number *keys, *bias, *query, *recurrence, *context_drive, *asked, *packed; } recite_room;

static recite_room lay_recite(const recited *r, bench *room) {
    long gates = 4 * r->hidden;
    number *keys = cut(room, r->rows * r->places * r->size), *bias = cut(room, gates);
    number *query = cut(room, panelled(r->size, r->hidden)), *recurrence = cut(room, panelled(gates, r->hidden));
    number *context_drive = cut(room, panelled(gates, r->width)), *asked = cut(room, r->rows * r->size);
    long layers = larger(panelled(r->size, r->width), panelled(gates, r->embed));
    return (recite_room){keys, bias, query, recurrence, context_drive, asked,
                         cut(room, larger(layers, panelled(r->read, r->width + r->hidden)))};
}

SIZE(recite_size, recited, lay_recite)

/* Returns the largest |k| or |q|: beyond the reach of the powers all of it is worth nothing. */
number recite(const recited *r, number *begin) {
    bench all = {begin, 0};
    recite_room room = lay_recite(r, &all);
    long rows = r->rows, hidden = r->hidden, width = r->width, both = width + hidden, gates = 4 * hidden;
    long sources = rows * r->places, targets = rows * r->steps;
    layer(r->threads, sources, r->size, width, 0, r->values, width, r->key, r->key_bias, 0, room.keys, r->size, room.packed);
    number far = raise_keys(sources * r->size, room.keys, r->powers);
    for (long t = 0; t < r->steps; t++)
        for (long row = 0; row < rows; row++)
            drop_row(&r->word_noise, targets * r->embed, (row * r->steps + t) * r->embed, r->embed, 0,
                     r->table + r->tokens[row * r->token_stride + t] * r->embed, r->words + (t * rows + row) * r->embed);
    for (long k = 0; k < gates; k++) room.bias[k] = r->bias[k] + r->past_bias[k];
    layer(r->threads, targets, gates, r->embed, 0, r->words, r->embed, r->drive, room.bias, 0, r->gates, r->apart,
          room.packed);
    for (long row = 0; row < rows; row++) {
        memcpy(r->seen + row * both + width, r->first + 2 * row * hidden, sizeof(number) * hidden);
        memcpy(r->carries + row * hidden, r->first + (2 * row + 1) * hidden, sizeof(number) * hidden);
    }
    pack(r->size, hidden, hidden, 1, r->query, room.query);
    pack(gates, hidden, hidden, 1, r->recurrence, room.recurrence);
    pack(gates, width, width, 1, r->context_drive, room.context_drive);
    number farther = read_run(r->team, r->steps, rows, r->places, r->size, width, hidden, r->apart, room.query,
                              room.recurrence, room.context_drive, r->powers, r->v, r->values, r->mask, r->gates,
                              r->raised, r->weights, r->seen, r->carries, r->squashed, room.asked);
    layer(r->threads, targets, r->read, both, 0, r->seen + rows * both, both, r->mix, r->mix_bias, 1, r->mixed, r->read,
          room.packed);
    drop_all(&r->readout_noise, r->threads, targets * r->read, r->mixed, r->readouts);
    return farther > far ? farther : far;
}

typedef struct {
    number *dropped, *slopes, *into_seen, *into_gates, *into_queries, *into_keys, *into_words, *ends, *sums, *query,
        *recurrence, *context_drive, *meanwhile, *room;
} recite_back_room;

static recite_back_room lay_recite_back(const recited *r, bench *room) {
    recite_back_room cuts;
    long targets = r->rows * r->steps, gates = 4 * r->hidden, both = r->width + r->hidden;
    cuts.dropped = cut(room, targets * r->read), cuts.slopes = cut(room, targets * r->read);
    cuts.into_seen = cut(room, targets * both), cuts.into_gates = cut(room, targets * r->apart);
    cuts.into_queries = cut(room, targets * r->size), cuts.into_keys = cut(room, r->rows * r->places * r->size);
    cuts.into_words = cut(room, targets * r->embed);
    cuts.ends = cut(room, 2 * r->rows * r->hidden);
    cuts.sums = cut(room, r->threads * r->read + r->team * (r->size + gates));
    cuts.query = cut(room, panelled(r->hidden, r->size)), cuts.recurrence = cut(room, panelled(r->hidden, gates));
    cuts.context_drive = cut(room, panelled(r->width, gates));
    cuts.meanwhile = cut(room, r->rows * r->width + r->team * r->places);
    long sums = gradient_room(r->embed) + gradient_room(r->width) + gradient_room(r->hidden);
    long packed = larger(panelled(both, r->read), larger(panelled(r->embed, gates), panelled(r->width, r->size)));
    cuts.room = cut(room, larger(packed, r->threads * larger(sums, gradient_room(both))));
    return cuts;
}

SIZE(recite_back_size, recited, lay_recite_back)

void recite_back(const recited *r, number *begin) {
    bench all = {begin, 0};
    recite_back_room room = lay_recite_back(r, &all);
    long rows = r->rows, hidden = r->hidden, width = r->width, both = width + hidden, gates = 4 * hidden, read = r->read;
    long sources = rows * r->places, targets = rows * r->steps, embed = r->embed;
    number *mix_sums = room.sums, *v_sums = mix_sums + r->threads * read, *bias_sums = v_sums + r->team * r->size;
    number *contexts = r->seen + rows * both, *before = r->seen + width;
    memset(room.sums, 0, sizeof(number) * (r->threads * read + r->team * (r->size + gates)));
    drop_all(&r->readout_noise, r->threads, targets * read, r->into_readouts, room.dropped);
    squashed_slopes(r->threads, targets, read, r->mixed, room.dropped, room.slopes, mix_sums);
    sum_rows(r->threads, read, mix_sums, r->into_mix_bias);
    one_gradient(r->threads, targets, read, 0, read, room.slopes, both, both, contexts, r->into_mix, room.room);
    layer(r->threads, targets, both, read, 1, room.slopes, read, r->mix, 0, 0, room.into_seen, both, room.room);
    memset(room.into_keys, 0, sizeof(number) * sources * r->size);
    memset(r->into_values, 0, sizeof(number) * sources * width);
    memset(room.ends, 0, sizeof(number) * 2 * rows * hidden);
    pack(hidden, r->size, 1, hidden, r->query, room.query);
    pack(hidden, gates, 1, hidden, r->recurrence, room.recurrence);
    pack(width, gates, 1, width, r->context_drive, room.context_drive);
    read_run_backward(r->team, r->steps, rows, r->places, r->size, width, hidden, r->apart, room.query, room.recurrence,
                      room.context_drive, r->powers, r->v, r->values, r->mask, r->gates, r->raised, r->weights, r->carries,
                      r->squashed, room.into_seen, r->into_weights, room.into_gates, room.into_queries, room.into_keys,
                      r->into_values, v_sums, bias_sums, room.ends, room.ends + rows * hidden, room.meanwhile);
    for (long row = 0; row < rows; row++)
        for (long part = 0; part < 2; part++)
            memcpy(r->into_first + (2 * row + part) * hidden, room.ends + (part * rows + row) * hidden, sizeof(number) * hidden);
    sum_rows(r->team, r->size, v_sums, r->into_v);
    sum_rows(r->team, gates, bias_sums, r->into_bias);
    int64_t sizes[3] = {embed, width, hidden}, strides[3] = {embed, both, both};
    number *x[3] = {r->words, contexts, before};
    number *y[3] = {r->into_drive, r->into_context_drive, r->into_recurrence};
    gradients(r->threads, targets, gates, r->apart, 3, gradient_room(embed) + gradient_room(width) + gradient_room(hidden),
              room.into_gates, sizes, strides, x, y, room.room);
    one_gradient(r->threads, targets, r->size, 0, r->size, room.into_queries, hidden, both, before, r->into_query, room.room);
    layer(r->threads, targets, embed, gates, 1, room.into_gates, r->apart, r->drive, 0, 0, room.into_words, embed,
          room.room);
    one_gradient(r->threads, sources, r->size, 0, r->size, room.into_keys, width, width, (number *)r->values, r->into_key,
                 room.room);
    sum_rows(sources, r->size, room.into_keys, r->into_key_bias);
    add_turned(r->threads, sources, width, r->size, room.into_keys, r->size, r->key, r->into_values, room.room);
    memset(r->into_table, 0, sizeof(number) * r->symbols * embed);
    for (long row = 0; row < rows; row++)
        for (long t = 0; t < r->steps; t++) {
            int64_t token = r->tokens[row * r->token_stride + t];
            if (token) /* padding learns nothing */
                drop_row(&r->word_noise, targets * embed, (row * r->steps + t) * embed, embed, 1,
                         room.into_words + (t * rows + row) * embed, r->into_table + token * embed);
        }
}

/* Cross-entropy from readouts (M, R) on, by logits O r + b of at most `most` rows at a time. sums: see softmax_slopes. Where
 * somebody `learns`, into_readouts (M, R), into_weight (N, R) and into_bias (N) become the gradients of its total. */
typedef struct {
    long threads, rows, symbols, read, most, padding, learns;
    double smoothing, sums[2];
    const int64_t *targets;
    const number *readouts, *weight, *bias;
    number *into_readouts, *into_weight, *into_bias;
} told;

typedef struct { number *logits, *packed, *turned, *room; } tell_room;

static tell_room lay_tell(const told *t, bench *room) {
    number *logits = cut(room, (t->rows < t->most ? t->rows : t->most) * t->symbols);
    number *packed = cut(room, panelled(t->symbols, t->read));
    number *turned = cut(room, t->learns ? panelled(t->read, t->symbols) : 0);
    return (tell_room){logits, packed, turned, cut(room, t->learns ? t->threads * gradient_room(t->read) : 0)};
}

SIZE(tell_size, told, lay_tell)

void tell(told *t, number *begin) {
    bench all = {begin, 0};
    tell_room room = lay_tell(t, &all);
    long symbols = t->symbols, read = t->read;
    pack(symbols, read, read, 1, t->weight, room.packed);
    if (t->learns) pack(read, symbols, 1, read, t->weight, room.turned);
    memset(t->into_bias, 0, sizeof(number) * symbols);
    if (t->learns && !t->rows) memset(t->into_weight, 0, sizeof(number) * symbols * read); /* else the first rows write it */
    for (long first = 0; first < t->rows; first += t->most) {
        long some = t->rows - first < t->most ? t->rows - first : t->most;
        number *readouts = (number *)t->readouts + first * read;
        affine(t->threads, some, symbols, read, read, symbols, 0, readouts, room.packed, t->bias, room.logits);
        softmax_slopes(some, symbols, t->padding, t->targets + first, &t->smoothing, room.logits, t->sums, t->into_bias);
        if (!t->learns) continue;
        affine(t->threads, some, read, symbols, symbols, read, 0, room.logits, room.turned, 0, t->into_readouts + first * read);
        one_gradient(t->threads, some, symbols, first > 0, symbols, room.logits, read, read, readouts, t->into_weight,
                     room.room);
    }
}
