/* The loops over numbers that torch would make in many passes over memory, each in one. float32.
 *
 * Compiled at first use by the C compiler of the machine (see kernels.py); without one, gates.py and energy.py do the
 * same in torch. Rows are contiguous unless a stride is given; strides are in numbers, not bytes.
 * exp is written out so that the compiler can vectorise it: relative error below 2e-7 within ±87.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

typedef float number;

/* Rows know nothing of each other: threads share them out. A team's member has those from `first` to before `last`. */
typedef struct { long member, first, last; } share;

static share mine(long rows) {
#ifdef _OPENMP
    long member = omp_get_thread_num(), team = omp_get_num_threads();
#else
    long member = 0, team = 1;
#endif
    return (share){member, rows * member / team, rows * (member + 1) / team};
}

static inline number power(number x) { /* e^x = 2^n e^r, |r| <= ln 2 / 2; e^r by its series, Horner's way */
    x = x < -87.0f ? -87.0f : x > 87.0f ? 87.0f : x;
    number shifted = x * 1.44269504f + 12582912.0f; /* adding 1.5 * 2^23 rounds to a whole number */
    number n = shifted - 12582912.0f;
    number r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    number series = 1.0f / 5040;
    series = series * r + 1.0f / 720;
    series = series * r + 1.0f / 120;
    series = series * r + 1.0f / 24;
    series = series * r + 1.0f / 6;
    series = series * r + 0.5f;
    series = series * r + 1.0f;
    series = series * r + 1.0f;
    union { number value; int32_t bits; } scale;
    scale.bits = ((int32_t)n + 127) << 23;
    return series * scale.value;
}

static inline number sigma(number x) { return 1.0f / (1.0f + power(-x)); }
static inline number tangent(number x) { return 1.0f - 2.0f / (1.0f + power(2.0f * x)); }

/* Products of a few rows with the same weights again and again. A library packs weights anew for every product; here
 * they are packed once, into panels of two vectors of outputs, and a tile of several rows by a panel stays in registers:
 * up to 6 by 16, or 10 by 32 where vectors and registers are twice as many. All weights of a step are more than L2 holds:
 * while a part of a panel is multiplied, the next one is fetched. */
#ifdef __AVX512F__
enum { WIDE = 16, TALL = 10 };
#else
enum { WIDE = 8, TALL = 6 };
#endif
enum { PANEL = 2 * WIDE, LINE = 16 }; /* a line of the cache has 16 numbers */
enum { DEEP = 256 };                  /* so many inputs of a panel stay in L1 while some rows are multiplied by them */
enum { SOME = 12 * TALL, BESIDE = 8, LONG = 2 * DEEP }; /* rows, panels and inputs of both that stay in L2, see `panels` */
typedef number lanes __attribute__((vector_size(4 * WIDE), aligned(4), may_alias));

long panel_outputs(void) { return PANEL; }

/* Eight rows of eight numbers become eight columns: blocks of four by four, then of two by two, then single numbers change
 * sides of the diagonal. */
typedef number eight __attribute__((vector_size(32), aligned(4), may_alias));
#ifdef __clang__
#define MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MIX(a, b, ...) __builtin_shuffle(a, b, (int32_t __attribute__((vector_size(32)))){__VA_ARGS__})
#endif

static inline void turn(const number *from, long stride, number *to, long width) {
    eight x[8], y[8];
    for (int r = 0; r < 8; r++) x[r] = *(const eight *)(from + r * stride);
    for (int r = 0; r < 4; r++) {
        y[r] = MIX(x[r], x[r + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        y[r + 4] = MIX(x[r], x[r + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    for (int half = 0; half < 8; half += 4)
        for (int r = half; r < half + 2; r++) {
            x[r] = MIX(y[r], y[r + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            x[r + 2] = MIX(y[r], y[r + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int r = 0; r < 8; r += 2) {
        *(eight *)(to + r * width) = MIX(x[r], x[r + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        *(eight *)(to + (r + 1) * width) = MIX(x[r], x[r + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
}

/* Inputs begin … end of a panel: of a weight whose outputs lie side by side, or whose inputs do. A full panel, all but a
 * few of them, is copied or turned in vectors. */
static void pack_part(long outputs, long begin, long end, long out, long in, const number *rows, number *panel) {
    long i = begin;
    if (outputs < PANEL) memset(panel + begin * PANEL, 0, sizeof(number) * (end - begin) * PANEL);
    if (out == 1) {
        for (; outputs == PANEL && i < end; i++) memcpy(panel + i * PANEL, rows + i * in, sizeof(number) * PANEL);
        for (; i < end; i++) memcpy(panel + i * PANEL, rows + i * in, sizeof(number) * outputs);
        return;
    }
    for (; outputs == PANEL && in == 1 && i + 8 <= end; i += 8)
        for (long lane = 0; lane < PANEL; lane += 8) turn(rows + lane * out + i, out, panel + i * PANEL + lane, PANEL);
    for (long lane = 0; lane < outputs; lane++)
        for (long k = i; k < end; k++) panel[k * PANEL + lane] = rows[lane * out + k * in];
}

/* W_ji = weight[j * out + i * in], j < outputs, i < inputs -> packed (ceil(outputs / PANEL), inputs, PANEL), zero beyond.
 * Inputs that lie far apart are taken a few at a time, through all panels: they would push each other out of the cache. */
void pack(long outputs, long inputs, long out, long in, const number *weight, number *packed) {
    long few = out == 1 ? PANEL : inputs;
    for (long begin = 0; begin < inputs; begin += few)
        for (long first = 0; first < outputs; first += PANEL)
            pack_part(outputs - first < PANEL ? outputs - first : PANEL, begin,
                      begin + few < inputs ? begin + few : inputs, out, in, weight + first * out, packed + first * inputs);
}

/* y = from + x W^T for a tile, where input i of row r is x[r * stride + i * step]. `from` is y, or a row that all begin with
 * (`apart` is 0), or nothing (0): y need not be written before, and read again. Meanwhile `next` is fetched into L2. */
#define INLINE static inline __attribute__((always_inline))
INLINE void tile(const int rows, long inputs, const number *x, long stride, long step, const number *panel,
                 const number *next, const number *from, long apart, number *y, long width) {
    lanes sum[TALL][2];
    for (int r = 0; r < rows; r++)
        for (int half = 0; half < 2; half++)
            sum[r][half] = from ? *(const lanes *)(from + r * apart + half * WIDE) : (lanes){0};
    for (long i = 0; i < inputs; i++) {
        lanes left = *(const lanes *)(panel + i * PANEL), right = *(const lanes *)(panel + i * PANEL + WIDE);
        for (int part = 0; part < PANEL; part += LINE) __builtin_prefetch(next + i * PANEL + part, 0, 2);
        for (int r = 0; r < rows; r++) {
            number one = x[r * stride + i * step];
            sum[r][0] += one * left;
            sum[r][1] += one * right;
        }
    }
    for (int r = 0; r < rows; r++)
        for (int half = 0; half < 2; half++) *(lanes *)(y + r * width + half * WIDE) = sum[r][half];
}

/* One row by several panels: enough sums side by side that none waits for the last multiplication */
INLINE void line(const int panels, long inputs, const number *x, const number *packed, number *y) {
    lanes sum[4][2];
    for (int p = 0; p < panels; p++)
        for (int half = 0; half < 2; half++) sum[p][half] = *(const lanes *)(y + p * PANEL + half * WIDE);
    for (long i = 0; i < inputs; i++)
        for (int p = 0; p < panels; p++) {
            const number *here = packed + (p * inputs + i) * PANEL;
            sum[p][0] += x[i] * *(const lanes *)here;
            sum[p][1] += x[i] * *(const lanes *)(here + WIDE);
        }
    for (int p = 0; p < panels; p++)
        for (int half = 0; half < 2; half++) *(lanes *)(y + p * PANEL + half * WIDE) = sum[p][half];
}

/* Rows are shared out evenly: a tile of a few rows takes as long as one of more, since each sum waits for itself, and rows
 * that lie 4 KB apart push each other out of L1 where a tile has many. */
#define TILE(height) \
    case height: tile(height, inputs, x, stride, step, panel, next, from, apart, y, width); break;

INLINE void tiles(long rows, long inputs, const number *x, long stride, long step, const number *panel,
                  const number *next, const number *from, long apart, number *y, long width) {
    for (long left = (rows + TALL - 1) / TALL, height; left > 0; left--) {
        height = (rows + left - 1) / left;
        switch (height) { /* a number of rows that the compiler knows is a loop that it can unroll */
            TILE(1) TILE(2) TILE(3) TILE(4) TILE(5) TILE(6)
#ifdef __AVX512F__
            TILE(7) TILE(8) TILE(9) TILE(10)
#endif
        }
        rows -= height, x += height * stride, y += height * width;
        if (from) from += height * apart;
    }
}

/* The same for `rows` and the panels from `first` to before `last`, with their inputs from `begin` to before `end` */
INLINE void some_panels(long first, long last, long rows, long begin, long end, long inputs, const number *x, long stride,
                        long step, const number *packed, const number *from, long apart, number *y, long width) {
    for (long panel = first; panel < last; panel++)
        for (long i = begin; i < end; i += DEEP) {
            const number *here = packed + (panel * inputs + i) * PANEL, *start = from ? from + panel * PANEL : 0;
            const number *next = i + DEEP < end ? here + DEEP * PANEL : packed + ((panel + 1) * inputs + begin) * PANEL;
            number *to = y + panel * PANEL;
            tiles(rows, end - i < DEEP ? end - i : DEEP, x + i * step, stride, step, here, next, i ? to : start,
                  i ? width : apart, to, width);
        }
}

/* The same for all panels from this one on. Where there are many of everything, some rows with some of their inputs stay in
 * L2 while they are multiplied by some panels, and these panels until all rows were: in whatever order parts are taken, a sum
 * takes its inputs one after the other. */
INLINE void panels(long panel, long rows, long outputs, long inputs, const number *x, long stride, long step,
                   const number *packed, const number *from, long apart, number *y, long width) {
    long whole = outputs / PANEL, rest = outputs % PANEL;
    for (long begin = 0; begin < inputs; begin += LONG)
        for (long first = panel; first < whole; first += BESIDE)
            for (long r = 0; r < rows; r += SOME)
                some_panels(first, first + BESIDE < whole ? first + BESIDE : whole, rows - r < SOME ? rows - r : SOME, begin,
                            begin + LONG < inputs ? begin + LONG : inputs, inputs, x + r * stride, stride, step, packed,
                            from ? from + r * apart : 0, apart, y + r * width, width);
    for (long r = 0; rest && r < rows; r += TALL) { /* the last panel is not full: its sums stand beside y meanwhile */
        long few = rows - r < TALL ? rows - r : TALL;
        number last[TALL * PANEL] = {0}, *end = y + r * width + whole * PANEL;
        const number *begin = from ? from + r * apart + whole * PANEL : 0, *here = packed + whole * inputs * PANEL;
        for (long k = 0; begin && k < few; k++) memcpy(last + k * PANEL, begin + k * apart, sizeof(number) * rest);
        tiles(few, inputs, x + r * stride, stride, step, here, here, last, PANEL, last, PANEL);
        for (long k = 0; k < few; k++) memcpy(end + k * width, last + k * PANEL, sizeof(number) * rest);
    }
}

/* y (rows, outputs; `width` apart) += x (rows, inputs; `stride` apart) W^T */
static void add_apart(long rows, long outputs, long inputs, const number *x, long stride, const number *packed, number *y,
                      long width) {
    long panel = 0;
    if (rows == 1)
        for (; panel + 4 <= outputs / PANEL; panel += 4)
            line(4, inputs, x, packed + panel * inputs * PANEL, y + panel * PANEL);
    panels(panel, rows, outputs, inputs, x, stride, 1, packed, y, width, y, width);
}

static void add_product(long rows, long outputs, long inputs, const number *x, long stride, const number *packed,
                        number *y) {
    add_apart(rows, outputs, inputs, x, stride, packed, y, outputs);
}

/* The same for a loop that is not inside: rows lie side by side */
void add_rows(long rows, long outputs, long inputs, const number *x, const number *packed, number *y) {
    add_product(rows, outputs, inputs, x, inputs, packed, y);
}

static void set_product(long rows, long outputs, long inputs, const number *x, long stride, const number *packed,
                        number *y) {
    memset(y, 0, sizeof(number) * rows * outputs);
    add_product(rows, outputs, inputs, x, stride, packed, y);
}

/* y (rows, outputs; `width` apart) = x (rows, inputs; `stride` apart) W^T + bias, which may be 0, or tanh of it where it is to
 * `squash` */
void affine(long threads, long rows, long outputs, long inputs, long stride, long width, long squash, const number *x,
            const number *packed, const number *bias, number *y) {
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
        share my = mine(rows);
        number *to = y + my.first * width, *end = y + my.last * width;
        panels(0, my.last - my.first, outputs, inputs, x + my.first * stride, stride, 1, packed, bias, 0, to, width);
        for (; squash && to < end; to += width)
            for (long k = 0; k < outputs; k++) to[k] = tangent(to[k]);
    }
}

/* slopes = dy (1 - y^2) of y = tanh(...), and their sums over a thread's rows (threads, outputs) */
void squashed_slopes(long threads, long rows, long outputs, const number *y, const number *dy, number *slopes,
                     number *sums) {
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
        share my = mine(rows);
        number *restrict sum = sums + my.member * outputs;
        for (long at = my.first * outputs; at < my.last * outputs; at += outputs)
            for (long k = 0; k < outputs; k++) {
                number slope = dy[at + k] * (1.0f - y[at + k] * y[at + k]);
                slopes[at + k] = slope, sum[k] += slope;
            }
    }
}

/* Gradients of weights: y (outputs, inputs) = sum over rows of slopes (outputs; `across` apart) times x (inputs; `stride`
 * apart). Many rows of x are packed as if they were weights, and are multiplied by a block of outputs after the other, whose
 * slopes are laid tile by tile for all x that were multiplied by weights with these outputs. */
enum { BLOCK = 4 * TALL, MANY = LONG };

/* How many numbers packed rows of x take */
long gradient_room(long inputs) { return MANY * ((inputs + PANEL - 1) / PANEL) * PANEL; }

/* A tile's slopes lie side by side: the lines of the cache that a tile reads hold nothing else */
static void copy_block(long rows, long outputs, long across, const number *slopes, number *block) {
    for (long k = 0; k < outputs; k += TALL, block += MANY * TALL)
        if (outputs - k >= TALL) /* a size that the compiler knows */
            for (long r = 0; r < rows; r++) memcpy(block + r * TALL, slopes + r * across + k, sizeof(number) * TALL);
        else
            for (long r = 0; r < rows; r++)
                memcpy(block + r * TALL, slopes + r * across + k, sizeof(number) * (outputs - k));
}

/* y (outputs, inputs) = from + that of a block, by rows of x that are packed: all tiles by the panels that are in L2 */
static void multiply_block(long outputs, long inputs, long rows, const number *block, const number *packed,
                           const number *from, number *y) {
    for (long panel = 0; panel * PANEL < inputs; panel += BESIDE)
        for (long k = 0; k < outputs; k += TALL)
            panels(panel, outputs - k < TALL ? outputs - k : TALL,
                   inputs < (panel + BESIDE) * PANEL ? inputs : (panel + BESIDE) * PANEL, rows, block + k * MANY, 1, TALL,
                   packed, from ? from + k * inputs : 0, inputs, y + k * inputs, inputs);
}

static void gradient_rows(long rows, share my, int onto, long across, const number *slopes, long count,
                          const int64_t *inputs, const int64_t *strides, number *const *x, number *const *y,
                          number *room) {
    number block[BLOCK * MANY];
    for (long n = 0; n < count && !onto && !rows; n++) /* a sum of nothing */
        memset(y[n] + my.first * inputs[n], 0, sizeof(number) * (my.last - my.first) * inputs[n]);
    for (long begin = 0; begin < rows; begin += MANY) {
        long some = rows - begin < MANY ? rows - begin : MANY;
        number *packed = room;
        for (long n = 0; n < count; packed += gradient_room(inputs[n]), n++)
            pack(inputs[n], some, 1, strides[n], x[n] + begin * strides[n], packed);
        for (long first = my.first; first < my.last; first += BLOCK) {
            long few = my.last - first < BLOCK ? my.last - first : BLOCK;
            copy_block(some, few, across, slopes + begin * across + first, block);
            packed = room;
            for (long n = 0; n < count; packed += gradient_room(inputs[n]), n++) {
                number *to = y[n] + first * inputs[n];
                multiply_block(few, inputs[n], some, block, packed, onto || begin ? to : 0, to);
            }
        }
    }
}

/* By `threads`, which share out the outputs and have as much room each */
void gradients(long threads, long rows, long outputs, long across, long count, long each, const number *slopes,
               const int64_t *inputs, const int64_t *strides, number *const *x, number *const *y, number *room) {
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
        share my = mine(outputs);
        gradient_rows(rows, my, 0, across, slopes, count, inputs, strides, x, y, room + my.member * each);
    }
}

/* The same for one y, onto what is there or not */
static void one_gradient(long threads, long rows, long outputs, int onto, long across, const number *slopes, long inputs,
                         long stride, number *x, number *y, number *room) {
    int64_t size = inputs, apart = stride;
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
        share my = mine(outputs);
        gradient_rows(rows, my, onto, across, slopes, 1, &size, &apart, &x, &y, room + my.member * gradient_room(inputs));
    }
}

/* x (4H) in the order i, f, g, o, before their functions; y is what they are after. x may be y. */
static inline void lstm_row(long size, const number *x, const number *restrict old, number *y, number *restrict c,
                            number *restrict t, number *restrict s) {
#pragma omp simd
    for (long k = 0; k < size; k++) {
        number i = sigma(x[k]), f = sigma(x[size + k]), g = tangent(x[2 * size + k]), o = sigma(x[3 * size + k]);
        y[k] = i, y[size + k] = f, y[2 * size + k] = g, y[3 * size + k] = o;
        c[k] = f * old[k] + i * g;
        t[k] = tangent(c[k]);
        s[k] = o * t[k];
    }
}

void lstm_forward(long rows, long size, const number *driven, const number *carry, number *gates, number *state,
                  number *after, number *squashed) {
    for (long row = 0; row < rows; row++) {
        long at = size * row;
        lstm_row(size, driven + 4 * at, carry + at, gates + 4 * at, after + at, squashed + at, state + at);
    }
}

/* into_carry holds dc_t before and dc_{t-1} after */
static inline void lstm_row_backward(long size, const number *restrict y, const number *restrict old,
                                     const number *restrict t, const number *restrict ds, number *restrict dc,
                                     number *restrict d) {
    for (long k = 0; k < size; k++) {
        number i = y[k], f = y[size + k], g = y[2 * size + k], o = y[3 * size + k];
        number through = dc[k] + ds[k] * o * (1 - t[k] * t[k]);
        d[k] = through * g * i * (1 - i);
        d[size + k] = through * old[k] * f * (1 - f);
        d[2 * size + k] = through * i * (1 - g * g);
        d[3 * size + k] = ds[k] * t[k] * o * (1 - o);
        dc[k] = through * f;
    }
}

void lstm_backward(long rows, long size, const number *gates, const number *carry, const number *squashed,
                   const number *into_state, number *into_carry, number *into_gates) {
    for (long row = 0; row < rows; row++) {
        long at = size * row;
        lstm_row_backward(size, gates + 4 * at, carry + at, squashed + at, into_state + at, into_carry + at,
                          into_gates + 4 * at);
    }
}

/* A whole recurrence over rows of unlike lengths, without their padding. Rows stand from the longest to the shortest, so
 * that some first ones reach a place and the others do not; the rectangles below have only these, those of place j from row
 * begin[j] to before begin[j + 1]. gates (`width` apart) hold W x_j + b before and what the gates became after; states and
 * carries (…, H) s and c of the step before, squashed (…, H) tanh c. state and carry (rows, H) are each row's first ones,
 * zero where they are `blank`, and become its last. `backwards`, the last place is read first. State j of row r is copied to
 * values + order[r] * down + j * along. */
typedef struct { long steps, rows, size, width, backwards, blank, down, along; const int64_t *begin, *order; } layout;

/* How many of a thread's rows reach a place; none do beyond the last one */
static long living(const layout *all, share my, long place) {
    long live = (place < all->steps ? all->begin[place + 1] - all->begin[place] : 0) - my.first;
    return live < 0 ? 0 : live > my.last - my.first ? my.last - my.first : live;
}

/* How many of them have something to remember there */
static long remembering(const layout *all, share my, long place) {
    if (!all->blank) return living(all, my, place);
    return all->backwards ? living(all, my, place + 1) : place > 0 ? living(all, my, place) : 0;
}

static void lstm_rows(const layout *all, share my, const number *recurrence, number *gates, number *states,
                      number *carries, number *squashed, number *state, number *carry, number *values) {
    long size = all->size;
    for (long t = 0; t < all->steps; t++) {
        long place = all->backwards ? all->steps - 1 - t : t, live = living(all, my, place);
        long first = all->begin[place] + my.first;
        memcpy(states + first * size, state + my.first * size, sizeof(number) * live * size);
        memcpy(carries + first * size, carry + my.first * size, sizeof(number) * live * size);
        add_apart(remembering(all, my, place), 4 * size, size, states + first * size, size, recurrence,
                  gates + first * all->width, all->width);
        for (long r = 0; r < live; r++) {
            long row = my.first + r, at = (first + r) * size;
            number *x = gates + (first + r) * all->width, *s = state + row * size;
            lstm_row(size, x, carries + at, x, carry + row * size, squashed + at, s);
            memcpy(values + all->order[row] * all->down + place * all->along, s, sizeof(number) * size);
        }
    }
}

/* Its gradients: turned is U^T, packed; into_values stands as values do, into_gates as gates do. past and into_carry (rows,
 * H) hold those of the last states and carries before, and of the first ones after, but for states that were blank. The
 * slopes of all gates are added up in into_bias (4H). */
static void lstm_rows_backward(const layout *all, share my, const number *turned, const number *gates,
                               const number *carries, const number *squashed, const number *into_values,
                               number *into_gates, number *past, number *into_carry, number *into_bias) {
    long size = all->size;
    for (long t = all->steps - 1; t >= 0; t--) {
        long place = all->backwards ? all->steps - 1 - t : t, live = living(all, my, place);
        long first = all->begin[place] + my.first;
        for (long r = 0; r < live; r++) {
            long row = my.first + r, at = (first + r) * size, wide = (first + r) * all->width;
            const number *into = into_values + all->order[row] * all->down + place * all->along;
            number *restrict ds = past + row * size, *restrict d = into_gates + wide, *restrict sum = into_bias;
            for (long k = 0; k < size; k++) ds[k] += into[k];
            lstm_row_backward(size, gates + wide, carries + at, squashed + at, ds, into_carry + row * size, d);
            for (long k = 0; k < 4 * size; k++) sum[k] += d[k];
        }
        set_product(remembering(all, my, place), size, 4 * size, into_gates + first * all->width, all->width, turned,
                    past + my.first * size);
    }
}

/* Both for all rows, by `threads` of them, each of which adds up its own into_bias (threads, 4H) */
void lstm_run(long threads, long steps, long rows, long size, long width, long backwards, long blank, long down,
              long along, const int64_t *begin, const int64_t *order, const number *recurrence, number *gates,
              number *states, number *carries, number *squashed, number *state, number *carry, number *values) {
    layout all = {steps, rows, size, width, backwards, blank, down, along, begin, order};
    (void)threads;
#pragma omp parallel num_threads(threads)
    lstm_rows(&all, mine(rows), recurrence, gates, states, carries, squashed, state, carry, values);
}

void lstm_run_backward(long threads, long steps, long rows, long size, long width, long backwards, long blank, long down,
                       long along, const int64_t *begin, const int64_t *order, const number *turned, const number *gates,
                       const number *carries, const number *squashed, const number *into_values, number *into_gates,
                       number *past, number *into_carry, number *into_bias) {
    layout all = {steps, rows, size, width, backwards, blank, down, along, begin, order};
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
        share my = mine(rows);
        lstm_rows_backward(&all, my, turned, gates, carries, squashed, into_values, into_gates, past, into_carry,
                           into_bias + my.member * 4 * size);
    }
}

/* e_j = sum v - 2 sum_k v_k / (1 + P_jk Q_k), P = e^{2k}, Q = e^{2q}; then alpha = softmax over the real places.
 * Returns the largest |q|: beyond 20 the powers may overflow and the caller must not use the result. */
static inline number look(long places, long size, const number *restrict q, const number *restrict powers,
                          const number *restrict v, number all, const uint8_t *restrict real, number *restrict Q,
                          number *restrict alpha) {
    number farthest = 0, most = -3.4e38f, sum = 0;
#pragma omp simd reduction(max : farthest)
    for (long k = 0; k < size; k++) {
        number far = q[k] < 0 ? -q[k] : q[k];
        farthest = far > farthest ? far : farthest;
        Q[k] = power(2.0f * q[k]);
    }
    for (long j = 0; j < places; j++) {
        const number *restrict P = powers + j * size;
        number energy = 0;
        if (real[j]) {
#pragma omp simd reduction(+ : energy)
            for (long k = 0; k < size; k++) energy += v[k] / (1.0f + P[k] * Q[k]);
            energy = all - 2.0f * energy;
            if (energy > most) most = energy;
        }
        alpha[j] = energy;
    }
    for (long j = 0; j < places; j++) sum += alpha[j] = real[j] ? power(alpha[j] - most) : 0.0f;
    if (sum > 0) /* else there is nothing to read, and all weights stay 0 */
        for (long j = 0; j < places; j++) alpha[j] /= sum;
    return farthest;
}

/* e^{2k} of all keys; returns the largest |k| */
number raise_keys(long count, const number *restrict keys, number *restrict powers) {
    number farthest = 0;
#pragma omp simd reduction(max : farthest)
    for (long k = 0; k < count; k++) {
        number far = keys[k] < 0 ? -keys[k] : keys[k];
        farthest = far > farthest ? far : farthest;
        powers[k] = power(2.0f * keys[k]);
    }
    return farthest;
}

/* sum_j alpha_j values_j, onto what is there */
static inline void gather(long places, long width, const number *restrict alpha, const number *restrict values,
                          number *restrict sum) {
    for (long j = 0; j < places; j++) {
        const number *restrict h = values + j * width;
        number a = alpha[j];
        if (a != 0)
            for (long k = 0; k < width; k++) sum[k] += a * h[k];
    }
}

static inline number total(long size, const number *v) {
    number all = 0;
#pragma omp simd reduction(+ : all)
    for (long k = 0; k < size; k++) all += v[k];
    return all;
}

/* One query for each of `rows` sources; their contexts are `apart`. */
static number attend(long rows, long places, long size, long width, const number *query, const number *powers,
                     const number *v, const number *values, const uint8_t *mask, number *raised, number *weights,
                     number *context, long apart) {
    number all = total(size, v), farthest = 0;
    for (long row = 0; row < rows; row++) {
        number *alpha = weights + places * row, *c = context + apart * row;
        number far = look(places, size, query + size * row, powers + row * places * size, v, all, mask + places * row,
                          raised + size * row, alpha);
        farthest = far > farthest ? far : farthest;
        for (long k = 0; k < width; k++) c[k] = 0;
        gather(places, width, alpha, values + row * places * width, c);
    }
    return farthest;
}

number attend_forward(long rows, long places, long size, long width, const number *query, const number *powers,
                      const number *v, const number *values, const uint8_t *mask, number *raised, number *weights,
                      number *context) {
    return attend(rows, places, size, width, query, powers, v, values, mask, raised, weights, context, width);
}

/* All steps of a decoder that reads before it moves. query is W_q, recurrence U, drive_context C, packed. gates (T, rows, 4H),
 * which lie `apart`, hold W x_t + b before and what the gates became after; seen (T + 1, rows, V + H) gets c_t and s_t side
 * by side, and has s_0 in its first part; carries (T + 1, rows, H) begin with c_0; raised, weights and squashed are kept as
 * in attend_forward and lstm_forward. `rows` are some of `all`. room: rows A numbers. Returns the largest |q|. */
static number read_rows(long steps, long rows, long all, long places, long size, long width, long hidden, long apart,
                        const number *query, const number *recurrence, const number *drive_context,
                        const number *powers, const number *v, const number *values, const uint8_t *mask, number *gates,
                        number *raised, number *weights, number *seen, number *carries, number *squashed,
                        number *room) {
    long small = all * hidden, wide = 4 * hidden, both = width + hidden;
    number farthest = 0;
    for (long t = 0; t < steps; t++) {
        number *before = seen + t * all * both + width, *context = seen + (t + 1) * all * both;
        number *driven = gates + t * all * apart;
        memset(room, 0, sizeof(number) * rows * size);
        add_product(rows, size, hidden, before, both, query, room);
        number far = attend(rows, places, size, width, room, powers, v, values, mask, raised + t * all * size,
                            weights + t * all * places, context, both);
        farthest = far > farthest ? far : farthest;
        add_apart(rows, wide, hidden, before, both, recurrence, driven, apart);
        add_apart(rows, wide, width, context, both, drive_context, driven, apart);
        for (long row = 0; row < rows; row++) {
            long at = t * small + row * hidden;
            number *x = driven + row * apart;
            lstm_row(hidden, x, carries + at, x, carries + small + at, squashed + at, context + row * both + width);
        }
    }
    return farthest;
}

number read_run(long threads, long steps, long rows, long places, long size, long width, long hidden, long apart,
                const number *query, const number *recurrence, const number *drive_context, const number *powers,
                const number *v, const number *values, const uint8_t *mask, number *gates, number *raised,
                number *weights, number *seen, number *carries, number *squashed, number *room) {
    number farthest = 0;
    (void)threads;
#pragma omp parallel num_threads(threads) reduction(max : farthest)
    {
        share my = mine(rows);
        long row = my.first, at = row * hidden;
        farthest = read_rows(steps, my.last - row, rows, places, size, width, hidden, apart, query, recurrence,
                             drive_context, powers + row * places * size, v, values + row * places * width,
                             mask + row * places, gates + row * apart, raised + row * size, weights + row * places,
                             seen + row * (width + hidden), carries + at, squashed + at, room + row * size);
    }
    return farthest;
}

/* A step of a decoder that reads before it moves. Row r reads source owner[r]; joined (heads, A + 4H) is [W_q; U] s_{t-1};
 * its gates are U s_{t-1} + table[symbol] + sum_j alpha_j driven_j, where driven (sources, places, 4H) is C h_j.
 * Rows of one group have the same past and differ in their symbol: the first of them reads for all, row group[r] of
 * joined is theirs, and first[group] (at first all -1) says who it was. Without groups (0) every row is its own. */
number read_and_move(long rows, long places, long size, long width, long hidden, const int64_t *owner,
                     const int64_t *symbols, const int64_t *group, int64_t *first, number *joined,
                     const number *powers, const number *v, const number *values, const number *driven,
                     const uint8_t *mask, const number *table, const number *carry, number *raised, number *gates,
                     number *weights, number *context, number *state, number *after) {
    number all = total(size, v), farthest = 0;
    for (long row = 0; row < rows; row++) {
        long source = owner[row], begin = source * places, wide = 4 * hidden, head = group ? group[row] : row;
        number *q = joined + (size + wide) * head, *u = q + size;
        const number *word = table + wide * symbols[row];
        number *alpha = weights + places * row, *c = context + width * row;
        if (group && first[head] >= 0) {
            memcpy(alpha, weights + places * first[head], sizeof(number) * places);
            memcpy(c, context + width * first[head], sizeof(number) * width);
        } else {
            number far = look(places, size, q, powers + begin * size, v, all, mask + begin, raised, alpha);
            farthest = far > farthest ? far : farthest;
            for (long k = 0; k < width; k++) c[k] = 0;
            gather(places, width, alpha, values + begin * width, c);
            gather(places, wide, alpha, driven + begin * wide, u);
            if (group) first[head] = row;
        }
        for (long k = 0; k < wide; k++) gates[k] = u[k] + word[k];
        lstm_row(hidden, gates, carry + hidden * row, gates, after + hidden * row, raised, state + hidden * row);
    }
    return farthest;
}

static void blank(long rows, long size, long place, const int64_t *lengths, number *state, number *carry) {
    for (long row = 0; row < rows; row++)
        if (place >= lengths[row]) {
            memset(state + row * size, 0, sizeof(number) * size);
            memset(carry + row * size, 0, sizeof(number) * size);
        }
}

/* One direction of an LSTM over rows of `places`, from states of zero, where nothing need be remembered of a step: place
 * j of row r is driven by row which[r * places + j] of drives, W x + b, and its state goes to values + (r * places + j) *
 * width, zero beyond the row's length. `backwards` begins at the last place. room: 8 rows H numbers. */
static void lstm_read_rows(long rows, long places, long size, long width, long backwards, const int64_t *which,
                           const int64_t *lengths, const number *drives, const number *recurrence, number *values,
                           number *room) {
    long small = rows * size, wide = 4 * size;
    number *driven = room, *state = room + 4 * small, *carry = state + small, *after = carry + small;
    number *squashed = after + small;
    memset(state, 0, sizeof(number) * 2 * small);
    for (long step = 0; step < places; step++) {
        long place = backwards ? places - 1 - step : step;
        for (long row = 0; row < rows; row++)
            memcpy(driven + row * wide, drives + which[row * places + place] * wide, sizeof(number) * wide);
        if (step > 0) add_product(rows, wide, size, state, size, recurrence, driven);
        for (long row = 0; row < rows; row++) {
            number *gates = driven + row * wide;
            lstm_row(size, gates, carry + row * size, gates, after + row * size, squashed, state + row * size);
        }
        blank(rows, size, place, lengths, state, after);
        for (long row = 0; row < rows; row++)
            memcpy(values + (row * places + place) * width, state + row * size, sizeof(number) * size);
        number *old = carry;
        carry = after, after = old;
    }
}

void lstm_read(long threads, long rows, long places, long size, long width, long backwards, const int64_t *which,
               const int64_t *lengths, const number *drives, const number *recurrence, number *values, number *room) {
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
        share my = mine(rows);
        lstm_read_rows(my.last - my.first, places, size, width, backwards, which + my.first * places,
                       lengths + my.first, drives, recurrence, values + my.first * places * width,
                       room + 8 * my.first * size);
    }
}

/* Greedy search: a step as in read_and_move, then p(y) = softmax(O tanh(W_c [c; s] + b) + b'), then the likeliest symbol
 * that is not `barred`, until `end` or longest[row] + 1 symbols; who is done leaves. Row r reads source r. Its step t
 * writes to place t of `most` in each of symbols, weights, likely (z_y - max z) and mass (sum e^(z - max z)), of which log
 * p is made; taken[r] counts its steps. A source is read about as often as it has values, so contexts are
 * multiplied into the gates here, not values before. W_q, U, C, W_c's two halves and O are packed.
 * room: rows (A + 7H + V + S + R + N) + A + H numbers; whole: 2 rows. Returns 0, or -1 where a query is out of `reach` or
 * a number is none: then only the plain search is right. */
static long greedy_rows(long rows, long most, long places, long size, long width, long hidden, long read, long count,
                        long begin, long end, long reach, const int64_t *longest, const number *W_q, const number *U,
                        const number *C, const number *powers, const number *v, const number *values, const uint8_t *mask,
                        const number *table, const number *context_readout, const number *state_readout,
                        const number *b_c, const number *O, const number *b_o, const uint8_t *barred,
                        const number *first, const number *carried, number *room, int64_t *whole, int64_t *symbols,
                        number *weights, number *likely, number *mass, int64_t *taken) {
    long wide = 4 * hidden;
    number *asked = room, *gates = asked + rows * size, *state = gates + rows * wide, *carry = state + rows * hidden;
    number *after = carry + rows * hidden, *context = after + rows * hidden, *alpha = context + rows * width;
    number *readout = alpha + rows * places, *logits = readout + rows * read, *raised = logits + rows * count;
    number *squashed = raised + size, all = total(size, v);
    int64_t *owner = whole, *symbol = owner + rows;
    memcpy(state, first, sizeof(number) * rows * hidden);
    memcpy(carry, carried, sizeof(number) * rows * hidden);
    for (long row = 0; row < rows; row++) owner[row] = row, symbol[row] = begin;
    for (long step = 0, live = rows; live > 0; step++) {
        set_product(live, size, hidden, state, hidden, W_q, asked);
        memset(context, 0, sizeof(number) * live * width);
        for (long row = 0; row < live; row++) {
            long source = owner[row] * places;
            number *weigh = alpha + row * places;
            number far = look(places, size, asked + row * size, powers + source * size, v, all, mask + source, raised, weigh);
            if (!(far <= reach)) return -1;
            gather(places, width, weigh, values + source * width, context + row * width);
            memcpy(gates + row * wide, table + symbol[row] * wide, sizeof(number) * wide);
        }
        add_product(live, wide, hidden, state, hidden, U, gates);
        add_product(live, wide, width, context, width, C, gates);
        for (long row = 0; row < live; row++) {
            number *x = gates + row * wide;
            lstm_row(hidden, x, carry + row * hidden, x, after + row * hidden, squashed, state + row * hidden);
            memcpy(readout + row * read, b_c, sizeof(number) * read);
            memcpy(logits + row * count, b_o, sizeof(number) * count);
        }
        add_product(live, read, width, context, width, context_readout, readout);
        add_product(live, read, hidden, state, hidden, state_readout, readout);
        for (long k = 0; k < live * read; k++) readout[k] = tangent(readout[k]);
        add_product(live, count, read, readout, read, O, logits);
        long kept = 0;
        for (long row = 0; row < live; row++) {
            const number *z = logits + row * count;
            number highest = -3.4e38f, best = -3.4e38f, sum = 0;
            int64_t written = -1, who = owner[row];
            for (long n = 0; n < count; n++) {
                if (z[n] > highest) highest = z[n];
                if (!barred[n] && z[n] > best) best = z[n], written = n;
            }
#pragma omp simd reduction(+ : sum)
            for (long n = 0; n < count; n++) sum += power(z[n] - highest);
            if (written < 0 || !(sum >= 0)) return -1;
            long place = who * most + step;
            symbols[place] = written, likely[place] = best - highest, mass[place] = sum;
            memcpy(weights + place * places, alpha + row * places, sizeof(number) * places);
            taken[who] = step + 1;
            if (written == end || step >= longest[who]) continue;
            owner[kept] = who, symbol[kept] = written;
            memmove(state + kept * hidden, state + row * hidden, sizeof(number) * hidden);
            memmove(after + kept * hidden, after + row * hidden, sizeof(number) * hidden);
            kept++;
        }
        live = kept;
        number *old = carry;
        carry = after, after = old;
    }
    return 0;
}

long greedy_run(long threads, long rows, long most, long places, long size, long width, long hidden, long read,
                long count, long begin, long end, long reach, const int64_t *longest, const number *W_q,
                const number *U, const number *C, const number *powers, const number *v, const number *values, const uint8_t *mask,
                const number *table, const number *context_readout, const number *state_readout, const number *b_c,
                const number *O, const number *b_o, const uint8_t *barred, const number *first, const number *carried,
                number *room, int64_t *whole, int64_t *symbols, number *weights, number *likely, number *mass,
                int64_t *taken) {
    long each = size + 7 * hidden + width + places + read + count, done = 0;
    (void)threads;
#pragma omp parallel num_threads(threads) reduction(min : done)
    {
        share my = mine(rows);
        long row = my.first, at = row * hidden, place = row * most;
        done = greedy_rows(my.last - row, most, places, size, width, hidden, read, count, begin, end, reach,
                           longest + row, W_q, U, C, powers + row * places * size, v, values + row * places * width,
                           mask + row * places, table, context_readout, state_readout, b_c, O, b_o, barred, first + at,
                           carried + at, room + row * each + my.member * (size + hidden), whole + 2 * row,
                           symbols + place, weights + place * places, likely + place, mass + place, taken + row);
    }
    return done;
}

/* Adds -log p(y) of each row of logits z to sums[0], and the mean of -log p over all symbols to sums[1]. The logits become
 * the slopes of the smoothed cross-entropy, p - e/N - (1 - e)[n = y], whose columns are added up. A row whose target is
 * `padding` says nothing. */
static void softmax_slopes(long rows, long count, long padding, const int64_t *targets, const double *smoothing, number *logits,
                    double *sums, number *restrict columns) {
    number even = (number)(*smoothing / count), rest = (number)(1 - *smoothing);
    for (long row = 0; row < rows; row++) {
        number *restrict z = logits + row * count, highest = -3.4e38f, all = 0, sum = 0;
        if (targets[row] == padding) {
            memset(z, 0, sizeof(number) * count);
            continue;
        }
#pragma omp simd reduction(max : highest)
        for (long n = 0; n < count; n++) highest = z[n] > highest ? z[n] : highest;
        number likely = z[targets[row]] - highest;
#pragma omp simd reduction(+ : all, sum)
        for (long n = 0; n < count; n++) {
            number below = z[n] - highest;
            all += below;
            sum += z[n] = power(below);
        }
        sums[0] += log(sum) - likely, sums[1] += log(sum) - all / count;
        number share = 1.0f / sum;
        for (long n = 0; n < count; n++) columns[n] += z[n] = z[n] * share - even;
        z[targets[row]] -= rest, columns[targets[row]] -= rest;
    }
}

/* The gradients of attend_forward; those of keys, values and v are added to what is there. */
void attend_backward(long rows, long places, long size, long width, const number *restrict powers,
                     const number *restrict v, const number *restrict values, const uint8_t *restrict mask,
                     const number *restrict raised, const number *restrict weights, const number *restrict into_weights,
                     const number *restrict into_context, number *restrict slopes, number *restrict into_query,
                     number *restrict into_keys, number *restrict into_values, number *restrict into_v) {
    for (long row = 0; row < rows; row++) {
        const number *restrict Q = raised + size * row, *restrict alpha = weights + places * row;
        const number *restrict dc = into_context + width * row;
        const uint8_t *restrict real = mask + places * row;
        number *restrict dq = into_query + size * row;
        number mean = 0;
        for (long j = 0; j < places; j++) { /* slopes: d / d weights, then d / d energy */
            number slope = 0;
            if (real[j]) {
                const number *restrict h = values + (row * places + j) * width;
                number *restrict dh = into_values + (row * places + j) * width;
                number a = alpha[j];
#pragma omp simd reduction(+ : slope)
                for (long k = 0; k < width; k++) {
                    slope += dc[k] * h[k];
                    dh[k] += a * dc[k];
                }
                if (into_weights) slope += into_weights[places * row + j];
                mean += a * slope;
            }
            slopes[j] = slope;
        }
        for (long k = 0; k < size; k++) dq[k] = 0;
        for (long j = 0; j < places; j++) {
            if (!real[j]) continue;
            const number *restrict P = powers + (row * places + j) * size;
            number *restrict dk = into_keys + (row * places + j) * size;
            number de = alpha[j] * (slopes[j] - mean);
            for (long k = 0; k < size; k++) {
                number r = 1.0f / (1.0f + P[k] * Q[k]);
                number d = 4.0f * de * v[k] * (r - r * r); /* tanh' = 4 (r - r^2) */
                dk[k] += d;
                dq[k] += d;
                into_v[k] += de * (1.0f - 2.0f * r);
            }
        }
    }
}

/* The gradients of read_run. turned_* are the transposed weights, packed; into_seen (T, rows, V + H) is that of c_t and s_t;
 * into_weights may be 0; sums as in attend_backward, and those of all gates' slopes in into_bias (4H). past and into_carry
 * (rows, H) begin as zero and end as ds_0 and dc_0. `rows` are some of `all`. room: rows V + places. */
static void read_rows_backward(long steps, long rows, long all, long places, long size, long width, long hidden,
                               long apart, const number *turned_query, const number *turned_recurrence,
                               const number *turned_context, const number *powers, const number *v,
                               const number *values, const uint8_t *mask, const number *gates, const number *raised,
                               const number *weights, const number *carries, const number *squashed,
                               const number *into_seen, const number *into_weights, number *into_gates,
                               number *into_queries, number *into_keys, number *into_values, number *into_v,
                               number *into_bias, number *past, number *into_carry, number *room) {
    long wide = 4 * hidden, both = width + hidden;
    number *into_context = room, *slopes = room + rows * width;
    for (long t = steps - 1; t >= 0; t--) {
        number *slope = into_gates + t * all * apart, *into_query = into_queries + t * all * size;
        for (long row = 0; row < rows; row++) {
            long nth = t * all + row, at = nth * hidden;
            const number *into = into_seen + nth * both, *y = gates + nth * apart;
            number *restrict ds = past + row * hidden, *restrict d = slope + row * apart, *restrict sum = into_bias;
            memcpy(into_context + row * width, into, sizeof(number) * width);
            for (long k = 0; k < hidden; k++) ds[k] += into[width + k];
            lstm_row_backward(hidden, y, carries + at, squashed + at, ds, into_carry + row * hidden, d);
            for (long k = 0; k < wide; k++) sum[k] += d[k];
        }
        set_product(rows, hidden, wide, slope, apart, turned_recurrence, past);
        add_product(rows, width, wide, slope, apart, turned_context, into_context);
        attend_backward(rows, places, size, width, powers, v, values, mask, raised + t * all * size,
                        weights + t * all * places, into_weights ? into_weights + t * all * places : 0, into_context,
                        slopes, into_query, into_keys, into_values, into_v);
        add_product(rows, hidden, size, into_query, size, turned_query, past);
    }
}

/* By `threads`, each of which adds up its own into_v (threads, A) and into_bias (threads, 4H); room: rows V + threads
 * places */
void read_run_backward(long threads, long steps, long rows, long places, long size, long width, long hidden, long apart,
                       const number *turned_query, const number *turned_recurrence, const number *turned_context,
                       const number *powers, const number *v, const number *values, const uint8_t *mask,
                       const number *gates, const number *raised, const number *weights, const number *carries,
                       const number *squashed, const number *into_seen, const number *into_weights, number *into_gates,
                       number *into_queries, number *into_keys, number *into_values, number *into_v, number *into_bias,
                       number *past, number *into_carry, number *room) {
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
        share my = mine(rows);
        long row = my.first, at = row * hidden;
        read_rows_backward(steps, my.last - row, rows, places, size, width, hidden, apart, turned_query,
                           turned_recurrence, turned_context, powers + row * places * size, v, values + row * places * width,
                           mask + row * places, gates + row * apart, raised + row * size, weights + row * places,
                           carries + at, squashed + at, into_seen + row * (width + hidden),
                           into_weights ? into_weights + row * places : 0, into_gates + row * apart,
                           into_queries + row * size, into_keys + row * places * size,
                           into_values + row * places * width, into_v + my.member * size,
                           into_bias + my.member * 4 * hidden, past + at, into_carry + at,
                           room + row * width + my.member * places);
    }
}

/* Pictures (rows, H, W, C), each of which has sizes[2 r] by sizes[2 r + 1] real places in its corner: their channels minus
 * their means, times `spread` = 1 / sqrt(variance + small) and g, plus b, and 0 where that is less; all is 0 beyond. Sums go row
 * by row, so that nothing small is lost. A picture's numbers are still at hand when they are read for the third time. */
static void norm_picture(long high, long wide, long height, long width, long channels, number small,
                         const number *restrict x, const number *restrict g, const number *restrict b,
                         number *restrict mean, number *restrict spread, number *restrict y) {
    number places = (number)(high * wide), part[channels];
    for (int pass = 0; pass < 2; pass++) { /* means, then variances */
        number *restrict sum = pass ? spread : mean;
        memset(sum, 0, sizeof(number) * channels);
        for (long row = 0; row < high; row++) {
            memset(part, 0, sizeof(part));
            for (long column = 0; column < wide; column++) {
                const number *restrict from = x + (row * width + column) * channels;
                if (pass)
                    for (long c = 0; c < channels; c++) part[c] += (from[c] - mean[c]) * (from[c] - mean[c]);
                else
                    for (long c = 0; c < channels; c++) part[c] += from[c];
            }
            for (long c = 0; c < channels; c++) sum[c] += part[c];
        }
        for (long c = 0; c < channels; c++) sum[c] = pass ? 1.0f / sqrtf(sum[c] / places + small) : sum[c] / places;
    }
    for (long row = 0; row < height; row++) {
        long real = row < high ? wide : 0;
        number *restrict to = y + row * width * channels;
        for (long column = 0; column < real; column++) {
            const number *restrict from = x + (row * width + column) * channels;
            for (long c = 0; c < channels; c++) {
                number z = (from[c] - mean[c]) * spread[c] * g[c] + b[c];
                to[column * channels + c] = z > 0 ? z : 0;
            }
        }
        memset(to + real * channels, 0, sizeof(number) * (width - real) * channels);
    }
}

void place_norm(long threads, long rows, long height, long width, long channels, const int64_t *sizes, const number *small,
                const number *x, const number *g, const number *b, number *mean, number *spread, number *y) {
    long all = height * width * channels;
    (void)threads;
#pragma omp parallel for num_threads(threads)
    for (long r = 0; r < rows; r++)
        norm_picture(sizes[2 * r], sizes[2 * r + 1], height, width, channels, *small, x + r * all, g, b,
                     mean + r * channels, spread + r * channels, y + r * all);
}

/* Its gradients, with z' = dy where y > 0 and n = (x - mean) spread: into_b = sum z', into_g = sum z' n of each picture, and
 * dx = g spread (z' - mean z' - n mean z' n) */
static void norm_picture_backward(long high, long wide, long height, long width, long channels, const number *restrict x,
                                  const number *restrict g, const number *restrict mean, const number *restrict spread,
                                  const number *restrict y, const number *restrict dy, number *restrict dx,
                                  number *restrict into_g, number *restrict into_b) {
    number places = (number)(high * wide), part_g[channels], part_b[channels];
    memset(into_g, 0, sizeof(number) * channels);
    memset(into_b, 0, sizeof(number) * channels);
    for (long row = 0; row < high; row++) {
        memset(part_g, 0, sizeof(part_g));
        memset(part_b, 0, sizeof(part_b));
        for (long at = row * width * channels, column = 0; column < wide; column++, at += channels)
            for (long c = 0; c < channels; c++) {
                number slope = y[at + c] > 0 ? dy[at + c] : 0;
                part_b[c] += slope;
                part_g[c] += slope * (x[at + c] - mean[c]) * spread[c];
            }
        for (long c = 0; c < channels; c++) into_g[c] += part_g[c], into_b[c] += part_b[c];
    }
    for (long c = 0; c < channels; c++) part_g[c] = into_g[c] / places, part_b[c] = into_b[c] / places;
    for (long row = 0; row < height; row++) {
        long real = row < high ? wide : 0, at = row * width * channels;
        for (long column = 0; column < real; column++, at += channels)
            for (long c = 0; c < channels; c++) {
                number slope = y[at + c] > 0 ? dy[at + c] : 0, n = (x[at + c] - mean[c]) * spread[c];
                dx[at + c] = g[c] * spread[c] * (slope - part_b[c] - n * part_g[c]);
            }
        memset(dx + at, 0, sizeof(number) * (width - real) * channels);
    }
}

void place_norm_backward(long threads, long rows, long height, long width, long channels, const int64_t *sizes,
                         const number *x, const number *g, const number *mean, const number *spread, const number *y,
                         const number *dy, number *dx, number *into_g, number *into_b) {
    long all = height * width * channels;
    (void)threads;
#pragma omp parallel for num_threads(threads)
    for (long r = 0; r < rows; r++)
        norm_picture_backward(sizes[2 * r], sizes[2 * r + 1], height, width, channels, x + r * all, g,
                              mean + r * channels, spread + r * channels, y + r * all, dy + r * all, dx + r * all,
                              into_g + r * channels, into_b + r * channels);
}

static inline uint32_t stir(uint32_t bits, int shift, uint32_t factor) { return (bits ^ (bits >> shift)) * factor; }

/* What dropping.py calls the draws of two places */
static inline uint32_t stirred(uint32_t place, uint32_t low, uint32_t high) {
    uint32_t bits = stir(stir(stir(place ^ low, 16, 0x7feb352du) + high, 15, 0x846ca68bu), 16, 0x9e3779b1u);
    return bits ^ (bits >> 15);
}

/* Dropout: `scale` times a number where its draw is `least` or more, else 0 */
void drop(long threads, long count, long least, long seed, long other_seed, const number *scale,
          const number *restrict from, number *restrict to) {
    long half = (count + 1) / 2;
    uint32_t low = (uint32_t)seed, high = (uint32_t)other_seed, bound = (uint32_t)least;
    number whole = *scale;
    (void)threads;
#pragma omp parallel for simd num_threads(threads) if (count > 1 << 15)
    for (long k = 0; k < count - half; k++) {
        uint32_t bits = stirred((uint32_t)k, low, high);
        to[k] = (bits & 0xffff) >= bound ? whole * from[k] : 0.0f;
        to[half + k] = bits >> 16 >= bound ? whole * from[half + k] : 0.0f;
    }
    if (count % 2) to[half - 1] = (stirred((uint32_t)half - 1, low, high) & 0xffff) >= bound ? whole * from[half - 1] : 0.0f;
}

/* Numbers of several arrays: the sum of their squares */
void squares(long threads, long arrays, const int64_t *counts, number *const *gradients, double *sum) {
    double all = 0;
    (void)threads;
#pragma omp parallel num_threads(threads) reduction(+ : all)
    for (long n = 0; n < arrays; n++) {
        share my = mine(counts[n]);
        for (long begin = my.first; begin < my.last; begin += 4096) { /* short sums, so that nothing small is lost */
            long end = begin + 4096 < my.last ? begin + 4096 : my.last;
            const number *gradient = gradients[n];
            number part = 0;
#pragma omp simd reduction(+ : part)
            for (long k = begin; k < end; k++) part += gradient[k] * gradient[k];
            all += part;
        }
    }
    *sum = all;
}

/* One step of Adam for several arrays: m += (1 - b1)(g - m), v = b2 v + (1 - b2) g^2, w -= rate m' / (sqrt(v') + small),
 * m' = m / (1 - b1^t), v' = v / (1 - b2^t), with a gradient shortened to `options[0]` of itself. The others are the rate,
 * b1, b2, small, and how much of w decays: beside the step where that is `decoupled`, else as a part of its gradient. kept
 * are the arrays of w, g, m, v and t, one kind after the other. */
void adam(long threads, long arrays, long decoupled, const int64_t *counts, number *const *kept, const double *options) {
    double rate = options[1], b1 = options[2], b2 = options[3];
    number shorten = (number)options[0], small = (number)options[4], decay = (number)options[5];
    number fade = decoupled ? (number)(1 - rate * options[5]) : 1, drag = decoupled ? 0 : decay;
    number new_mean = (number)(1 - b1), old_square = (number)b2, new_square = (number)(1 - b2);
    (void)threads;
    for (long n = 0; n < arrays; n++) {
        number *restrict w = kept[n], *restrict m = kept[2 * arrays + n], *restrict v = kept[3 * arrays + n];
        const number *restrict gradient = kept[arrays + n];
        double t = *kept[4 * arrays + n] += 1;
        number pace = (number)(rate / (1 - pow(b1, t))), spread = (number)(1 / sqrt(1 - pow(b2, t)));
#pragma omp parallel for simd num_threads(threads) if (counts[n] > 1 << 15)
        for (long k = 0; k < counts[n]; k++) {
            number g = gradient[k] * shorten + drag * w[k];
            m[k] += new_mean * (g - m[k]);
            v[k] = old_square * v[k] + new_square * g * g;
            w[k] = fade * w[k] - pace * m[k] / (sqrtf(v[k]) * spread + small);
        }
    }
}
