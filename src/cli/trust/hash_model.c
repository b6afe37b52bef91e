/* What may go wrong when models are hashed. */
#include "cli/trust/hash.h"

#include "cli/core/report.h"

int hash_report(const input *in, const gufo_error *error)
{
    report_error(in->path, error);
    return error->code == GUFO_E_TYPE ? CODE_USAGE : CODE_FAILED;
}

int hash_check_algorithms(uint32_t algorithms)
{
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++) {
        const gufo_digest_kind *kind = gufo_digest_kind_of((gufo_digest_algorithm)i);

        if ((algorithms >> i & 1) != 0 && !gufo_digest_available((gufo_digest_algorithm)i))
            return report_as(
                CODE_USAGE, NULL,
                "%s is not available: this gufo was built without %s (Debian package %s)",
                kind->name, kind->library, kind->package);
    }
    return CODE_OK;
}

int hash_check_signatures(void)
{
    if (gufo_signature_available())
        return CODE_OK;
    return report_as(CODE_USAGE, NULL,
                     "signatures are not available: this gufo was built without libsodium (Debian "
                     "package libsodium-dev)");
}
