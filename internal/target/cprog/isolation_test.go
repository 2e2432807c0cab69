package cprog

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// startAt is start with an isolation.
func startAt(t testing.TB, prog string, isolation Isolation, threads bool, args ...string) *Target {
	t.Helper()
	return startKnowing(t, prog, isolation, threads, nil, args...)
}

// startKnowing is startAt with the modules of a recording.
func startKnowing(t testing.TB, prog string, isolation Isolation, threads bool, modules []trace.Module, args ...string) *Target {
	t.Helper()
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := Start(t.Context(), Config{
		Path: prog, Args: append([]string{prog}, args...), Dir: filepath.Dir(prog), Runtime: lib, Isolation: isolation, Threads: threads, Modules: modules,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// samePlans gives n different plans with all policies; a Go program's points do not matter.
func samePlans(n int, base schedule.Outcome) (plans []schedule.Plan) {
	policies := []schedule.Policy{schedule.Fair, schedule.Random, schedule.PCT, schedule.POS}
	points := racySites(base.Trace)
	for i := range n {
		plans = append(plans, schedule.Plan{
			Policy: policies[i%4], Seed: uint64(i), Depth: 3, Length: base.Points, Record: true, Points: points,
			Accesses: i%3 == 0, Timeouts: i%2 == 0,
		})
	}
	return plans
}

// stream runs plans and gives their outcomes.
func stream(t testing.TB, tg *Target, plans []schedule.Plan) (out []schedule.Outcome) {
	t.Helper()
	next := 0
	err := tg.Stream(t.Context(), func() (schedule.Plan, bool) {
		if next == len(plans) {
			return schedule.Plan{}, false
		}
		next++
		return plans[next-1], true
	}, func(_ schedule.Plan, o schedule.Outcome) bool {
		out = append(out, o)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != len(plans) {
		t.Fatalf("%d plans, %d outcomes", len(plans), len(out))
	}
	return out
}

// sameOutcome reports the first difference between two executions of one plan.
func sameOutcome(t testing.TB, what string, a, b schedule.Outcome) {
	t.Helper()
	ea, eb := a.Trace.Events, b.Trace.Events
	for i := range min(len(ea), len(eb)) {
		if !reflect.DeepEqual(ea[i], eb[i]) {
			t.Fatalf("%s: event %d is\n%+v, was\n%+v", what, i, eb[i], ea[i])
		}
	}
	if len(ea) != len(eb) {
		t.Fatalf("%s: %d events, were %d", what, len(eb), len(ea))
	}
	a.Trace.Header.Isolation, b.Trace.Header.Isolation = "", ""
	if !reflect.DeepEqual(a.Trace, b.Trace) {
		t.Fatalf("%s: another trace:\n%+v\n%+v", what, b.Trace.Ending, a.Trace.Ending)
	}
	a.Trace, b.Trace = nil, nil
	a.Signature, b.Signature = 0, 0 // of addresses: means something within one kind of process
	a.Relaxed, b.Relaxed = nil, nil // all that its process has met
	a.SetUp, b.SetUp = schedule.SetUp{}, schedule.SetUp{}
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("%s: outcome\n%+v, was\n%+v", what, b, a)
	}
}

// sameUnderEach runs n plans of one program under each isolation that can carry it, fewer of
// them where each takes a process, and at most ten with kernel threads; their traces must be
// the same.
func sameUnderEach(t testing.TB, prog string, n, few int, args ...string) {
	t.Helper()
	reference := Snapshot
	first := startAt(t, prog, Snapshot, false, args...)
	base := run(t, first, schedule.Plan{Record: true, Accesses: true})
	if base.Ending.Kind == trace.Unsupported {
		reference = Fork
		first = startAt(t, prog, Fork, false, args...)
		base = run(t, first, schedule.Plan{Record: true, Accesses: true})
	}
	if base.Ending.Kind == trace.Unsupported {
		t.Fatalf("no isolation carries it: %s", base.Ending.Message)
	}
	plans := samePlans(n, base)
	want := stream(t, first, plans)
	first.Close()
	for _, how := range []struct {
		name      string
		isolation Isolation
		threads   bool
		n         int
	}{{"fork", Fork, false, n}, {"process", Process, false, few}, {"threads", Process, true, min(few, 10)}} {
		if how.isolation == reference {
			continue
		}
		tg := startKnowing(t, prog, how.isolation, how.threads, base.Trace.Modules, args...)
		for i, got := range stream(t, tg, plans[:how.n]) {
			w := want[i]
			tr := *w.Trace
			w.Trace = &tr
			sameOutcome(t, how.name+", "+plans[i].Policy.String(), w, got)
			if err := trace.Validate(got.Trace); err != nil {
				t.Errorf("%s: %v", how.name, err)
			}
		}
		tg.Close()
	}
}

// The same plan gives the same execution, whatever lies between executions and whether
// threads are fibers or the kernel's.
func TestSameUnderEachIsolation(t *testing.T) {
	t.Run("mixed", func(t *testing.T) { sameUnderEach(t, compile(t, mixed), 100, 20) })
	for i, p := range testPrograms(t) {
		// A sample; BenchmarkSameUnderEachIsolation has all. The text of one depends on what is not the program's. Only heddle cc gives
		// hooks to inline assembly, without which a spin lock lasts until the watchdog ends it, at one place or another.
		if name := filepath.Base(p.file); name == "message_varies.c" || strings.HasPrefix(name, "asm_") {
			continue
		} else if i%8 == 5 || strings.HasPrefix(name, "fork_") || strings.HasPrefix(name, "shared_") || strings.HasPrefix(name, "cxx_exception_") || strings.HasPrefix(name, "plugin_") {
			t.Run(p.String(), func(t *testing.T) { sameUnderEach(t, p.compile(t), need.Amount(8, 20), 4, p.args...) })
		}
	}
}

// caseProgram is a program in testdata with what its comment says of it.
type caseProgram struct {
	file        string
	flags, args []string
}

func (p caseProgram) String() string {
	return filepath.Base(filepath.Dir(p.file)) + "/" + filepath.Base(p.file)
}

func (p caseProgram) compile(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile(p.file)
	if err != nil {
		t.Fatal(err)
	}
	_, plugin, found := strings.Cut(string(b), "\n// plug-in: ")
	if !found {
		return compile(t, p.file, p.flags...)
	}
	prog := compile(t, p.file, "-rdynamic")
	name, _, _ := strings.Cut(plugin, "\n")
	compilePlugin(t, p.file, filepath.Join(filepath.Dir(prog), name))
	return prog
}

// testPrograms are the programs in testdata.
func testPrograms(t testing.TB) (all []caseProgram) {
	t.Helper()
	for _, dir := range []string{"fail", "pass"} {
		files, err := filepath.Glob(filepath.Join(testProgram(dir), "*.c*"))
		if err != nil || len(files) < 60 {
			t.Fatalf("%d programs in %s, %v", len(files), dir, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p := caseProgram{file: file}
			for line := range strings.Lines(string(b)) {
				if words, ok := strings.CutPrefix(line, "// flags:"); ok {
					p.flags = strings.Fields(words)
				} else if words, ok := strings.CutPrefix(line, "// args:"); ok {
					p.args = strings.Fields(words)
				}
			}
			all = append(all, p)
		}
	}
	return all
}

// All test programs: 100 plans each under every isolation, and 10 with kernel threads.
func BenchmarkSameUnderEachIsolation(b *testing.B) {
	for _, p := range testPrograms(b) {
		b.Run(p.String(), func(b *testing.B) {
			prog := p.compile(b)
			for b.Loop() {
				sameUnderEach(b, prog, 100, 100, p.args...)
			}
		})
	}
}

// Memory that main finds untouched is untouched in every execution, whether few or many of its pages lie
// between touched ones, and whichever executions have written there before.
func TestUntouchedMemory(t *testing.T) {
	source := filepath.Join(t.TempDir(), "untouched.c")
	err := os.WriteFile(source, []byte(`
#include <pthread.h>
#include <stdio.h>
enum { PAGE = 4096, PAGES = 64 };
static _Alignas(PAGE) volatile char area[PAGES * PAGE];
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int first = -1; // restored in any case: main finds it with other touched data
static const int gaps[] = {1, 3, 5, 8, 20, 62}; // in gaps of 1, 4, 34 and 20 pages
static const int touched[] = {0, 2, 7, 42, 63};
__attribute__((constructor)) static void before_main(void) {
  for (int i = 0; i < 5; i++) area[touched[i] * PAGE] = 1;
}
static void *worker(void *n) {
  pthread_mutex_lock(&mu);
  if (first < 0) {
    first = (int)(long)n;
    if (first != 1) area[gaps[first - 1] * PAGE + 9] = 1; // another page, or none, in each execution
  }
  pthread_mutex_unlock(&mu);
  return NULL;
}
int main(void) {
  for (int i = 0; i < 6; i++)
    if (area[gaps[i] * PAGE + 9]) { printf("page %d\n", gaps[i]); return 1; }
  for (int i = 0; i < 5; i++)
    if (area[touched[i] * PAGE] != 1) { printf("page %d\n", touched[i]); return 1; }
  pthread_t t[6];
  for (long i = 0; i < 6; i++) pthread_create(&t[i], NULL, worker, (void *)(i + 1));
  for (int i = 0; i < 6; i++) pthread_join(t[i], NULL);
  area[touched[2] * PAGE] = 2;
  return 0;
}
`), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	prog := compile(t, source)
	for _, isolation := range []Isolation{Snapshot, Fork} {
		tg := startAt(t, prog, isolation, false)
		var plans []schedule.Plan
		for seed := range 500 {
			plans = append(plans, schedule.Plan{Policy: schedule.Random, Seed: uint64(seed)})
		}
		for _, o := range stream(t, tg, plans) {
			if o.Ending.Kind != trace.Clean || o.Ending.Status != 0 {
				t.Fatalf("%v: %v, status %d, %s", isolation, o.Ending.Kind, o.Ending.Status, o.Ending.Output)
			}
		}
	}
}
