// heddle: Two threads write a counter, both under the reading lock of a GRWLock.
// kind: assertion
// finding: guarded == 2
// flags: -I/usr/include/glib-2.0 -I/usr/lib/x86_64-linux-gnu/glib-2.0/include -lglib-2.0
#include <assert.h>
#include <glib.h>
#include <pthread.h>

static gint word;
static gpointer pointer;
static GRWLock rw;
static int counter, pointed, guarded;

static void *work(void *arg) {
  g_bit_lock(&word, 9);
  counter++;
  g_bit_unlock(&word, 9);
  g_pointer_bit_lock(&pointer, 0);
  pointed++;
  g_pointer_bit_unlock(&pointer, 0);
  g_rw_lock_reader_lock(&rw);
  int seen = guarded;
  g_rw_lock_reader_unlock(&rw);
  g_rw_lock_reader_lock(&rw);
  guarded++;
  g_rw_lock_reader_unlock(&rw);
  return seen > 2 ? arg : NULL;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  assert(counter == 2 && pointed == 2 && guarded == 2);
  return 0;
}
