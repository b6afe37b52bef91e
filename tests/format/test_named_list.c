/* Lists of records with names, against the plainest list there is. */
#include "../support/allocator.h"
#include "../support/builder.h"

#include "format/document/named_list.h"

typedef struct row {
    named named;
    uint32_t number; /* its name, as a number */
} row;

enum { NAMES = 400 };

static char texts[NAMES][8];

static gufo_str text_of(uint32_t number)
{
    snprintf(texts[number], sizeof texts[number], "n%" PRIu32, number);
    return gufo_str_of(texts[number]);
}

/* The same list as an array of numbers. */
typedef struct plain {
    uint32_t numbers[NAMES];
    size_t count;
    size_t added, dropped; /* in all */
} plain;

static void count_dropped(void *owner, void *record)
{
    check(((row *)record)->named.gone, "a record that is dropped is gone");
    ((plain *)owner)->dropped++;
}

static size_t plain_find(const plain *p, uint32_t number)
{
    size_t i = 0;

    while (i < p->count && p->numbers[i] != number)
        i++;
    return i;
}

static void plain_remove(plain *p, size_t at)
{
    p->count--;
    memmove(&p->numbers[at], &p->numbers[at + 1], (p->count - at) * sizeof *p->numbers);
}

static row *row_in(const named_list *list, uint64_t slot)
{
    return (row *)named_list_slot(list, slot);
}

static void check_same(const named_list *list, const plain *p, const char *label)
{
    uint64_t slot;

    check_u64(list->count, p->count, "%s", label);
    for (size_t i = 0; i < p->count; i++) {
        check(named_list_seek(list, i, &slot), "%s: position %zu", label, i);
        check_u64(row_in(list, slot)->number, p->numbers[i], "%s: position %zu", label, i);
        check_u64(named_list_position(list, slot), i, "%s", label);
    }
    check(!named_list_seek(list, p->count, &slot), "%s: past the end", label);
    for (uint32_t n = 0; n < NAMES; n++) {
        size_t at = plain_find(p, n);
        bool found = named_list_find(list, text_of(n), &slot);

        check(found == (at < p->count), "%s: name %" PRIu32, label, n);
        if (found)
            check_u64(named_list_position(list, slot), at, "%s: name %" PRIu32, label, n);
    }
}

static void add(named_list *list, plain *p, uint32_t number)
{
    gufo_str name = text_of(number);
    bool owned = number % 2 == 0;
    const row *added;
    uint64_t slot;

    assert_int_equal(named_list_add(list, name, owned, &(row){.number = number}, NULL), GUFO_OK);
    check(named_list_find(list, name, &slot), "%" PRIu32, number);
    added = row_in(list, slot);
    check(added->named.owns_name == owned && (added->named.name.data == name.data) == !owned,
          "a name is copied if the record is to own it");
    p->numbers[p->count++] = number;
    p->added++;
}

static bool is_third(void *context, gufo_str name)
{
    ++*(size_t *)context;
    return strtoul(name.data + 1, NULL, 10) % 3 == 0;
}

static void remove_thirds(named_list *list, plain *p)
{
    size_t asked = 0, count = p->count;
    uint64_t removed = named_list_remove_all(list, is_third, &asked);

    for (size_t i = p->count; i-- > 0;)
        if (p->numbers[i] % 3 == 0)
            plain_remove(p, i);
    check_u64(removed, count - p->count, "thirds");
    check_u64(asked, count, "each is asked about once");
}

/* One random change: for a while more additions, then more removals. */
static void change(named_list *list, plain *p, uint64_t *random, bool growing)
{
    uint32_t number = (uint32_t)(random_next(random) % NAMES);
    uint32_t other = (uint32_t)(random_next(random) % NAMES);
    size_t at = plain_find(p, number);
    uint64_t slot;

    if (at == p->count) {
        if (growing || random_next(random) % 8 == 0)
            add(list, p, number);
        return;
    }
    check(named_list_find(list, text_of(number), &slot), "%" PRIu32, number);
    if (plain_find(p, other) == p->count) {
        assert_int_equal(named_list_rename(list, slot, text_of(other), NULL), GUFO_OK);
        row_in(list, slot)->number = p->numbers[at] = other;
    } else if (!growing || random_next(random) % 4 == 0) {
        named_list_remove(list, slot);
        plain_remove(p, at);
    }
}

static void test_random_changes(void **state)
{
    uint64_t random = 1;
    named_list list;
    plain p = {.count = 0};
    char label[32];

    (void)state;
    named_list_init(&list, sizeof(row), "row", &default_allocator);
    list.owner = &p;
    list.drop = count_dropped;
    check_same(&list, &p, "empty");
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < 200; i++)
            change(&list, &p, &random, round % 4 < 2);
        if (round % 7 == 6)
            remove_thirds(&list, &p);
        snprintf(label, sizeof label, "round %d", round);
        check_same(&list, &p, label);
    }
    check_u64(named_list_remove_all(&list, NULL, NULL), p.count, "all");
    check_u64(p.dropped, p.added, "each is dropped once");
    p.count = 0;
    check_same(&list, &p, "all removed");
    add(&list, &p, 7);
    check_same(&list, &p, "one again");
    named_list_free(&list);
}

/* Room that was reserved needs no memory when it is used. */
static void test_reserve(void **state)
{
    gufo_allocator allocator;
    counter c;
    named_list list;

    (void)state;
    counter_init(&c);
    allocator = counter_allocator(&c);
    named_list_init(&list, sizeof(row), "row", &allocator);
    assert_int_equal(named_list_reserve(&list, 300, NULL), GUFO_OK);
    c.fail_at = 1;
    c.calls = 0;
    c.fail_on = true;
    for (uint32_t i = 0; i < 300; i++)
        assert_int_equal(named_list_add(&list, text_of(i), false, &(row){0}, NULL), GUFO_OK);
    assert_int_equal(named_list_add(&list, text_of(300), true, &(row){0}, NULL), GUFO_E_MEMORY);
    assert_int_equal(named_list_rename(&list, 0, text_of(300), NULL), GUFO_E_MEMORY);
    assert_int_equal(named_list_reserve(&list, 300, NULL), GUFO_E_MEMORY);
    check_u64(list.count, 300, "a failure changes nothing");
    check_u64(list.items.count, 300, "a failure changes nothing");
    named_list_free(&list);
    check_u64(c.in_use, 0, "leak");
}

/* A name in a mapping may be overwritten: its record can still be removed, and nothing else is. */
static void test_overwritten_names(void **state)
{
    char names[20][16];
    named_list list;
    uint64_t slot;

    (void)state;
    named_list_init(&list, sizeof(row), "row", &default_allocator);
    for (int i = 0; i < 20; i++) {
        snprintf(names[i], sizeof names[i], "k%02d", i);
        assert_int_equal(named_list_add(&list, gufo_str_of(names[i]), false, &(row){0}, NULL),
                         GUFO_OK);
    }
    for (int i = 0; i < 10; i++)
        memcpy(names[i], "xxx", 3);
    for (uint64_t i = 0; i < 10; i++)
        named_list_remove(&list, i);
    check_u64(list.count, 10, "half of them");
    for (int i = 10; i < 20; i++)
        check(named_list_find(&list, gufo_str_of(names[i]), &slot), "%s", names[i]);
    check(!named_list_find(&list, gufo_str_of("xxx"), &slot), "xxx");
    memset(names, 'y', sizeof names); /* all of them are the same now */
    named_list_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_changes),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_overwritten_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
