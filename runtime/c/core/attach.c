// attach.c: whether heddle started this process, and its current mode.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include "core/alone.h"
#include "core/carrier.h"
#include "core/event.h"
#include "core/fiber.h"
#include "core/own_memory.h"
#include "core/rings.h"

hd_registers_function *hd_alone;
int hd_processors = HD_CPUS;
enum hd_mode hd_mode;
uint64_t hd_random_gap;
enum { GAPS = 1 << 22, GAP = 16 * 4096 }; // at most 256 GiB

// The controller passes the shared memory in a fixed descriptor. The first hook maps and closes
// it, so neither the program nor its children ever see it. This can run before any constructor,
// inside the dynamic loader, so it must not call libc.
void hd_attach(void) {
  uint64_t magic = 0;
  hd_mode = HD_PASSIVE;
  if (hd_sys4(SYS_pread64, HD_SHM_FD, &magic, 8, 0) != 8 || magic != HD_ABI_MAGIC) return;
  uint64_t total = 0;
  hd_sys4(SYS_pread64, HD_SHM_FD, &total, 8, offsetof(struct hd_shm, total));
  long p = hd_sys6(SYS_mmap, 0, (long)total, PROT_READ | PROT_WRITE, MAP_SHARED, HD_SHM_FD, 0);
  if (p < 0) return;
  // Also closes descriptors that heddle inherited, so that the program's own descriptor numbers
  // do not depend on them.
  hd_sys(SYS_close_range, HD_SHM_FD, ~0u, 0);
  hd_shm = (struct hd_shm *)p;
  hd_controller = hd_sys(SYS_getppid, 0, 0, 0);
  hd_process = hd_sys(SYS_getpid, 0, 0, 0);
  hd_mode = HD_EARLY;
  if (hd_shm->abi != HD_ABI_VERSION || hd_shm->size_event != sizeof(struct hd_event) ||
      hd_shm->size_plan != sizeof(struct hd_plan) || hd_shm->size_result != sizeof(struct hd_result) ||
      hd_shm->size_shm != sizeof(struct hd_shm))
    hd_refuse("the runtime has layout version %d, the controller %d: rebuild with one version of heddle",
              HD_ABI_VERSION, (int)hd_shm->abi);
  hd_shm->points = HD_POINTS_VERSION;
  hd_threads_real = hd_shm->options & HD_OPT_THREADS;
  if (hd_shm->options & HD_OPT_RANDOM && hd_sys(SYS_getrandom, &hd_random_gap, sizeof hd_random_gap, 0) > 0)
    hd_random_gap = hd_random_gap % GAPS * GAP;
  hd_own_next = HD_OWN_BASE;
  hd_isolation = hd_shm->options & HD_OPT_NO_SNAPSHOT ? HD_ISOLATION_PROCESS : hd_shm->options & HD_OPT_FORK ? HD_ISOLATION_FORK : HD_ISOLATION_SNAPSHOT;
  hd_isolation_granted = hd_shm->options & HD_OPT_SETUP_FORK ? HD_ISOLATION_SNAPSHOT : hd_isolation;
}

