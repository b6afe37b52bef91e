/* The pager is a child process that reads from a pipe, which takes the place of standard output
 * (and of standard error, if that is the same terminal); or, once the work is done, from a temporary
 * file, which took that place while a progress bar needed the terminal.  Its command line comes from the
 * environment and from nowhere else: nothing that a file says gets near a shell. */
#include "cli/inspect/pager.h"

#include "cli/core/terminal/report.h"
#include "cli/core/terminal/stdout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usual[] = "less";

/* The command of the pager; NULL: none.  Empty and "cat" mean none, as for git. */
static const char *find_command(void)
{
    const char *command = getenv("GUFO_PAGER"), *terminal = getenv("TERM");

    if (command == NULL)
        command = getenv("PAGER");
    if (command != NULL)
        return *command != '\0' && strcmp(command, "cat") != 0 ? command : NULL;
    return terminal != NULL && strcmp(terminal, "dumb") != 0 ? usual : NULL;
}

/* In the child.  The descriptor `failed` is closed when the program starts. */
static void run(const pager *p, int input, int failed)
{
    const char *command = p->command;

    dup2(input, STDIN_FILENO);
    sigaction(SIGINT, &p->interrupt, NULL);
    /* less ends if one screen is enough, shows colours, and leaves its text on the screen. */
    setenv("LESS", "FRX", 0);
    setenv("LV", "-c", 0);
    if (command == usual)
        execlp(usual, usual, (char *)NULL);
    else
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    (void)!write(failed, "", 1);
    _exit(127);
}

static void set_close_on_exec(const int ends[2])
{
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
}

/* The process, once the program has started; -1 if it cannot. */
static pid_t start(const pager *p, int input)
{
    int failed[2];
    pid_t process;
    char byte;

    if (pipe(failed) != 0)
        return -1;
    set_close_on_exec(failed);
    process = fork();
    if (process == 0)
        run(p, input, failed[1]);
    close(failed[1]);
    if (process > 0 && read(failed[0], &byte, 1) == 1) {
        (void)waitpid(process, NULL, 0);
        process = -1;
    }
    close(failed[0]);
    return process;
}

/* Puts `output` in the place of `standard`; the copy of what was there. */
static int redirect(int standard, int output)
{
    int before = fcntl(standard, F_DUPFD_CLOEXEC, 3);

    if (before >= 0)
        (void)dup2(output, standard);
    return before;
}

/* Whether there is one to start. */
static bool prepare(pager *p, bool wanted)
{
    *p = (pager){.terminal = -1, .errors = -1, .command = find_command()};
    return wanted && stdout_is_terminal() && p->command != NULL;
}

static void take_output(pager *p, int output)
{
    setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
    p->terminal = redirect(STDOUT_FILENO, output);
}

/* An interrupt is for the pager, which decides what to do. */
static bool start_uninterrupted(pager *p, int input)
{
    sigaction(SIGINT, &(struct sigaction){.sa_handler = SIG_IGN}, &p->interrupt);
    p->process = start(p, input);
    if (p->process < 0)
        sigaction(SIGINT, &p->interrupt, NULL);
    return p->process > 0;
}

void pager_start(pager *p, bool wanted)
{
    int ends[2];

    if (!prepare(p, wanted) || pipe(ends) != 0)
        return;
    set_close_on_exec(ends);
    if (start_uninterrupted(p, ends[0])) {
        take_output(p, ends[1]);
        if (isatty(STDERR_FILENO))
            p->errors = redirect(STDERR_FILENO, ends[1]);
    }
    close(ends[0]);
    close(ends[1]);
}

void pager_start_late(pager *p, bool wanted)
{
    if (prepare(p, wanted))
        p->kept = tmpfile();
    if (p->kept != NULL)
        take_output(p, fileno(p->kept));
}

enum { NOT_FOUND = 127 }; /* the shell's status */

static int wait_for(const pager *p)
{
    int status = 0;

    while (waitpid(p->process, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/* Shows what was kept, with cat if the pager is missing.  Returns the status of the pager. */
static int show_kept(pager *p)
{
    int kept = fileno(p->kept), status = 0;
    bool is_empty = lseek(kept, 0, SEEK_CUR) == 0, started;

    (void)lseek(kept, 0, SEEK_SET);
    started = !is_empty && start_uninterrupted(p, kept);
    status = started ? wait_for(p) : 0;
    if (!is_empty && (!started || status == NOT_FOUND)) {
        const char *missing = p->command;

        if (started)
            sigaction(SIGINT, &p->interrupt, NULL);
        (void)lseek(kept, 0, SEEK_SET);
        p->command = "cat";
        if (start_uninterrupted(p, kept))
            (void)wait_for(p);
        p->command = missing;
    }
    fclose(p->kept);
    return status;
}

static void give_back(int standard, int before)
{
    if (before < 0)
        return;
    (void)dup2(before, standard);
    close(before);
}

int pager_end(pager *p, int code)
{
    int status;

    if (p->terminal < 0)
        return code;
    fflush(stdout);
    fflush(stderr);
    give_back(STDOUT_FILENO, p->terminal);
    give_back(STDERR_FILENO, p->errors);
    status = p->kept != NULL ? show_kept(p) : wait_for(p);
    if (status != NOT_FOUND)
        return code;
    report_message(NULL, "cannot run the pager '%s'; --no-pager shows the output without one",
                   p->command);
    return worst_code(code, CODE_FAILED);
}
