// heddle: The workers of a GThreadPool add to a counter under a GMutex, and wake main with a GCond.
// kind: clean
// flags: -I/usr/include/glib-2.0 -I/usr/lib/x86_64-linux-gnu/glib-2.0/include -lglib-2.0
#include <assert.h>
#include <glib.h>

static GMutex mutex;
static GCond changed;
static int counter;

static void work(gpointer data, gpointer pool) {
  (void)pool;
  g_mutex_lock(&mutex);
  counter += GPOINTER_TO_INT(data);
  g_cond_signal(&changed);
  g_mutex_unlock(&mutex);
}

int main(void) {
  GThreadPool *pool = g_thread_pool_new(work, NULL, 2, TRUE, NULL);
  g_thread_pool_push(pool, GINT_TO_POINTER(1), NULL);
  g_thread_pool_push(pool, GINT_TO_POINTER(2), NULL);
  g_mutex_lock(&mutex);
  while (counter < 3) g_cond_wait(&changed, &mutex);
  g_mutex_unlock(&mutex);
  g_thread_pool_free(pool, FALSE, TRUE);
  assert(counter == 3);
  return 0;
}
