/* The memory of this machine, as Linux and its drivers report it. */
#ifndef CLI_CORE_MACHINE_MACHINE_H
#define CLI_CORE_MACHINE_MACHINE_H

#include "gufo/estimate.h"

typedef struct machine_device {
    char name[64];
    uint64_t total, free; /* bytes */
} machine_device;

typedef struct machine {
    uint64_t total, available; /* of the host, in bytes; 0: not known */
    bool is_limited;           /* by a control group */
    machine_device devices[GUFO_ESTIMATE_MAX_DEVICES];
    uint32_t device_count;
    char unknown[256]; /* devices whose memory nobody reports; "": none */
    bool is_asked;     /* and of which nvidia-smi says so */
} machine;

/* Looks into ROOT/proc and ROOT/sys ("" for this machine), and asks nvidia-smi, if it is in PATH. */
void machine_look(const char *root, machine *out);

/* Runs a program of PATH without a shell, with nothing to read, for at most five seconds, and stores what
 * it prints as text; false if there is none, it fails, takes longer, or prints more. */
bool machine_ask(const char *const *words, char *answer, size_t size);

#endif
