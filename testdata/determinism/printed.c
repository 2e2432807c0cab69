// heddle: Two threads print under a lock, and the schedule decides who does so first.
// kind: clean
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *name) {
  pthread_mutex_lock(&lock);
  printf("worker %s\n", (const char *)name);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  puts("workers"); // allocates the buffer
  pthread_create(&a, NULL, work, "a");
  pthread_create(&b, NULL, work, "b");
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return 0;
}
