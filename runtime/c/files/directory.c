// directory.c: reads directories in the order of names. The file system's order depends on earlier
// contents, and so on earlier executions.
//
// libc's own stream stays underneath, for its descriptor.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/registration.h"
#include "memory/heap.h"
#include "memory/shared_state.h"
#include "io/blocking.h"
#include "io/descriptors.h"
#include "files/files.h"

enum { MAX_DIRS = 256 };
struct listing { void *dir; struct dirent **entry; uint32_t n, at, room; };
static struct listing listings[MAX_DIRS]; // what they point to is in the program's heap
static uint32_t nlistings;

static void begin(void) { nlistings = 0; }

static struct listing *listing_of(void *dir) {
  for (uint32_t i = 0; i < nlistings; i++)
    if (listings[i].dir == dir) return &listings[i];
  return NULL;
}

static int compare(const char *a, const char *b) {
  while (*a && *a == *b) { a++; b++; }
  return (unsigned char)*a - (unsigned char)*b;
}

static void sift(struct dirent **e, uint32_t i, uint32_t n) {
  for (uint32_t k; (k = 2 * i + 1) < n; i = k) {
    if (k + 1 < n && compare(e[k + 1]->d_name, e[k]->d_name) > 0) k++;
    if (compare(e[i]->d_name, e[k]->d_name) >= 0) return;
    struct dirent *x = e[i]; e[i] = e[k]; e[k] = x;
  }
}

static void *need(uint64_t size) {
  void *p = hd_heap_alloc(size, 16, 0);
  if (!p) hd_unsupported("a directory that does not fit into memory");
  return p;
}

static void fill(struct listing *l) {
  l->n = l->at = 0;
  for (struct dirent *e; (e = REAL(readdir)(l->dir));) {
    if (l->n == l->room) {
      uint32_t room = l->room ? l->room * 2 : 32;
      struct dirent **more = need(room * sizeof *more);
      if (l->n) hd_copy(more, l->entry, l->n * sizeof *more);
      if (l->entry) hd_heap_free(l->entry, 0);
      l->entry = more;
      l->room = room;
    }
    uint64_t size = offsetof(struct dirent, d_name) + hd_strlen(e->d_name) + 1;
    l->entry[l->n] = need(size);
    hd_copy(l->entry[l->n++], e, size);
  }
  for (uint32_t i = l->n / 2; i--;) sift(l->entry, i, l->n);
  for (uint32_t n = l->n; n > 1;) {
    struct dirent *x = l->entry[0];
    l->entry[0] = l->entry[--n];
    l->entry[n] = x;
    sift(l->entry, 0, n);
  }
  // Positions in the stream are those of this list.
  for (uint32_t i = 0; i < l->n; i++) l->entry[i]->d_off = (off_t)i + 1;
}

static void empty(struct listing *l) {
  for (uint32_t i = 0; i < l->n; i++) hd_heap_free(l->entry[i], 0);
  if (l->entry) hd_heap_free(l->entry, 0);
  l->entry = NULL;
  l->n = l->room = 0;
}

static DIR *track(DIR *dir) {
  if (!dir) return dir;
  hd_kernel_object(dirfd(dir)); // numbers it now
  if (nlistings == MAX_DIRS) hd_unsupported("more than 256 open directories");
  listings[nlistings++] = (struct listing){ .dir = dir };
  fill(&listings[nlistings - 1]);
  return dir;
}

HD_EXPORT DIR *opendir(const char *path) {
  hd_fd_opened();
  char name[HD_PATH], kernels[HD_PATH];
  if (!hd_active()) return REAL(opendir)(hd_in_proc_of_child(name, path));
  hd_io_only_point(HD_OP_FD_OPEN, HD_RA);
  if (!hd_fetch_string(name, path, sizeof name)) return errno = ENAMETOOLONG, NULL;
  return track(REAL(opendir)(hd_in_proc(kernels, name, HD_PROC_READ)));
}
HD_INTERPOSE(DIR *, fdopendir, (int fd), (fd)) {
  if (hd_reserved_fd(fd)) return errno = EBADF, NULL;
  hd_io_only_point(HD_OP_FD_OPEN, HD_RA);
  return track(REAL(fdopendir)(fd));
}
HD_EXPORT struct dirent *readdir(DIR *dir) {
  hd_shares(HD_SHARED_STREAM, (uint64_t)dir, HD_CHANGES, HD_RA);
  struct listing *l = hd_active() ? listing_of(dir) : NULL;
  if (!l) return REAL(readdir)(dir);
  return l->at < l->n ? l->entry[l->at++] : NULL;
}
HD_EXPORT struct dirent64 *readdir64(DIR *dir) { return (struct dirent64 *)readdir(dir); }
HD_INTERPOSE(int, closedir, (DIR *dir), (dir)) {
  hd_io_done(hd_io_point(HD_OP_FD_CLOSE, HD_RA, 0, dir ? dirfd(dir) : -1, 0, NULL), 0, 0);
  struct listing *l = listing_of(dir);
  hd_shared_ended(HD_SHARED_STREAM, (uint64_t)dir);
  if (l) {
    empty(l);
    *l = listings[--nlistings];
  }
  return REAL(closedir)(dir);
}
HD_EXPORT void rewinddir(DIR *dir) { // and reads it again
  hd_shares(HD_SHARED_STREAM, (uint64_t)dir, HD_CHANGES, HD_RA);
  struct listing *l = hd_active() ? listing_of(dir) : NULL;
  REAL(rewinddir)(dir);
  if (l) {
    empty(l);
    fill(l);
  }
}
HD_EXPORT long telldir(DIR *dir) {
  hd_shares(HD_SHARED_STREAM, (uint64_t)dir, HD_LOOKS_AT, HD_RA);
  struct listing *l = hd_active() ? listing_of(dir) : NULL;
  return l ? (long)l->at : REAL(telldir)(dir);
}
HD_EXPORT void seekdir(DIR *dir, long at) {
  hd_shares(HD_SHARED_STREAM, (uint64_t)dir, HD_CHANGES, HD_RA);
  struct listing *l = hd_active() ? listing_of(dir) : NULL;
  if (!l) REAL(seekdir)(dir, at);
  else l->at = at < 0 || at > (long)l->n ? l->n : (uint32_t)at;
}

const struct hd_registration hd_directories = { .begin = begin };
