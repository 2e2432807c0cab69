// heddle: Workers sum slices of an array into blocks of their own; main joins each and adds its sum.
//   Holds: a lock that all workers take guards nothing that two of them share.
// kind: clean
#include <pthread.h>
#include <stdlib.h>

enum { WORKERS = 4, SLICE = 16 };
static int input[WORKERS * SLICE];
static long *part[WORKERS];
static int finished[WORKERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
  long n = (long)arg;
  long *sum = malloc(sizeof *sum);
  *sum = 0;
  for (long i = n * SLICE; i < (n + 1) * SLICE; i++) *sum += 2 * input[i];
  part[n] = sum;
  pthread_mutex_lock(&lock);
  finished[n] = 1;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t t[WORKERS];
  for (int i = 0; i < WORKERS * SLICE; i++) input[i] = i;
  for (long i = 0; i < WORKERS; i++) pthread_create(&t[i], NULL, work, (void *)i);
  long sum = 0;
  for (int i = 0; i < WORKERS; i++) {
    pthread_join(t[i], NULL);
    sum += *part[i];
    free(part[i]);
  }
  return sum != 4032;
}
