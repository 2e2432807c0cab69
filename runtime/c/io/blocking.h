// blocking.h: operations on descriptors that may have to wait.
#ifndef HD_IO_BLOCKING_H
#define HD_IO_BLOCKING_H
#include "io/descriptors.h"

// What a thread in one of these calls waits for. It lies on the thread's stack.
struct hd_io_wait {
  bool (*ready)(const struct hd_io_wait *w);
  uint64_t (*expires)(const struct hd_io_wait *w); // when a timerfd makes it ready, ~0 never; may be NULL
  struct hd_file *file;
  uint64_t until;     // its own time-out, ~0: none
  uint64_t size;
  int fd;
  bool write, external; // external: perhaps only another process can end the wait
  bool entered;       // it was not ready at first: the call keeps a reference to file even if fd is closed
  bool begun;         // the call has had an effect: a handler can only end it, not run before it
  bool glance;        // it does not wait, but a handler can still end it (poll with time-out 0)
  bool instant;       // restarted after a handler, and the description no longer blocks
  uint8_t intr;       // enum hd_intr
  void *arg;
};
// A scheduling point before an operation; w NULL: it never waits.
struct hd_thread *hd_io_point(uint16_t op, uint64_t pc, uint64_t obj, int fd, uint64_t size, struct hd_io_wait *w);
// A handler ended the call: it is done, with EINTR.
bool hd_io_interrupted(struct hd_thread *t);
// The operation is done. err is 0 or an errno, which the caller returns.
long hd_io_done(struct hd_thread *t, uint64_t value, long err);
// For operations that libc does in one piece and that call hooks (malloc, free): the schedule sees
// the operation end, then libc does it.
void hd_io_only_point(uint16_t op, uint64_t pc);
bool hd_others_sent(void);              // makes pending what other processes have sent; reports whether they have
const struct hd_thread *hd_io_tested(void); // the thread whose wait is being tested, or the running one
void hd_io_rearm(void);                 // a timerfd was set: deadlines of waiters have moved
extern const struct hd_registration hd_io;
static inline struct hd_file *hd_io_target(const struct hd_io_wait *w) { return w->entered ? w->file : hd_file_of(w->fd); }

// ---- poll.c
uint32_t hd_io_kernel_fds(const struct hd_io_wait *w, struct pollfd *out, uint32_t max);
void hd_poll_say(const struct hd_io_wait *w, uint32_t thread, hd_say *say);
short hd_fd_mask(int fd, struct hd_file *f, short events); // likewise, kernel's included; POLLNVAL
#define HD_BAD_NS (~0ull - 1)
uint64_t hd_ns_of(const struct timespec *ts); // the program's; NULL: ~0, forever; HD_BAD_NS: not valid
uint64_t hd_file_expires(struct hd_file *f); // virtual time at which time alone makes it readable, ~0 never

// ---- epoll.c
short hd_epoll_mask(struct hd_file *f);
void hd_epoll_forget(struct hd_file *f, int fd); // f was closed; f NULL: the kernel's fd was
uint64_t hd_epoll_expires(struct hd_file *f);

// ---- signalfd.c; whose signals: those of hd_io_tested()
bool hd_signalfd_ready(const struct hd_file *f);
uint64_t hd_signalfd_edges(const struct hd_file *f);    // how often a signal of its mask has been sent
struct hd_msg;
long hd_signalfd_read(struct hd_file *f, struct hd_msg *m); // bytes, or -errno
bool hd_signalfd_any(void);                             // one has been opened

extern short (*hd_pidfd_mask)(const struct hd_file *f);  // process/pidfd.c sets it
void hd_io_changed(void);                               // what a descriptor says has changed

// ---- timerfd.c
uint64_t hd_timerfd_count(const struct hd_file *f); // expirations not read yet
void hd_timerfd_taken(struct hd_file *f);
#endif
