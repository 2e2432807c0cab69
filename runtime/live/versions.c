// versions.c: functions of libc that have several versions, which behave differently. A program that heddle cc
// linked refers to names of the controlled runtime, which have no versions, and the dynamic linker
// would bind them to libc's oldest: a condition variable of one version is destroyed by the other, for
// instance. Each function here calls the newest. sync.c has the others.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <time.h>
#include "live.h"

// The version is that in which the function got its present behaviour. A libc for another processor may
// never have had an older one; dlsym then finds the only one.
#define NEWEST(version, type, name, params, args)                                                                                \
  HL_EXPORT type name params {                                                                                                   \
    static __typeof__(name) *f;                                                                                                  \
    if (HL_UNLIKELY(!f)) f = (__typeof__(f))(dlvsym(RTLD_NEXT, #name, version) ?: dlsym(RTLD_NEXT, #name));                      \
    return f args;                                                                                                               \
  }

NEWEST("GLIBC_2.3.2", int, pthread_cond_init, (pthread_cond_t * c, const pthread_condattr_t *a), (c, a))
NEWEST("GLIBC_2.3.2", int, pthread_cond_destroy, (pthread_cond_t * c), (c))
NEWEST("GLIBC_2.34", int, pthread_kill, (pthread_t t, int s), (t, s))
NEWEST("GLIBC_2.32", int, pthread_getaffinity_np, (pthread_t t, size_t n, cpu_set_t *s), (t, n, s))
NEWEST("GLIBC_2.34", int, pthread_setaffinity_np, (pthread_t t, size_t n, const cpu_set_t *s), (t, n, s))
NEWEST("GLIBC_2.3.4", int, sched_getaffinity, (pid_t p, size_t n, cpu_set_t *s), (p, n, s))
NEWEST("GLIBC_2.3.4", int, sched_setaffinity, (pid_t p, size_t n, const cpu_set_t *s), (p, n, s))
NEWEST("GLIBC_2.34", int, timer_create, (clockid_t c, struct sigevent *e, timer_t *t), (c, e, t))
NEWEST("GLIBC_2.34", int, timer_delete, (timer_t t), (t))
NEWEST("GLIBC_2.34", int, timer_getoverrun, (timer_t t), (t))
NEWEST("GLIBC_2.34", int, timer_gettime, (timer_t t, struct itimerspec *v), (t, v))
NEWEST("GLIBC_2.34", int, timer_settime, (timer_t t, int f_, const struct itimerspec *v, struct itimerspec *o), (t, f_, v, o))
NEWEST("GLIBC_2.15", int, posix_spawn, (pid_t *p, const char *n, const posix_spawn_file_actions_t *a, const posix_spawnattr_t *x, char *const v[], char *const e[]), (p, n, a, x, v, e))
NEWEST("GLIBC_2.15", int, posix_spawnp, (pid_t *p, const char *n, const posix_spawn_file_actions_t *a, const posix_spawnattr_t *x, char *const v[], char *const e[]), (p, n, a, x, v, e))
