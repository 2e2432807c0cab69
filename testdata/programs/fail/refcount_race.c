// heddle: A reference count goes down under the lock but is looked at after it, so both owners can find zero and free the image twice.
// kind: misuse
// finding: free
// minimum: switches=3 preemptions=1
// why: Both owners find zero only if the one that counts first looks after the other has counted
//   too: first, second, first, with main before them. The first is left after its unlock or
//   before it, and is not blocked there; the second can free the image and end.
#include <pthread.h>
#include <stdlib.h>

struct image {
  int references;
  unsigned char *pixels;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image image;

static void release(struct image *i) {
  pthread_mutex_lock(&lock);
  i->references--;
  pthread_mutex_unlock(&lock);
  if (i->references == 0) free(i->pixels);
}

static void *owner(void *arg) {
  release(arg);
  return NULL;
}

int main(void) {
  pthread_t owners[2];
  image.pixels = malloc(256);
  image.references = 2;
  for (int i = 0; i < 2; i++) pthread_create(&owners[i], NULL, owner, &image);
  for (int i = 0; i < 2; i++) pthread_join(owners[i], NULL);
  return 0;
}
// cause: references: i->references-- | if (i->references == 0)
