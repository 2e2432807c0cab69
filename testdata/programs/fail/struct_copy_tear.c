// heddle: Two editors copy the settings out with memcpy, change one field each and copy the whole struct back, so one change is undone.
// kind: assertion
// finding: settings.volume == 7
// minimum: switches=4 preemptions=1
// why: A change is undone only if one editor copies out before the other one copies back, and
//   copies back after it: editor, editor, editor, with main before (creation) and after (the
//   assertion, behind both joins). The first editor is left between two copies, where it is
//   enabled.
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

static void *set_volume(void *arg) {
  struct settings copy;
  memcpy(&copy, &settings, settings_size);
  copy.volume = *(const int *)arg;
  memcpy(&settings, &copy, settings_size);
  return NULL;
}

static void *set_brightness(void *arg) {
  struct settings copy;
  memcpy(&copy, &settings, settings_size);
  copy.brightness = *(const int *)arg;
  memcpy(&settings, &copy, settings_size);
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
// cause: settings: memcpy(&copy, &settings, settings_size) | memcpy(&settings, &copy, settings_size)
