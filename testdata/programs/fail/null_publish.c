// heddle: A driver is marked as registered before its operations are filled in, and a user of the device calls through the empty pointer.
// kind: signal
// finding: SIGSEGV
// minimum: switches=2 preemptions=1
// why: The user sees the mark and not yet the operations, so the driver's thread runs first and is
//   left between its unlock and its store, where it is enabled; main runs before both.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct operations {
  int (*block_size)(void);
};

static int disk_block_size(void) { return 4096; }

static const struct operations disk_operations = {disk_block_size};

static struct {
  pthread_mutex_t lock;
  int registered;
  const struct operations *operations;
} device = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *driver(void *arg) {
  (void)arg;
  pthread_mutex_lock(&device.lock);
  device.registered = 1;
  pthread_mutex_unlock(&device.lock);
  device.operations = &disk_operations;
  return NULL;
}

static void *user(void *arg) {
  (void)arg;
  pthread_mutex_lock(&device.lock);
  int registered = device.registered;
  pthread_mutex_unlock(&device.lock);
  if (registered) assert(device.operations->block_size() == 4096);
  return NULL;
}

int main(void) {
  pthread_t d, u;
  pthread_create(&d, NULL, driver, NULL);
  pthread_create(&u, NULL, user, NULL);
  pthread_join(d, NULL);
  pthread_join(u, NULL);
  return 0;
}
// cause: device.operations: device.operations = &disk_operations | device.operations->block_size()
