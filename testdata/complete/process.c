// A thread changes the process's umask (UMASK) or working directory (CHDIR), on which another may depend,
// or with neither only main does, while it is alone. The calls are not scheduling points: with UMASK and
// CHDIR no search is complete.
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void *change(void *arg) {
  (void)arg;
#if defined UMASK
  umask(077);
#elif defined CHDIR
  if (chdir("/")) perror("chdir");
#endif
  return NULL;
}

int main(void) {
  umask(022);
  if (chdir(".")) perror("chdir");
  pthread_t a;
  pthread_create(&a, NULL, change, NULL);
  pthread_join(a, NULL);
  umask(022);
  return 0;
}
