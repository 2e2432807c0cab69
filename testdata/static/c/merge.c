// Parallel merge sort: a thread for each part, down to a size; with main 18 threads.
#include <assert.h>
#include <pthread.h>

enum { N = 96 };

static int array[N], spare[N];
static int sorted; // parts, guarded by lock
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct part { int lo, hi, threads; };

static void sort(struct part p);

static void *start(void *arg) {
  sort(*(struct part *)arg);
  return 0;
}

static void sort(struct part p) {
  if (p.hi - p.lo < 2) return;
  int mid = (p.lo + p.hi) / 2;
  struct part left = { p.lo, mid, p.threads / 2 }, right = { mid, p.hi, p.threads - p.threads / 2 };
  if (p.threads > 1) {
    pthread_t l, r;
    pthread_create(&l, 0, start, &left);
    pthread_create(&r, 0, start, &right);
    pthread_join(l, 0);
    pthread_join(r, 0);
  } else {
    left.threads = right.threads = 1;
    sort(left);
    sort(right);
  }
  int i = p.lo, j = mid;
  for (int k = p.lo; k < p.hi; k++)
    spare[k] = j == p.hi || (i < mid && array[i] <= array[j]) ? array[i++] : array[j++];
  for (int k = p.lo; k < p.hi; k++) array[k] = spare[k];
  if (p.threads > 1) {
    pthread_mutex_lock(&lock);
    sorted++;
    pthread_mutex_unlock(&lock);
  }
}

int main(void) {
  unsigned x = 12345;
  for (int i = 0; i < N; i++) {
    x = x * 1103515245u + 12345u;
    array[i] = (int)(x >> 8) % 1000;
  }
  struct part whole = { 0, N, 9 };
  pthread_t t;
  pthread_create(&t, 0, start, &whole);
  pthread_join(t, 0);
  for (int i = 1; i < N; i++) assert(array[i - 1] <= array[i]);
  return 0;
}
