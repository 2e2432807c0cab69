package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/testing/need"
)

// atomicityRow is a row of the table in testdata/atomicity/README.md.
var atomicityRow = regexp.MustCompile("(?m)^\\| `(\\w+\\.c)` \\| .* \\| ([a-z-]+) \\|$")

// TestAtomicity: of each program, an interleaving of the stated pattern makes the program fail as the
// program says, and the trace replays. The correct twin has no bug.
func TestAtomicity(t *testing.T) {
	dir := filepath.Join(repository(t), "testdata/atomicity")
	table, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := atomicityRow.FindAllStringSubmatch(string(table), -1)
	if files, _ := filepath.Glob(filepath.Join(dir, "*.c")); len(files) != len(rows) || len(rows) < 8 {
		t.Fatalf("%d programs, and %d rows in README.md", len(files), len(rows))
	}
	for _, c := range compilers {
		for _, row := range rows {
			t.Run(c.name+"/"+row[1], func(t *testing.T) {
				t.Parallel()
				longOnes(t, c.name, row[1])
				work := t.TempDir()
				e := readExpectation(t, filepath.Join(dir, row[1]))
				prog, correct := filepath.Join(work, "prog"), filepath.Join(work, "correct")
				compileProgram(t, e, c.name, c.opt, prog)
				twin := e
				twin.flags = append(slices.Clone(e.flags), "-DCORRECT")
				compileProgram(t, twin, c.name, c.opt, correct)

				a := runJSON[result.Atomicity](t, work, exitFound, append([]string{"atomicity", "--json", "--simplify-time=2s", "--", prog}, e.args...)...)
				bug := slices.ContainsFunc(a.Interleavings, func(i result.Interleaving) bool {
					return i.Verdict == result.VerdictBug && i.Pattern == row[2] && i.Failures > 0 && i.Forced >= i.Failures
				})
				if !bug {
					t.Errorf("no bug by a %s interleaving: %+v", row[2], a.Interleavings)
				}
				for _, f := range a.Search.Findings {
					if f.Trace == "" {
						t.Errorf("a finding without a trace: %+v", f)
					} else if r := runJSON[replayJSON](t, work, exitFound, "replay", "--json", f.Trace); !r.Same {
						t.Errorf("replay: %+v", r)
					}
				}
				a = runJSON[result.Atomicity](t, work, exitNothing, append([]string{"atomicity", "--json", "--", correct}, e.args...)...)
				for _, i := range a.Interleavings {
					if i.Verdict == result.VerdictBug || i.Failures+i.Others > 0 {
						t.Errorf("the correct twin: %+v", i)
					}
				}
			})
		}
	}
}

// longOnes skips a program of a minute's tests for the second compiler.
func longOnes(t *testing.T, compiler, program string) {
	if program == "log_index.c" && compiler == "clang" && need.Amount(0, 1) == 0 {
		t.Skip("make whole tests it with clang, too")
	}
}

// TestAtomicitySame: the search is the same every time.
func TestAtomicitySame(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	e := readExpectation(t, filepath.Join(repository(t), "testdata/atomicity/lu_phases.c"))
	prog := filepath.Join(work, "prog")
	compileProgram(t, e, "gcc", "-O1", prog)
	var before *result.Atomicity
	for range 3 {
		a := runJSON[result.Atomicity](t, work, exitFound, "atomicity", "--json", "--no-simplify", "--seed=3", "--", prog, "0")
		if before != nil && (a.Search.Executions != before.Search.Executions || len(a.Interleavings) != len(before.Interleavings) || a.Profile.Feasible != before.Profile.Feasible) {
			t.Errorf("%d executions and %d interleavings, before %d and %d", a.Search.Executions, len(a.Interleavings), before.Search.Executions, len(before.Interleavings))
		}
		before = &a
	}
}

// TestAtomicityLive: on the backend live an interleaving makes the program fail, the control record
// does so again, and the trace of the controlled scheduler replays. The correct twin does not fail.
func TestAtomicityLive(t *testing.T) {
	dir := filepath.Join(repository(t), "testdata/atomicity")
	for _, c := range compilers {
		for _, name := range []string{"cache_refcount.c", "log_index.c"} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				longOnes(t, c.name, name)
				work := t.TempDir()
				e := readExpectation(t, filepath.Join(dir, name))
				prog, correct := filepath.Join(work, "prog"), filepath.Join(work, "correct")
				compileProgram(t, e, c.name, c.opt, prog)
				twin := e
				twin.flags = append(slices.Clone(e.flags), "-DCORRECT")
				compileProgram(t, twin, c.name, c.opt, correct)
				live := []string{"atomicity", "--backend=live", "--json", "--no-simplify", "--suspend=200ms", "--"}
				a := runJSON[result.Atomicity](t, work, exitFound, append(live, prog, "5000")...)
				if a.Live == nil || a.Live.Executions < 4 {
					t.Fatalf("the backend was not used: %+v", a)
				}
				// Which of the interleavings in a failing execution made it fail is not known, and how often
				// threads of a busy machine fail is theirs to decide: one of the first control records fails
				// again in some of its executions. On a busy machine the program may fail without control, too, and the
				// verdict is then unclear.
				var controls []string
				for _, i := range a.Interleavings {
					if i.Verdict == result.VerdictBug || i.Verdict == result.VerdictUnclear && i.Control != "" {
						controls = append(controls, i.Control)
					}
				}
				failures := 0
				for n := 0; n < 32 && failures == 0 && len(controls) > 0; n++ {
					var r controlJSON
					control := controls[n%min(4, len(controls))]
					out, err := heddleCommand(t, work, nil, "replay", "--json", control).Output()
					if json.Unmarshal(out, &r) != nil || r.Executions < controlTimes || (r.Failures > 0) != (r.Failure != "") || (r.Failures > 0) != (err != nil) {
						t.Errorf("replay of %s: %v, %s", control, err, out)
					}
					failures += r.Failures
				}
				if failures == 0 {
					t.Errorf("no control record that fails: %+v", a.Interleavings)
				}
				if f := a.Search.Findings; len(f) == 0 {
					t.Error("no exact trace")
				} else if r := runJSON[replayJSON](t, work, exitFound, "replay", "--json", f[0].Trace); !r.Same {
					t.Errorf("replay: %+v", r)
				}
				runJSON[result.Atomicity](t, work, exitFound, append([]string{"atomicity", "--same-stacks", "--same-threads"}, append(live[1:], prog, "5000")...)...)
				a = runJSON[result.Atomicity](t, work, exitNothing, append(live, correct, "5000")...)
				for _, i := range a.Interleavings {
					if i.Verdict == result.VerdictBug || i.Others > 0 {
						t.Errorf("the correct twin: %+v", i)
					}
				}
			})
		}
	}
}

// TestLiveVersions: a correct program on the backend live gets the present version of each function of libc.
// Those that the library of that backend does not define would be bound to the oldest.
func TestLiveVersions(t *testing.T) {
	const source = `#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static int ready;
static void *thread(void *arg) {
  pthread_mutex_lock(&lock);
  ready = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return arg;
}
int main(void) {
  pthread_t t;
  pthread_cond_init(&changed, NULL);
  pthread_mutex_lock(&lock);
  pthread_create(&t, NULL, thread, NULL);
  while (!ready) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  pthread_join(t, NULL);
  if (pthread_cond_destroy(&changed) != 0) return 2; // an older one frees what it takes for a pointer
  timer_t timer;
  struct sigevent none = {.sigev_notify = SIGEV_NONE};
  struct itimerspec hour = {.it_value.tv_sec = 3600}, left;
  if (timer_create(CLOCK_MONOTONIC, &none, &timer) != 0 || timer_settime(timer, 0, &hour, NULL) != 0) return 3;
  if (timer_gettime(timer, &left) != 0 || left.it_value.tv_sec < 3000 || timer_delete(timer) != 0) return 4;
  char room[1024] = {0}; // an older one writes 128 bytes to its second argument, the size
  if (sched_getaffinity(0, sizeof room, (cpu_set_t *)room) != 0 || pthread_getaffinity_np(pthread_self(), sizeof room, (cpu_set_t *)room) != 0) return 5;
  return 0;
}
`
	for _, c := range compilers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			file, prog := filepath.Join(work, "versions.c"), filepath.Join(work, "prog")
			if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			compileProgram(t, expectation{source: file}, c.name, c.opt, prog)
			a := runJSON[result.Atomicity](t, work, exitNothing, "atomicity", "--backend=live", "--json", "--", prog)
			if a.Live == nil || a.Live.Plain != "" || a.Live.Executions < 4 {
				t.Errorf("%+v", a.Live)
			}
		})
	}
}
