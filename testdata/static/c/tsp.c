// The shortest tour through some cities by branch and bound: four workers take beginnings
// of tours from a common stack, and share the length of the best tour so far.
#include <assert.h>
#include <pthread.h>

#ifndef CITIES
#define CITIES 8
#endif
enum { WORKERS = 4, NONE = 1 << 30 };

static int dist[CITIES][CITIES];
static volatile int best = NONE; // written under best_lock, read without: an old bound costs only time
static pthread_mutex_t best_lock = PTHREAD_MUTEX_INITIALIZER;
static int stack[CITIES], depth; // second cities, guarded by stack_lock
static pthread_mutex_t stack_lock = PTHREAD_MUTEX_INITIALIZER;

static void search(const int *tour, int n, int length) {
  if (length >= best) return;
  int here = tour[n - 1];
  if (n == CITIES) {
    length += dist[here][0];
    pthread_mutex_lock(&best_lock);
    if (length < best) best = length;
    pthread_mutex_unlock(&best_lock);
    return;
  }
  int longer[CITIES];
  for (int i = 0; i < n; i++) longer[i] = tour[i];
  for (int c = 0; c < CITIES; c++) {
    int seen = 0;
    for (int i = 0; i < n; i++) seen |= tour[i] == c;
    if (seen) continue;
    longer[n] = c;
    search(longer, n + 1, length + dist[here][c]);
  }
}

static void *worker(void *arg) {
  (void)arg;
  for (;;) {
    int tour[2] = { 0, 0 };
    pthread_mutex_lock(&stack_lock);
    if (depth > 0) tour[1] = stack[--depth];
    pthread_mutex_unlock(&stack_lock);
    if (!tour[1]) return 0;
    search(tour, 2, dist[0][tour[1]]);
  }
}

int main(void) {
  for (int i = 0; i < CITIES; i++)
    for (int j = 0; j < CITIES; j++) dist[i][j] = (i * 7 + j * 13) % 29 + (j * 7 + i * 13) % 29 + 1;
  for (int c = 1; c < CITIES; c++) stack[depth++] = c;
  pthread_t t[WORKERS];
  for (int i = 0; i < WORKERS; i++) pthread_create(&t[i], 0, worker, 0);
  for (int i = 0; i < WORKERS; i++) pthread_join(t[i], 0);
  assert(best < NONE);
  return 0;
}
