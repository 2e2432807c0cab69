// libc_state.c: functions of libc that keep state for all threads and are otherwise left alone. The
// runtime notes who uses it (shared_state.h).
//
// Programs may call other functions with such state: those that are neither here nor in
// internal/target/cprog/libc.go keep a search from being complete.
#define _GNU_SOURCE
#include <getopt.h>
#include <grp.h>
#include <locale.h>
#include <pthread.h>
#include <pwd.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include "core/libc.h"
#include "memory/access.h"
#include "memory/shared_state.h"

#define STATE(of, state, how, ret, name, parameters, arguments) \
  HD_EXPORT ret name parameters { \
    hd_shares(HD_SHARED_##of, HD_STATE_##state, HD_##how, HD_RA); \
    return REAL(name) arguments; \
  }

// ---- the environment
STATE(LIBC, ENVIRONMENT, LOOKS_AT, char *, getenv, (const char *name), (name))
STATE(LIBC, ENVIRONMENT, LOOKS_AT, char *, secure_getenv, (const char *name), (name))
STATE(LIBC, ENVIRONMENT, CHANGES, int, setenv, (const char *name, const char *value, int replace), (name, value, replace))
STATE(LIBC, ENVIRONMENT, CHANGES, int, unsetenv, (const char *name), (name))
STATE(LIBC, ENVIRONMENT, CHANGES, int, putenv, (char *s), (s))
STATE(LIBC, ENVIRONMENT, CHANGES, int, clearenv, (void), ())

// ---- random numbers
STATE(LIBC, RANDOM, CHANGES, int, rand, (void), ())
STATE(LIBC, RANDOM, CHANGES, void, srand, (unsigned seed), (seed))
STATE(LIBC, RANDOM, CHANGES, long, random, (void), ())
STATE(LIBC, RANDOM, CHANGES, void, srandom, (unsigned seed), (seed))
STATE(LIBC, RANDOM, CHANGES, char *, initstate, (unsigned seed, char *state, size_t n), (seed, state, n))
STATE(LIBC, RANDOM, CHANGES, char *, setstate, (char *state), (state))
STATE(LIBC, RANDOM48, CHANGES, double, drand48, (void), ())
STATE(LIBC, RANDOM48, CHANGES, long, lrand48, (void), ())
STATE(LIBC, RANDOM48, CHANGES, long, mrand48, (void), ())
STATE(LIBC, RANDOM48, CHANGES, void, srand48, (long seed), (seed))
STATE(LIBC, RANDOM48, CHANGES, unsigned short *, seed48, (unsigned short seed[3]), (seed))
STATE(LIBC, RANDOM48, CHANGES, void, lcong48, (unsigned short parameters[7]), (parameters))

// Those whose state is the caller's still take the multiplier from libc.
#define OWN_STATE(ret, name) \
  HD_EXPORT ret name(unsigned short x[3]) { \
    hd_shares(HD_SHARED_LIBC, HD_STATE_RANDOM48, HD_LOOKS_AT, HD_RA); \
    if (hd_active()) { \
      hd_access_range(x, 6, false, HD_RA); \
      hd_access_range(x, 6, true, HD_RA); \
    } \
    return REAL(name)(x); \
  }
OWN_STATE(double, erand48)
OWN_STATE(long, nrand48)
OWN_STATE(long, jrand48)
HD_EXPORT int rand_r(unsigned *seed) {
  if (hd_active()) {
    hd_access_range(seed, sizeof *seed, false, HD_RA);
    hd_access_range(seed, sizeof *seed, true, HD_RA);
  }
  return REAL(rand_r)(seed);
}

// ---- calendar time: results in one buffer, and the time zone, which the environment sets
STATE(LIBC, TIME_ZONE, CHANGES, struct tm *, localtime, (const time_t *t), (t))
STATE(LIBC, TIME_ZONE, CHANGES, struct tm *, gmtime, (const time_t *t), (t))
STATE(LIBC, TIME_ZONE, CHANGES, char *, ctime, (const time_t *t), (t))
STATE(LIBC, TIME_ZONE, CHANGES, char *, asctime, (const struct tm *t), (t))
#define ZONE(how, ret, name, parameters, arguments) \
  HD_EXPORT ret name parameters { \
    hd_shares(HD_SHARED_LIBC, HD_STATE_ENVIRONMENT, HD_LOOKS_AT, HD_RA); \
    hd_shares(HD_SHARED_LIBC, HD_STATE_TIME_ZONE, how, HD_RA); \
    return REAL(name) arguments; \
  }
ZONE(HD_CHANGES, void, tzset, (void), ())
ZONE(HD_ADDS, time_t, mktime, (struct tm *t), (t)) // sets what tzset does
ZONE(HD_ADDS, time_t, timelocal, (struct tm *t), (t))

// ---- options: results in variables that the program reads
static void options(uint64_t pc) {
  hd_shares(HD_SHARED_LIBC, HD_STATE_OPTIONS, HD_CHANGES, pc);
  if (!hd_active()) return;
  hd_access_range(&optind, sizeof optind, true, pc);
  hd_access_range(&optarg, sizeof optarg, true, pc);
  hd_access_range(&optopt, sizeof optopt, true, pc);
}
#define OPTIONS(name, parameters, arguments) \
  HD_EXPORT int name parameters { \
    options(HD_RA); \
    return REAL(name) arguments; \
  }
OPTIONS(getopt, (int n, char *const *a, const char *names), (n, a, names))
OPTIONS(getopt_long, (int n, char *const *a, const char *names, const struct option *o, int *i), (n, a, names, o, i))
OPTIONS(getopt_long_only, (int n, char *const *a, const char *names, const struct option *o, int *i), (n, a, names, o, i))

// ---- tables, users and groups
STATE(LIBC, USERS, CHANGES, struct passwd *, getpwnam, (const char *name), (name))
STATE(LIBC, USERS, CHANGES, struct passwd *, getpwuid, (uid_t id), (id))
STATE(LIBC, GROUPS, CHANGES, struct group *, getgrnam, (const char *name), (name))
STATE(LIBC, GROUPS, CHANGES, struct group *, getgrgid, (gid_t id), (id))
STATE(LIBC, HASH, CHANGES, int, hcreate, (size_t n), (n))
STATE(LIBC, HASH, CHANGES, void, hdestroy, (void), ())
STATE(LIBC, HASH, CHANGES, ENTRY *, hsearch, (ENTRY e, ACTION a), (e, a))

// ---- the locale: printing, scanning, comparing depend on it
HD_EXPORT char *setlocale(int category, const char *name) {
  if (name) hd_unordered(HD_SHARED_LIBC);
  return REAL(setlocale)(category, name);
}

// ---- the process and its threads
STATE(THREAD, CONCURRENCY, CHANGES, int, pthread_setconcurrency, (int n), (n))
STATE(THREAD, CONCURRENCY, LOOKS_AT, int, pthread_getconcurrency, (void), ())
STATE(PROCESS, EXIT, CHANGES, int, on_exit, (void (*fn)(int, void *), void *arg), (fn, arg))
STATE(PROCESS, EXIT, CHANGES, int, __cxa_at_quick_exit, (void (*fn)(void *), void *dso), (fn, dso)) // at_quick_exit
STATE(PROCESS, EXIT, CHANGES, int, __cxa_atexit, (void (*fn)(void *), void *arg, void *dso), (fn, arg, dso)) // of C++
STATE(PROCESS, LIMITS, LOOKS_AT, int, getrlimit, (__rlimit_resource_t resource, struct rlimit *now), (resource, now))
HD_EXPORT int getrlimit64(__rlimit_resource_t, struct rlimit64 *) __attribute__((alias("getrlimit")));
// The linker resolves this, and sigsetjmp, to the sanitizer's library instead of the static part of libc.
HD_EXPORT int atexit(void (*fn)(void)) {
  hd_shares(HD_SHARED_PROCESS, HD_STATE_EXIT, HD_CHANGES, HD_RA);
  return REAL(__cxa_atexit)((void (*)(void *))(void *)fn, NULL, NULL);
}
