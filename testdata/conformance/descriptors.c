// heddle: More descriptors than heddle's own numbers leave room for; each can be used.
// kind: clean
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "say.h"

enum { MANY = 300 };

int main(void) {
  int events[MANY], files[MANY], bad = 0;
  for (int i = 0; i < MANY; i++) {
    events[i] = eventfd(0, 0);
    bad += events[i] < 0 || fcntl(events[i], F_SETFL, O_NONBLOCK) != 0;
  }
  printf("eventfds: %d failed\n", bad);
  for (int i = 0; i < MANY; i++) {
    files[i] = open("/dev/null", O_RDONLY);
    bad += files[i] < 0 || fcntl(files[i], F_SETFL, O_NONBLOCK) != 0;
  }
  printf("files: %d failed\n", bad);
  for (int i = 0; i < MANY; i++) bad += close(events[i]) != 0 || close(files[i]) != 0;
  printf("closed: %d failed\n", bad);
}
