package cprog

import (
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Three threads wait, one may continue first: the schedule decides which, with
// every primitive, and is repeated by its script.
func TestWhoIsWokenIsAChoice(t *testing.T) {
	const frame = `
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static sem_t s;
static atomic_int word, first, waiting;
static int tokens;
static void *work(void *p) {
  int me = (int)(long)p, none = 0;
  WAIT;
  atomic_compare_exchange_strong(&first, &none, me);
  DONE;
  return NULL;
}
int main(void) {
  pthread_t t[3];
  sem_init(&s, 0, 0);
  BEFORE;
  for (long i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, (void *)(i + 1));
  while (atomic_load(&waiting) < 3) usleep(1);
  usleep(10);
  WAKE;
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
  printf("%d", first);
  return 0;
}`
	for _, c := range []struct{ name, wait, done, before, wake string }{
		{"cond signal", "pthread_mutex_lock(&m); waiting++; while (!tokens) pthread_cond_wait(&c, &m); tokens--; pthread_mutex_unlock(&m)", "pthread_mutex_lock(&m); tokens++; pthread_cond_signal(&c); pthread_mutex_unlock(&m)", "", "pthread_mutex_lock(&m); tokens = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m)"},
		{"sem post", "waiting++; sem_wait(&s)", "sem_post(&s)", "", "sem_post(&s)"},
		{"futex wake", "waiting++; syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0)", "syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0)", "", "word = 1; syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0)"},
		{"mutex", "waiting++; pthread_mutex_lock(&m)", "pthread_mutex_unlock(&m)", "pthread_mutex_lock(&m)", "pthread_mutex_unlock(&m)"},
		{"write lock", "waiting++; pthread_rwlock_wrlock(&l)", "pthread_rwlock_unlock(&l)", "pthread_rwlock_wrlock(&l)", "pthread_rwlock_unlock(&l)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tg := start(t, compile(t, strings.NewReplacer("WAIT;", c.wait+";", "DONE;", c.done+";", "BEFORE;", c.before+";", "WAKE;", c.wake+";").Replace(frame)))
			seen := map[string]int{}
			for seed := range uint64(150) {
				first := run(t, tg, schedule.Plan{Policy: []schedule.Policy{schedule.Random, schedule.POS}[seed%2], Seed: seed, Record: true})
				if first.Ending.Kind != trace.Clean {
					t.Fatalf("seed %d: %v %s", seed, first.Ending.Kind, first.Ending.Message)
				}
				seen[string(first.Ending.Output)]++
				again := run(t, tg, schedule.Plan{Mode: schedule.Strict, Script: schedule.ScriptOf(first.Trace), Threads: first.Trace.Threads, Record: true, Seed: 999})
				if !reflect.DeepEqual(first.Trace.Events, again.Trace.Events) || string(again.Ending.Output) != string(first.Ending.Output) {
					t.Fatalf("seed %d: another execution: %+v", seed, again.Diverged)
				}
			}
			if len(seen) != 3 || min(seen["1"], seen["2"], seen["3"]) < 10 {
				t.Errorf("woken first: %v", seen)
			}
		})
	}
}

// A timed wait may run out while another thread holds the mutex, and the signal that comes
// then wakes no thread, or another one; without early time-outs it does not run out here.
func TestTimeoutWhileTheMutexIsHeld(t *testing.T) {
	const source = `
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int waits, result;
static atomic_int steps;
static void *waiter(void *p) {
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  at.tv_sec += LATER;
  at.tv_nsec += 1000000;
  pthread_mutex_lock(&m);
  waits = 1;
  result = pthread_cond_timedwait(&c, &m, &at);
  waits = 0;
  pthread_mutex_unlock(&m);
  return p;
}
int main(void) {
  pthread_t t;
  int had = 0;
  pthread_create(&t, NULL, waiter, NULL);
  pthread_mutex_lock(&m);
  had = waits;
  for (int i = 0; i < 8; i++) steps++;
  if (had) pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
  pthread_join(t, NULL);
  printf("%d %d", had, result == ETIMEDOUT);
  return 0;
}`
	for _, c := range []struct {
		seconds string
		plan    schedule.Plan
		early   bool
	}{
		{"0", schedule.Plan{}, false},
		{"0", schedule.Plan{Timeouts: true}, true},
		{"0", schedule.Plan{Timeouts: true, Delays: schedule.NoDelays}, false},
		{"5", schedule.Plan{Timeouts: true}, false}, // no machine suspends main for so long
		{"5", schedule.Plan{Timeouts: true, Delays: schedule.AnyDelays}, true},
	} {
		tg := start(t, compile(t, source, "-DLATER="+c.seconds))
		late := 0
		for seed := range uint64(400) {
			c.plan.Policy, c.plan.Seed, c.plan.Record = schedule.Random, seed, true
			o := run(t, tg, c.plan)
			if string(o.Ending.Output) != "1 1" {
				continue
			}
			late++
			// The order: main has the lock, the wait runs out, main signals, the lock is taken again.
			var order []trace.Op
			for _, e := range o.Trace.Events {
				switch e.Op {
				case trace.OpCondTimeout, trace.OpCondSignal, trace.OpCondWake:
					order = append(order, e.Op)
				}
			}
			if !reflect.DeepEqual(order, []trace.Op{trace.OpCondTimeout, trace.OpCondSignal, trace.OpCondWake}) {
				t.Fatalf("seed %d: %v", seed, order)
			}
		}
		if c.early != (late > 0) {
			t.Errorf("%s s, %+v: %d waits of 400 ran out while the lock was held", c.seconds, c.plan, late)
		}
	}
}

// A thread in an interruptible wait has both a signal to handle and a request to end. It
// does both in either order, or ends first, in every kind of wait; afterwards nothing of
// the wait is left, so that its cleanup handler can wait again.
func TestCancelledWhereAHandlerRuns(t *testing.T) {
	const frame = `
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s, handled;
static int ends[2];
static sigset_t set;
static void on_signal(int sig) { (void)sig; usleep(1); sem_post(&handled); }
static void clean(void *p) {
  (void)p;
  pthread_mutex_lock(&held); // main holds it for a while
  pthread_mutex_unlock(&held);
  if (HOLDS) pthread_mutex_unlock(&m);
}
static void *work(void *p) {
  char byte;
  (void)byte;
  if (HOLDS) pthread_mutex_lock(&m);
  pthread_cleanup_push(clean, NULL);
  for (;;) WAIT;
  pthread_cleanup_pop(1);
  return p;
}
int main(void) {
  pthread_t t;
  void *ret;
  int n;
  struct sigaction a = { .sa_handler = on_signal };
  sigaction(SIGUSR1, &a, NULL);
  sigemptyset(&set);
  sem_init(&s, 0, 0);
  sem_init(&handled, 0, 0);
  if (pipe(ends)) abort();
  pthread_create(&t, NULL, work, NULL);
  usleep(10);
  pthread_mutex_lock(&held);
  pthread_kill(t, SIGUSR1);
  pthread_cancel(t);
  usleep(10);
  pthread_mutex_unlock(&held);
  pthread_join(t, &ret);
  if (ret != PTHREAD_CANCELED) abort();
  if (HOLDS && pthread_mutex_trylock(&m)) abort();
  sem_getvalue(&handled, &n);
  printf("%d", n);
  return 0;
}`
	for _, c := range []struct{ name, wait, holds string }{
		{"semaphore", "sem_wait(&s)", "0"},
		{"condition", "pthread_cond_wait(&c, &m)", "1"},
		{"sleep", "usleep(5)", "0"},
		{"pause", "pause()", "0"},
		{"sigsuspend", "sigsuspend(&set)", "0"},
		{"sigwaitinfo", "sigwaitinfo(&set, NULL)", "0"},
		{"read", "if (read(ends[0], &byte, 1) > 0) abort()", "0"},
		{"poll", "{ struct pollfd f = { ends[0], POLLIN, 0 }; poll(&f, 1, -1); }", "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tg := start(t, compile(t, strings.NewReplacer("WAIT;", c.wait+";", "HOLDS", c.holds).Replace(frame)))
			seen := map[string]int{}
			for seed := range uint64(150) {
				// POS ranks a thread that sleeps below those that work: the handler would always be late.
				first := run(t, tg, schedule.Plan{Policy: schedule.Random, Seed: seed, Record: true})
				if first.Ending.Kind != trace.Clean {
					t.Fatalf("seed %d: %v %s", seed, first.Ending.Kind, first.Ending.Message)
				}
				seen[string(first.Ending.Output)]++
				again := run(t, tg, schedule.Plan{Mode: schedule.Strict, Script: schedule.ScriptOf(first.Trace), Threads: first.Trace.Threads, Record: true, Seed: 999})
				if !reflect.DeepEqual(first.Trace.Events, again.Trace.Events) || string(again.Ending.Output) != string(first.Ending.Output) {
					t.Fatalf("seed %d: another execution: %+v", seed, again.Diverged)
				}
			}
			if len(seen) != 2 || min(seen["0"], seen["1"]) < 5 {
				t.Errorf("handlers that ran to their end: %v", seen)
			}
		})
	}
}
