// heddle: The first reader keeps the count locked while it waits for the room, so the second one waits behind it.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t room;
static sem_t count_lock;
static int readers;
static int celsius = 0, kelvin = 273;

static void enter_as_reader(void) {
  sem_wait(&count_lock);
  if (++readers == 1) sem_wait(&room);
  sem_post(&count_lock);
}

static void leave_as_reader(void) {
  sem_wait(&count_lock);
  if (--readers == 0) sem_post(&room);
  sem_post(&count_lock);
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
