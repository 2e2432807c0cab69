package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

// libraryPrograms returns the programs in testdata/libraries, whose threads a library starts and
// synchronises that was compiled without access hooks.
func libraryPrograms(t testing.TB, dir string) (all []expectation) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository(t), "testdata/libraries", dir, "*.c*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		all = append(all, readExpectation(t, f))
	}
	if len(all) < 16 {
		t.Fatalf("only %d programs in %s", len(all), dir)
	}
	return all
}

// needLibrary skips the test if the program's library is missing.
func needLibrary(t *testing.T, e expectation, compiler string) {
	t.Helper()
	cxx := strings.NewReplacer("gcc", "g++", "clang", "clang++").Replace(compiler)
	need.Tool(t, cxx)
	switch name, _, _ := strings.Cut(e.name, "_"); name {
	case "omp":
		need.Library(t, cxx, "libgomp1 libomp-dev", "omp.h", "-fopenmp")
	case "tbb":
		need.Library(t, cxx, "libtbb-dev", "tbb/tbb.h", e.flags...)
	case "glib":
		need.Library(t, cxx, "libglib2.0-dev", "glib.h", e.flags...)
	default:
		t.Fatalf("no library is known for %s", e.name)
	}
}

// Every failing program is found as the failure it states, the simplified failure is no more
// expensive, and both replay identically.
func TestLibrariesFail(t *testing.T) {
	for _, c := range compilers {
		for _, e := range libraryPrograms(t, "fail") {
			t.Run(c.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				needLibrary(t, e, c.name)
				dir := t.TempDir()
				prog := filepath.Join(dir, e.name)
				compileProgram(t, e, c.name, c.opt, prog)
				out := runJSON[findJSON](t, dir, exitFound, e.find(prog, "--time", "60s", "--simplify-time", "2s")...)
				if out.Finding == nil || out.Simplified == nil {
					t.Fatalf("incomplete result: %+v", out)
				}
				if f := out.Finding; f.Kind != e.kind || !f.Confirmed || !strings.Contains(f.Message+" "+f.Where, e.finding) {
					t.Errorf("found %q, %q at %q, confirmed: %v; want %q, %q", f.Kind, f.Message, f.Where, f.Confirmed, e.kind, e.finding)
				}
				for _, n := range out.Notes {
					t.Errorf("note: %s", n)
				}
				var traces []*trace.Trace
				for _, file := range []string{out.Trace, out.Simplified.Trace} {
					tr, err := trace.ReadFile(filepath.Join(dir, file))
					if err != nil {
						t.Fatal(err)
					}
					if tr.Header.Isolation != "" {
						t.Errorf("isolation %q", tr.Header.Isolation)
					}
					traces = append(traces, tr)
					if r := runJSON[replayJSON](t, dir, exitFound, "replay", "--json", "--times", "100", file); !r.Same || r.Outcome != "found" {
						t.Errorf("replay of %s: %+v", file, r)
					}
				}
				notWorse(t, traces[0], traces[1])
			})
		}
	}
}

// libomp's threads wait in loops that yield, libgomp's in the kernel. The simplified failure has no
// more preemptions with libomp than with libgomp, because switches away from such a loop are none.
func TestLibraryYieldsAreNoPreemptions(t *testing.T) {
	for _, name := range []string{"sort", "clustering"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := readExpectation(t, filepath.Join(repository(t), "testdata/programs/compute/openmp/fail", name+".c"))
			var preemptions []int
			offered := 0
			for _, compiler := range []string{"gcc", "clang"} {
				need.Library(t, strings.NewReplacer("gcc", "g++", "clang", "clang++").Replace(compiler), "libgomp1 libomp-dev", "omp.h", "-fopenmp")
				dir := t.TempDir()
				prog := filepath.Join(dir, name)
				compileProgram(t, e, compiler, "-O1", prog)
				out := runJSON[findJSON](t, dir, exitFound, e.find(prog, "--time", "60s", "--simplify-time", "5s", "--seed", "1")...)
				if out.Simplified == nil {
					t.Fatalf("incomplete result: %+v", out)
				}
				tr, err := trace.ReadFile(filepath.Join(dir, out.Simplified.Trace))
				if err != nil {
					t.Fatal(err)
				}
				preemptions = append(preemptions, trace.CostOf(tr.Events).Preemptions)
				for i := range tr.Events {
					if tr.Events[i].Flags&trace.FlagOffered != 0 {
						offered++
					}
				}
				if r := runJSON[replayJSON](t, dir, exitFound, "replay", "--json", "--times", "100", out.Simplified.Trace); !r.Same || r.Outcome != "found" {
					t.Errorf("%s: replay: %+v", compiler, r)
				}
			}
			if preemptions[1] > preemptions[0] || offered == 0 {
				t.Errorf("%d preemptions with libgomp, %d with libomp; %d switches away from a library's yield", preemptions[0], preemptions[1], offered)
			}
		})
	}
}

// Every correct twin is clean: no failure, no data race, no remark.
func TestLibrariesPass(t *testing.T) {
	for _, c := range compilers {
		for _, e := range libraryPrograms(t, "pass") {
			t.Run(c.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				needLibrary(t, e, c.name)
				dir := t.TempDir()
				prog := filepath.Join(dir, e.name)
				compileProgram(t, e, c.name, c.opt, prog)
				runs := need.Amount(1000, 3000)
				if strings.HasPrefix(e.name, "tbb") {
					runs /= 10
				}
				out := runJSON[findJSON](t, dir, exitNothing, e.find(prog, "--time", "0", "--runs", fmt.Sprint(runs))...)
				if out.Outcome != "clean" || len(out.Races) > 0 || len(out.Notes) > 0 {
					t.Errorf("%+v", out)
				}
			})
		}
	}
}

// A reduction with the task modifier is clean with libgomp and refused with libomp.
func TestTaskModifier(t *testing.T) {
	for _, c := range compilers {
		t.Run(c.name, func(t *testing.T) {
			need.Library(t, strings.NewReplacer("gcc", "g++", "clang", "clang++").Replace(c.name), "libgomp1 libomp-dev", "omp.h", "-fopenmp")
			dir := t.TempDir()
			prog := filepath.Join(dir, "task_modifier")
			e := readExpectation(t, filepath.Join(repository(t), "testdata/libraries/task_modifier.c"))
			compileProgram(t, e, c.name, c.opt, prog)
			args := e.find(prog, "--time", "0", "--runs", "1000")
			if c.name != "clang" {
				if out := runJSON[findJSON](t, dir, exitNothing, args...); out.Outcome != "clean" || len(out.Races) > 0 {
					t.Errorf("%+v", out)
				}
				return
			}
			cmd := heddleCommand(t, dir, nil, args...)
			b, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(string(b), "OpenMP's reduction with the task modifier with libomp") {
				t.Errorf("%v\n%s", err, b)
			}
		})
	}
}

// A system call that a program makes with an instruction of its own is caught: the futex is one of
// the program's, also in a process of an execution's own and on kernel threads.
func TestSystemCallInstruction(t *testing.T) {
	need.Tool(t, "gcc")
	dir := t.TempDir()
	prog := filepath.Join(dir, "own_syscall")
	e := readExpectation(t, filepath.Join(repository(t), "testdata/libraries/own_syscall.c"))
	compileProgram(t, e, "gcc", "-O1", prog)
	for _, isolation := range []string{"snapshot", "fork", "process"} {
		out := runJSON[findJSON](t, dir, exitFound, e.find(prog, "--isolation", isolation, "--time", "60s", "--simplify-time", "2s")...)
		if out.Finding == nil || out.Finding.Kind != e.kind || !out.Finding.Confirmed {
			t.Errorf("%s: %+v", isolation, out.Finding)
			continue
		}
		if r := runJSON[replayJSON](t, dir, exitFound, "replay", "--json", out.Trace); !r.Same {
			t.Errorf("%s: replay: %+v", isolation, r)
		}
	}
}

// A library without access hooks guards a counter with a lock of its own. The race that heddle sees is
// listed as unconfirmed, not as a failure, whether the library is known by name or by the function it
// waits with, and the program is not called clean. The race is not seen at all if the program's annotations state the order.
func TestUntoldLibrary(t *testing.T) {
	need.Tool(t, "gcc")
	own := filepath.Join(repository(t), "testdata/libraries/own")
	for _, c := range []struct {
		program, library string
		races            bool
		status           int
		unconfirmed      []string
	}{
		{"annotated", "libown.so", false, exitNothing, nil},
		{"unannotated", "libfolly.so", true, exitFailed, []string{"libfolly.so"}},
		{"unannotated", "libown.so", true, exitFailed, []string{"libown.so"}},
	} {
		t.Run(c.program+"/"+c.library, func(t *testing.T) {
			dir := t.TempDir()
			lib := filepath.Join(dir, c.library)
			if out, err := exec.Command("gcc", "-shared", "-fPIC", "-O1", "-Wl,-soname,"+c.library, "-o", lib, filepath.Join(own, "lock.c")).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			e := readExpectation(t, filepath.Join(own, c.program+".c"))
			e.flags = append(e.flags, lib, "-Wl,-rpath,"+dir)
			prog := filepath.Join(dir, c.program)
			compileProgram(t, e, "gcc", "-O1", prog)
			out := runJSON[findJSON](t, dir, c.status, e.find(prog, "--races-fail", "--runs", "300", "--time", "0", "--simplify-time", "1s")...)
			plain := runJSON[findJSON](t, dir, exitNothing, e.find(prog, "--runs", "300", "--time", "0", "-o", "plain.hdl")...)
			if plain.Outcome != "clean" || !slices.Equal(plain.RacesUnconfirmed, c.unconfirmed) {
				t.Errorf("by default: %+v", plain)
			}
			listed := runJSON[result.Races](t, dir, c.status, "races", "--json", "--runs", "300", "--time", "0", "--", prog)
			for _, r := range listed.Races {
				if r.Verdict != "unconfirmed" || !strings.Contains(r.Why, c.library+" may order") {
					t.Errorf("%+v", r)
				}
			}
			if (len(listed.Races) > 0) != c.races {
				t.Errorf("races lists %+v", listed.Races)
			}
			if (len(out.Races) > 0) != c.races || !slices.Equal(out.RacesUnconfirmed, c.unconfirmed) {
				t.Errorf("races %v, unconfirmed by %v", out.Races, out.RacesUnconfirmed)
			}
		})
	}
}
