// heddle: parallel quicksort: a thread creates a thread for the left part, with a task that it
//   allocates, and sorts the right part itself. The tree of threads depends on the data only.
// kind: clean
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 24, SMALL = 5 };

struct task { int *from, *to; };

static void *sort(void *arg) {
  struct task t = *(struct task *)arg;
  free(arg);
  if (t.to - t.from < SMALL) {
    for (int *p = t.from + 1; p < t.to; p++)
      for (int *q = p; q > t.from && q[-1] > *q; q--) {
        int x = *q;
        *q = q[-1];
        q[-1] = x;
      }
    return NULL;
  }
  int pivot = t.from[(t.to - t.from) / 2], *i = t.from, *j = t.to - 1;
  for (;;) {
    while (*i < pivot) i++;
    while (*j > pivot) j--;
    if (i >= j) break;
    int x = *i;
    *i++ = *j;
    *j-- = x;
  }
  struct task *left = malloc(sizeof *left), *right = malloc(sizeof *right);
  *left = (struct task){ t.from, i };
  *right = (struct task){ i, t.to };
  pthread_t thread;
  pthread_create(&thread, NULL, sort, left);
  sort(right);
  pthread_join(thread, NULL);
  return NULL;
}

int main(void) {
  int *numbers = malloc(N * sizeof *numbers);
  for (int i = 0; i < N; i++) numbers[i] = i * 37 % 101;
  struct task *all = malloc(sizeof *all);
  *all = (struct task){ numbers, numbers + N };
  sort(all);
  for (int i = 1; i < N; i++)
    if (numbers[i - 1] > numbers[i]) return 1;
  printf("%d %d\n", numbers[0], numbers[N - 1]);
  free(numbers);
  return 0;
}
