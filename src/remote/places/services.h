/* Where models are, apart from this machine: a service is a row. */
#ifndef REMOTE_PLACES_SERVICES_H
#define REMOTE_PLACES_SERVICES_H

#include "gufo/remote.h"
#include "remote/places/address.h"
#include "remote/places/listing.h"

enum { SERVICE_PREFIXES = 4 };

typedef struct place_service {
    const char *name;  /* "hf" */
    const char *title; /* "Hugging Face" */
    address_form form;
    const char *prefixes[SERVICE_PREFIXES]; /* of its addresses; the last is NULL */
    const char *bare[SERVICE_PREFIXES];     /* the same without a scheme */
    const char *
        pages[SERVICE_PREFIXES]; /* of addresses in a browser: an address, or just one of the web */
    const char *endpoint;        /* where it is */
    size_t option;               /* the place of the option that says another one; 0: none */
    const char *host;            /* of a registry: the usual one, in names */
    const char *revision;        /* the usual one; of a registry: the usual tag */
    /* Addresses, with {endpoint}, {type} (datasets/), {types} (models/, datasets/), {owner}, {name}, {revision},
     * {path}, {tag}; NULL: it has none. */
    const char *file, *list, *page, *blob;
    const char *spelling;       /* of an address in full, for people */
    const listing_shape *shape; /* of the answer to a list; NULL: it is a manifest */
    const char *list_accepts;
    const char *token; /* the variable of a token, for sentences; NULL: it has none */
} place_service;

/* The service of this name; NULL: none. */
const place_service *service_named(const char *name);
/* Row `index`; NULL past the last. */
const place_service *service_at(size_t index);

/* Row `index` of the types of repositories; NULL past the last.  The first one is that of models. */
const repository_type *repository_type_at(size_t index);

/* Appends a pattern of the row with the parts of an address in it, whose bytes are escaped.  `endpoint`: NULL
 * is the service's own; `digest` is for {digest} and may be NULL.  GUFO_E_MEMORY. */
gufo_status service_url(const address *a, const char *pattern, const char *endpoint,
                        const char *digest, gufo_text *out, gufo_error *error);

/* The same for a sentence: nothing is escaped.  False without memory. */
bool service_text(const address *a, const char *pattern, const char *endpoint, gufo_text *out);

/* Where a service is. */
const char *service_endpoint(const place_service *service, const gufo_remote_options *options);

/* The revision that is meant: that of the address, or the usual one. */
const char *service_revision(const address *a);

#endif
