// heddle: The one owner whose atomic decrement reaches zero frees the image.
// kind: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct image {
  atomic_int references;
  unsigned char *pixels;
};

static struct image image;

static void release(struct image *i) {
  if (atomic_fetch_sub(&i->references, 1) == 1) free(i->pixels);
}

static void *owner(void *arg) {
  release(arg);
  return NULL;
}

int main(void) {
  pthread_t owners[2];
  image.pixels = malloc(256);
  atomic_init(&image.references, 2);
  for (int i = 0; i < 2; i++) pthread_create(&owners[i], NULL, owner, &image);
  for (int i = 0; i < 2; i++) pthread_join(owners[i], NULL);
  return 0;
}
