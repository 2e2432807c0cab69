package cprog

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// computing is what the programs of these tests compute with: COMPUTE(N) makes N accesses, half of
// them writes, to what only its thread uses.
const computing = `
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#define COMPUTE(n) do { volatile unsigned *b = calloc(512, 4); for (long i = 0; i < (n) / 2; i++) b[i & 511] += i; free((void *)b); } while (0)
`

func forced(t *trace.Trace) (n int) {
	for i := range t.Events {
		if t.Events[i].Flags&trace.FlagForced != 0 {
			n++
		}
	}
	return n
}

// A thread that computes goes on, whatever the policy and whoever else could: its execution has the
// scheduling points of one in which it does not compute, and under FAIR no preemption.
func TestComputationIsNoPoint(t *testing.T) {
	prog := compile(t, computing+`
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long n;
static void *worker(void *arg) {
  for (int i = 0; i < 3; i++) {
    COMPUTE(n);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
  }
  return arg;
}
int main(int argc, char **argv) {
  n = atol(argv[1]);
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, worker, NULL);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
}`)
	quiet, busy := start(t, prog, "0"), start(t, prog, "10000000")
	for i, p := range policies() {
		p.Seed, p.Record = uint64(i), true
		want, got := run(t, quiet, p), run(t, busy, p)
		if n := forced(got.Trace); got.Ending.Kind != trace.Clean || n > 0 {
			t.Errorf("%v: %v, %d yields of heddle's own", p.Policy, got.Ending.Kind, n)
		}
		if got.Points != want.Points || got.Switches != want.Switches || got.Preemptions != want.Preemptions {
			t.Errorf("%v: %d points, %d switches, %d preemptions; without the computation %d, %d, %d", p.Policy,
				got.Points, got.Switches, got.Preemptions, want.Points, want.Switches, want.Preemptions)
		}
		if p.Policy == schedule.Fair && got.Preemptions > 0 {
			t.Errorf("%d preemptions under FAIR", got.Preemptions)
		}
	}
}

// A loop that computes until another thread has written something ends under every policy, also where
// no access is a scheduling point, and its schedule replays.
func TestComputingUntilOtherIsDone(t *testing.T) {
	prog := compile(t, computing+`
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int done;
static void *worker(void *arg) {
  for (int i = 0; i < 200; i++) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
  }
  done = 1;
  return arg;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, worker, NULL);
  while (!done) COMPUTE(1000);
  pthread_join(t, NULL);
}`)
	tg := start(t, prog)
	yields := 0
	for i, p := range policies() {
		p.Seed, p.Record = uint64(i), true
		o := run(t, tg, p)
		if o.Ending.Kind != trace.Clean {
			t.Fatalf("%v: %v: %s", p.Policy, o.Ending.Kind, o.Ending.Message)
		}
		// RANDOM does not let it compute for each of the other thread's points.
		n := forced(o.Trace)
		if yields += n; n > 4 {
			t.Errorf("%v: %d yields", p.Policy, n)
		}
		script := schedule.ScriptOf(o.Trace)
		again := run(t, tg, schedule.Plan{Mode: schedule.Strict, Script: script, Threads: o.Trace.Threads, Record: true})
		if again.Ending.Kind != trace.Clean || !slices.EqualFunc(o.Trace.Events, again.Trace.Events, func(a, b trace.Event) bool {
			return a.Thread == b.Thread && a.Op == b.Op && a.Site == b.Site && a.Enabled.Equal(b.Enabled) && a.Flags == b.Flags
		}) {
			t.Errorf("%v: replayed as %v: %v", p.Policy, again.Ending.Kind, again.Diverged)
		}
		// Without its yields in the script, the thread that computes goes on where it comes to one.
		script = slices.DeleteFunc(script, func(s schedule.Step) bool { return s.Op == trace.OpYield })
		if o := run(t, tg, schedule.Plan{Mode: schedule.Tolerant, Script: script, Threads: o.Trace.Threads}); o.Ending.Kind != trace.Clean {
			t.Errorf("%v: followed without yields: %v: %s", p.Policy, o.Ending.Kind, o.Ending.Message)
		}
	}
	if yields == 0 {
		t.Error("the thread that computes has not yielded: the program shows nothing")
	}
}

// A deadline is met while a thread computes: the sleeper does not wait for its end.
func TestSleepEndsDuringComputation(t *testing.T) {
	prog := compile(t, computing+`
static int awake;
static void *sleeper(void *arg) {
  usleep(1000);
  __atomic_store_n(&awake, 1, __ATOMIC_SEQ_CST);
  return arg;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, sleeper, NULL);
  usleep(100); // the sleeper sleeps by now
  COMPUTE(6000000); // 6 ms
  int was = __atomic_load_n(&awake, __ATOMIC_SEQ_CST);
  pthread_join(t, NULL);
  return !was;
}`)
	o := run(t, start(t, prog), schedule.Plan{Policy: schedule.Fair, Record: true, Delays: schedule.NoDelays})
	if n := forced(o.Trace); o.Ending.Kind != trace.Clean || o.Ending.Status != 0 || n != 1 {
		t.Errorf("%v, status %d, %d yields, want 1", o.Ending.Kind, o.Ending.Status, n)
	}
}

// A computation longer than the watchdog waits ends while it is one of at most abi.StretchesAlive quiet
// stretches; one that never ends is unfinished.
func TestWatchdogAndComputation(t *testing.T) {
	prog := compile(t, computing+`
static void *worker(void *arg) {
  long n = *(long *)arg;
  do COMPUTE(30000000); while (n < 0);
  return arg;
}
int main(int argc, char **argv) {
  long n = atol(argv[1]);
  int threads = n < 0 ? 1 : 2;
  pthread_t t[2];
  for (int i = 0; i < threads; i++) pthread_create(&t[i], NULL, worker, &n);
  for (int i = 0; i < threads; i++) pthread_join(t[i], NULL);
}`)
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n    string
		want trace.Kind
	}{{"1", trace.Clean}, {"-1", trace.Unfinished}} {
		tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog, c.n}, Runtime: lib, Watchdog: 200 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer tg.Close()
		o := run(t, tg, schedule.Plan{})
		if o.Ending.Kind != c.want || c.want == trace.Unfinished && !strings.Contains(o.Ending.Message, "watchdog") {
			t.Errorf("%s: %v: %s, want %v", c.n, o.Ending.Kind, o.Ending.Message, c.want)
		}
	}
}

// Kernel threads change nothing for programs that compute: no thread runs beside the one that computes,
// so every execution is that of the fibers, with its yields, its values and the end of a sleep at the
// same event. Each round has several threads that compute for as long as a yield takes, which would
// show an overlap as another event, a lost update of what they share, or a hang.
func TestComputationOnKernelThreads(t *testing.T) {
	prog := compile(t, computing+`
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int done;
static long shared; // without a lock: an overlap would lose updates
static void *worker(void *arg) {
  for (int i = 0; i < 6; i++) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    for (int k = 0; k < 20000; k++) shared = shared + 1;
  }
  usleep(1000);
  __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
  return arg;
}
int main(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, worker, NULL);
  while (done < 3) COMPUTE(1000);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
  return (int)(shared % 251); // updates may be lost where a thread yields for a deadline: in both in the same way
}`)
	fibers := startAt(t, prog, Automatic, false)
	kernel := startAt(t, prog, Automatic, true)
	yields := 0
	for i, p := range policies() {
		for seed := range uint64(2) {
			p.Seed, p.Record = uint64(i)+10*seed, true
			want, got := run(t, fibers, p), run(t, kernel, p)
			if want.Ending.Kind != trace.Clean || got.Ending.Kind != trace.Clean {
				t.Fatalf("%v: fibers %v: %s; kernel threads %v: %s", p.Policy, want.Ending.Kind, want.Ending.Message, got.Ending.Kind, got.Ending.Message)
			}
			yields += forced(want.Trace)
			if !slices.EqualFunc(want.Trace.Events, got.Trace.Events, func(a, b trace.Event) bool {
				return a.Thread == b.Thread && a.Op == b.Op && a.Site == b.Site && a.Object == b.Object && a.Value == b.Value &&
					a.Result == b.Result && a.Flags == b.Flags && a.Enabled.Equal(b.Enabled)
			}) {
				t.Errorf("%v, seed %d: %d events on kernel threads, %d on fibers, or others", p.Policy, p.Seed, len(got.Trace.Events), len(want.Trace.Events))
			}
			if got.Ending.Status != want.Ending.Status || got.Signature != want.Signature {
				t.Errorf("%v, seed %d: another execution on kernel threads", p.Policy, p.Seed)
			}
		}
	}
	if yields == 0 {
		t.Error("no thread that computes has yielded: the program shows nothing")
	}
}

// A thread that only reads, without a scheduling point, is in heddle's own yield when the execution ends as a hang, whatever its last
// operation was; and its stretches count.
func TestQuietHangSaysWhere(t *testing.T) {
	prog := compile(t, `
#include <pthread.h>
struct node { struct node *volatile next; };
static struct node ring[100];
static void *walk(void *p) { for (struct node *n = ring; n; n = n->next) {} return p; }
int main(void) {
  for (int i = 0; i < 100; i++) ring[i].next = &ring[(i + 1) % 100];
  pthread_t t;
  pthread_create(&t, 0, walk, 0);
  pthread_join(t, 0);
}`)
	o := run(t, start(t, prog), schedule.Plan{})
	if o.Ending.Kind != trace.Hang || len(o.Ending.Waiters) != 2 || o.Stretches < 100 {
		t.Fatalf("%v after %d stretches: %+v", o.Ending.Kind, o.Stretches, o.Ending.Waiters)
	}
	if w := o.Ending.Waiters[1]; w.Op != trace.OpYield || w.Site == 0 || w.Object.Region() != trace.RegionGlobal {
		t.Errorf("the walk ends in %v: %+v", w.Op, w)
	}
}
