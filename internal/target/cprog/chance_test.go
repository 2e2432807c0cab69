package cprog

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Everything that differs from process to process by chance, or by the machine, is the same
// in every execution of every process.
func TestChanceIsTheSame(t *testing.T) {
	dir := t.TempDir()
	prog := filepath.Join(dir, "prog")
	cmd := exec.Command(need.Tool(t, "g++"), "-std=c++20", "-g", "-O1", "-pthread", "-fsanitize=thread", "-x", "c++", "-o", prog, "-")
	cmd.Stdin = strings.NewReader(`
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <pthread.h>
#include <random>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <thread>
#include <time.h>
#include <unistd.h>
static void hex(const char *what, const void *p, size_t n) {
  std::printf("%s ", what);
  for (size_t i = 0; i < n; i++) std::printf("%02x", ((const unsigned char *)p)[i]);
  std::printf("\n");
}
static void *thread(void *) {
  unsigned char b[8];
  getrandom(b, 8, 0);
  hex("getrandom in a thread", b, 8);
  std::printf("gettid %d\n", (int)gettid());
  return nullptr;
}
int main() {
  unsigned char b[16];
  assert(getrandom(b, 16, 0) == 16); hex("getrandom", b, 16);
  assert(getentropy(b, 16) == 0); hex("getentropy", b, 16);
  assert(syscall(SYS_getrandom, b, 16, 0) == 16); hex("SYS_getrandom", b, 16);
  for (const char *path : { "/dev/urandom", "/dev/random" }) {
    int fd = open(path, O_RDONLY);
    assert(read(fd, b, 16) == 16); hex(path, b, 16);
    close(fd);
    FILE *f = fopen(path, "rb");
    assert(fread(b, 1, 16, f) == 16); hex("by stdio", b, 16);
    fclose(f);
    std::ifstream in(path);
    in.read((char *)b, 16); hex("by a stream", b, 16);
  }
  std::random_device d, e("/dev/urandom");
  std::printf("random_device %u %u %u\n", d(), d(), e());
  std::printf("rand %d random %ld drand48 %f\n", rand(), random(), drand48());
  std::printf("pids %d %d %d %ld\n", (int)getpid(), (int)getppid(), (int)gettid(), syscall(SYS_getpid));
  hex("AT_RANDOM", (void *)getauxval(AT_RANDOM), 16);
  cpu_set_t set;
  assert(sched_getaffinity(0, sizeof set, &set) == 0);
  std::printf("cpu %d of %ld %u %d\n", sched_getcpu(), sysconf(_SC_NPROCESSORS_ONLN), std::thread::hardware_concurrency(), CPU_COUNT(&set));
  char name[] = "/tmp/chance-XXXXXX";
  assert(mkstemp(name) >= 0); unlink(name);
  std::printf("mkstemp %s\n", name);
  for (int c = 0; c < 12; c++) {
    struct timespec ts, res;
    int r = clock_gettime(c, &ts), q = clock_getres(c, &res);
    assert((r == 0) == (c != 10) && r == q);
    if (!r) std::printf("clock %d %ld.%09ld %ld\n", c, ts.tv_sec, ts.tv_nsec, res.tv_nsec);
  }
  struct timespec ts; struct timeval tv; struct tms tms; struct rusage ru; clockid_t id;
  assert(clock_gettime(12, &ts) == -1 && clock_gettime(-1, &ts) == -1 && clock_getres(99, &ts) == -1);
  assert(pthread_getcpuclockid(pthread_self(), &id) == 0 && clock_gettime(id, &ts) == 0);
  std::printf("cpu clock %ld.%09ld\n", ts.tv_sec, ts.tv_nsec);
  gettimeofday(&tv, nullptr);
  std::printf("%ld.%06ld %ld %ld %ld\n", tv.tv_sec, tv.tv_usec, time(nullptr), (long)clock(), (long)times(&tms));
  getrusage(RUSAGE_SELF, &ru);
  std::printf("%ld.%06ld %ld %ld\n", ru.ru_utime.tv_sec, ru.ru_utime.tv_usec, ru.ru_stime.tv_sec, ru.ru_maxrss);
  assert(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts) == 0);
  std::printf("SYS_clock_gettime %ld.%09ld\n", ts.tv_sec, ts.tv_nsec);
  pthread_t t;
  pthread_create(&t, nullptr, thread, nullptr);
  pthread_join(t, nullptr);
  return 0;
}`)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("g++: %v\n%s", err, out)
	}
	var first string
	for process := range 3 {
		tg := start(t, prog)
		for execution := range 3 {
			o := run(t, tg, schedule.Plan{Record: true})
			if o.Ending.Kind != trace.Clean {
				t.Fatalf("%v %s %s", o.Ending.Kind, o.Ending.Message, o.Ending.Output)
			}
			switch out := string(o.Ending.Output); {
			case first == "":
				first = out
				if n := strings.Count(out, "\n"); n < 30 {
					t.Fatalf("only %d lines:\n%s", n, out)
				}
			case out != first:
				t.Fatalf("process %d, execution %d:\n%s\nthe first:\n%s", process, execution, out, first)
			}
		}
		tg.Close()
	}
	// Two draws are not the same number.
	seen := map[string]bool{}
	for line := range strings.Lines(first) {
		if what, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.Contains(what, "random") {
			if seen[value] && !strings.HasPrefix(what, "/dev") {
				t.Errorf("%s is there twice", line)
			}
			seen[value] = true
		}
	}
}

// A system call made past libc does what the function does, or is refused by its name.
func TestRawSystemCalls(t *testing.T) {
	for _, c := range []ioCase{
		{name: "descriptors", before: `long a[2]; int *f = (int *)a; assert(syscall(SYS_pipe2, f, O_NONBLOCK) == 0 && syscall(SYS_read, f[0], buf, 1) == -1 && errno == EAGAIN && syscall(SYS_write, f[1], "ab", 2) == 2 && syscall(SYS_dup2, f[0], 40) == 40 && syscall(SYS_close, f[0]) == 0 && read(40, buf, 9) == 2)`},
		{name: "a read that waits", before: "assert(syscall(SYS_pipe, p) == 0)", body: "assert(syscall(SYS_write, p[1], buf, 1) == 1)", main: "assert(syscall(SYS_read, p[0], buf, 1) == 1)"},
		{name: "eventfd, epoll, poll", before: "fd = syscall(SYS_eventfd2, 1, 0); ep = syscall(SYS_epoll_create1, 0); struct epoll_event e = {.events = EPOLLIN}, o; assert(syscall(SYS_epoll_ctl, ep, EPOLL_CTL_ADD, fd, &e) == 0 && syscall(SYS_epoll_wait, ep, &o, 1, 0) == 1); struct pollfd x = {fd, POLLIN, 0}; assert(syscall(SYS_poll, &x, 1, 0) == 1)"},
		{name: "files", before: `fd = syscall(SYS_openat, AT_FDCWD, "raw", O_CREAT | O_RDWR, 0600); assert(fd >= 0 && syscall(SYS_pwrite64, fd, "x", 1, 3) == 1 && syscall(SYS_lseek, fd, 0, SEEK_END) == 4 && syscall(SYS_unlink, "raw") == 0)`},
		{name: "time", before: "struct timespec a, b, w = {0, 1000000}; assert(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &a) == 0 && syscall(SYS_nanosleep, &w, NULL) == 0 && syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &w, NULL) == 0); clock_gettime(CLOCK_MONOTONIC, &b); assert(b.tv_sec * 1000000000 + b.tv_nsec - a.tv_sec * 1000000000 - a.tv_nsec >= 2000000)"},
		{name: "memory", before: "char *m = (char *)syscall(SYS_mmap, NULL, 8192, 3, 0x22, -1, 0); assert(m != (char *)-1 && !*m); *m = 1; assert(syscall(SYS_munmap, m, 8192) == 0)"},
		{name: "identity", before: "assert(syscall(SYS_getpid) == getpid() && syscall(SYS_gettid) == gettid() && getpid() == gettid())", body: "assert(gettid() != getpid() && syscall(SYS_gettid) == gettid())"},
		{name: "to the process itself", before: "signal(SIGUSR1, SIG_IGN); assert(syscall(SYS_kill, getpid(), SIGUSR1) == 0)"},
		{name: "exit", before: "syscall(SYS_exit_group, 9)", status: 9, virtual: true},
		{name: "one that no kernel has", before: "assert(syscall(400) == -1 && errno == ENOSYS && syscall(-1) == -1 && errno == ENOSYS)"},
		{name: "one of a newer kernel", before: "syscall(5000)", kind: trace.Unsupported, message: "system call number 5000, which this heddle does not know", virtual: true},
		{name: "masks", before: "uint64_t set = 1 << (SIGUSR1 - 1), old = 5, none = 0; struct timespec no = {0}; assert(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, &old, 8) == 0 && old == 0 && syscall(SYS_rt_sigprocmask, SIG_BLOCK, &none, &old, 8) == 0 && old == set && syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, 4) == -1 && errno == EINVAL); raise(SIGUSR1); assert(syscall(SYS_rt_sigpending, &old, 8) == 0 && old == set && syscall(SYS_rt_sigtimedwait, &set, NULL, &no, 8) == SIGUSR1 && syscall(SYS_rt_sigtimedwait, &set, NULL, &no, 8) == -1 && errno == EAGAIN)"},
		{name: "waits that tell the time left", before: "pipe(p); struct timespec w = {0, 5000000}; struct pollfd x = {p[0], POLLIN, 0}; assert(syscall(SYS_ppoll, &x, 1, &w, NULL, 8) == 0 && w.tv_sec == 0 && w.tv_nsec == 0); w.tv_sec = 7; write(p[1], buf, 1); fd_set r; FD_ZERO(&r); FD_SET(p[0], &r); uint64_t set = 0; struct { void *set; long n; } m = {&set, 8}; assert(syscall(SYS_pselect6, p[0] + 1, &r, NULL, NULL, &w, &m) == 1 && FD_ISSET(p[0], &r) && w.tv_sec >= 6)"},
		{name: "memory barriers", before: "long all = syscall(SYS_membarrier, 0, 0, 0); assert(all > 0 && all & 8); assert(syscall(SYS_membarrier, 8, 0, 0) == -1 && errno == EPERM && syscall(SYS_membarrier, 16, 0, 0) == 0 && syscall(SYS_membarrier, 8, 0, 0) == 0 && syscall(SYS_membarrier, 8, 2, 0) == -1 && errno == EINVAL && syscall(SYS_membarrier, 3, 0, 0) == -1 && errno == EINVAL)"},
		{name: "the machine", before: "struct sysinfo a, b; struct timespec up; clock_gettime(CLOCK_BOOTTIME, &up); assert(sysinfo(&a) == 0 && syscall(SYS_sysinfo, &b) == 0 && a.totalram == b.totalram && a.freeram == a.totalram && a.uptime == up.tv_sec && a.loads[0] == 0 && a.procs == 1)", virtual: true},
		{name: "pages in memory", before: "unsigned char in[2]; char *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); assert(syscall(SYS_mincore, m, 8192, in) == 0 && in[0] == 1 && in[1] == 1); munmap(m, 8192); assert(mincore(m, 8192, in) == -1 && errno == ENOMEM)", virtual: true},
		{name: "a kernel without protection keys", before: "assert(pkey_alloc(0, 0) == -1 && errno == ENOSYS && pkey_free(1) == -1 && errno == ENOSYS)", virtual: true},
		{name: "close of heddle's own", before: "for (int i = 5; i < 200; i++) assert(syscall(SYS_close, i) == -1 && errno == EBADF)", virtual: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			runIO(t, c)
		})
	}
}
