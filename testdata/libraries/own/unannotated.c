// heddle: A lock in a library without access hooks guards a counter; nothing says what it orders.
// kind: clean
#include <assert.h>
#include <pthread.h>

void own_lock(void), own_unlock(void);

static int counter;

static void *work(void *arg) {
  own_lock();
  counter++;
  own_unlock();
  return arg;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  assert(counter == 2);
  return 0;
}
