// heddle: A cache looks a key's slot up under one lock and reads the slot under another; in between the slot can be given to another key.
// kind: assertion
// finding: slots[slot].key == key
// minimum: switches=3 preemptions=1
// why: The reader finds the slot before the evictor changes the index and reads the slot after
//   the evictor has overwritten it: reader, evictor, reader, with main before them. Between the
//   two locks the reader is not blocked; the evictor can run to its end.
#include <assert.h>
#include <pthread.h>
#include <string.h>

#define SLOTS 4
#define KEYS 8

struct slot {
  int key;
  char text[28];
};

static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static signed char slot_of_key[KEYS];
static struct slot slots[SLOTS];

static void place(int key, int slot, const char *text) {
  slot_of_key[key] = (signed char)slot;
  memset(&slots[slot], 0, sizeof slots[slot]);
  slots[slot].key = key;
  strncpy(slots[slot].text, text, sizeof slots[slot].text - 1);
}

static int look_up(int key, char *text, size_t size) {
  pthread_mutex_lock(&index_lock);
  int slot = slot_of_key[key];
  pthread_mutex_unlock(&index_lock);
  if (slot < 0) return 0;
  pthread_mutex_lock(&slots_lock);
  assert(slots[slot].key == key);
  memcpy(text, slots[slot].text, size);
  pthread_mutex_unlock(&slots_lock);
  return 1;
}

static void replace(int old_key, int key, const char *text) {
  pthread_mutex_lock(&index_lock);
  pthread_mutex_lock(&slots_lock);
  int slot = slot_of_key[old_key];
  slot_of_key[old_key] = -1;
  place(key, slot, text);
  pthread_mutex_unlock(&slots_lock);
  pthread_mutex_unlock(&index_lock);
}

static void *reader(void *arg) {
  char text[28];
  (void)arg;
  if (look_up(3, text, sizeof text)) assert(strcmp(text, "three") == 0);
  return NULL;
}

static void *evictor(void *arg) {
  (void)arg;
  replace(3, 5, "five");
  return NULL;
}

int main(void) {
  pthread_t r, e;
  memset(slot_of_key, -1, sizeof slot_of_key);
  place(3, 1, "three");
  pthread_create(&r, NULL, reader, NULL);
  pthread_create(&e, NULL, evictor, NULL);
  pthread_join(r, NULL);
  pthread_join(e, NULL);
  return 0;
}
// cause: slots: slot = slot_of_key[key]
