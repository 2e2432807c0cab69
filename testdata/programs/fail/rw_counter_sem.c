// heddle: The first reader waits for the room on behalf of all, but releases the count while it waits; the second reader then enters while the writer writes.
// kind: assertion
// finding: celsius + 273 == kelvin
// minimum: switches=3 preemptions=1
// why: The reader that fails reads while the writer is between its two stores, and skips the
//   semaphore because another reader has counted before: writer, other reader, reader, and main
//   first. The writer is left in the room, where nothing blocks it. The other reader can run
//   until it blocks on the room; main waits in its join.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t room;
static sem_t count_lock;
static int readers;
static int celsius = 0, kelvin = 273;

static void enter_as_reader(void) {
  sem_wait(&count_lock);
  int first = ++readers == 1;
  sem_post(&count_lock);
  if (first) sem_wait(&room);
}

static void leave_as_reader(void) {
  sem_wait(&count_lock);
  int last = --readers == 0;
  sem_post(&count_lock);
  if (last) sem_post(&room);
}

static void *reader(void *arg) {
  (void)arg;
  enter_as_reader();
  assert(celsius + 273 == kelvin);
  leave_as_reader();
  return NULL;
}

static void *writer(void *arg) {
  (void)arg;
  sem_wait(&room);
  celsius = 21;
  kelvin = 294;
  sem_post(&room);
  return NULL;
}

int main(void) {
  pthread_t w, r[2];
  sem_init(&room, 0, 1);
  sem_init(&count_lock, 0, 1);
  pthread_create(&w, NULL, writer, NULL);
  for (int i = 0; i < 2; i++) pthread_create(&r[i], NULL, reader, NULL);
  pthread_join(w, NULL);
  for (int i = 0; i < 2; i++) pthread_join(r[i], NULL);
  sem_destroy(&count_lock);
  sem_destroy(&room);
  return 0;
}
// cause: readers: first = ++readers == 1
