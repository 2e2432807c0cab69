// Reads lines "a THREAD INSTRUCTION ADDRESS BYTES WRITE" and "f ADDRESS BYTES", numbers in decimal, and prints the instructions that
// sharing.h finds to access shared memory, in any order.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define SHARING_MAP(bytes) calloc(1, bytes)
#define SHARING_CLEAR(p, bytes) memset(p, 0, bytes)
#define SHARING_TELL(pc) printf("%" PRIu64 "\n", (uint64_t)(pc))
#include "sharing.h"

int main(int argc, char **argv) {
  struct sharing *s = SHARING_MAP(sizeof *s);
  (void)argc;
  sharing_begin(s, (uint64_t)atoll(argv[1]));
  char kind;
  while (scanf(" %c", &kind) == 1) {
    uint64_t thread, pc, address, size;
    int write;
    if (kind == 'f') {
      if (scanf("%" SCNu64 "%" SCNu64, &address, &size) != 2) return 2;
      sharing_forget(s, address, size);
      continue;
    }
    if (scanf("%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%d", &thread, &pc, &address, &size, &write) != 5) return 2;
    uint32_t site = pc ? sharing_site(s, pc) : 0;
    if (site) s->sites[site].state |= SHARING_KNOWN;
    bool found = site && s->sites[site].state & SHARING_FOUND;
    if (pc && sharing_idle(s, (uint32_t)thread, pc, address, size, write)) {
      // It must have said the truth.
      sharing_access(s, (uint32_t)thread, site, address, size, write);
      if (!found && s->sites[site].state & SHARING_FOUND) return 3;
      continue;
    }
    sharing_access(s, (uint32_t)thread, site, address, size, write);
  }
  return 0;
}
