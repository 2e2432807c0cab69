// profile.c: each thread writes its events to a file of its own, without locks. A file is mapped, so
// what was written is there even if the program crashes. Go merges the files by time stamp.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "live.h"

enum { FIRST = 1 << 8, RECORDS = 1 << 18 }; // in a thread's first file, and at most: each has four times as many as the one before

static void next_file(struct hl_thread *t) {
  char name[HL_NAME + 64];
  hl_settle_thread(t);
  if (t->at) hl_munmap(t->end - t->room, t->room * sizeof(struct hl_record));
  t->at = t->end = NULL;
  t->room = t->room == 0 ? FIRST : t->room < RECORDS ? 4 * t->room : RECORDS;
  snprintf(name, sizeof name, "%s/%u.%u", hl->directory, t->number, t->file++);
  int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return;
  if (ftruncate(fd, (off_t)(t->room * sizeof(struct hl_record))) == 0) {
    void *p = hl_mmap(NULL, t->room * sizeof(struct hl_record), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p != MAP_FAILED) t->at = p, t->end = t->at + t->room;
  }
  close(fd);
}

void hl_record_begin(struct hl_thread *t) { next_file(t); }

// Reports whether the record to come, right after a write, may be the read of a structure's copy: gcc calls the hook of
// the write, then that of the read, and then copies.
static bool copies(const struct hl_thread *t, uint32_t kind, uint32_t size) {
  return t->open && !t->copying && t->open->size == size && kind == (t->open->kind == HL_WRITE ? HL_READ : HL_READ_RANGE);
}

// Reports whether a recording with values that is full goes without the record. What creates, ends and synchronises
// threads stays, because a trace without it would contradict itself.
static bool dispensable(uint32_t kind) {
  switch (kind) {
  case HL_READ: case HL_WRITE: case HL_READ_RANGE: case HL_WRITE_RANGE: case HL_MALLOC: case HL_FREE:
    return true;
  }
  return !hl->values;
}

struct hl_record *hl_record(uint32_t kind, uint64_t pc, uint64_t object, uint32_t size, uint64_t value) {
  struct hl_thread *t = hl_thread();
  if (!t || t->inside) return NULL;
  if (hl->values) {
    if (copies(t, kind, size)) t->copying = true;
    else hl_settle_thread(t);
  }
  if (t->recorded >= hl->most && dispensable(kind)) {
    __atomic_fetch_add(&hl->lost, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  if (HL_UNLIKELY(t->at == t->end)) {
    t->inside = true;
    next_file(t);
    t->inside = false;
    if (!t->at) {
      __atomic_fetch_add(&hl->lost, 1, __ATOMIC_RELAXED);
      return NULL;
    }
  }
  t->recorded++;
  struct hl_record *r = t->at++;
  r->time = hl_clock();
  r->place = hl_place(pc);
  r->object = object;
  r->value = value;
  r->size = size;
  if (hl->values) {
    switch (kind) {
    case HL_READ: case HL_READ_RANGE:
      r->value = hl_content(kind, object, size, &r->more);
      break;
    case HL_WRITE: case HL_WRITE_RANGE:
      t->open = r;
      t->open_at = object;
      break;
    }
  }
  __atomic_store_n(&r->kind, kind, __ATOMIC_RELEASE);
  return r;
}
