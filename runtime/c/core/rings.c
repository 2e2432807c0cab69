// rings.c: the two rings, and how the runtime reports that it cannot continue.
#include <linux/futex.h>
#include <stdarg.h>
#include "core/rings.h"
#include "core/setup.h"

enum { WAKE_BYTES = 512 << 10 };

struct hd_shm *hd_shm;
long hd_controller;
long hd_process;

static struct hd_rec_header *open_rec;
static uint32_t rec_size;

// Waits until *word differs from not_value. The waiter announces itself before it checks again, and
// the waker checks for waiters after it has published. Both must be sequentially consistent, or a
// wake-up could be lost (Go: internal/target/ipc/ring.go).
static void ring_wait(uint32_t *waiters, uint32_t *seq, uint64_t *word, uint64_t not_value) {
  for (int spin = 0; spin < 200; spin++) {
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != not_value) return;
    hd_pause();
  }
  uint32_t s = __atomic_load_n(seq, __ATOMIC_SEQ_CST);
  __atomic_store_n(waiters, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != not_value || __atomic_load_n(&hd_shm->stop, __ATOMIC_SEQ_CST)) return;
  struct { long s, ns; } timeout = { 0, 100000000 };
  hd_sys4(SYS_futex, seq, FUTEX_WAIT, s, &timeout);
  if (hd_sys(SYS_getppid, 0, 0, 0) != hd_controller) hd_sys(SYS_exit_group, 0, 0, 0);
}

static void ring_wake(uint32_t *waiters, uint32_t *seq) {
  if (__atomic_load_n(waiters, __ATOMIC_SEQ_CST)) {
    __atomic_store_n(waiters, 0, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(seq, 1, __ATOMIC_SEQ_CST);
    hd_sys(SYS_futex, seq, FUTEX_WAKE, 1);
  }
}

// Produces a record of the result ring. The head moves once the record is complete, so the
// controller finds whole records even if the process is killed in between.
static void *out_begin(uint32_t type, uint32_t payload) {
  struct hd_ring *r = &hd_shm->result_ring;
  char *base = (char *)hd_shm + hd_shm->result_off;
  uint64_t size = hd_shm->result_size;
  uint32_t need = (uint32_t)((payload + sizeof(struct hd_rec_header) + 7) & ~7ull);
  if (need > size / 2) hd_fatal("a record of %u bytes does not fit the result ring", need);
  uint64_t head = r->head, pos = head % size, pad = 0;
  if (pos + need > size) pad = size - pos;
  for (;;) {
    uint64_t tail = __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE);
    if (head + pad + need - tail <= size) break;
    ring_wait(&r->tail_waiters, &r->tail_seq, &r->tail, tail);
    if (!__atomic_load_n(&hd_shm->stop, __ATOMIC_ACQUIRE)) continue;
    if (!hd_shm->changes) hd_sys(SYS_exit_group, 0, 0, 0);
    break; // nobody reads any more, and the files are yet to be restored
  }
  if (pad) {
    struct hd_rec_header *p = (void *)(base + pos);
    p->size = (uint32_t)pad;
    p->type = HD_REC_PAD;
    __atomic_store_n(&r->head, head + pad, __ATOMIC_RELEASE);
    pos = 0;
  }
  open_rec = (void *)(base + pos);
  rec_size = need;
  open_rec->size = need;
  open_rec->type = type;
  return open_rec + 1;
}

static void out_end(void) {
  struct hd_ring *r = &hd_shm->result_ring;
  __atomic_store_n(&r->head, r->head + rec_size, __ATOMIC_SEQ_CST);
  // Executions are short, and waking the controller for each clean result would cost more than the
  // execution. The controller polls for these.
  bool dull = open_rec->type == HD_REC_RESULT && ((struct hd_result *)(open_rec + 1))->outcome == HD_OUT_CLEAN;
  if (!dull || r->head - __atomic_load_n(&r->tail, __ATOMIC_RELAXED) > WAKE_BYTES) ring_wake(&r->head_waiters, &r->head_seq);
}

void hd_out(uint32_t type, const void *data, uint32_t n) { hd_out2(type, data, n, NULL, 0); }

void hd_out2(uint32_t type, const void *a, uint32_t na, const void *b, uint32_t nb) {
  char *p = out_begin(type, na + nb);
  hd_copy(p, a, na);
  if (nb) hd_copy(p + na, b, nb);
  out_end();
  if (HD_UNLIKELY(hd_setup_open)) hd_setup_sent(type, a, na, b, nb);
}

static uint64_t plan_bytes;

const struct hd_plan *hd_plan_next(void) {
  struct hd_ring *r = &hd_shm->plan_ring;
  char *base = (char *)hd_shm + hd_shm->plan_off;
  for (;;) {
    if (__atomic_load_n(&hd_shm->stop, __ATOMIC_ACQUIRE)) return NULL;
    uint64_t head = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE), tail = r->tail;
    if (head == tail) {
      ring_wait(&r->head_waiters, &r->head_seq, &r->head, head);
      continue;
    }
    struct hd_rec_header *h = (void *)(base + tail % hd_shm->plan_size);
    plan_bytes = h->size;
    if (h->type == HD_PLAN_FAR) return (const struct hd_plan *)((char *)hd_shm + hd_shm->far_off);
    if (h->type != HD_REC_PAD) return (const struct hd_plan *)(h + 1);
    hd_plan_release();
  }
}

void hd_plan_release(void) {
  struct hd_ring *r = &hd_shm->plan_ring;
  __atomic_store_n(&r->tail, r->tail + plan_bytes, __ATOMIC_SEQ_CST);
  ring_wake(&r->tail_waiters, &r->tail_seq);
}

int hd_format(char *buf, int size, const char *fmt, va_list ap) {
  int n = 0;
#define PUT(ch) do { if (n < size - 1) buf[n++] = (ch); } while (0)
  for (; *fmt; fmt++) {
    if (*fmt != '%') { PUT(*fmt); continue; }
    fmt++;
    bool wide = false;
    if (*fmt == 'l') { wide = true; fmt++; }
    char tmp[24];
    int k = 0;
    switch (*fmt) {
    case 's': {
      const char *s = va_arg(ap, const char *);
      for (s = s ? s : "?"; *s; s++) PUT(*s);
      break;
    }
    case 'c': PUT((char)va_arg(ap, int)); break;
    case 'd': case 'u': case 'x': {
      uint64_t v;
      bool neg = false;
      if (*fmt == 'd') {
        int64_t d = wide ? va_arg(ap, int64_t) : va_arg(ap, int);
        neg = d < 0;
        v = neg ? -(uint64_t)d : (uint64_t)d;
      } else v = wide ? va_arg(ap, uint64_t) : va_arg(ap, unsigned);
      unsigned base = *fmt == 'x' ? 16 : 10;
      do { tmp[k++] = "0123456789abcdef"[v % base]; v /= base; } while (v);
      if (neg) PUT('-');
      while (k) PUT(tmp[--k]);
      break;
    }
    default: PUT(*fmt);
    }
  }
#undef PUT
  buf[n] = 0;
  return n;
}

const char *hd_base_name(const char *path) {
  const char *b = path;
  for (const char *p = path; *p; p++) if (*p == '/') b = p + 1;
  return b;
}

const char *hd_text(const char *fmt, ...) {
  static char buf[512];
  va_list ap;
  va_start(ap, fmt);
  hd_format(buf, sizeof buf, fmt, ap);
  va_end(ap);
  return buf;
}

static HD_COLD _Noreturn void leave(uint32_t state, const char *fmt, va_list ap) {
  if (hd_shm) {
    hd_format(hd_shm->message, sizeof hd_shm->message, fmt, ap);
    __atomic_store_n(&hd_shm->state, state, __ATOMIC_SEQ_CST);
  }
  for (;;) hd_sys(SYS_exit_group, 125, 0, 0);
}

void hd_refuse(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  leave(HD_STATE_REFUSED, fmt, ap);
}

void hd_fatal(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  leave(HD_STATE_FATAL, fmt, ap);
}
