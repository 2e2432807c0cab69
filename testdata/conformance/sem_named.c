// heddle: Semaphores with names: who gets which, what is refused and with what, and what lasts.
// kind: clean
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>
#include "say.h"

static char name[64]; // the kernel has one of each name for all processes

static void *posts(void *arg) {
  (void)arg;
  sem_t *s = sem_open(name, 0);
  SAY(s != SEM_FAILED);
  SAY(sem_post(s));
  SAY(sem_close(s));
  return NULL;
}

int main(void) {
  int v = -1;
  snprintf(name, sizeof name, "/heddle-conformance-%d", (int)getpid());
  char lengthy[NAME_MAX + 2];
  memset(lengthy, 'n', sizeof lengthy);
  lengthy[sizeof lengthy - 1] = 0;
  SAY(sem_open(name, 0) == SEM_FAILED);
  SAY(sem_open("", O_CREAT, 0600, 1) == SEM_FAILED);
  SAY(sem_open("/", O_CREAT, 0600, 1) == SEM_FAILED);
  SAY(sem_open("/a/b", O_CREAT, 0600, 1) == SEM_FAILED);
  SAY(sem_open(lengthy, O_CREAT, 0600, 1) == SEM_FAILED);
  SAY(sem_open(name, O_CREAT, 0600, SEM_VALUE_MAX + 1u) == SEM_FAILED);
  SAY(sem_unlink(name));
  SAY(sem_unlink("/a/b"));
  sem_t *s = sem_open(name, O_CREAT | O_EXCL, 0600, 2);
  SAY(s != SEM_FAILED);
  SAY(sem_open(name, O_CREAT | O_EXCL, 0600, 2) == SEM_FAILED);
  SAY(sem_open(name, O_CREAT, 0600, 9) == s);
  SAY(sem_getvalue(s, &v));
  SAY(v == 2);
  SAY(sem_wait(s));
  SAY(sem_trywait(s));
  SAY(sem_trywait(s));
  pthread_t t;
  pthread_create(&t, NULL, posts, NULL);
  pthread_join(t, NULL);
  SAY(sem_wait(s));
  SAY(sem_post(s));
  SAY(sem_close(s));
  SAY(sem_post(s));
  SAY(sem_close(s)); // the last
  s = sem_open(name, 0);
  SAY(s != SEM_FAILED);
  SAY(sem_getvalue(s, &v));
  SAY(v == 2);
  SAY(sem_unlink(name));
  SAY(sem_unlink(name));
  SAY(sem_post(s));
  sem_t *other = sem_open(name, O_CREAT, 0600, 5);
  SAY(other != s);
  SAY(sem_getvalue(s, &v));
  SAY(v == 3);
  SAY(sem_getvalue(other, &v));
  SAY(v == 5);
  SAY(sem_close(s));
  SAY(sem_close(other));
  SAY(sem_unlink(name));
  return 0;
}
