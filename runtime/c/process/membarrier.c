// membarrier.c: barriers in other threads. Every access of an execution comes after those before it, so a barrier has no
// effect beyond its result: the kernel demands a registration first, and forgets it only when the process ends.
#define _GNU_SOURCE
#include <errno.h>
#include "core/libc.h"
#include "core/run.h"
#include "process/process.h"

enum {
  QUERY = 0, GLOBAL = 1, GLOBAL_EXPEDITED = 2, REGISTER_GLOBAL_EXPEDITED = 4, PRIVATE_EXPEDITED = 8, REGISTER_PRIVATE_EXPEDITED = 16,
  SYNC_CORE = 32, REGISTER_SYNC_CORE = 64,
  ALL = GLOBAL | GLOBAL_EXPEDITED | REGISTER_GLOBAL_EXPEDITED | PRIVATE_EXPEDITED | REGISTER_PRIVATE_EXPEDITED | SYNC_CORE | REGISTER_SYNC_CORE,
};

static int registered; // commands

static void begin(void) { registered = 0; }

long hd_membarrier(int command, unsigned flags) {
  if (flags) return errno = EINVAL, -1;
  switch (command) {
  case QUERY: return ALL;
  case GLOBAL: case GLOBAL_EXPEDITED: return 0;
  case REGISTER_GLOBAL_EXPEDITED: case REGISTER_PRIVATE_EXPEDITED: case REGISTER_SYNC_CORE:
    registered |= command;
    return hd_errno_result(hd_sys(SYS_membarrier, command, 0, 0)); // a child process inherits it
  case PRIVATE_EXPEDITED: case SYNC_CORE: // its registration is the next command
    return registered & command << 1 ? 0 : (errno = EPERM, -1);
  }
  return errno = EINVAL, -1;
}

const struct hd_registration hd_membarriers = { .begin = begin };
