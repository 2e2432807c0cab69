// heddle: Files in memory, barriers in other threads, random bytes and a query of the scheduler, by libc's functions and by their numbers.
// kind: clean
// isolation: fork
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "say.h"

static char *shared;

static void *writes(void *arg) {
  shared[1] = 'b';
  return arg;
}

int main(void) {
  struct { unsigned size, policy; unsigned long flags; int nice; unsigned priority; unsigned long rest[3]; } attr = { .policy = 9 };
  pthread_t t;
  char buf[300];
  struct stat st;
  int fd = memfd_create("name", MFD_CLOEXEC | MFD_ALLOW_SEALING), other = (int)syscall(SYS_memfd_create, "other", 0);
  SAY(fd > 2 && other > fd);
  SAY(ftruncate(fd, 8192));
  shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  shared[0] = 'a';
  pthread_create(&t, NULL, writes, NULL);
  pthread_join(t, NULL);
  SAY((int)pread(fd, buf, 3, 0) == 3 && !memcmp(buf, "ab", 3));
  SAY((int)copy_file_range(fd, &(off64_t){ 1 }, other, NULL, 1, 0));
  SAY(fstat(other, &st) || st.st_size != 1);
  munmap(shared, 8192);
  SAY(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
  SAY((int)write(fd, "x", 1) < 0 && errno == EPERM);
  SAY((int)syscall(SYS_memfd_create, "name", 0x800000) < 0 && errno == EINVAL);

  SAY(syscall(SYS_membarrier, 0, 0, 0) > 0);
  SAY(syscall(SYS_membarrier, 8, 0, 0) < 0 && errno == EPERM);
  SAY((int)syscall(SYS_membarrier, 16, 0, 0));
  SAY((int)syscall(SYS_membarrier, 8, 0, 0));

  SAY((int)getrandom(buf, sizeof buf, 0) == sizeof buf);
  SAY((int)getrandom(buf, 0, GRND_NONBLOCK));
  SAY((int)getrandom(buf, 1, 64) < 0 && errno == EINVAL);
  SAY((int)syscall(SYS_getrandom, buf, 20, GRND_RANDOM) == 20);

  SAY((int)syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0));
  SAY((int)attr.policy);
  SAY((int)syscall(SYS_sched_getattr, 0, &attr, 4, 0) < 0 && errno == EINVAL);
  SAY((int)syscall(400) < 0 && errno == ENOSYS);
  return 0;
}
