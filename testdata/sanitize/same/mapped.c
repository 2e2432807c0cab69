// heddle: threads map memory, use thread-local variables through pointers, and copy structures that
//   hold pointers: none of it lies at the same address in every schedule.
// kind: clean
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS = 3, SIZE = 1 << 14 };

struct record { int *local; int *mapped; char name[24]; };

static __thread int counter;
static struct record records[THREADS];

static void *work(void *arg) {
  int id = *(int *)arg;
  int *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i <= id; i++) map[i] = i;
  int *p = &counter;
  for (int i = 0; i <= id; i++) *p += map[i];
  struct record r = { p, map + 1, "" };
  snprintf(r.name, sizeof r.name, "thread %d", id);
  memcpy(&records[id], &r, sizeof r);
  records[id].local = NULL;
  *(int *)arg = *p;
  munmap(map, SIZE);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  int ids[THREADS];
  for (int t = 0; t < THREADS; t++) ids[t] = t;
  for (int t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, work, &ids[t]);
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  for (int t = 0; t < THREADS; t++) counter += ids[t];
  printf("%d %s\n", counter, records[0].name);
  return 0;
}
