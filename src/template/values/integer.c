/* A big integer is a size and a sign; the size is words of 32 bits, the lowest first, of which the
 * highest is not 0.  Small ones are seen as such words where one of both is big. */
#include "template/values/number.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

enum {
    REAL_BITS = 1024, /* that a float has before its point, at most */
    REAL_WORDS = REAL_BITS / 32 + 2,
};

struct big {
    bool negative;
    size_t count;
    uint32_t words[];
};

/* Any integer as words.  `own` has those of a small one: a view must not be copied. */
typedef struct words_view {
    bool negative;
    size_t count;
    const uint32_t *words;
    uint32_t own[2];
} words_view;

static int64_t small_value(value v)
{
    return v.kind == VALUE_BOOL ? v.as.truth : v.as.integer;
}

static uint64_t small_size(int64_t integer)
{
    return integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
}

static size_t used_words(const uint32_t *words, size_t count)
{
    while (count > 0 && words[count - 1] == 0)
        count--;
    return count;
}

static void look(value v, words_view *out)
{
    uint64_t size;

    if (v.kind == VALUE_BIG) {
        out->negative = v.as.big->negative;
        out->count = v.as.big->count;
        out->words = v.as.big->words;
        return;
    }
    size = small_size(small_value(v));
    out->negative = small_value(v) < 0;
    out->own[0] = (uint32_t)size;
    out->own[1] = (uint32_t)(size >> 32);
    out->words = out->own;
    out->count = used_words(out->own, 2);
}

static struct big *big_new(heap *memory, size_t count)
{
    uint64_t bytes;
    struct big *made;

    if (!checked_mul(count, sizeof(uint32_t), &bytes) ||
        !checked_add(bytes, sizeof(struct big), &bytes))
        bytes = UINT64_MAX; /* which the heap refuses */
    made = heap_take(memory, bytes);
    if (made == NULL)
        return NULL;
    made->negative = false;
    made->count = count;
    memset(made->words, 0, count * sizeof(uint32_t));
    return made;
}

/* The value in its one form. */
static value settle(struct big *made, bool negative)
{
    uint64_t size;

    made->count = used_words(made->words, made->count);
    made->negative = negative;
    if (made->count > 2)
        return (value){.kind = VALUE_BIG, .as.big = made};
    size = made->count > 0 ? made->words[0] : 0;
    size |= made->count > 1 ? (uint64_t)made->words[1] << 32 : 0;
    if (size > (uint64_t)INT64_MAX + negative)
        return (value){.kind = VALUE_BIG, .as.big = made};
    return value_int(negative ? (int64_t)(0 - size) : (int64_t)size);
}

static bool both_small(value a, value b)
{
    return a.kind != VALUE_BIG && b.kind != VALUE_BIG;
}

/* ==== Sizes ================================================================================== */

static int compare_sizes(const words_view *a, const words_view *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (size_t i = a->count; i-- > 0;)
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i] ? -1 : 1;
    return 0;
}

/* a + b; `out` is longer by a word than the longer one. */
static void add_sizes(const words_view *a, const words_view *b, uint32_t *out)
{
    uint64_t carry = 0;
    size_t i = 0;

    for (; i < a->count || i < b->count; i++) {
        carry += i < a->count ? a->words[i] : 0;
        carry += i < b->count ? b->words[i] : 0;
        out[i] = (uint32_t)carry;
        carry >>= 32;
    }
    out[i] = (uint32_t)carry;
}

/* a - b, which is not below 0; `out` is as long as a. */
static void subtract_sizes(const words_view *a, const words_view *b, uint32_t *out)
{
    uint64_t borrow = 0;

    for (size_t i = 0; i < a->count; i++) {
        uint64_t taken = borrow + (i < b->count ? b->words[i] : 0);

        borrow = taken > a->words[i];
        out[i] = (uint32_t)(((borrow << 32) + a->words[i]) - taken);
    }
}

/* Divides words by one; returns the rest. */
static uint32_t divide_by_word(uint32_t *words, size_t count, uint32_t by)
{
    uint64_t rest = 0;

    for (size_t i = count; i-- > 0;) {
        rest = rest << 32 | words[i];
        words[i] = (uint32_t)(rest / by);
        rest %= by;
    }
    return (uint32_t)rest;
}

/* words * by + more; returns what does not fit. */
static uint32_t multiply_by_word(uint32_t *words, size_t count, uint32_t by, uint32_t more)
{
    uint64_t carry = more;

    for (size_t i = 0; i < count; i++) {
        carry += (uint64_t)words[i] * by;
        words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return (uint32_t)carry;
}

/* Writes words moved up by `bits` below 32, and returns what moves out. */
static uint32_t shift_up(const uint32_t *words, size_t count, unsigned bits, uint32_t *out)
{
    uint64_t carry = 0;

    for (size_t i = 0; i < count; i++) {
        carry |= (uint64_t)words[i] << bits;
        out[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return (uint32_t)carry;
}

static void shift_down(uint32_t *words, size_t count, unsigned bits)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t both = words[i] | (i + 1 < count ? (uint64_t)words[i + 1] << 32 : 0);

        words[i] = (uint32_t)(both >> bits);
    }
}

/* Takes `digit` times the divisor from the words at `at`, which is one longer; true: it was once too
 * much, and the divisor has to be added again. */
static bool take_times(uint32_t *at, const uint32_t *divisor, size_t count, uint64_t digit)
{
    uint64_t carry = 0, borrow = 0;

    for (size_t i = 0; i <= count; i++) {
        uint64_t taken;

        carry += i < count ? digit * divisor[i] : 0;
        taken = (carry & UINT32_MAX) + borrow;
        carry >>= 32;
        borrow = taken > at[i];
        at[i] = (uint32_t)(((borrow << 32) + at[i]) - taken);
    }
    return borrow != 0;
}

static void give_once(uint32_t *at, const uint32_t *divisor, size_t count)
{
    uint64_t carry = 0;

    for (size_t i = 0; i <= count; i++) {
        carry += (uint64_t)at[i] + (i < count ? divisor[i] : 0);
        at[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* Knuth, The Art of Computer Programming 4.3.1, algorithm D: `rest` (one word longer than the
 * dividend, which is in it) is divided by words of which the highest has its highest bit set; there
 * are at least two.  The quotient is written from quotient[0] on. */
static void divide_words(uint32_t *rest, size_t length, const uint32_t *divisor, size_t count,
                         uint32_t *quotient)
{
    for (size_t i = length - count + 1; i-- > 0;) {
        uint32_t *at = rest + i;
        uint64_t high = (uint64_t)at[count] << 32 | at[count - 1];
        uint64_t digit = high / divisor[count - 1], left = high % divisor[count - 1];

        while (digit > UINT32_MAX || digit * divisor[count - 2] > (left << 32 | at[count - 2])) {
            digit--;
            left += divisor[count - 1];
            if (left > UINT32_MAX)
                break;
        }
        if (take_times(at, divisor, count, digit)) {
            digit--;
            give_once(at, divisor, count);
        }
        quotient[i] = (uint32_t)digit;
    }
}

/* The quotient and the rest of two sizes; b is not 0. */
static bool divide_sizes(heap *memory, const words_view *a, const words_view *b,
                         struct big **quotient, struct big **rest)
{
    size_t length = a->count < b->count ? b->count : a->count;
    unsigned bits = (unsigned)__builtin_clz(b->words[b->count - 1]);
    struct big *divisor = big_new(memory, b->count);

    *quotient = big_new(memory, length - b->count + 1);
    *rest = big_new(memory, length + 1);
    if (divisor == NULL || *quotient == NULL || *rest == NULL)
        return false;
    if (b->count == 1) {
        memcpy((*quotient)->words, a->words, a->count * sizeof(uint32_t));
        (*rest)->words[0] = divide_by_word((*quotient)->words, length, b->words[0]);
        return true;
    }
    (void)shift_up(b->words, b->count, bits, divisor->words);
    (*rest)->words[a->count] = shift_up(a->words, a->count, bits, (*rest)->words);
    divide_words((*rest)->words, length, divisor->words, b->count, (*quotient)->words);
    shift_down((*rest)->words, length + 1, bits);
    return true;
}

/* ==== Values ================================================================================= */

uint64_t integer_work(value a, value b)
{
    words_view x, y;

    if (both_small(a, b))
        return 0;
    look(a, &x);
    look(b, &y);
    return divide_up(x.count + 1, 16) * divide_up(y.count + 1, 4);
}

uint64_t integer_bits(value v)
{
    words_view x;

    look(v, &x);
    return x.count == 0 ? 0 : x.count * 32 - (uint64_t)__builtin_clz(x.words[x.count - 1]);
}

int integer_sign(value v)
{
    words_view x;

    look(v, &x);
    return x.negative ? -1 : x.count != 0;
}

static int integer_compare(value a, value b)
{
    words_view x, y;

    if (both_small(a, b))
        return (small_value(a) > small_value(b)) - (small_value(a) < small_value(b));
    look(a, &x);
    look(b, &y);
    if (x.negative != y.negative)
        return x.negative ? -1 : 1;
    return x.negative ? compare_sizes(&y, &x) : compare_sizes(&x, &y);
}

/* a + b, where the sign of b may be turned. */
static value add_signed(heap *memory, value a, value b, bool turn)
{
    words_view x, y;
    struct big *made;
    bool negative;
    int order;

    look(a, &x);
    look(b, &y);
    negative = y.negative != turn;
    made = big_new(memory, (x.count > y.count ? x.count : y.count) + 1);
    if (made == NULL)
        return FAILED;
    if (x.negative == negative) {
        add_sizes(&x, &y, made->words);
        return settle(made, negative);
    }
    order = compare_sizes(&x, &y);
    if (order >= 0)
        subtract_sizes(&x, &y, made->words);
    else
        subtract_sizes(&y, &x, made->words);
    return settle(made, order >= 0 ? x.negative : negative);
}

value integer_add(heap *memory, value a, value b)
{
    int64_t sum;

    if (both_small(a, b) && !__builtin_add_overflow(small_value(a), small_value(b), &sum))
        return value_int(sum);
    return add_signed(memory, a, b, false);
}

value integer_subtract(heap *memory, value a, value b)
{
    int64_t difference;

    if (both_small(a, b) && !__builtin_sub_overflow(small_value(a), small_value(b), &difference))
        return value_int(difference);
    return add_signed(memory, a, b, true);
}

value integer_multiply(heap *memory, value a, value b)
{
    words_view x, y;
    struct big *made;
    int64_t product;

    if (both_small(a, b) && !__builtin_mul_overflow(small_value(a), small_value(b), &product))
        return value_int(product);
    look(a, &x);
    look(b, &y);
    made = big_new(memory, x.count + y.count);
    if (made == NULL)
        return FAILED;
    for (size_t i = 0; i < x.count; i++) {
        uint64_t carry = 0;

        for (size_t k = 0; k < y.count; k++) {
            carry += (uint64_t)x.words[i] * y.words[k] + made->words[i + k];
            made->words[i + k] = (uint32_t)carry;
            carry >>= 32;
        }
        made->words[i + y.count] = (uint32_t)carry;
    }
    return settle(made, x.negative != y.negative);
}

value integer_divide(heap *memory, value a, value b, value *rest)
{
    struct big *quotient, *left;
    words_view x, y;
    value whole;

    *rest = FAILED;
    if (both_small(a, b) && !(small_value(a) == INT64_MIN && small_value(b) == -1)) {
        whole = value_int(small_value(a) / small_value(b));
        *rest = value_int(small_value(a) % small_value(b));
        x.negative = small_value(a) < 0;
        y.negative = small_value(b) < 0;
    } else {
        look(a, &x);
        look(b, &y);
        if (!divide_sizes(memory, &x, &y, &quotient, &left))
            return FAILED;
        whole = settle(quotient, x.negative != y.negative);
        *rest = settle(left, x.negative);
    }
    if (x.negative == y.negative || integer_sign(*rest) == 0)
        return whole;
    *rest = integer_add(memory, *rest, b);
    return is_failed(*rest) ? FAILED : integer_subtract(memory, whole, value_int(1));
}

/* ==== Floats ================================================================================= */

/* size * 2^exponent as the nearest float, halves to even; `more`: something is left below. */
static double round_to_real(uint64_t size, bool more, int64_t exponent)
{
    /* A float has 53 bits, and none below 2^-1074. */
    int64_t drop = size == 0 ? 0 : 11 - __builtin_clzll(size);
    uint64_t kept, half;

    if (size == 0 || exponent > REAL_BITS)
        return size == 0 ? 0 : INFINITY;
    if (drop < -1074 - exponent)
        drop = -1074 - exponent;
    if (drop <= 0)
        return ldexp((double)size, (int)exponent);
    if (drop > 64)
        return 0;
    half = (uint64_t)1 << (drop - 1);
    kept = drop == 64 ? 0 : size >> drop;
    if ((size & half) != 0 && (more || (size & (half - 1)) != 0 || (kept & 1) != 0))
        kept++;
    return ldexp((double)kept, (int)(exponent + drop));
}

/* The highest 64 bits of a size, and how far they stand above 2^0. */
static uint64_t highest_bits(const words_view *x, bool *more, int64_t *exponent)
{
    unsigned bits = x->count == 0 ? 0 : (unsigned)__builtin_clz(x->words[x->count - 1]);
    uint64_t top[3] = {0};

    *exponent = (int64_t)x->count * 32 - 64 - (int64_t)bits;
    for (size_t i = 0; i < 3 && i < x->count; i++)
        top[i] = x->words[x->count - 1 - i];
    *more = (uint32_t)(top[2] << bits) != 0;
    for (size_t i = 3; i < x->count && !*more; i++)
        *more = x->words[x->count - 1 - i] != 0;
    return (top[0] << 32 | top[1]) << bits | (bits == 0 ? 0 : top[2] >> (32 - bits));
}

double integer_real(value v)
{
    int64_t exponent;
    uint64_t top;
    words_view x;
    double size;
    bool more;

    if (v.kind != VALUE_BIG)
        return (double)small_value(v);
    look(v, &x);
    top = highest_bits(&x, &more, &exponent);
    size = round_to_real(top, more, exponent);
    return x.negative ? -size : size;
}

/* The words of a finite float without what is behind its point; whether that was something. */
static bool real_words(double real, uint32_t words[REAL_WORDS], words_view *out)
{
    double size = floor(fabs(real));
    uint64_t mantissa;
    int exponent;
    unsigned bit;

    memset(words, 0, REAL_WORDS * sizeof(*words));
    mantissa = (uint64_t)ldexp(frexp(size, &exponent), 53);
    exponent -= 53;
    if (exponent < 0) {
        mantissa >>= -exponent;
        exponent = 0;
    }
    bit = (unsigned)exponent % 32;
    words += exponent / 32;
    words[0] = (uint32_t)(mantissa << bit);
    words[1] = (uint32_t)(mantissa >> (32 - bit));
    words[2] = bit == 0 ? 0 : (uint32_t)(mantissa >> (64 - bit));
    words -= exponent / 32;
    out->negative = real < 0;
    out->words = words;
    out->count = used_words(words, REAL_WORDS);
    return fabs(real) != size;
}

/* Exact, where a would have to be rounded to become a float; b is not NaN. */
static int compare_real(value a, double b)
{
    uint32_t words[REAL_WORDS];
    words_view x, y;
    bool fraction;
    int order;

    if (isinf(b))
        return b > 0 ? -1 : 1;
    look(a, &x);
    fraction = real_words(b, words, &y);
    if (x.negative != y.negative)
        return x.negative ? -1 : x.count == 0 && y.count == 0 && !fraction ? 0 : 1;
    order = compare_sizes(&x, &y);
    if (order == 0 && fraction)
        order = -1;
    return x.negative ? -order : order;
}

value integer_of_real(heap *memory, double real)
{
    uint32_t words[REAL_WORDS];
    struct big *made;
    words_view x;

    if (fabs(real) < 0x1p63)
        return value_int((int64_t)real);
    (void)real_words(real, words, &x);
    made = big_new(memory, x.count);
    if (made == NULL)
        return FAILED;
    memcpy(made->words, words, x.count * sizeof(uint32_t));
    return settle(made, x.negative);
}

/* 2^bits. */
static value power_of_two(heap *memory, uint64_t bits)
{
    struct big *made = big_new(memory, (size_t)(bits / 32 + 1));

    if (made == NULL)
        return FAILED;
    made->words[bits / 32] = (uint32_t)1 << bits % 32;
    return settle(made, false);
}

static value absolute(heap *memory, value v)
{
    return integer_sign(v) < 0 ? integer_subtract(memory, value_int(0), v) : v;
}

bool integer_ratio(heap *memory, value a, value b, double *out)
{
    int64_t shift = (int64_t)integer_bits(a) - (int64_t)integer_bits(b) - 62;
    bool negative = (integer_sign(a) < 0) != (integer_sign(b) < 0);
    value factor, quotient, rest;

    *out = shift > 0 ? INFINITY : 0;
    if (shift > -1200 && shift < 1200) {
        /* A quotient of 62 or 63 bits, and whether something is left, say how it is rounded. */
        factor = power_of_two(memory, (uint64_t)(shift < 0 ? -shift : shift));
        a = absolute(memory, a);
        b = absolute(memory, b);
        if (is_failed(factor) || is_failed(a) || is_failed(b))
            return false;
        if (shift < 0)
            a = integer_multiply(memory, a, factor);
        else
            b = integer_multiply(memory, b, factor);
        quotient = is_failed(a) || is_failed(b) ? FAILED : integer_divide(memory, a, b, &rest);
        if (is_failed(quotient))
            return false;
        *out = round_to_real((uint64_t)quotient.as.integer, integer_sign(rest) != 0, shift);
    }
    *out = negative ? -*out : *out;
    return true;
}

/* ==== Numbers of both kinds ================================================================== */

/* 1, 1.0 and true are one key. */
uint64_t number_hash(hash_key key, value v)
{
    uint32_t words[REAL_WORDS];
    uint64_t hash;
    words_view x;

    if (v.kind != VALUE_FLOAT)
        look(v, &x);
    else if (!isfinite(v.as.real) || real_words(v.as.real, words, &x))
        return hash_text(key, (gufo_str){(const char *)&v.as.real, sizeof(v.as.real)});
    hash = hash_text(key, (gufo_str){(const char *)x.words, x.count * sizeof(uint32_t)});
    return x.negative ? ~hash : hash;
}

static bool is_nan(value v)
{
    return v.kind == VALUE_FLOAT && isnan(v.as.real);
}

/* Neither is NaN. */
static int number_compare(value a, value b)
{
    if (a.kind == VALUE_FLOAT && b.kind == VALUE_FLOAT)
        return (a.as.real > b.as.real) - (a.as.real < b.as.real);
    if (a.kind == VALUE_FLOAT)
        return -compare_real(b, a.as.real);
    return b.kind == VALUE_FLOAT ? compare_real(a, b.as.real) : integer_compare(a, b);
}

bool number_equal(value a, value b)
{
    return !is_nan(a) && !is_nan(b) && number_compare(a, b) == 0;
}

bool number_before(value a, value b)
{
    return !is_nan(a) && !is_nan(b) && number_compare(a, b) < 0;
}

/* ==== Texts ================================================================================== */

/* The highest power of a base that a word holds. */
static uint32_t word_scale(unsigned base)
{
    uint32_t scale = base;

    while (scale <= UINT32_MAX / base)
        scale *= base;
    return scale;
}

value integer_read(heap *memory, gufo_str text, int base)
{
    number_text scanned;
    struct big *made;
    int64_t small;
    uint32_t part = 0, scale = 1, full;

    if (number_parse(text, base, &small))
        return value_int(small);
    if (!number_scan(text, base, &scanned) || scanned.count > INTEGER_DIGITS)
        return value_of(VALUE_ABSENT);
    full = word_scale(scanned.base);
    made = big_new(memory, scanned.count * 6 / 32 + 1); /* a digit has at most 6 bits */
    if (made == NULL)
        return FAILED;
    made->count = 0;
    for (size_t i = 0; i < scanned.digits.len; i++) {
        if (scanned.digits.data[i] != '_') {
            part = part * scanned.base + digit_value(scanned.digits.data[i]);
            scale *= scanned.base;
        }
        if (scale == full || i + 1 == scanned.digits.len) {
            part = multiply_by_word(made->words, made->count, scale, part);
            if (part != 0)
                made->words[made->count++] = part;
            part = 0;
            scale = 1;
        }
    }
    return settle(made, scanned.negative);
}

static value fail_digits(heap *memory)
{
    memory->status = refuse(memory->error, GUFO_E_LIMIT, "an integer of more than %s digits",
                            GROUPED(INTEGER_DIGITS));
    return FAILED;
}

/* Writes the digits of a part before `at`, and zeros before them while `scale` has more; returns where they
 * begin. */
static size_t put_part(char *digits, size_t at, uint32_t part, unsigned base, uint32_t scale,
                       bool upper)
{
    for (; scale > 1 || part != 0; scale /= base) {
        uint32_t rest = part / base;

        digits[--at] = digit_letter(part - rest * base, upper);
        part = rest;
    }
    return at;
}

value integer_digits(heap *memory, value v, unsigned base, bool upper)
{
    /* A digit of a base has more bits than its logarithm, rounded down. */
    uint64_t room = integer_bits(v) / (unsigned)(31 - __builtin_clz(base)) + 1;
    size_t at = (size_t)room;
    struct big *left;
    words_view x;
    char *digits;

    if (room / 2 > INTEGER_DIGITS)
        return fail_digits(memory);
    look(v, &x);
    left = big_new(memory, x.count);
    digits = heap_take(memory, room);
    if (left == NULL || digits == NULL)
        return FAILED;
    memcpy(left->words, x.words, x.count * sizeof(uint32_t));
    do {
        uint32_t part = divide_by_word(left->words, left->count, word_scale(base));

        left->count = used_words(left->words, left->count);
        at = put_part(digits, at, part, base, left->count > 0 ? word_scale(base) : 1, upper);
    } while (left->count != 0);
    if (at == room)
        digits[--at] = '0';
    if (room - at > INTEGER_DIGITS)
        return fail_digits(memory);
    return string_view(memory, (gufo_str){digits + at, (size_t)room - at});
}
