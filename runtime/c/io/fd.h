// fd.h: the descriptors that the runtime models. Pipes, sockets, eventfds, timerfds and
// epoll sets live in here, not in the kernel: their state comes and goes with the execution,
// nothing of it depends on the machine, and the waits-for relation is known. The program's
// descriptor is a placeholder in the kernel, so that numbers are given out as ever; a call
// that gets past the runtime fails on it with EBADF.
//
// Everything else (regular files, terminals, FIFOs) stays the kernel's.
#ifndef HD_FD_H
#define HD_FD_H
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include "core/rt.h"
#include "sync/sync.h"

struct hd_file;

// One direction of a channel: bytes, or packets with their sender's address.
struct hd_stream {
  uint64_t id;                    // the object that events name
  struct hd_file *reader, *writer; // NULL: that end is closed
  char *buf;
  uint32_t cap, head, len;
  bool used, packets;
  bool ended;                     // its writer will write no more (shutdown)
  bool deaf;                      // its reader will read no more (shutdown)
  bool reset;                     // its reader was closed with data unread
};

struct hd_addr {
  uint16_t family;                // 0: none
  uint16_t port;                  // host order
  uint32_t len;                   // of path
  unsigned char ip[16];           // IPv4 as mapped
  char path[108];                 // AF_UNIX; an abstract one begins with a zero
};

enum { HD_BACKLOG = 128, HD_SOCK_OPTS = 12 };
enum hd_sock_state { HD_SOCK_NEW, HD_SOCK_LISTENING, HD_SOCK_CONNECTED };

struct hd_sock {
  uint16_t domain, type;
  uint8_t state;
  int protocol, err;              // err: what SO_ERROR gives next
  struct hd_addr local, peer;
  bool mute;                      // datagrams: it sends no more
  bool unconfirmed;               // a non-blocking connect whose success was not told yet
  struct hd_file *queue[HD_BACKLOG]; // connections not accepted yet
  uint32_t nqueue, backlog;
  uint64_t rcvtimeo, sndtimeo;    // ns, 0: none
  struct { int level, name; uint32_t len; char value[16]; } opts[HD_SOCK_OPTS];
  uint32_t nopts;
};

struct hd_watch {                 // of an epoll set
  struct hd_file *file;           // NULL: a descriptor of the kernel's
  int fd;
  uint32_t events;
  uint64_t data, in_seen, out_seen, end_seen; // activity an edge-triggered watch has told
  bool fresh;                     // nothing was told yet
};

struct hd_file {                  // an open file description
  uint8_t kind;                   // enum hd_fd_kind, 0: free
  bool nonblock, semaphore;
  uint32_t refs;                  // descriptors, calls under way, and places in a backlog
  int fd;                         // its first descriptor, for people
  uint64_t id;
  struct hd_stream *in, *out;
  uint64_t in_seq, out_seq;       // how often data came, room came
  uint64_t end_seq;               // how often an end or an error came
  uint64_t count;                 // eventfd
  uint64_t expires, interval;     // timerfd: virtual ns; expires 0: disarmed
  int clock;                      // timerfd
  struct hd_sock *sock;
  struct hd_watch *watches;       // epoll
  uint32_t nwatches, first_watch;
};

enum { HD_MAX_FD = 4096, HD_MAX_WATCHES = 4096, HD_MAX_EPOLLS = 64 };
struct hd_file *hd_file_of(int fd);            // NULL: the kernel's
long hd_fd_new(struct hd_file *f, bool cloexec); // a descriptor for it, or -errno
struct hd_file *hd_file_new(int kind);         // with one reference
void hd_file_hold(struct hd_file *f);
void hd_file_release(struct hd_file *f);
struct hd_file *hd_files_each(uint32_t *at);   // from *at = 0 on; NULL at the end
void hd_fd_set(int fd, struct hd_file *f);     // the table alone
uint64_t hd_fd_object(int kind, int fd);
struct hd_stream *hd_stream_new(struct hd_file *writer, struct hd_file *reader, uint32_t cap, uint64_t id, bool packets);
bool hd_outside_early(int fd);                 // files/files.c: open from the start, and what it leads to cannot be put back
uint64_t hd_kernel_object(int fd);             // of a descriptor of the kernel's
struct stat;
void hd_inode_made(const struct stat *);       // the file is new
void hd_standard_named(void);                  // before the first execution
int hd_open_at(int dir, const char *path, int flags, unsigned mode, uint64_t pc); // files/files.c: openat
bool hd_reserved_fd(int fd);                   // files/files.c: one of heddle's own
void hd_unreserve(void);                       // files/files.c: the program wants such a number: all of them move up
void hd_touched(int fd);                       // files/files.c: 0, 1 or 2 may have been closed or replaced
void hd_fd_reset(void);                        // a new execution begins
void hd_placeholders_make(void);
int *hd_placeholders(void);                    // heddle's own, three
enum { HD_FD_PATH = 28 };
const char *hd_fd_path(char *out, int fd);     // its name below /proc
void hd_fd_opened(void);                       // files/files.c: there are descriptors to close after this execution
void hd_fd_mode_set(void);                     // files/files.c: flags of a descriptor may be others

static inline uint32_t hd_room(const struct hd_stream *s) { return s->cap - s->len; }
static inline void hd_became_readable(struct hd_file *f) { if (f) f->in_seq++; }
static inline void hd_became_writable(struct hd_file *f) { if (f) f->out_seq++; }
static inline void hd_ended(struct hd_file *f) { if (f) f->end_seq++; }

// ---- blocking.c: blocking
//
// What a thread in one of these calls waits for. It lies on the thread's stack.
struct hd_io_wait {
  bool (*ready)(const struct hd_io_wait *w);
  uint64_t (*expires)(const struct hd_io_wait *w); // when a timerfd makes it ready, ~0 never; may be NULL
  struct hd_file *file;
  uint64_t until;     // its own time-out, ~0: none
  uint64_t size;
  int fd;
  bool write, outside; // outside: perhaps only another process can end the wait
  bool entered;       // it was not ready when the thread came: the call holds file, whatever becomes of fd
  bool begun;         // the call has done something already: a handler can only end it, not come before it
  bool glance;        // it does not wait, but a handler can end it all the same (poll without time)
  bool instant;       // begun again after a handler, and the description does not block any more
  uint8_t intr;       // enum hd_intr
  void *arg;
};
extern uint64_t hd_io_event;            // what all such waits need: somebody did something
// A scheduling point before an operation; w NULL: it never waits.
struct hd_thread *hd_io_point(uint16_t op, uint64_t pc, uint64_t obj, int fd, uint64_t size, struct hd_io_wait *w);
// A handler ended the call: it is done, with EINTR.
bool hd_io_interrupted(struct hd_thread *t);
// The operation is done. err is 0 or an errno, which the caller returns.
long hd_io_done(struct hd_thread *t, uint64_t value, long err);
// For what libc does in one piece and with hooks in it (malloc, free): the operation is over as
// far as the schedule goes, then libc does it.
void hd_io_only_point(uint16_t op, uint64_t pc);
bool hd_io_ready(const struct hd_thread *u);
void hd_io_rearm(void);                 // a timerfd was set: deadlines of waiters have moved
bool hd_io_outside(void);               // nobody can run: waits for other processes; false: nobody waits for one
const char *hd_io_waits(void);          // the waiters for each descriptor, NULL: nobody
uint32_t hd_io_kernel_fds(const struct hd_io_wait *w, struct pollfd *out, uint32_t max); // poll.c
void hd_poll_say(const struct hd_io_wait *w, uint32_t thread, void (*say)(const char *fmt, ...));
static inline long hd_errno_result(long r) {
  if (r >= 0) return r;
  *__errno_location() = (int)-r;
  return -1;
}

// ---- stream.c, transfer.c
struct hd_msg {
  const struct iovec *iov;
  uint64_t niov, size, done; // done: bytes copied so far
  const struct hd_addr *to;  // of a datagram; NULL: the peer
  struct hd_addr from;       // who sent it
  int flags;                 // MSG_*
  long offset;               // in the file, -1: where the description stands
  int rwf;                   // RWF_*
  uint64_t full;             // length of the packet that was taken
};
void hd_stream_put(struct hd_stream *s, struct hd_msg *m, uint64_t n);
void hd_stream_get(struct hd_stream *s, struct hd_msg *m, uint64_t n, bool peek);
void hd_stream_drop(struct hd_stream *s, uint64_t n);
void hd_stream_put_own(struct hd_stream *s, const void *p, uint64_t n);
void hd_stream_look(const struct hd_stream *s, void *p, uint64_t n);
void hd_access_range(const void *p, uint64_t size, bool write, uint64_t pc); // memory/access.c
struct hd_packet { struct hd_addr from; uint64_t n; }; // before the bytes of a packet
enum { HD_PACKET_HEAD = sizeof(struct hd_packet) };
bool hd_touch(const void *p, uint64_t size, uint64_t pc); // fault here, as the program, if p cannot be read; always true
long hd_transfer(int fd, bool write, struct hd_msg *m, uint64_t pc); // reads or writes; bytes, or -errno
bool hd_fetch_string(char *to, const char *from, uint64_t room); // false: it is longer
void hd_gather(struct hd_msg *m, void *to, uint64_t n);         // the next n bytes of the program's buffers
void hd_scatter(struct hd_msg *m, const void *from, uint64_t n);
long hd_sock_transfer(struct hd_file *f, bool write, struct hd_msg *m);
bool hd_sock_ready(struct hd_file *f, bool write, uint64_t size);
static inline struct hd_file *hd_io_target(const struct hd_io_wait *w) { return w->entered ? w->file : hd_file_of(w->fd); }
void hd_record_io(const struct hd_msg *m, uint64_t n, bool write, uint64_t pc); // the buffers, as accesses to memory

long hd_close(int fd, uint64_t pc);     // descriptor_calls.c: close

// ---- stdio.c: FILE streams
extern uint8_t hd_stdio_moved;          // descriptors 0, 1, 2 (bits) that may lead elsewhere now
void hd_stdio_settle(uint64_t pc);      // stdin, stdout and stderr are to follow them
void hd_stdio_flush(uint64_t pc);
void hd_stdio_reset(void);
bool hd_stdio_modelled(const void *f);  // its writes come back to the runtime
bool hd_stdio_close(void *f, uint64_t pc, int *result); // fclose; false: it is libc's
void *hd_stdio_child(int fd, const char *mode, int child, uint64_t pc);
int hd_stdio_child_of(const void *f);   // popen's child, or 0

void hd_pipes_inherited(void);          // pipe.c: a child process is about to be started
void hd_children_answer(int fd, bool write); // process/children.c: give them a moment to make fd ready
void hd_child_output(int number, int fd, uint64_t n); // process/children.c: and this one to print n bytes, or to end

// ---- poll.c, epoll.c, timerfd.c, socket.c, socket_data.c
short hd_file_mask(struct hd_file *f); // POLL* that hold now
short hd_fd_mask(int fd, struct hd_file *f, short events); // likewise, kernel's included; POLLNVAL
bool hd_is_outside(int fd);            // the kernel's, and not always ready
#define HD_BAD_NS (~0ull - 1)
uint64_t hd_ns_of(const struct timespec *ts); // the program's; NULL: ~0, forever; HD_BAD_NS: not valid
short hd_sock_mask(struct hd_file *f);
struct hd_file *hd_socket_of(int fd, long *err); // NULL: *err is -EBADF or -ENOTSOCK
void hd_sock_closed(struct hd_file *f);
uint64_t hd_sock_object(struct hd_file *f, bool write, const struct hd_addr *to);
struct hd_file *hd_addr_socket(const struct hd_addr *to, int type); // who is bound there: listening, or for datagrams
int hd_addr_bind(struct hd_file *f, struct hd_addr *a);             // 0 or -errno
void hd_addr_bind_any(struct hd_file *f);
void hd_addr_closed(struct hd_file *f);
bool hd_addr_unlink(const char *path);                              // was a socket's name
int hd_addr_get(const struct sockaddr *sa, socklen_t len, struct hd_addr *a); // 0 or -errno
void hd_addr_put(const struct hd_addr *a, int domain, struct sockaddr *sa, socklen_t *len);
void hd_addr_reset(void);
void hd_dirs_reset(void);                                           // files/directory.c
bool hd_addr_known(const struct hd_addr *a);                        // the name of an AF_UNIX socket that may be closed
bool hd_sock_flag(const struct hd_sock *s, int level, int name);      // socket_options.c
enum { HD_SOCK_BUFFER = 212992 };                                   // bytes under way in one direction
short hd_epoll_mask(struct hd_file *f);
void hd_epoll_forget(struct hd_file *f, int fd); // f was closed; f NULL: the kernel's fd was
uint64_t hd_epoll_expires(struct hd_file *f);
uint64_t hd_timerfd_count(const struct hd_file *f); // expirations not read yet
void hd_timerfd_taken(struct hd_file *f);
uint64_t hd_file_expires(struct hd_file *f); // virtual time at which time alone makes it readable, ~0 never
uint64_t hd_clock_origin(int clock);   // time/clocks.c
#endif
