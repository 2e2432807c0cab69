// heddle: The workers of a GThreadPool add to a counter; one of two GMutexes guards it, and the other one.
// kind: assertion
// finding: counter == 2
// flags: -I/usr/include/glib-2.0 -I/usr/lib/x86_64-linux-gnu/glib-2.0/include -lglib-2.0
#include <assert.h>
#include <glib.h>

static GMutex mutex[2];
static int counter;

static void work(gpointer data, gpointer pool) {
  (void)pool;
  GMutex *m = &mutex[GPOINTER_TO_INT(data) - 1];
  g_mutex_lock(m);
  counter++;
  g_mutex_unlock(m);
}

int main(void) {
  GThreadPool *pool = g_thread_pool_new(work, NULL, 2, TRUE, NULL);
  g_thread_pool_push(pool, GINT_TO_POINTER(1), NULL);
  g_thread_pool_push(pool, GINT_TO_POINTER(2), NULL);
  g_thread_pool_free(pool, FALSE, TRUE);
  assert(counter == 2);
  return 0;
}
