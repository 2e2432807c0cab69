// heddle: The semaphore that counts full frames starts at one instead of zero, so the encoder may take a frame that was never captured.
// kind: assertion
// finding: frame->captured
// minimum: switches=1 preemptions=0
// why: The encoder alone takes the first frame; main must have started it, and waits in its join.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#define FRAMES 2

struct frame {
  int captured;
  unsigned char pixels[64];
};

static struct frame frames[FRAMES];
static sem_t full;

static void *camera(void *arg) {
  (void)arg;
  for (int i = 0; i < FRAMES; i++) {
    memset(frames[i].pixels, 0x80 + i, sizeof frames[i].pixels);
    frames[i].captured = 1;
    sem_post(&full);
  }
  return NULL;
}

static void *encoder(void *arg) {
  (void)arg;
  for (int i = 0; i < FRAMES; i++) {
    sem_wait(&full);
    const struct frame *frame = &frames[i];
    assert(frame->captured);
  }
  return NULL;
}

int main(void) {
  pthread_t c, e;
  sem_init(&full, 0, 1);
  pthread_create(&c, NULL, camera, NULL);
  pthread_create(&e, NULL, encoder, NULL);
  pthread_join(c, NULL);
  pthread_join(e, NULL);
  sem_destroy(&full);
  return 0;
}
// cause: captured: frame->captured | .captured = 1
