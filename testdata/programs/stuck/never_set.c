// Nobody sets the flag.
#include "../spin/rest.h"
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;
static void *waiter(void *arg) { while (!atomic_load(&flag)) rest(); return arg; }
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, waiter, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}
