// heddle: A worker chooses by an address what it writes, as a hash table of pointers does.
//   Fails: at other addresses it writes another number.
// kind: clean
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int here;
static long chosen;

static void *work(void *arg) {
  chosen = (long)((uintptr_t)&here >> 12 & 0xff);
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  pthread_join(t, NULL);
  if (chosen < 0) printf("%ld\n", chosen);
  return 0;
}
