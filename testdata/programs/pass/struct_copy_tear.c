// heddle: Two editors copy the settings out, change one field each and copy the whole struct back, under one lock.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static struct settings {
  int volume;
  int brightness;
  char name[248];
} settings;

// Only the used part of the name is copied. (A size that the compiler does not know also keeps
// it from copying with plain moves, which gcc does not instrument.)
static size_t settings_size;
static pthread_mutex_t settings_lock = PTHREAD_MUTEX_INITIALIZER;

static void *set_volume(void *arg) {
  struct settings copy;
  pthread_mutex_lock(&settings_lock);
  memcpy(&copy, &settings, settings_size);
  copy.volume = *(const int *)arg;
  memcpy(&settings, &copy, settings_size);
  pthread_mutex_unlock(&settings_lock);
  return NULL;
}

static void *set_brightness(void *arg) {
  struct settings copy;
  pthread_mutex_lock(&settings_lock);
  memcpy(&copy, &settings, settings_size);
  copy.brightness = *(const int *)arg;
  memcpy(&settings, &copy, settings_size);
  pthread_mutex_unlock(&settings_lock);
  return NULL;
}

int main(void) {
  static int loud = 7, dark = 2;
  pthread_t v, b;
  strcpy(settings.name, "living room");
  settings_size = offsetof(struct settings, name) + strlen(settings.name) + 1;
  pthread_create(&v, NULL, set_volume, &loud);
  pthread_create(&b, NULL, set_brightness, &dark);
  pthread_join(v, NULL);
  pthread_join(b, NULL);
  assert(settings.volume == 7 && settings.brightness == 2);
  return 0;
}
