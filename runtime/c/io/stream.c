// stream.c: the bytes and packets between two ends.
#define _GNU_SOURCE
#include "core/event.h"
#include "core/injection.h"
#include "memory/access.h"
#include "io/descriptors.h"
#include "io/stream.h"

static HD_PROGACCESS void copy_in(char *dst, const struct iovec *v, uint64_t skip, uint64_t n) {
  hd_copy(dst, (const char *)v->iov_base + skip, n);
}
static HD_PROGACCESS void copy_out(const struct iovec *v, uint64_t skip, const char *src, uint64_t n) {
  hd_copy((char *)v->iov_base + skip, src, n);
}
static HD_PROGACCESS uint64_t length_of(const struct iovec *v) { return v->iov_len; }

// The next n bytes of the message's buffers.
static void move(struct hd_msg *m, char *ours, uint64_t n, bool out) {
  uint64_t at = 0;
  for (uint64_t i = 0; i < m->niov && n; i++) {
    uint64_t len = length_of(&m->iov[i]);
    if (m->done >= at + len) { at += len; continue; }
    uint64_t skip = m->done - at, k = len - skip < n ? len - skip : n;
    if (out) copy_out(&m->iov[i], skip, ours, k);
    else copy_in(ours, &m->iov[i], skip, k);
    ours += k;
    n -= k;
    m->done += k;
    at += len;
  }
}
void hd_gather(struct hd_msg *m, void *to, uint64_t n) { move(m, to, n, false); }
void hd_scatter(struct hd_msg *m, const void *from, uint64_t n) { move(m, (char *)from, n, true); }

void hd_stream_put(struct hd_stream *s, struct hd_msg *m, uint64_t n) {
  s->len += (uint32_t)n;
  for (uint32_t at = (s->head + s->len - (uint32_t)n) % s->cap; n;) {
    uint64_t k = s->cap - at < n ? s->cap - at : n;
    hd_gather(m, s->buf + at, k);
    n -= k;
    at = 0;
  }
}

void hd_stream_get(struct hd_stream *s, struct hd_msg *m, uint64_t n, bool peek) {
  uint32_t at = s->head;
  for (uint64_t left = n; left;) {
    uint64_t k = s->cap - at < left ? s->cap - at : left;
    hd_scatter(m, s->buf + at, k);
    left -= k;
    at = (at + (uint32_t)k) % s->cap;
  }
  if (!peek) hd_stream_drop(s, n);
}

void hd_stream_drop(struct hd_stream *s, uint64_t n) {
  s->head = (s->head + (uint32_t)n) % s->cap;
  s->len -= (uint32_t)n;
}

// The runtime's own bytes: heads of packets.
void hd_stream_put_own(struct hd_stream *s, const void *p, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) s->buf[(s->head + s->len + i) % s->cap] = ((const char *)p)[i];
  s->len += (uint32_t)n;
}
void hd_stream_look(const struct hd_stream *s, void *p, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) ((volatile char *)p)[i] = s->buf[(s->head + i) % s->cap];
}

void hd_record_io(const struct hd_msg *m, uint64_t n, bool write, uint64_t pc) {
  hd_inject_late = !write;
  hd_inject_call();
  for (uint64_t i = 0; i < m->niov && n; i++) {
    uint64_t len = length_of(&m->iov[i]), k = len < n ? len : n;
    hd_access_range(m->iov[i].iov_base, k, write, pc);
    n -= k;
  }
  hd_inject_late = false;
  hd_inject_called(); // the data that was read is there already
  if (write) hd_event_settle();
}
