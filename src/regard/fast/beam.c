/* Beam search as search/beam.py describes it, with the steps of kernels.c, behind which this file is compiled.
 *
 * Sources know nothing of each other. Each has up to `width` hypotheses, in slots, best first; those of all sources that are
 * still searched are the rows of a step. The step is that of read_and_move, then p(y) = softmax(O tanh(W_c [c; s] + b) + b').
 */
#include <math.h>

typedef struct { number log_prob; int32_t source, slot, parent, symbol, head; } hypothesis;

/* One that has left the beam: when it had `length` symbols it stood in this slot. */
typedef struct { number score, log_prob; int32_t slot, length; } entry;

typedef struct { number value; int32_t row, symbol; } candidate;

/* What does not change between steps; sizes as in kernels.c */
typedef struct {
    long width, nbest, most, places, size, hidden, read, count, end, reach;
    const int64_t *longest;   /* of each source: how many symbols its answers may have */
    const number *divisors;   /* a score is log p / divisors[symbols, END among them] */
    const number *joined;     /* [W_q; U], packed */
    const number *powers, *v; /* e^{2k} of all keys */
    const number *shown;      /* W_c's half of the values, (sources, places, R) */
    const number *driven;     /* C h_j, (sources, places, 4H) */
    const uint8_t *mask;
    const number *table; /* the symbols' part of the gates, biases among it */
    const number *state_readout, *b_c, *O, *b_o;
    const uint8_t *barred;
} searched;

/* The numbers of the rows of a step. Rows with one parent differ in their symbol only: one head asks and reads for them. */
typedef struct {
    number *asked, *asking, *context, *alpha;       /* of heads: (A + 4H), H, R, S */
    number *state, *carry, *moved, *after;          /* of rows: H, before the step and after it */
    number *readout, *logits;                       /* R, N */
    number *raised, *gates, *squashed;              /* of one row: A, 4H, H */
} numbers;

/* Where hypotheses came from, by step and slot: (most, width) of each source */
typedef struct { int32_t *parents, *written; number *looked; } trails;

/* The `most` best so far, best first, of equals who came first; empty places have a score of -infinity */
static void offer(long most, entry *best, entry one) {
    long at = most;
    for (; at > 0 && one.score > best[at - 1].score; at--)
        if (at < most) best[at] = best[at - 1];
    if (at < most) best[at] = one;
}

/* The same for what may be written next, of which there are `found`; returns how many there are then */
static inline long weigh(long most, candidate *best, long found, candidate one) {
    if (found == most && !(one.value > best[most - 1].value)) return found;
    long at = found < most ? found++ : most - 1;
    for (; at > 0 && one.value > best[at - 1].value; at--) best[at] = best[at - 1];
    best[at] = one;
    return found;
}

/* The likeliest symbols that are not barred, with their log p; how many, or -1 where a number is none */
static long likeliest(long most, long count, const number *z, const uint8_t *barred, candidate *best) {
    number highest = -3.4e38f, sum = 0;
    long found = 0;
#pragma omp simd reduction(max : highest)
    for (long n = 0; n < count; n++) highest = z[n] > highest ? z[n] : highest;
#pragma omp simd reduction(+ : sum)
    for (long n = 0; n < count; n++) sum += power(z[n] - highest);
    if (!(sum > 0)) return -1;
    number mass = logf(sum);
    for (long n = 0; n < count; n++)
        if (!barred[n]) found = weigh(most, best, found, (candidate){(z[n] - highest) - mass, 0, (int32_t)n});
    return found;
}

/* Gives every row its head; what the heads were before stands side by side in `asking`. Siblings are of one source. */
static long name_heads(long live, long hidden, hypothesis *rows, const numbers *of) {
    long heads = 0, begin = 0;
    for (long row = 0; row < live; row++) {
        if (rows[row].source != rows[begin].source) begin = row;
        long same = begin;
        while (rows[same].parent != rows[row].parent) same++;
        if (same < row) {
            rows[row].head = rows[same].head;
            continue;
        }
        memcpy(of->asking + heads * hidden, of->state + rows[row].parent * hidden, sizeof(number) * hidden);
        rows[row].head = (int32_t)heads++;
    }
    return heads;
}

/* The logits of all rows, and what each looked at; -1 where a query is out of reach */
static long move_rows(const searched *by, long live, long step, hypothesis *rows, const numbers *of, const trails *kept) {
    long places = by->places, size = by->size, hidden = by->hidden, read = by->read, wide = 4 * hidden;
    long both = size + wide, heads = name_heads(live, hidden, rows, of), done = 0;
    number all = total(size, by->v), *x = of->gates;
    set_product(heads, both, hidden, of->asking, hidden, by->joined, of->asked);
    for (long row = 0; row < live; row++) {
        hypothesis one = rows[row];
        long first = one.source * places;
        number *q = of->asked + one.head * both, *alpha = of->alpha + one.head * places;
        number *c = of->context + one.head * read;
        const number *word = by->table + one.symbol * wide;
        if (one.head == done) {
            number far = look(places, size, q, by->powers + first * size, by->v, all, by->mask + first, of->raised, alpha);
            if (!(far <= by->reach)) return -1;
            memcpy(c, by->b_c, sizeof(number) * read);
            gather(places, read, alpha, by->shown + first * read, c);
            gather(places, wide, alpha, by->driven + first * wide, q + size);
            done++;
        }
        for (long k = 0; k < wide; k++) x[k] = q[size + k] + word[k];
        lstm_row(hidden, x, of->carry + one.parent * hidden, x, of->after + row * hidden, of->squashed,
                 of->moved + row * hidden);
        memcpy(of->readout + row * read, c, sizeof(number) * read);
        memcpy(of->logits + row * by->count, by->b_o, sizeof(number) * by->count);
        memcpy(kept->looked + ((one.source * by->most + step) * by->width + one.slot) * places, alpha,
               sizeof(number) * places);
    }
    add_product(live, read, hidden, of->moved, hidden, by->state_readout, of->readout);
    for (long k = 0; k < live * read; k++) of->readout[k] = tangent(of->readout[k]);
    add_product(live, by->count, read, of->readout, read, by->O, of->logits);
    return 0;
}

/* What follows the rows of one source, `first` to before `last`: who ends or is stuck goes to its pools, finished and cut;
 * the best that go on, if any may still reach the pool, are the source's rows of the next step. Returns how many, or -1. */
static long branch(const searched *by, long step, long first, long last, const hypothesis *rows, const number *logits,
                   candidate *drafts, entry *finished, entry *cut, const trails *kept, hypothesis *next) {
    long width = by->width, source = rows[first].source, going = 0;
    candidate *best = drafts + width + 1;
    for (long row = first; row < last; row++) {
        hypothesis one = rows[row];
        number ending = -INFINITY;
        long stuck = 1, found = likeliest(width + 1, by->count, logits + row * by->count, by->barred, drafts);
        if (found < 0) return -1;
        for (long k = 0; k < found; k++) { /* END may be written where it is among the `width` likeliest */
            candidate more = {one.log_prob + drafts[k].value, (int32_t)row, drafts[k].symbol};
            if (more.symbol == by->end)
                ending = k < width ? more.value : ending;
            else if (step < by->longest[source] && more.value > -INFINITY)
                stuck = 0, going = weigh(width, best, going, more);
        }
        if (ending > -INFINITY)
            offer(by->nbest, finished, (entry){ending / by->divisors[step + 1], ending, one.slot, (int32_t)step});
        else if (stuck)
            offer(by->nbest, cut, (entry){one.log_prob / by->divisors[step], one.log_prob, one.slot, (int32_t)step});
    }
    /* log p only falls, and the greatest length divides it most kindly */
    if (!going || !(best[0].value / by->divisors[by->longest[source] + 1] > finished[by->nbest - 1].score)) return 0;
    for (long k = 0; k < going; k++) {
        long trail = (source * by->most + step) * width + k;
        next[k] = (hypothesis){best[k].value, (int32_t)source, (int32_t)k, best[k].row, best[k].symbol, 0};
        kept->parents[trail] = rows[best[k].row].slot, kept->written[trail] = best[k].symbol;
    }
    return going;
}

/* What an answer wrote and where it looked, from its last symbol back through its ancestors' slots */
static void follow(const searched *by, long source, entry last, const trails *kept, int64_t *symbols, number *weights) {
    long slot = last.slot;
    for (long t = last.length - 1; t >= 0; t--) {
        long before = (source * by->most + t) * by->width;
        symbols[t] = kept->written[before + slot];
        slot = kept->parents[before + slot]; /* who looked, then wrote */
        memcpy(weights + t * by->places, kept->looked + (before + slot) * by->places, sizeof(number) * by->places);
    }
}

/* All steps over some sources. rows: 2 sources width; drafts: 2 width + 1; pools: 2 sources nbest. */
static long search_rows(const searched *by, long sources, long begin, const number *first, const number *carried,
                        numbers of, const trails *kept, hypothesis *rows, candidate *drafts, entry *pools) {
    hypothesis *next = rows + sources * by->width;
    memcpy(of.state, first, sizeof(number) * sources * by->hidden);
    memcpy(of.carry, carried, sizeof(number) * sources * by->hidden);
    for (long one = 0; one < 2 * sources * by->nbest; one++) pools[one] = (entry){-INFINITY, -INFINITY, 0, 0};
    for (int32_t one = 0; one < sources; one++) rows[one] = (hypothesis){0, one, 0, one, (int32_t)begin, 0};
    for (long live = sources, step = 0; live > 0; step++) {
        long count = 0;
        if (move_rows(by, live, step, rows, &of, kept) < 0) return -1;
        for (long row = 0, last; row < live; row = last) {
            entry *finished = pools + 2 * rows[row].source * by->nbest;
            for (last = row; last < live && rows[last].source == rows[row].source;) last++;
            long more = branch(by, step, row, last, rows, of.logits, drafts, finished, finished + by->nbest, kept,
                               next + count);
            if (more < 0) return -1;
            count += more;
        }
        hypothesis *past = rows;
        number *state = of.state, *carry = of.carry;
        live = count, rows = next, next = past;
        of.state = of.moved, of.moved = state, of.carry = of.after, of.after = carry;
    }
    return 0;
}

/* Of each source the `nbest` answers, those that ended before those that were cut off: scores, log_probs, lengths (-1: there
 * is none) and ended (sources, nbest), symbols (sources, nbest, most), weights (sources, nbest, most, places). `first` and
 * `carried` are s_0 and c_0. For every row, of which there are sources * width: room A + 9H + 2R + N + S numbers, whole 12
 * and trail 2 * most of 32 bits, looked most * S; for every source, pools 8 nbest of 32 bits; for every thread, room A + 5H
 * and drafts 3 (2 width + 1) of 32 bits. Returns 0, or -1 where only the plain search is right. */
long beam_run(long threads, long sources, long width, long nbest, long most, long places, long size, long hidden,
              long read, long count, long begin, long end, long reach, const int64_t *longest, const number *divisors,
              const number *joined, const number *powers, const number *v, const number *shown, const number *driven,
              const uint8_t *mask, const number *table, const number *state_readout, const number *b_c, const number *O,
              const number *b_o, const uint8_t *barred, const number *first, const number *carried, number *room,
              hypothesis *whole, candidate *drafts, entry *pools, int32_t *trail, number *looked, number *scores,
              number *log_probs, int64_t *lengths, uint8_t *ended, int64_t *symbols, number *weights) {
    long each = size + 9 * hidden + 2 * read + count + places, done = 0;
    (void)threads;
#pragma omp parallel num_threads(threads) reduction(min : done)
    {
        share my = mine(sources);
        long some = my.last - my.first, rows = some * width, at = my.first * width, far = my.first * places;
        searched by = {width, nbest, most, places, size, hidden, read, count, end, reach, longest + my.first, divisors,
                       joined, powers + far * size, v, shown + far * read, driven + far * 4 * hidden, mask + far, table,
                       state_readout, b_c, O, b_o, barred};
        trails kept = {trail + 2 * at * most, trail + (2 * at + rows) * most, looked + at * most * places};
        entry *pool = pools + 2 * my.first * nbest;
        number *place = room + at * each + my.member * (size + 5 * hidden);
        numbers of;
        of.asked = place, of.asking = of.asked + rows * (size + 4 * hidden), of.context = of.asking + rows * hidden;
        of.alpha = of.context + rows * read, of.state = of.alpha + rows * places;
        of.carry = of.state + rows * hidden, of.moved = of.carry + rows * hidden, of.after = of.moved + rows * hidden;
        of.readout = of.after + rows * hidden, of.logits = of.readout + rows * read;
        of.raised = of.logits + rows * count, of.gates = of.raised + size, of.squashed = of.gates + 4 * hidden;
        done = search_rows(&by, some, begin, first + my.first * hidden, carried + my.first * hidden, of, &kept,
                           whole + 2 * at, drafts + my.member * (2 * width + 1), pool);
        for (long one = 0; done == 0 && one < some; one++)
            for (long rank = 0, taken = 0; rank < 2 * nbest && taken < nbest; rank++) {
                entry found = pool[2 * one * nbest + rank];
                if (found.score == -INFINITY) continue;
                long answer = (my.first + one) * nbest + taken++;
                scores[answer] = found.score, log_probs[answer] = found.log_prob, lengths[answer] = found.length;
                ended[answer] = rank < nbest;
                follow(&by, one, found, &kept, symbols + answer * most, weights + answer * most * places);
            }
    }
    return done;
}
