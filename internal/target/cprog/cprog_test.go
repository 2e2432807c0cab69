package cprog

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// mixed uses most kinds of operation, so that schedules differ in many ways.
const mixed = `
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t b;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t s;
static int turn, shared;
static atomic_int hits;
static void init(void) { shared = 1; }
static void *work(void *arg) {
  long me = (long)arg;
  pthread_once(&once, init);
  pthread_barrier_wait(&b);
  char *p = malloc(32 + 8 * me);
  memset(p, (int)me, 32);
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&m);
    while (turn % 3 != me) pthread_cond_wait(&c, &m);
    turn++;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    atomic_fetch_add(&hits, p[i]);
    sem_wait(&s);
    shared += 1;
    sem_post(&s);
    usleep(10);
  }
  free(p);
  return (void *)(me * 2);
}
int main(void) {
  pthread_t t[3];
  pthread_barrier_init(&b, NULL, 3);
  sem_init(&s, 0, 1);
  for (long i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, (void *)i);
  long sum = 0;
  for (int i = 0; i < 3; i++) { void *r; pthread_join(t[i], &r); sum += (long)r; }
  printf("turn %d shared %d hits %d sum %ld\n", turn, shared, hits, sum);
  return 0;
}`

// Every policy's executions, recorded, are followed step by step by a strict script, in the
// same process and in another one, and give the same events. The trace is valid.
func TestRecordedSchedulesAreFollowed(t *testing.T) {
	prog := compile(t, mixed)
	tg, other := start(t, prog), start(t, prog)
	base := run(t, tg, schedule.Plan{Record: true, Accesses: true})
	points := racySites(base.Trace)
	seen := map[string]bool{}
	for _, policy := range []schedule.Policy{schedule.Fair, schedule.Random, schedule.PCT, schedule.POS} {
		for seed := range uint64(25) {
			p := schedule.Plan{Policy: policy, Seed: seed, Depth: 3, Length: base.Points, Record: true, Points: points, Timeouts: seed%2 == 0}
			first := run(t, tg, p)
			if first.Ending.Kind != trace.Clean || string(first.Ending.Output) != "turn 9 shared 10 hits 9 sum 6\n" {
				t.Fatalf("%v seed %d: %v %q %q", policy, seed, first.Ending.Kind, first.Ending.Message, first.Ending.Output)
			}
			if err := trace.Validate(first.Trace); err != nil {
				t.Fatalf("%v seed %d: %v", policy, seed, err)
			}
			seen[fmt.Sprint(first.Signature)] = true
			script := schedule.Plan{Mode: schedule.Strict, Script: schedule.ScriptOf(first.Trace), Threads: first.Trace.Threads, Points: points, Record: true, Seed: 999}
			for i, where := range []*Target{tg, other} {
				again := run(t, where, script)
				if again.Ending.Kind == trace.Diverged {
					t.Fatalf("%v seed %d, process %d: diverged: %+v", policy, seed, i, again.Diverged)
				}
				if !reflect.DeepEqual(first.Trace.Events, again.Trace.Events) || !reflect.DeepEqual(first.Trace.Ending, again.Trace.Ending) {
					t.Fatalf("%v seed %d, process %d: another execution", policy, seed, i)
				}
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("100 schedules showed only %d behaviours", len(seen))
	}
}

// racySites are the instructions that touch global memory from more than one thread.
func racySites(tr *trace.Trace) []trace.Site {
	threads := map[trace.Object]map[trace.ThreadID]bool{}
	for _, e := range tr.Events {
		if e.Op.IsAccess() && e.Object.Region() == trace.RegionGlobal {
			if threads[e.Object] == nil {
				threads[e.Object] = map[trace.ThreadID]bool{}
			}
			threads[e.Object][e.Thread] = true
		}
	}
	var out []trace.Site
	seen := map[trace.Site]bool{}
	for _, e := range tr.Events {
		if e.Op.IsAccess() && len(threads[e.Object]) > 1 && !seen[e.Site] {
			seen[e.Site] = true
			out = append(out, e.Site)
		}
	}
	return out
}

// A script that does not fit names the first step that differs.
func TestStrictScriptDiverges(t *testing.T) {
	tg := start(t, compile(t, mixed))
	first := run(t, tg, schedule.Plan{Policy: schedule.Random, Seed: 3, Record: true})
	script := schedule.ScriptOf(first.Trace)
	at := len(script) / 2
	script[at].Op = trace.OpSemDestroy
	o := run(t, tg, schedule.Plan{Mode: schedule.Strict, Script: script, Threads: first.Trace.Threads, Record: true})
	if o.Ending.Kind != trace.Diverged || o.Diverged == nil || o.Diverged.Step != at || o.Diverged.Expected.Op != trace.OpSemDestroy {
		t.Fatalf("%v %+v, want a divergence at step %d", o.Ending.Kind, o.Diverged, at)
	}
	if o.Diverged.Met.Op != first.Trace.Events[at].Op {
		t.Errorf("met %v, want %v", o.Diverged.Met.Op, first.Trace.Events[at].Op)
	}
}

// What one execution does to memory, the stack, the heap, files, stdio, thread-local and
// static state is not seen by the next.
func TestExecutionsAreIndependent(t *testing.T) {
	prog := compile(t, `
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static int counter, big[1 << 18];
static __thread int mine;
static char *kept;
static __attribute__((noinline)) int dig(int depth) {
  volatile char frame[4096];
  int sum = 0;
  for (unsigned i = 0; i < sizeof frame; i += 64) { sum += frame[i]; frame[i] = 7; }
  return depth ? sum + dig(depth - 1) : sum;
}
static void *run(void *arg) {
  assert(mine == 0); mine = 5;
  assert(dig(40) == 0);
  return arg;
}
int main(void) {
  char line[8];
  assert(counter++ == 0 && kept == NULL && mine == 0);
  mine = 3;
  assert(big[200000] == 0); big[200000] = 1;
  assert(dig(300) == 0); // more than a megabyte
  kept = malloc(100000);
  for (int i = 0; i < 100000; i++) { assert(kept[i] == 0); kept[i] = 1; }
  assert(rand() == 1804289383);
  assert(fgets(line, sizeof line, stdin) && strcmp(line, "hello\n") == 0);
  int fd = open("/dev/null", O_RDWR);
  assert(fd == 3);
  assert(dup2(fd, 0) == 0);
  void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  printf("%p %p\n", p, (void *)kept);
  pthread_t t;
  pthread_create(&t, NULL, run, NULL);
  pthread_join(t, NULL);
  return 0;
}`)
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog}, Runtime: lib, Stdin: []byte("hello\nworld\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	first := run(t, tg, schedule.Plan{Record: true})
	for i := range 50 {
		o := run(t, tg, schedule.Plan{Record: i%7 == 0})
		if o.Ending.Kind != trace.Clean {
			t.Fatalf("execution %d: %v %s", i, o.Ending.Kind, o.Ending.Message)
		}
		if i%7 == 0 && string(o.Ending.Output) != string(first.Ending.Output) {
			t.Fatalf("execution %d printed %q, the first %q", i, o.Ending.Output, first.Ending.Output)
		}
	}
}

// More threads than hosts, more than fit one word of a set, threads that are reused.
func TestManyThreads(t *testing.T) {
	prog := compile(t, `
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *run(void *arg) { pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); return arg; }
int main(int argc, char **argv) {
  int k = atoi(argv[1]);
  pthread_t *t = malloc(sizeof *t * k);
  for (int i = 0; i < k; i++) pthread_create(&t[i], NULL, run, NULL);
  for (int i = 0; i < k; i++) pthread_join(t[i], NULL);
  for (int i = 0; i < 300; i++) { pthread_create(&t[0], NULL, run, NULL); pthread_join(t[0], NULL); }
  return n != k + 300;
}`)
	for _, n := range []int{3, 70, 200} {
		tg := start(t, prog, fmt.Sprint(n))
		for seed := range uint64(3) {
			o := run(t, tg, schedule.Plan{Policy: schedule.Random, Seed: seed, Record: true})
			if o.Ending.Kind != trace.Clean || o.Ending.Status != 0 || o.Threads != n+301 {
				t.Fatalf("%d threads: %v status %d, %d threads", n, o.Ending.Kind, o.Ending.Status, o.Threads)
			}
			if err := trace.Validate(o.Trace); err != nil {
				t.Fatal(err)
			}
			again := run(t, start(t, prog, fmt.Sprint(n)), schedule.Plan{Mode: schedule.Strict, Script: schedule.ScriptOf(o.Trace), Threads: o.Trace.Threads, Record: true})
			if again.Ending.Kind != trace.Clean || !reflect.DeepEqual(o.Trace.Events, again.Trace.Events) {
				t.Fatalf("%d threads: the replay is another execution: %+v", n, again.Diverged)
			}
		}
	}
}

// A plan with Stop ends at the first failure; the plans after it are untouched.
func TestStop(t *testing.T) {
	tg := start(t, compile(t, testProgram("fail/lost_update.c")))
	base := run(t, tg, schedule.Plan{Record: true, Accesses: true})
	points := racySites(base.Trace)
	plans := []schedule.Plan{
		{Policy: schedule.Random, Seed: 1, Repeat: 5000, Stop: true, Points: points},
		{Policy: schedule.Fair, Repeat: 3, Points: points},
	}
	next, counts, failed := 0, map[schedule.Policy]int{}, 0
	err := tg.Stream(t.Context(), func() (schedule.Plan, bool) {
		if next == len(plans) {
			return schedule.Plan{}, false
		}
		next++
		return plans[next-1], true
	}, func(p schedule.Plan, o schedule.Outcome) bool {
		counts[p.Policy]++
		if o.Ending.Kind.Failed() {
			failed++
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if failed != 1 || counts[schedule.Random] >= 5000 || counts[schedule.Fair] != 3 {
		t.Errorf("%d failures, executions %v", failed, counts)
	}
}

// A program that blocks in the kernel behind the runtime's back is unfinished, again and again.
func TestWatchdog(t *testing.T) {
	prog := compile(t, `
int main(void) {
  long r;
  // poll(NULL, 0, -1) by the gate for 32-bit programs, which the runtime does not watch: blocks the carrier for good
  __asm__ volatile("int $0x80" : "=a"(r) : "a"(168l), "b"(0l), "c"(0l), "d"(-1l) : "memory");
  return r == 0;
}`)
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog}, Runtime: lib, Watchdog: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	for range 2 {
		o := run(t, tg, schedule.Plan{Record: true})
		if o.Ending.Kind != trace.Unfinished || !strings.Contains(o.Ending.Message, "watchdog: blocked in the kernel") {
			t.Fatalf("%v: %s", o.Ending.Kind, o.Ending.Message)
		}
	}
}

// A failure of heddle's own is an error, never an outcome.
func TestLostProgramIsNoFinding(t *testing.T) {
	tg := start(t, compile(t, mixed))
	p := tg.loop.Process()
	syscall.Kill(p.Pid(), syscall.SIGKILL)
	if err := p.Failure(); err == nil || !strings.Contains(err.Error(), "not a finding") {
		t.Errorf("%v", err)
	}
	if o := run(t, tg, schedule.Plan{}); o.Ending.Kind != trace.Clean {
		t.Errorf("after a restart: %v", o.Ending.Kind)
	}
}

// Names are relative to the working directory; a file that an execution makes is there until
// its end.
func TestWorkingDirectoryAndFiles(t *testing.T) {
	prog := compile(t, `
#include <stdio.h>
int main(void) {
  char line[9];
  FILE *f = fopen("out.txt", "wx");
  if (!f) return 1;
  fputs("x", f);
  fclose(f);
  f = fopen("out.txt", "r");
  if (!f || !fgets(line, 9, f) || line[0] != 'x') return 2;
  return fclose(f);
}`)
	tg := start(t, prog)
	for range 3 {
		if o := run(t, tg, schedule.Plan{}); o.Ending.Kind != trace.Clean || o.Ending.Status != 0 {
			t.Fatalf("%v %d", o.Ending.Kind, o.Ending.Status)
		}
	}
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(prog), "out.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%q %v", b, err)
	}
}

// A program whose controller was killed does not stay behind. The controller here is this
// test binary, run again.
func TestNoOrphans(t *testing.T) {
	if prog := os.Getenv("HEDDLE_TEST_ORPHAN"); prog != "" {
		lib := os.Getenv("HEDDLE_TEST_RUNTIME")
		tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog}, Runtime: lib})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("pid", tg.Pid())
		time.Sleep(time.Minute)
		return
	}
	prog := compile(t, mixed)
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestNoOrphans$")
	cmd.Env = append(os.Environ(), "HEDDLE_TEST_ORPHAN="+prog, "HEDDLE_TEST_RUNTIME="+lib)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscanf(out, "pid %d\n", &pid); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for range 100 {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(b), ") Z ") {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	t.Error("the program still runs 5 s after its controller was killed")
}

// The program's environment is heddle's, without what brought the runtime in.
func TestEnvironment(t *testing.T) {
	prog := compile(t, `
#include <stdio.h>
extern char **environ;
int main(void) { for (char **e = environ; *e; e++) puts(*e); return 0; }`)
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog}, Runtime: lib, Env: []string{"A=1", "LD_PRELOAD=/lib/x86_64-linux-gnu/libm.so.6", "B=2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	o := run(t, tg, schedule.Plan{Record: true})
	if got, want := string(o.Ending.Output), "A=1\nB=2\nLD_PRELOAD=/lib/x86_64-linux-gnu/libm.so.6\n"; got != want {
		t.Errorf("environment %q, want %q", got, want)
	}
}
