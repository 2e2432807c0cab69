// heddle: A thread writes a digit of a text under a lock, and another reads the number there.
// kind: clean
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char text[8] = "1";
static int number;

static void *writes(void *arg) {
  pthread_mutex_lock(&lock);
  text[0] = '5';
  pthread_mutex_unlock(&lock);
  return arg;
}

static void *reads(void *arg) {
  pthread_mutex_lock(&lock);
  number = atoi(text);
  pthread_mutex_unlock(&lock);
  return arg;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, writes, NULL);
  pthread_create(&b, NULL, reads, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  printf("%d\n", number);
  return 0;
}
