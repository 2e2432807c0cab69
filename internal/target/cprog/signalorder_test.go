package cprog

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Main does BLOCK, which needs a thread to RELEASE it. That thread sends main a signal before.
// With an argument the thread makes sure that main is blocked in the kernel, and the whole is
// done that often.
const orderFrame = `
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t flag;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static sem_t s, ready;
static pthread_barrier_t b;
static int word, shared, inside, p[2], sv[2], e;
static pthread_t self, t;
static char x;
#define SPIN do if (times) usleep(1000); while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
static char seen[4];
static int times, stat_fd;
static void on(int sig) { (void)sig; flag = 1; }
static void blocked(void) {
  char buf[256], *q;
  do {
    sched_yield();
    ssize_t n = pread(stat_fd, buf, sizeof buf - 1, 0);
    buf[n > 0 ? n : 0] = 0;
    q = strrchr(buf, ')');
  } while (!q || q[2] != 'S');
}
static void *sender(void *a) {
  BEFORE;
  sem_post(&ready);
  while (!__atomic_load_n(&inside, __ATOMIC_SEQ_CST)) sched_yield();
  if (times) blocked();
  SEND;
  RELEASE;
  return a;
}
int main(int argc, char **argv) {
  char path[64];
  int n = argc > 1 ? times = atoi(argv[1]) : 1;
  sprintf(path, "/proc/self/task/%d/stat", (int)getpid());
  if (times) stat_fd = open(path, O_RDONLY);
  struct sigaction act = {.sa_handler = on, .sa_flags = FLAGS};
  sigaction(SIGUSR1, &act, NULL);
  sem_init(&s, 0, 0); sem_init(&ready, 0, 0); pthread_barrier_init(&b, NULL, 2);
  if (pipe(p) || socketpair(AF_UNIX, SOCK_STREAM, 0, sv)) return 1;
  self = pthread_self();
  for (int i = 0; i < n; i++) {
    int saw = 0;
    flag = 0; shared = 0; word = 0; inside = 0;
    pthread_create(&t, NULL, sender, NULL);
    while (sem_wait(&ready)) ;
    INSIDE;
    BLOCK;
    saw = LOOK;
    seen[saw] = 1;
    if (JOIN) pthread_join(t, NULL);
    while (!flag) sched_yield();
  }
  printf("%s%s", seen[0] ? "missed " : "", seen[1] ? "ran" : "");
  return 0;
}`

// outcomes lists what was seen in the order of the table.
func outcomes(seen map[string]bool) string {
	return strings.TrimSpace(map[bool]string{true: "missed"}[seen["missed"]] + " " + map[bool]string{true: "ran"}[seen["ran"]])
}

// What of a signal's handler can be seen, natively and under heddle, where the kernel says it
// all: a signal marks its thread before the call that sends it returns, and a thread looks
// for the mark when it leaves the kernel. So the handler has run when a call returns that the
// thread was blocked in, or that went into the kernel after the signal was sent. Otherwise it
// may be late: the interrupt that tells the other processor is on its way, and nobody waits
// for it. The sender's own next step is never after the handler by necessity.
//
// HEDDLE_NATIVE_ROUNDS sets how often each case runs natively.
func TestHandlersRunBeforeTheCallGoesOn(t *testing.T) {
	rounds := cmp.Or(os.Getenv("HEDDLE_NATIVE_ROUNDS"), "60")
	for _, c := range []struct {
		name, before, release, block string
		send, look                   string // if not pthread_kill, and main after the call
		join                         bool   // main has not joined the thread yet
		want                         string // under heddle
	}{
		{name: "join", block: "pthread_join(t, NULL)", want: "ran"},
		{name: "timed join", block: "struct timespec at = {9999999999}; pthread_timedjoin_np(t, NULL, &at)", want: "ran"},
		{name: "mutex", before: "pthread_mutex_lock(&m)", release: "pthread_mutex_unlock(&m)", block: "pthread_mutex_lock(&m); pthread_mutex_unlock(&m)", join: true, want: "ran"},
		{name: "timed mutex", before: "pthread_mutex_lock(&m)", release: "pthread_mutex_unlock(&m)", block: "struct timespec at = {9999999999}; pthread_mutex_timedlock(&m, &at); pthread_mutex_unlock(&m)", join: true, want: "ran"},
		{name: "condition", release: "pthread_mutex_lock(&m); shared = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m)", send: "pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_kill(self, SIGUSR1)", block: "pthread_mutex_lock(&m); INSIDE; while (!shared) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m)", join: true, want: "ran"},
		{name: "read lock", before: "pthread_rwlock_wrlock(&l)", release: "pthread_rwlock_unlock(&l)", block: "pthread_rwlock_rdlock(&l); pthread_rwlock_unlock(&l)", join: true, want: "ran"},
		{name: "write lock", before: "pthread_rwlock_rdlock(&l)", release: "pthread_rwlock_unlock(&l)", block: "pthread_rwlock_wrlock(&l); pthread_rwlock_unlock(&l)", join: true, want: "ran"},
		{name: "semaphore", release: "sem_post(&s)", block: "while (sem_wait(&s)) ;", join: true, want: "ran"},
		{name: "barrier", release: "pthread_barrier_wait(&b)", block: "pthread_barrier_wait(&b)", join: true, want: "ran"},
		{name: "futex", release: "__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST); syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0)", block: "while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST)) syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0)", join: true, want: "missed ran"}, // it may not wait at all
		{name: "read", release: "write(p[1], &x, 1)", block: "while (read(p[0], &x, 1) != 1) ;", join: true, want: "ran"},
		{name: "receive", release: "send(sv[1], &x, 1, 0)", block: "while (recv(sv[0], &x, 1, 0) != 1) ;", join: true, want: "ran"},
		{name: "poll", release: "write(p[1], &x, 1)", block: "struct pollfd f = {p[0], POLLIN, 0}; while (poll(&f, 1, -1) != 1) ; read(p[0], &x, 1)", join: true, want: "ran"},
		{name: "select", release: "write(p[1], &x, 1)", block: "fd_set f; do { FD_ZERO(&f); FD_SET(p[0], &f); } while (select(p[0] + 1, &f, NULL, NULL, NULL) != 1); read(p[0], &x, 1)", join: true, want: "ran"},
		{name: "epoll", release: "write(p[1], &x, 1)", block: "struct epoll_event v = {EPOLLIN}; e = epoll_create1(0); epoll_ctl(e, EPOLL_CTL_ADD, p[0], &v); while (epoll_wait(e, &v, 1, -1) != 1) ; close(e); read(p[0], &x, 1)", join: true, want: "ran"},
		{name: "sigwait", release: "pthread_kill(self, SIGUSR2)", block: "int n; sigset_t w; sigemptyset(&w); sigaddset(&w, SIGUSR2); pthread_sigmask(SIG_BLOCK, &w, NULL); INSIDE; sigwait(&w, &n)", join: true, want: "ran"},
		{name: "sigsuspend", block: "sigset_t w, none; sigemptyset(&none); sigemptyset(&w); sigaddset(&w, SIGUSR1); pthread_sigmask(SIG_BLOCK, &w, NULL); INSIDE; while (!flag) sigsuspend(&none); pthread_sigmask(SIG_UNBLOCK, &w, NULL)", join: true, want: "ran"},

		// Not blocked, but in the kernel and out of it.
		{name: "spin, then yield", release: "__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST)", block: "SPIN; sched_yield()", join: true, want: "ran"},
		{name: "spin, then sleep", release: "__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST)", block: "SPIN; usleep(1)", join: true, want: "ran"},
		{name: "spin, then write", release: "__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST)", block: "SPIN; write(p[1], &x, 1); read(p[0], &x, 1)", join: true, want: "ran"},
		{name: "spin, then poll", release: "__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST)", block: "SPIN; poll(NULL, 0, 0)", join: true, want: "ran"},
		{name: "spin, then signal", release: "__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST)", block: "SPIN; sigset_t w; sigpending(&w)", join: true, want: "ran"},

		// Neither: both are possible.
		{name: "spin", release: "__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST)", block: "SPIN", join: true, want: "missed ran"},
		{name: "trylock", before: "pthread_mutex_lock(&m)", release: "pthread_mutex_unlock(&m)", block: "if (!times) while (pthread_mutex_trylock(&m)) ; else pthread_mutex_lock(&m); pthread_mutex_unlock(&m)", join: true, want: "missed ran"},
		{name: "the sender looks", send: "pthread_kill(self, SIGUSR1); shared = flag", block: "pthread_join(t, NULL)", look: "shared", want: "missed ran"},
		{name: "to the process, and others could take it", send: "kill(getpid(), SIGUSR1)", release: "", block: "pthread_join(t, NULL)", want: "ran"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			send, look, join := c.send, c.look, "0"
			if send == "" {
				send = "pthread_kill(self, SIGUSR1)"
			}
			if look == "" {
				look = "flag"
			}
			if c.join {
				join = "1"
			}
			for _, flags := range []string{"0", "SA_RESTART"} {
				inside := "__atomic_store_n(&inside, 1, __ATOMIC_SEQ_CST)"
				block := c.block
				if strings.Contains(block, "INSIDE") {
					block, inside = strings.ReplaceAll(block, "INSIDE", inside), "(void)0"
				}
				source := strings.NewReplacer("INSIDE", inside, "BEFORE", c.before, "SEND", send, "RELEASE", c.release, "BLOCK", block, "LOOK", look, "JOIN", join, "FLAGS", flags).Replace(orderFrame)
				prog, alone := compile(t, source, "-w"), compile(t, source, "-w", "-fno-sanitize=thread")
				tg := start(t, prog)
				seen := map[string]bool{}
				var points []trace.Site
				var got string
				// Some of what is wanted takes one order out of many, so that no fixed number of
				// seeds is enough for it.
				for seed := uint64(0); seed < 300 || seed < 3000 && len(got) < len(c.want); seed++ {
					o := run(t, tg, schedule.Plan{Policy: []schedule.Policy{schedule.Random, schedule.POS, schedule.PCT}[seed%3], Seed: seed, Depth: 3, Length: 40, Record: seed < 4, Accesses: seed < 4, Points: points})
					if o.Ending.Kind != trace.Clean {
						t.Fatalf("seed %d: %v %s", seed, o.Ending.Kind, o.Ending.Message)
					}
					if o.Trace == nil {
						o = run(t, tg, schedule.Plan{Policy: []schedule.Policy{schedule.Random, schedule.POS, schedule.PCT}[seed%3], Seed: seed, Depth: 3, Length: 40, Record: true, Points: points})
					}
					seen[strings.TrimSpace(string(o.Ending.Output))] = true
					if seed < 4 {
						for i := range o.Trace.Events {
							if e := &o.Trace.Events[i]; e.Op.IsAccess() && !slices.Contains(points, e.Site) {
								points = append(points, e.Site)
							}
						}
					}
					got = outcomes(seen)
				}
				if got != c.want {
					t.Errorf("%s: under heddle: %v, want %s", flags, seen, c.want)
				}
				native := exec.CommandContext(t.Context(), alone, rounds)
				native.WaitDelay = time.Second
				out, err := native.Output()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				for _, o := range strings.Fields(string(out)) {
					if !strings.Contains(c.want, o) {
						t.Errorf("%s: %q happens, and heddle says that it cannot", fmt.Sprint(flags), o)
					}
				}
			}
		})
	}
}
