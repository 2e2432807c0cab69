// heddle: Entries are published by compare-and-swap of a pointer and its generation, sixteen bytes of inline assembly.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct versioned {
  struct entry *first;
  uint64_t generation;
} __attribute__((aligned(16)));

struct entry {
  struct entry *next;
  int value;
};

static struct versioned list;
static struct entry entries[2];

static int swap(struct versioned *place, struct versioned *expected, struct versioned *new) {
  unsigned char done;
  __asm__ volatile("movq 0(%4), %%rax; movq 8(%4), %%rdx; lock; cmpxchg16b %0; setz %1"
                   : "+m"(*place), "=q"(done)
                   : "b"(new->first), "c"(new->generation), "r"(expected)
                   : "memory", "cc", "%rax", "%rdx");
  return done;
}

#define LOAD(to, from) __asm__ volatile("movq %1, %0" : "=r"(to) : "m"(from) : "memory")

static void *producer(void *arg) {
  struct entry *e = arg;
  struct versioned seen, new;
  e->value = 7;
  do {
    LOAD(seen.generation, list.generation);
    LOAD(seen.first, list.first);
    e->next = seen.first;
    new.first = e;
    new.generation = seen.generation + 1;
  } while (!swap(&list, &seen, &new));
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, producer, &entries[i]);
  struct entry *e;
  LOAD(e, list.first);
  for (; e; e = e->next) assert(e->value == 7);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert(list.generation == 2);
}
