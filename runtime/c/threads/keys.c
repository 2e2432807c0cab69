// keys.c: destructors of thread-specific data, which the runtime runs instead of libc.
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include "core/injection.h"
#include "core/libc.h"
#include "core/registration.h"
#include "memory/access.h"
#include "memory/shared_state.h"
#include "threads/threads.h"

enum { KEYS = 1024 };
#define KEY(key) (0x10000 + (uint64_t)(key)) // the object for whether a thread's end runs the key's destructor
static void (*key_dtor[KEYS])(void *), (*key_saved[KEYS])(void *);
static uint32_t nkeys, nkeys_saved;

HD_EXPORT int pthread_key_create(pthread_key_t *key, void (*dtor)(void *)) {
  hd_inject_call();
  if (hd_active()) hd_access_range(key, sizeof *key, true, HD_RA);
  hd_shares(HD_SHARED_KEY, HD_STATE_KEYS, HD_CHANGES, HD_RA); // the number of the next key
  int err = REAL(pthread_key_create)(key, dtor);
  if (err == 0 && *key < KEYS) {
    key_dtor[*key] = dtor;
    if (*key >= nkeys) nkeys = *key + 1;
  }
  hd_inject_called();
  return err;
}

HD_EXPORT int pthread_key_delete(pthread_key_t key) {
  hd_shares(HD_SHARED_KEY, HD_STATE_KEYS, HD_CHANGES, HD_RA);
  hd_shares(HD_SHARED_KEY, KEY(key), HD_CHANGES, HD_RA);
  int err = REAL(pthread_key_delete)(key);
  if (err == 0 && key < KEYS) key_dtor[key] = NULL;
  return err;
}

static void save(void) {
  nkeys_saved = nkeys;
  hd_copy(key_saved, key_dtor, sizeof key_dtor);
}
static void restore(void) {
  if (nkeys || nkeys_saved) hd_copy(key_dtor, key_saved, (nkeys > nkeys_saved ? nkeys : nkeys_saved) * sizeof *key_dtor);
  nkeys = nkeys_saved;
}

static void run_destructors(struct hd_thread *t) {
  for (uint32_t k = 0; k < nkeys; k++) // deleted ones included
    if (pthread_getspecific(k)) hd_shares(HD_SHARED_KEY, KEY(k), HD_LOOKS_AT, t->pend.pc);
  for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; round++) {
    bool again = false;
    for (uint32_t k = 0; k < nkeys; k++) {
      if (!key_dtor[k]) continue;
      void *v = pthread_getspecific(k);
      if (!v) continue;
      pthread_setspecific(k, NULL);
      again = true;
      key_dtor[k](v);
    }
    if (!again) return;
  }
}

const struct hd_registration hd_keys = { .save = save, .restore = restore, .thread_ends = run_destructors };
