// heddle: A thread is joined again after twenty others have been created and have ended: its identifier has not been reused yet.
// kind: misuse
#include <pthread.h>
#include <stddef.h>

static void *work(void *arg) { return arg; }

int main(void) {
  pthread_t first, other;
  pthread_create(&first, NULL, work, NULL);
  pthread_join(first, NULL);
  for (int i = 0; i < 20; i++) {
    pthread_create(&other, NULL, work, NULL);
    if (i < 19) pthread_join(other, NULL);
  }
  pthread_join(first, NULL);
  pthread_join(other, NULL);
  return 0;
}
// cause: none
