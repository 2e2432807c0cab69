// heddle: What the kernel keeps for each thread: names, nice values, policies, timer slack; asked for by each kind of identifier.
// kind: clean
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "say.h"

static int base; // main's nice value at the start
static sem_t there, go;
static pid_t id_of_worker;

static int nice_of(int which, id_t who) {
  errno = 0;
  int v = getpriority(which, who);
  return v == -1 && errno ? 1000 + errno : v - base;
}

static const char *name(void) {
  static char buf[20];
  memset(buf, 'x', sizeof buf - 1);
  prctl(PR_GET_NAME, buf);
  return buf;
}

static struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t runtime, deadline, period; } at;

// What sched_getattr, which has no function in libc, says of id; -errno.
static int attributes(pid_t id, unsigned size, unsigned flags) {
  memset(&at, 0, sizeof at);
  return syscall(SYS_sched_getattr, id, &at, size, flags) ? -errno : (int)(1000 * at.policy + 100 * (unsigned)at.flags + at.priority) + at.nice;
}

static void by_attributes(void) {
  SAY(attributes(0, sizeof at, 0));
  SAY(at.size);
  SAY(attributes(-1, sizeof at, 0));
  SAY(attributes(0, sizeof at - 1, 0));
  SAY(attributes(0, sizeof at, 1));
  attributes(0, sizeof at, 0);
  at.policy = SCHED_BATCH;
  SAY((int)syscall(SYS_sched_setattr, 0, &at, 0));
  SAY(attributes(gettid(), sizeof at, 0));
  SAY(sched_getscheduler(0));
  SAY(getpriority(PRIO_PROCESS, 0));
  at.nice = 20;
  SAY(syscall(SYS_sched_setattr, 0, &at, 0) ? errno : 0);
  at.nice = 0, at.policy = 77;
  SAY(syscall(SYS_sched_setattr, 0, &at, 0) ? errno : 0);
}

static void *worker(void *arg) {
  struct sched_param p = { 0 };
  id_of_worker = gettid();
  puts(name()); // its creator's
  SAY(prctl(PR_GET_TIMERSLACK));
  SAY(nice_of(PRIO_PROCESS, 0));
  SAY(prctl(PR_SET_NAME, "the name of a worker is too long"));
  SAY(prctl(PR_SET_TIMERSLACK, 777));
  SAY(setpriority(PRIO_PROCESS, gettid(), base + 3));
  SAY(sched_setscheduler(gettid(), SCHED_BATCH, &p));
  puts(name());
  sem_post(&there);
  sem_wait(&go);
  SAY(nice_of(PRIO_PROCESS, 0)); // main has changed it
  SAY(sched_getscheduler(0));
  SAY(prctl(PR_GET_TIMERSLACK));
  SAY(prctl(PR_SET_TIMERSLACK, 0));
  SAY(prctl(PR_GET_TIMERSLACK));
  SAY(nice(1) - base);
  return arg;
}

static void priorities(void) {
  pthread_t t;
  struct sched_param p = { .sched_priority = 7 };
  SAY(prctl(PR_SET_NAME, "main"));
  SAY(prctl(PR_SET_TIMERSLACK, 60000));
  pthread_create(&t, NULL, worker, NULL);
  sem_wait(&there);
  puts(name());
  SAY(prctl(PR_GET_TIMERSLACK));
  SAY(nice_of(PRIO_PROCESS, getpid()));
  SAY(nice_of(PRIO_PROCESS, id_of_worker));
  SAY(nice_of(PRIO_PROCESS, 0));
  SAY(sched_getscheduler(0));
  SAY(sched_getscheduler(getpid()));
  SAY(sched_getscheduler(id_of_worker));
  SAY(sched_getparam(id_of_worker, &p));
  SAY(p.sched_priority);
  SAY(setpriority(PRIO_PROCESS, id_of_worker, base + 4));
  SAY(20 - (int)syscall(SYS_getpriority, PRIO_PROCESS, id_of_worker) - base);
  SAY((int)syscall(SYS_sched_getscheduler, id_of_worker));
  SAY(sched_setscheduler(getpid(), 77, &p));
  SAY(sched_setscheduler(-1, SCHED_BATCH, &p));
  errno = 0;
  SAY(sched_getscheduler(-1));
  SAY(errno);
  SAY(getpriority(9, 0));
  SAY(errno);
  sem_post(&go);
  pthread_join(t, NULL);
  SAY(setpriority(PRIO_PGRP, 0, base + 2));
  SAY(nice_of(PRIO_PROCESS, gettid()));
  SAY(setpriority(PRIO_PROCESS, getpid(), 1000));
  SAY(getpriority(PRIO_PROCESS, getpid()));
  SAY(sched_setparam(getpid(), &(struct sched_param){ .sched_priority = 0 }));
  SAY(sched_setparam(getpid(), &(struct sched_param){ .sched_priority = 1 }));
  by_attributes();
}

static void process(void) {
  struct rlimit l, m;
  int v = -1, from = 17, to = 0, signal = -1;
  struct iovec a = { &to, sizeof to }, b = { &from, sizeof from };
  SAY(getrlimit(RLIMIT_NOFILE, &l));
  SAY(prlimit(getpid(), RLIMIT_NOFILE, NULL, &m));
  SAY(l.rlim_cur == m.rlim_cur);
  SAY(setpgid(getpid(), 0));
  SAY(getpgid(0) == getpgrp());
  SAY(getpgid(getpid()) == getpid());
  SAY(getsid(getpid()) == getsid(0));
  SAY((int)process_vm_readv(getpid(), &a, 1, &b, 1, 0));
  SAY(to);
  SAY(prctl(PR_SET_PDEATHSIG, 1000));
  SAY(prctl(PR_SET_PDEATHSIG, SIGUSR1));
  SAY(prctl(PR_GET_PDEATHSIG, &signal));
  SAY(signal == SIGUSR1);
  SAY(prctl(PR_GET_TSC, &v));
  SAY(v == PR_TSC_ENABLE);
  SAY(prctl(PR_GET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

static void proc(void) {
  char path[64], text[64] = "", exe[256] = "", again[256] = "";
  struct stat one, two;
  FILE *f;
  snprintf(path, sizeof path, "/proc/%d/comm", (int)getpid());
  SAY(access(path, R_OK));
  SAY((f = fopen(path, "r")) != NULL);
  SAY(fgets(text, sizeof text, f) && !strcmp(text, "main\n"));
  fclose(f);
  snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)getpid(), (int)gettid());
  int fd = open(path, O_RDONLY);
  SAY(fd >= 0 && read(fd, again, sizeof again - 1) == 5 && !strcmp(text, again));
  close(fd);
  snprintf(path, sizeof path, "/proc/%d/exe", (int)getpid());
  SAY(stat(path, &one) == 0 && stat("/proc/self/exe", &two) == 0 && one.st_ino == two.st_ino);
  SAY(readlink(path, exe, sizeof exe - 1) == readlink("/proc/self/exe", again, sizeof again - 1));
  SAY(!strcmp(exe, again));
  memset(text, 0, sizeof text);
  SAY(readlink("/proc/self", text, sizeof text - 1) > 0 && atoi(text) == getpid());
  snprintf(path, sizeof path, "/proc/self/task/%d", (int)id_of_worker); // it has ended
  SAY(access(path, F_OK));
}

// A child inherits all that belongs to the thread.
static void child(void) {
  int status = 0;
  pid_t pid = fork();
  if (pid == 0)
    _exit(getpriority(PRIO_PROCESS, 0) == 19 && !strcmp(name(), "main") && prctl(PR_GET_TIMERSLACK) == 60000 ? 5 : 6);
  SAY(getpgid(pid) == getpgrp());
  SAY(getsid(pid) == getsid(0));
  SAY(waitpid(pid, &status, 0) == pid);
  SAY(WEXITSTATUS(status));
  SAY(WEXITSTATUS(system("exit $(nice)")));
  SAY(getpgid(pid));
}

int main(void) {
  sem_init(&there, 0, 0);
  sem_init(&go, 0, 0);
  base = getpriority(PRIO_PROCESS, 0);
  priorities();
  process();
  proc();
  child();
  return 0;
}
