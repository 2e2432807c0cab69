// heddle: A producer writes the record, then raises an atomic flag, on which a consumer spins before it reads.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

static struct record {
  char text[48];
  size_t length;
} record;
static atomic_bool ready;

static void *producer(void *arg) {
  memcpy(record.text, arg, strlen(arg));
  record.length = strlen(arg);
  atomic_store_explicit(&ready, 1, memory_order_release);
  return NULL;
}

static void *consumer(void *arg) {
  (void)arg;
  while (!atomic_load_explicit(&ready, memory_order_acquire)) sched_yield();
  size_t length = record.length;
  assert(length > 0);
  return NULL;
}

int main(void) {
  static char text[] = "temperature=21";
  pthread_t p, c;
  pthread_create(&p, NULL, producer, text);
  pthread_create(&c, NULL, consumer, NULL);
  pthread_join(p, NULL);
  pthread_join(c, NULL);
  return 0;
}
