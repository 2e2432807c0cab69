package cprog

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// endless has a thread that goes on in the way that its argument names while it holds a mutex, one that waits for the
// mutex, and main, which joins them.
const endless = `
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>
#include <sys/syscall.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;
static int memory[1024];
static atomic_int shared;
__attribute__((no_sanitize("thread"), noinline)) static void unseen(void) { for (volatile long i = 0;; i++); }
static void *first(void *how) {
  pthread_mutex_lock(&m);
  pthread_barrier_wait(&held);
  switch (*(char *)how) {
  case 'u': unseen();
  case 'c': for (unsigned x = 1;; x = x * 5 + 1) memory[x % 1024] += (int)x;
  case 'a': for (;;) atomic_fetch_add(&shared, 1);
  case 'k': {
    long r; // poll(NULL, 0, -1) by the gate for 32-bit programs, which the runtime does not watch
    __asm__ volatile("int $0x80" : "=a"(r) : "a"(168l), "b"(0l), "c"(0l), "d"(-1l) : "memory");
  }
  }
  return NULL;
}
static void *second(void *arg) {
  pthread_barrier_wait(&held);
  pthread_mutex_lock(&m);
  return arg;
}
int main(int argc, char **argv) {
  pthread_t a, b;
  pthread_barrier_init(&held, NULL, 2);
  pthread_create(&a, NULL, first, argv[1]);
  pthread_create(&b, NULL, second, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
}`

// checkCut checks where the threads of endless are said to be.
func checkCut(t *testing.T, e *trace.Ending, why string) {
	t.Helper()
	if e.Kind != trace.Unfinished || !strings.HasPrefix(e.Message, why) {
		t.Fatalf("%v: %q, want unfinished: %q", e.Kind, e.Message, why)
	}
	if len(e.Waiters) != 3 {
		t.Fatalf("positions %+v, want those of three threads", e.Waiters)
	}
	for _, w := range e.Waiters {
		switch {
		case w.Site == 0:
			t.Errorf("T%d has no place: %+v", w.Thread, w)
		case w.Thread == 0 && (w.Ready || w.Op != trace.OpThreadJoin), w.Thread == 2 && (w.Ready || w.Op != trace.OpMutexLock || w.Holder != 1), w.Thread == 1 && !w.Ready:
			t.Errorf("T%d: %+v", w.Thread, w)
		}
	}
}

// TestCut: an execution that runs when the context ends says where each of its threads is, and the target remains usable.
func TestCut(t *testing.T) {
	prog := compile(t, endless)
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		how       string
		isolation Isolation
		threads   bool
		record    bool
	}{
		{"unseen", Snapshot, false, false}, {"unseen", Fork, false, true}, {"unseen", Process, false, false}, {"unseen", Process, true, false},
		{"compute", Snapshot, false, true}, {"compute", Fork, false, false}, {"compute", Process, true, false},
		{"atomics", Snapshot, false, false}, {"kernel", Snapshot, false, false}, {"kernel", Fork, false, false},
	} {
		tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog, c.how}, Runtime: lib, Isolation: c.isolation, Threads: c.threads, Watchdog: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		for _, cause := range []error{nil, errors.New("time limit reached")} {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(200*time.Millisecond, func() { cancel(cause) })
			_, err := tg.Run(ctx, schedule.Plan{Record: c.record, MaxSteps: 1 << 30, FairAfter: 1 << 29})
			var cut *target.CutError
			if !errors.As(err, &cut) || !errors.Is(err, context.Canceled) {
				t.Fatalf("%+v: %v", c, err)
			}
			why := trace.CutByTime
			if cause == nil {
				why = trace.CutByUser
			}
			t.Logf("%+v: %s %+v", c, cut.Outcome.Ending.Message, cut.Outcome.Ending.Waiters)
			checkCut(t, &cut.Outcome.Ending, why)
			if got := cut.Outcome.Trace != nil; got != c.record {
				t.Errorf("%+v: recorded %v", c, got)
			}
		}
		tg.Close()
	}
}

// TestThreadsOfLongExecution: an execution that has run for a few seconds says where all of its threads are, and goes on.
func TestThreadsOfLongExecution(t *testing.T) {
	prog := compile(t, endless)
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		how       string
		isolation Isolation
	}{{"compute", Snapshot}, {"atomics", Fork}} {
		tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog, c.how}, Runtime: lib, Isolation: c.isolation, Watchdog: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		told := make(chan target.Position, 1)
		go func() {
			for ctx.Err() == nil {
				if at, ok := tg.Position(); ok && at.Threads != nil {
					told <- at
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			cancel()
		}()
		_, err = tg.Run(ctx, schedule.Plan{MaxSteps: 1 << 30, FairAfter: 1 << 29})
		var cut *target.CutError
		if !errors.As(err, &cut) {
			t.Fatalf("%+v: %v", c, err)
		}
		select {
		case at := <-told:
			checkCut(t, &trace.Ending{Kind: trace.Unfinished, Waiters: at.Threads}, "")
		default:
			t.Errorf("%+v: nothing was said", c)
		}
		checkCut(t, &cut.Outcome.Ending, "")
		tg.Close()
	}
}

// TestCutAtTheBeginning: the context may end before the program has read a long plan, whose execution then records without a
// pause.
func TestCutAtTheBeginning(t *testing.T) {
	prog := compile(t, endless)
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog, "atomics"}, Runtime: lib, Isolation: Snapshot, Watchdog: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	o := run(t, tg, schedule.Plan{Record: true, MaxSteps: 1 << 21, FairAfter: schedule.Never})
	long := schedule.Plan{Record: true, Mode: schedule.Strict, Script: schedule.ScriptOf(o.Trace), Threads: o.Trace.Threads, MaxSteps: 1 << 22, FairAfter: schedule.Never}
	ctx, cancel := context.WithCancel(t.Context())
	plans := 0
	err = tg.Stream(ctx, func() (schedule.Plan, bool) {
		plans++
		cancel()
		return long, plans == 1
	}, func(schedule.Plan, schedule.Outcome) bool { return true })
	var cut *target.CutError
	if !errors.As(err, &cut) {
		t.Fatal(err)
	}
	if e := &cut.Outcome.Ending; e.Message != trace.CutByUser || len(e.Waiters) == 0 || cut.Outcome.Points >= len(long.Script) {
		t.Errorf("%q after %d of %d points, positions %+v", e.Message, cut.Outcome.Points, len(long.Script), e.Waiters)
	}
}

// TestWatchdogSaysWhere: what reaches no scheduling point for the time of the watchdog is unfinished, not a failure, and
// later executions are as usual.
func TestWatchdogSaysWhere(t *testing.T) {
	prog := compile(t, endless)
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"unseen", "kernel"} {
		for _, isolation := range []Isolation{Snapshot, Fork, Process} {
			tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog, how}, Runtime: lib, Isolation: isolation, Watchdog: 200 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				o := run(t, tg, schedule.Plan{Record: true})
				why := trace.CutByWatchdog
				if how == "kernel" {
					why += ": blocked in the kernel, in "
				}
				checkCut(t, &o.Ending, why)
			}
			tg.Close()
		}
	}
}

// TestSpinsOfLongExecution: where the threads of an execution are also says which of them spins, on what.
func TestSpinsOfLongExecution(t *testing.T) {
	prog := compile(t, `
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ready;
static long done;
static void *loads(void *arg) { while (!atomic_load(&ready)) {} return arg; }
static void *yields(void *arg) { while (!atomic_load(&ready)) sched_yield(); return arg; }
static void *tries(void *arg) { while (pthread_mutex_trylock(&held)) {} return arg; }
int main(int argc, char **argv) {
  pthread_t t;
  pthread_mutex_lock(&held);
  pthread_create(&t, NULL, !strcmp(argv[1], "loads") ? loads : !strcmp(argv[1], "yields") ? yields : tries, NULL);
  for (;;) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&own);
    done++;
    pthread_mutex_unlock(&own);
  }
}`)
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	for how, op := range map[string]trace.Op{"loads": trace.OpAtomicLoad, "yields": trace.OpAtomicLoad, "tries": trace.OpMutexTrylock} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog, how}, Runtime: lib, Isolation: Fork, Watchdog: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			told := make(chan target.Position, 1)
			go func() {
				defer cancel()
				for ctx.Err() == nil {
					if at, ok := tg.Position(); ok && len(at.Spins) == 2 && at.Spins[1] > 0 {
						told <- at
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
			tg.Run(ctx, schedule.Plan{MaxSteps: 1 << 30, FairAfter: 1 << 29})
			select {
			case at := <-told:
				w := &at.Threads[1]
				if at.Spins[0] != 0 || at.Spins[1] < abi.WhereSpins || w.Thread != 1 || w.Op != op || w.Object.Region() != trace.RegionGlobal || w.Site == 0 {
					t.Errorf("T1 spins %d times and T0 %d times: %+v", at.Spins[1], at.Spins[0], w)
				}
			default:
				t.Error("nothing was said")
			}
		})
	}
}
