/* A separate program that opens a model on another machine: here nobody listens. */
#include <gufo/remote.h>
#include <stdio.h>

int main(void)
{
    gufo_error error;
    gufo_remote *remote = gufo_remote_new(NULL, &error);

    if (remote == NULL)
        return 1;
    printf("remote: a client\n");
    gufo_remote_free(remote);
    return 0;
}
