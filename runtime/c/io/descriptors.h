// descriptors.h: the descriptors that the runtime models. Pipes, sockets, eventfds, timerfds and
// epoll sets live here, not in the kernel: their state lasts one execution, does not depend on the
// machine, and shows which thread waits for which. The program's descriptor is a placeholder in the
// kernel, so the kernel still assigns the numbers; a call that bypasses the runtime fails on it with
// EBADF.
//
// The kernel keeps all other files (regular files, terminals, FIFOs).
#ifndef HD_IO_DESCRIPTORS_H
#define HD_IO_DESCRIPTORS_H
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include "core/registration.h"

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
enum hd_shut { HD_SHUT_RECEIVE = 1, HD_SHUT_SEND = 2, HD_SHUT_BOTH = 3 }; // SHUT_RD + 1 and so on

struct hd_sock {
  uint16_t domain, type;
  uint8_t state;
  int protocol, err;              // err: what SO_ERROR gives next
  struct hd_addr local, peer;
  bool mute;                      // datagrams: it sends no more
  bool unconfirmed;               // a non-blocking connect whose result connect has not returned yet
  bool spent;                     // shut down before connect returned its failure: it cannot connect any more
  uint8_t shut;                   // enum hd_shut: of TCP, and of AF_UNIX listeners
  bool fin;                       // TCP: the peer sends no more
  bool closed;                    // TCP: reset, or neither end sends any more
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
  uint64_t data, in_seen, out_seen, end_seen; // activity that an edge-triggered watch has reported
  bool fresh;                     // it has reported nothing yet
};

struct hd_file {                  // an open file description
  uint8_t kind;                   // enum hd_fd_kind, 0: free
  bool nonblock, semaphore;
  uint32_t refs;                  // descriptors, calls under way, and places in a backlog
  int fd;                         // its first descriptor, for reports
  uint64_t id;
  struct hd_stream *in, *out;
  uint64_t in_seq, out_seq;       // how often data arrived, and how often space became free
  uint64_t end_seq;               // how often an end of file or an error arrived
  uint64_t count;                 // eventfd; signalfd: its mask; pidfd: the number of the child process, 0: the program itself
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
void hd_streams_leave(struct hd_file *f);      // detach its streams
uint64_t hd_kernel_object(int fd);             // of a descriptor of the kernel's
bool hd_is_external(int fd);                    // the kernel's, and may block
struct stat;
void hd_inode_made(const struct stat *);       // the file is new
void hd_standard_named(void);                  // before the first execution
void hd_placeholders_make(void);
int *hd_placeholders(void);                    // heddle's own, three
enum { HD_FD_PATH = 28 };
const char *hd_fd_path(char *out, int fd);     // its name below /proc
const char *hd_proc_path(char *out, const char *before, uint32_t number, const char *after); // out has room for all three
long hd_close(int fd, uint64_t pc);            // descriptor_calls.c: close
void hd_pipes_inherited(void);                 // pipe.c: a child process is about to be started
extern const struct hd_registration hd_descriptors, hd_signalfds;

static inline uint32_t hd_room(const struct hd_stream *s) { return s->cap - s->len; }
static inline void hd_became_readable(struct hd_file *f) { if (f) f->in_seq++; }
static inline void hd_became_writable(struct hd_file *f) { if (f) f->out_seq++; }
static inline void hd_ended(struct hd_file *f) { if (f) f->end_seq++; }

// ---- at_main.c: what was open at main, heddle's own descriptors, and captured output
enum hd_own_fd { HD_OWN_STANDARD, HD_OWN_PLACES = 3, HD_OWN_CWD = 6, HD_OWN_FDS };
int hd_own_fd(enum hd_own_fd which);           // its number now
bool hd_external_early(int fd);                 // open from the start, so that its other end cannot be restored
bool hd_reserved_fd(int fd);                   // one of heddle's own
void hd_unreserve(void);                       // moves all of them up: the program asks for such a number
void hd_touched(int fd);                       // 0, 1 or 2 may have been closed or replaced
void hd_fd_opened(void);                       // the end of this execution must close descriptors
void hd_fd_mode_set(void);                     // a descriptor's flags may have changed
void hd_own_fds_release(void);                 // close heddle's own
extern const struct hd_registration hd_descriptors_at_main;
#endif
