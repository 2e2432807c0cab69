package cprog

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// startSharing is start under fork isolation, with executions that do or do not share their set-up.
func startSharing(t testing.TB, prog string, isolation Isolation, how setUp, args ...string) *Target {
	t.Helper()
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := Start(t.Context(), Config{Path: prog, Args: append([]string{prog}, args...), Dir: filepath.Dir(prog), Runtime: lib, Isolation: isolation, setUp: how})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// shared returns how many executions of the present process continued from an earlier one's set-up.
func (t *Target) shared() int { return int(t.loop.Process().Shm().SetupsShared) }

// setUpPlans are plans of every kind that a set-up can be shared by, n of them.
func setUpPlans(n int, base schedule.Outcome) (plans []schedule.Plan) {
	points := racySites(base.Trace)
	policies := []schedule.Policy{schedule.Fair, schedule.Random, schedule.PCT, schedule.POS, schedule.Walk, schedule.Delay}
	for i := range n {
		p := schedule.Plan{Policy: policies[i%6], Seed: uint64(i), Depth: 3, Length: base.Points, Record: i%2 == 0, Timeouts: i%5 == 0, Spurious: i%7 == 0, Stay: float64(i%3) / 4, Watch: i%4 == 1, Points: points}
		if len(points) > 0 && i%5 > 2 {
			p.Holds = []schedule.Hold{{Site: points[i%len(points)], Thread: schedule.AnyThread, Until: points[(i+1)%len(points)], Same: i%2 == 0}}
		}
		plans = append(plans, p)
	}
	return plans
}

// sameSharing runs n plans of a program whose executions share the set-up, and of one whose executions do not. It returns
// how many shared it.
func sameSharing(t testing.TB, prog string, n int, args ...string) int {
	t.Helper()
	never := startSharing(t, prog, Fork, setUpNever, args...)
	base := run(t, never, schedule.Plan{Record: true, Accesses: true})
	if base.Ending.Kind == trace.Unsupported {
		return 0
	}
	plans := setUpPlans(n, base)
	want := stream(t, never, plans)
	if never.shared() != 0 {
		t.Fatalf("%d executions shared a set-up", never.shared())
	}
	always := startSharing(t, prog, Fork, setUpAlways, args...)
	run(t, always, schedule.Plan{Record: true, Accesses: true})
	got := stream(t, always, plans)
	for i, w := range want {
		sameShared(t, fmt.Sprintf("plan %d, %v", i, plans[i].Policy), w, got[i])
	}
	var replays []schedule.Plan
	for i, o := range got {
		if o.Trace != nil && i%4 == 0 {
			replays = append(replays, schedule.Plan{Mode: schedule.Strict, Script: schedule.ScriptOf(o.Trace), Threads: o.Trace.Threads, Points: plans[i].Points, Record: true, Seed: 999})
		}
	}
	want, got = stream(t, never, replays), stream(t, always, replays)
	for i, w := range want {
		sameShared(t, fmt.Sprintf("replay %d", i), w, got[i])
	}
	return always.shared()
}

func sameShared(t testing.TB, what string, a, b schedule.Outcome) {
	t.Helper()
	if a.Trace != nil && b.Trace != nil {
		sameOutcome(t, what, a, b)
		return
	}
	a.Relaxed, b.Relaxed, a.SetUp, b.SetUp = nil, nil, schedule.SetUp{}, schedule.SetUp{}
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("%s: outcome\n%+v, was\n%+v", what, b, a)
	}
}

// A plan gives the same execution whether or not its set-up is an earlier one's.
func TestSameWithSharedSetUp(t *testing.T) {
	sharing := 0
	for i, p := range testPrograms(t) {
		name := filepath.Base(p.file)
		// A sample. The text of one depends on what is not the program's, another takes long, and see TestSameUnderEachIsolation.
		if name == "message_varies.c" || name == "detached_tasks.c" || strings.HasPrefix(name, "asm_") || i%8 != 3 {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			if sameSharing(t, p.compile(t), 24, p.args...) > 0 {
				sharing++
			}
		})
	}
	if sharing < 20 {
		t.Errorf("only %d programs shared set-ups", sharing)
	}
}

// setUpProgram checks in its thread what its set-up has left, then changes all of it, and uses it up. With an argument the
// set-up ends with something that processes would share.
const setUpProgram = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int table[100], *heap, *area, counter, handled;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static __thread int local = 1;
static FILE *lines;
static int fd, ends[2];
static struct timespec began;
static void on_usr1(int sig) { handled += sig == SIGUSR1; }
static void at_exit(void) { printf("left at %d\n", counter); }
#define CHECK(what) do { if (!(what)) { printf("not as the set-up left it: %s\n", #what); fflush(stdout); _exit(3); } } while (0)

static void *work(void *arg) {
  pthread_mutex_lock(&mu);
  counter++;
  pthread_mutex_unlock(&mu);
  return arg;
}

static void look(void) {
  char line[64], dir[256];
  struct stat st;
  struct timespec now;
  for (int i = 0; i < 100; i++) CHECK(table[i] == i && heap[i] == i && area[i] == i);
  CHECK(local == 2);
  CHECK(fgets(line, sizeof line, lines) && !strcmp(line, "second\n"));
  CHECK(read(fd, line, 3) == 3 && !memcmp(line, "one", 3));
  CHECK(read(ends[0], line, sizeof line) == 4 && !memcmp(line, "pipe", 4));
  CHECK(getcwd(dir, sizeof dir) && !strcmp(dir, "/"));
  CHECK(umask(0) == 027);
  CHECK(getenv("HEDDLE_SET_UP") && fstat(fd, &st) == 0);
  clock_gettime(CLOCK_MONOTONIC, &now);
  CHECK(now.tv_sec == began.tv_sec);
  raise(SIGUSR1);
  CHECK(handled == 1);
  for (int i = 0; i < 100; i++) table[i] = heap[i] = area[i] = -1;
  local = 5;
  fclose(lines);
  close(fd);
  free(heap);
  munmap(area, 4096);
  chdir("/tmp");
  unsetenv("HEDDLE_SET_UP");
  signal(SIGUSR1, SIG_IGN);
}

static void share(const char *what) {
  char name[] = "/tmp/heddle-set-up-XXXXXX";
  if (!strcmp(what, "file")) { int f = mkstemp(name); if (write(f, "x", 1) != 1) abort(); }
  if (!strcmp(what, "unnamed")) tmpfile();
  if (!strcmp(what, "mapping")) *(int *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) = 1;
  if (!strcmp(what, "left out")) { void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); madvise(p, 4096, MADV_DONTFORK); }
  if (!strcmp(what, "record lock")) { struct flock l = { .l_type = F_RDLCK }; fcntl(fd, F_SETLK, &l); }
  if (!strcmp(what, "sleep")) usleep(10);
  if (!strcmp(what, "child")) { if (!fork()) _exit(0); wait(NULL); }
  if (!strcmp(what, "timer")) alarm(1000);
}

int main(int argc, char **argv) {
  pthread_t a, b;
  printf("set-up ");
  fflush(stdout);
  printf("in two parts\n");
  heap = malloc(100 * sizeof *heap);
  area = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 100; i++) table[i] = heap[i] = area[i] = i;
  local = 2;
  char line[64], name[300];
  snprintf(name, sizeof name, "%s.lines", argv[0]);
  lines = fopen(name, "r");
  if (!lines || !fgets(line, sizeof line, lines)) abort();
  fd = open(name, O_RDONLY);
  if (fd < 0 || lseek(fd, -4, SEEK_END) < 0 || pipe(ends) || write(ends[1], "pipe", 4) != 4) abort();
  chdir("/");
  umask(027);
  setenv("HEDDLE_SET_UP", "1", 1);
  signal(SIGUSR1, on_usr1);
  atexit(at_exit);
  clock_gettime(CLOCK_MONOTONIC, &began);
  pthread_mutex_lock(&mu);
  if (argc > 1) share(argv[1]);
  pthread_create(&a, NULL, work, NULL);
  pthread_create(&b, NULL, work, NULL);
  look();
  pthread_mutex_unlock(&mu);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return 0;
}`

func compileSetUp(t *testing.T) string {
	t.Helper()
	prog := compile(t, setUpProgram)
	if err := os.WriteFile(prog+".lines", []byte("first\nsecond\nthird\none\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return prog
}

// Each execution finds what the set-up left, whatever the ones before did with it.
func TestSharedSetUpIsPutBack(t *testing.T) {
	prog := compileSetUp(t)
	tg := startSharing(t, prog, Fork, setUpAlways)
	told, because := 0, ""
	for i := range 40 {
		o := run(t, tg, schedule.Plan{Policy: schedule.Random, Seed: uint64(i), Output: true})
		if o.Ending.Kind != trace.Clean || string(o.Ending.Output) != "set-up in two parts\nleft at 2\n" {
			t.Fatalf("execution %d: %v %d %q %q", i, o.Ending.Kind, o.Ending.Status, o.Ending.Message, o.Ending.Output)
		}
		if o.SetUp.Continued {
			told++
		}
		because = cmp.Or(because, o.SetUp.Because)
	}
	if n := tg.shared(); n != 39 || told != n {
		t.Errorf("%d of 40 executions continued from a set-up, and %d say so: %q", n, told, because)
	}
	sameSharing(t, prog, 60)
}

// What processes would have in common is not shared.
func TestSetUpsNotShared(t *testing.T) {
	prog := compileSetUp(t)
	for _, c := range []struct {
		what, because string
		placed        bool // its place is known
	}{
		{"file", "a file that is open for writing", false}, {"unnamed", "a file that is open for writing", false}, {"mapping", "shared memory", false},
		{"left out", "memory that a fork leaves out", false}, {"sleep", `the operation "sleep"`, true}, {"child", `the operation "start process"`, true},
		{"timer", "a timer", true},
		{"record lock", "a call of fcntl", true},
	} {
		what := c.what
		t.Run(what, func(t *testing.T) {
			tg := startSharing(t, prog, Fork, setUpAlways, what)
			for i := range 3 {
				o := run(t, tg, schedule.Plan{Policy: schedule.Random, Seed: uint64(i), Output: true})
				if o.Ending.Kind != trace.Clean || o.Ending.Status != 0 {
					t.Fatalf("execution %d: %v %d %q %q", i, o.Ending.Kind, o.Ending.Status, o.Ending.Message, o.Ending.Output)
				}
				if u := o.SetUp; u.Because != c.because || (u.Site != 0) != c.placed {
					t.Errorf("execution %d: the set-up is not shared because of %q at %v", i, u.Because, u.Site)
				}
			}
			if n := tg.shared(); n != 0 {
				t.Errorf("%d executions continued from a set-up", n)
			}
		})
	}
}

// A program that computes for long before its first thread gets fork isolation, of which its traces know nothing unless
// it needs that, too.
func TestLongSetUp(t *testing.T) {
	const source = `
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned x;
static int n;
static void *work(void *arg) { __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED); return arg; }
int main(int argc, char **argv) {
  for (int i = 0; i < 30000000; i++) x = x * 1664525 + 1013904223;
  pthread_t a, b;
  pthread_create(&a, NULL, work, NULL);
  pthread_create(&b, NULL, work, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  if (argc > 1) { if (!fork()) _exit(0); wait(NULL); }
  return 0;
}`
	prog := compile(t, source)
	for _, c := range []struct {
		name, header string
		args         []string
		shared       int
	}{{"alone", "", nil, 8}, {"child", "fork", []string{"fork"}, 9}} {
		t.Run(c.name, func(t *testing.T) {
			tg := startSharing(t, prog, Automatic, setUpLong, c.args...)
			for i := range 10 {
				o := run(t, tg, schedule.Plan{Policy: schedule.Random, Seed: uint64(i), Record: true})
				if o.Ending.Kind != trace.Clean || o.Trace.Header.Isolation != c.header {
					t.Fatalf("execution %d: %v %q, header %q", i, o.Ending.Kind, o.Ending.Message, o.Trace.Header.Isolation)
				}
			}
			if n := tg.shared(); tg.Isolation() != Fork || n != c.shared {
				t.Errorf("isolation %v, %d of 10 executions continued from a set-up", tg.Isolation(), n)
			}
		})
	}
}
