// heddle: A singleton is published before it is filled, so the check outside the lock can hand out an empty one.
// kind: assertion
// finding: config->limit > 0
// minimum: switches=2 preemptions=1
// why: The thread that fails sees the pointer that the other one stored and not yet the limit
//   stored after it. So the other one runs first and is left between two plain stores, where it
//   is enabled; main runs before both.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct config {
  int limit;
  int retries;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct config *shared;

static struct config *get_config(void) {
  if (shared == NULL) {
    pthread_mutex_lock(&lock);
    if (shared == NULL) {
      shared = calloc(1, sizeof *shared);
      shared->retries = abs(-3);
      shared->limit = 64;
    }
    pthread_mutex_unlock(&lock);
  }
  return shared;
}

static void *client(void *arg) {
  const struct config *config = get_config();
  assert(config->limit > 0);
  *(int *)arg = config->limit;
  return NULL;
}

int main(void) {
  pthread_t clients[2];
  static int limits[2];
  for (int i = 0; i < 2; i++) pthread_create(&clients[i], NULL, client, &limits[i]);
  for (int i = 0; i < 2; i++) pthread_join(clients[i], NULL);
  assert(limits[0] == limits[1]);
  free(shared);
  return 0;
}
// cause: : shared->limit = 64 | config->limit > 0
