/* Loads a model as an inference program does: maps it, and hands its tensors to threads, which
 * copy the bytes to where the program computes with them. Here the threads only add them up.
 *
 *     load_tensors FILE.gguf [THREADS] */
#include <gufo.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 64, PIECE = 1 << 20 };

/* The state that all threads share.  A model may be read from any number of threads. */
typedef struct loading {
    const gufo_model *model;
    pthread_mutex_t lock;
    uint64_t next, bytes, checksum;
    bool failed;
    gufo_error error;
} loading;

static uint64_t add_up(const unsigned char *bytes, size_t size)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < size; i++)
        sum += bytes[i];
    return sum;
}

/* The mapping needs no copy, but an I/O error in it is a signal (SIGBUS).  Where nothing is mapped,
 * or a program wants errors, it reads. */
static gufo_status load(const gufo_model *model, const gufo_tensor *tensor, void *piece,
                        uint64_t *sum, gufo_error *error)
{
    const unsigned char *mapped = gufo_tensor_raw(model, tensor);
    gufo_status status = GUFO_OK;

    for (uint64_t at = 0; at < tensor->size && status == GUFO_OK; at += PIECE) {
        uint64_t rest = tensor->size - at;
        size_t size = rest < PIECE ? (size_t)rest : PIECE;

        if (mapped == NULL)
            status = gufo_tensor_read_raw(model, tensor, at, piece, size, error);
        if (status == GUFO_OK)
            *sum += add_up(mapped != NULL ? mapped + at : piece, size);
    }
    return status;
}

/* Takes one tensor after another until none is left. */
static void *work(void *argument)
{
    loading *l = argument;
    void *piece = malloc(PIECE);
    gufo_status status = piece != NULL ? GUFO_OK : GUFO_E_MEMORY;
    gufo_error error = {.code = status};
    gufo_tensor tensor;

    for (;;) {
        uint64_t index, sum = 0;

        pthread_mutex_lock(&l->lock);
        index = l->failed ? UINT64_MAX : l->next++;
        pthread_mutex_unlock(&l->lock);
        if (!gufo_model_tensor_at(l->model, index, &tensor))
            break;
        if (status == GUFO_OK)
            status = load(l->model, &tensor, piece, &sum, &error);
        pthread_mutex_lock(&l->lock);
        if (status != GUFO_OK && !l->failed) {
            l->failed = true;
            l->error = error;
        }
        l->bytes += tensor.size;
        l->checksum += sum;
        pthread_mutex_unlock(&l->lock);
    }
    free(piece);
    return NULL;
}

int main(int argc, char **argv)
{
    int wanted = argc > 2 ? atoi(argv[2]) : 4;
    loading l = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[MOST_THREADS];
    gufo_error error;
    int started = 0;
    gufo_model *model = gufo_model_open(argc > 1 ? argv[1] : "", NULL, &error);

    if (model == NULL)
        return fprintf(stderr, "%s: %s\n", error.file, error.message), 1;
    l.model = model;
    while (started < wanted && started < MOST_THREADS &&
           pthread_create(&threads[started], NULL, work, &l) == 0)
        started++;
    work(&l);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    if (l.failed)
        fprintf(stderr, "%s: %s\n", l.error.file, l.error.message);
    else
        printf("%" PRIu64 " tensors, %" PRIu64 " bytes, which add up to %" PRIu64 "\n",
               gufo_model_tensor_count(model), l.bytes, l.checksum);
    gufo_model_free(model);
    return l.failed;
}
