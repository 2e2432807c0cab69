// heddle: A lock in a library without access hooks guards a counter; annotations say what it orders.
// kind: clean
#include <assert.h>
#include <pthread.h>

void own_lock(void), own_unlock(void);
void __tsan_mutex_post_lock(void *mutex, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *mutex, unsigned flags);

static int counter;
static char mutex[2];

static void *work(void *arg) {
  own_lock();
  __tsan_mutex_post_lock(mutex, 0, 0);
  counter++;
  __tsan_mutex_pre_unlock(mutex, 0);
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
