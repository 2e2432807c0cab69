// heddle: A singleton is created by pthread_once, which returns in no thread before it is complete.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct config {
  int limit;
  int retries;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct config *shared;

static void make_config(void) {
  shared = calloc(1, sizeof *shared);
  shared->retries = abs(-3);
  shared->limit = 64;
}

static struct config *get_config(void) {
  pthread_once(&once, make_config);
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
