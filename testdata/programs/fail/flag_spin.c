// heddle: A producer raises the flag before it writes the record, and a consumer that spins on the flag may read an empty record.
// kind: assertion
// finding: length > 0
// minimum: switches=2 preemptions=1
// why: The consumer reads after the producer raised the flag and before it wrote the length, so
//   the producer runs first, is left in the middle, and main ran before both. The producer is
//   left before a plain store, where it is enabled.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

static struct record {
  char text[48];
  size_t length;
} record;

// Volatile, or the load leaves the loop: the compiler knows that sched_yield does not call back.
static volatile int ready;

static void *producer(void *arg) {
  ready = 1;
  memcpy(record.text, arg, strlen(arg));
  record.length = strlen(arg);
  return NULL;
}

static void *consumer(void *arg) {
  (void)arg;
  while (!ready) sched_yield();
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
// cause: record: record.length = strlen(arg) | length = record.length
