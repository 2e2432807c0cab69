// heddle: A pipeline of three stages passes chunks through two queues; a worker tests for the end of its input without looking at the queue again, so the last chunk can be lost.
// kind: assertion
// finding: main
#include <assert.h>
#include <pthread.h>

#define CHUNKS 10
#define WORKERS 3

struct queue {
  pthread_mutex_t lock;
  pthread_cond_t filled;
  int items[CHUNKS + 1], n, taken;
  int ended;
};

static struct queue raw = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};
static struct queue done = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};
static long total;

static void put(struct queue *q, int item) {
  pthread_mutex_lock(&q->lock);
  q->items[q->n++] = item;
  pthread_cond_signal(&q->filled);
  pthread_mutex_unlock(&q->lock);
}

static void end(struct queue *q) {
  pthread_mutex_lock(&q->lock);
  q->ended = 1;
  pthread_cond_broadcast(&q->filled);
  pthread_mutex_unlock(&q->lock);
}

/* Returns the number of items that are there, after waiting for one or for the end. */
static int wait_for(struct queue *q) {
  pthread_mutex_lock(&q->lock);
  while (q->n == q->taken && !q->ended) pthread_cond_wait(&q->filled, &q->lock);
  int n = q->n - q->taken;
  pthread_mutex_unlock(&q->lock);
  return n;
}

static int has_ended(struct queue *q) {
  pthread_mutex_lock(&q->lock);
  int ended = q->ended;
  pthread_mutex_unlock(&q->lock);
  return ended;
}

static int take(struct queue *q) {
  int item = 0;
  pthread_mutex_lock(&q->lock);
  if (q->taken < q->n) item = q->items[q->taken++];
  pthread_mutex_unlock(&q->lock);
  return item;
}

static void *compress(void *arg) {
  (void)arg;
  for (;;) {
    if (wait_for(&raw) == 0 && has_ended(&raw)) return NULL;
    int item = take(&raw);
    if (item) {
      put(&done, item);
    } else if (has_ended(&raw)) {
      return NULL;
    }
  }
}

static void *collect(void *arg) {
  (void)arg;
  for (;;) {
    int n = wait_for(&done);
    if (n == 0 || has_ended(&done)) return NULL; /* wrong: what is left is lost */
    for (; n > 0; n--) total += take(&done);
  }
}

int main(void) {
  pthread_t w[WORKERS], c;
  pthread_create(&c, NULL, collect, NULL);
  for (int i = 0; i < WORKERS; i++) pthread_create(&w[i], NULL, compress, NULL);
  for (int i = 1; i <= CHUNKS; i++) put(&raw, i);
  end(&raw);
  for (int i = 0; i < WORKERS; i++) pthread_join(w[i], NULL);
  end(&done);
  pthread_join(c, NULL);
  assert(total == CHUNKS * (CHUNKS + 1) / 2);
  return 0;
}
