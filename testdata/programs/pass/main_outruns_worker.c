// heddle: main waits on a condition variable until the detached writer says that everything is saved.
// kind: clean
#include <assert.h>
#include <pthread.h>

#define DOCUMENTS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t progress = PTHREAD_COND_INITIALIZER;
static int saved;

static void *writer(void *arg) {
  (void)arg;
  for (int i = 0; i < DOCUMENTS; i++) {
    pthread_mutex_lock(&lock);
    saved = i + 1;
    pthread_cond_signal(&progress);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  pthread_t w;
  pthread_create(&w, NULL, writer, NULL);
  pthread_detach(w);
  pthread_mutex_lock(&lock);
  while (saved != DOCUMENTS) pthread_cond_wait(&progress, &lock);
  pthread_mutex_unlock(&lock);
  // The writer may still have to unlock; the memory it uses is static and outlives main.
  return 0;
}
