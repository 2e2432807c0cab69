// at_main.c: the descriptors as they were at main, and heddle's own: restores offsets, flags and
// captured output after each execution.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/own_memory.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "io/descriptors.h"
#include "io/random.h"

// heddle's own descriptors: copies of 0, 1 and 2, the placeholders and the working directory. Below 64 the kernel's table stays small and fast.
enum { BACKUPS = HD_OWN_PLACES, PLACES = HD_OWN_CWD - HD_OWN_PLACES, RESERVED = HD_OWN_FDS, BACKUP_FROM = 56 };
static int first_new, backup;  // the first descriptor that an execution opens; the first of heddle's
static long offset[64];        // -1: need not be restored
static long modes[64], closing[64]; // F_GETFL and F_GETFD, negative if it is not open
static bool modes_set;         // one of them may have changed
static bool standard_touched;  // 0, 1 or 2 may have been closed or replaced
static bool opened;            // a descriptor may have been opened

static void save(void) {
  static bool done;
  if (done) return;
  done = true;
  first_new = 0;
  for (int fd = 0; fd < 1024; fd++)
    if (hd_sys(SYS_fcntl, fd, F_GETFD, 0) >= 0) first_new = fd + 1;
  backup = first_new > BACKUP_FROM ? first_new : BACKUP_FROM;
  for (int fd = 0; fd < first_new && fd < 64; fd++) {
    modes[fd] = hd_sys(SYS_fcntl, fd, F_GETFL, 0);
    closing[fd] = hd_sys(SYS_fcntl, fd, F_GETFD, 0);
    offset[fd] = hd_sys(SYS_lseek, fd, 0, SEEK_CUR);
    struct stat st;
    bool open = hd_sys(SYS_fstat, fd, &st, 0) == 0;
    if (!open || !S_ISREG(st.st_mode) || st.st_size == 0) offset[fd] = -1;
    if (open) hd_random_device(&st);
  }
  for (int fd = 0; fd < BACKUPS; fd++) hd_sys(SYS_dup3, fd, backup + fd, O_CLOEXEC);
  hd_placeholders_make();
  int *place = hd_placeholders();
  for (int i = 0; i < PLACES; i++) {
    hd_sys(SYS_dup3, place[i], backup + BACKUPS + i, O_CLOEXEC);
    hd_sys(SYS_close, place[i], 0, 0);
    place[i] = backup + BACKUPS + i;
  }
  long cwd = hd_sys4(SYS_openat, AT_FDCWD, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
  if (cwd >= 0) {
    hd_sys(SYS_dup3, cwd, backup + HD_OWN_CWD, O_CLOEXEC);
    hd_sys(SYS_close, cwd, 0, 0);
  }
  // The kernel would give a free number among them to the program, whose use of it fails.
  for (int i = BACKUPS; i < RESERVED; i++)
    if (hd_sys(SYS_fcntl, backup + i, F_GETFD, 0) < 0) hd_sys(SYS_dup3, place[0], backup + i, O_CLOEXEC);
  hd_standard_named();
}

int hd_own_fd(enum hd_own_fd which) { return backup + (int)which; }

bool hd_external_early(int fd) { return fd > 2 && fd < first_new && hd_is_external(fd); }

bool hd_reserved_fd(int fd) { return hd_active() && fd >= backup && fd < backup + RESERVED; }
void hd_touched(int fd) { if (fd >= 0 && fd < BACKUPS) standard_touched = true; }
void hd_fd_opened(void) { opened = true; }
void hd_fd_mode_set(void) { modes_set = true; }

void hd_unreserve(void) {
  int to = backup + RESERVED;
  for (int i = 0; i < RESERVED;) {
    if (hd_sys(SYS_fcntl, to + i, F_GETFD, 0) >= 0) { to += i + 1; i = 0; }
    else i++;
  }
  for (int i = 0; i < RESERVED; i++) {
    hd_sys(SYS_dup3, backup + i, to + i, O_CLOEXEC);
    hd_sys(SYS_close, backup + i, 0, 0);
  }
  int *place = hd_placeholders();
  for (int i = 0; i < PLACES; i++) place[i] = to + BACKUPS + i;
  backup = to;
}

// ---- output
//
// Captured output: 1 and 2 are one memory file, given by the controller.
static uint64_t output_size(void) {
  long n = hd_sys(SYS_lseek, backup + 1, 0, 1);
  return n > 0 ? (uint64_t)n : 0;
}

static void send_output(uint64_t at, uint64_t end) {
  static char buf[32768];
  while (at < end) {
    uint64_t left = end - at;
    long k = hd_sys4(SYS_pread64, backup + 1, buf, left < sizeof buf ? left : sizeof buf, at);
    if (k <= 0) break;
    uint32_t head[2] = { 1, (uint32_t)k };
    hd_out2(HD_REC_OUTPUT, head, sizeof head, buf, (uint32_t)k);
    at += (uint64_t)k;
  }
}

static uint32_t left_out(char *text, int size, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = hd_format(text, size, fmt, ap);
  va_end(ap);
  return (uint32_t)n;
}

// A trace must hold what is sent, so gigabytes are cut: the beginning shows what ran and the end
// how it ended.
static void output(uint64_t n) {
  if (n <= 2 * HD_OUTPUT_KEPT) {
    send_output(0, n);
    return;
  }
  send_output(0, HD_OUTPUT_KEPT);
  char text[80];
  uint32_t head[2] = { 1, left_out(text, sizeof text, "\n[heddle: %lu bytes of output left out]\n", n - 2 * HD_OUTPUT_KEPT) };
  hd_out2(HD_REC_OUTPUT, head, sizeof head, text, head[1]);
  send_output(n - HD_OUTPUT_KEPT, n);
}

// ---- executions that continue from one set-up
//
// They have its descriptors in common, and so their offsets, and the file of the captured output, which is emptied after each.
enum { MOST_OPEN = 256, MOST_OUTPUT = 1 << 20 };
static struct { int fd; long at, flags; } opens[MOST_OPEN];
static int nopens;
static char *output_then;
static uint64_t output_then_size;

static bool same_file(int a, int b) {
  struct stat x, y;
  bool open = hd_sys(SYS_fstat, a, &x, 0) == 0;
  if (open != (hd_sys(SYS_fstat, b, &y, 0) == 0)) return false;
  return !open || (x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

static const char *shares(void) {
  for (int fd = 0; fd < BACKUPS; fd++)
    if (!same_file(fd, backup + fd)) return "another standard output";
  nopens = 0;
  for (int fd = 0; fd < HD_MAX_FD; fd++) {
    struct stat st;
    if ((fd > 0 && fd < BACKUPS) || hd_reserved_fd(fd) || hd_sys(SYS_fstat, fd, &st, 0) != 0) continue;
    long flags = hd_sys(SYS_fcntl, fd, F_GETFL, 0);
    if (flags & O_PATH) continue; // of files that the runtime models, too
    if (fd < first_new && fd < 64 && flags != modes[fd]) return "changed flags of a descriptor";
    if (fd >= first_new && hd_is_external(fd)) return "a descriptor that leads to another process";
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) continue;
    if (fd >= first_new && S_ISREG(st.st_mode) && (flags & O_ACCMODE) != O_RDONLY) return "a file that is open for writing";
    if (nopens == MOST_OPEN) return "more than 256 open files";
    opens[nopens].fd = fd;
    opens[nopens].flags = flags;
    opens[nopens++].at = hd_sys(SYS_lseek, fd, 0, SEEK_CUR);
  }
  output_then_size = output_size();
  if (output_then_size > MOST_OUTPUT) return "more than 1 MB of output";
  output_then = output_then_size ? hd_map(output_then_size, "the output of the set-up") : NULL;
  for (uint64_t at = 0; at < output_then_size;) {
    long n = hd_sys4(SYS_pread64, backup + 1, output_then + at, output_then_size - at, at);
    if (n <= 0) return "output that cannot be read back";
    at += (uint64_t)n;
  }
  return NULL;
}

static void continues(void) {
  for (int i = 0; i < nopens; i++) {
    hd_sys(SYS_lseek, opens[i].fd, opens[i].at, SEEK_SET);
    hd_sys(SYS_fcntl, opens[i].fd, F_SETFL, opens[i].flags);
  }
  for (uint64_t at = 0; at < output_then_size;) {
    long n = hd_sys(SYS_write, backup + 1, output_then + at, output_then_size - at);
    if (n <= 0) hd_fatal("cannot write the output of the set-up (error %d)", (int)-n);
    at += (uint64_t)n;
  }
}

// ---- after an execution
static void put_back(uint64_t written) {
  // Closing ranges walks the whole table. libc opens files of its own, too: then the lowest free
  // descriptor differs, or a later execution notices.
  static uint32_t count;
  long lowest = hd_sys(SYS_fcntl, backup, F_DUPFD, first_new);
  if (lowest >= 0) hd_sys(SYS_close, lowest, 0, 0);
  if (opened || lowest != first_new || ++count % 64 == 0) {
    opened = false;
    hd_sys(SYS_close_range, first_new, backup - 1, 0);
    hd_sys(SYS_close_range, backup + RESERVED, ~0u, 0);
  }
  if (written) {
    hd_sys(SYS_ftruncate, backup + 1, 0, 0);
    hd_sys(SYS_lseek, backup + 1, 0, SEEK_SET);
  }
  if (HD_UNLIKELY(standard_touched)) {
    standard_touched = false;
    for (int fd = 0; fd < BACKUPS; fd++)
      if (hd_sys(SYS_dup3, backup + fd, fd, 0) < 0) hd_sys(SYS_close, fd, 0, 0); // it was closed at main
  }
  if (HD_UNLIKELY(modes_set)) { // O_NONBLOCK on the standard output, most often
    modes_set = false;
    for (int fd = 0; fd < first_new && fd < 64; fd++) {
      if (modes[fd] >= 0) hd_sys(SYS_fcntl, fd, F_SETFL, modes[fd]);
      if (closing[fd] >= 0) hd_sys(SYS_fcntl, fd, F_SETFD, closing[fd]);
    }
  }
  for (int fd = 0; fd < first_new && fd < 64; fd++)
    if (offset[fd] >= 0) hd_sys(SYS_lseek, fd, offset[fd], SEEK_SET);
}

static void report(struct hd_result *r) {
  uint64_t n = output_size();
  r->output = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
  // An exit status that means failure is told apart by what the program wrote about it, whatever the plan's flags.
  if (hd.plan.flags & HD_PLAN_OUTPUT || (r->outcome == HD_OUT_CLEAN && r->status != hd.plan.expect_status)) output(n);
  put_back(n);
}

void hd_own_fds_release(void) { hd_sys(SYS_close_range, backup, backup + RESERVED - 1, 0); }

const struct hd_registration hd_descriptors_at_main = { .save = save, .report = report, .shares = shares, .continues = continues };
