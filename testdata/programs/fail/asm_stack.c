// heddle: Two producers push to a stack of inline assembly. What the compare-and-swap expects is read again right before it, so it
//   succeeds though the node lies on what was the top before.
// kind: assertion
// finding: top->below != NULL
// minimum: switches=4 preemptions=1
// why: One producer is left between its two looks at the top while the other pushes.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct node {
  struct node *below;
};
static struct node *top;

static int swap(struct node **place, struct node *expected, struct node *n) {
  unsigned char done;
  __asm__ volatile("lock; cmpxchgq %3, %0; sete %1" : "+m"(*place), "=q"(done), "+a"(expected) : "r"(n) : "memory", "cc");
  return done;
}

static struct node *look(void) {
  struct node *n;
  __asm__ volatile("movq %1, %0" : "=r"(n) : "m"(top) : "memory");
  return n;
}

static void *producer(void *arg) {
  struct node *n = arg;
  do n->below = look();
  while (!swap(&top, look(), n));
  return NULL;
}

int main(void) {
  struct node nodes[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, producer, &nodes[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert(top->below != NULL);
}
// cause: top: movq %1, %0 | lock; cmpxchgq
