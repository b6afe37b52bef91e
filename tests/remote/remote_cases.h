/* What tests of the room remote share: a client in a hurry, and files to be served. */
#ifndef TEST_REMOTE_CASES_H
#define TEST_REMOTE_CASES_H

#include "../support/check.h"
#include "../support/folder.h"
#include "../support/http_server.h"

#include "remote/remote.h"

/* Waits are short, what stalls does so for a fifth of a second. */
static inline gufo_remote *hurried_client(const gufo_remote_options *options)
{
    gufo_error error = {0};
    gufo_remote *remote = gufo_remote_new(options, &error);

    check(remote != NULL, "%s", error.message);
    remote->pace.first_wait = 2;
    remote->pace.stall = 400;
    return remote;
}

/* A byte for each place, of which no two ranges are alike. */
static inline uint8_t byte_at(uint64_t at)
{
    uint64_t x = (at / 8 + 1) * 0x9e3779b97f4a7c15u;

    return (uint8_t)(x >> (8 * (at % 8)));
}

#endif
