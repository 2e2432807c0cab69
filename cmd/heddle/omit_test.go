package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// mark is a marked line of a program in testdata/omit.
type mark struct {
	needed         bool
	scenario, call string
	line           int
}

var markLine = regexp.MustCompile(`// (needed|spare) (\w+): (\w+)$`)

func marks(t *testing.T, source string) (out []mark) {
	t.Helper()
	b, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(b), "\n") {
		if m := markLine.FindStringSubmatch(line); m != nil {
			out = append(out, mark{m[1] == "needed", m[2], m[3], i + 1})
		}
	}
	if len(out) < 6 {
		t.Fatalf("%s has %d marks", source, len(out))
	}
	return out
}

// jsonOf runs heddle and reads what it prints; it returns the exit status.
func jsonOf(t *testing.T, cmd *exec.Cmd, into any) int {
	t.Helper()
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > exitFound) {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, errs.String())
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return cmd.ProcessState.ExitCode()
}

// Without a call that is needed the program fails, and the failure is simplified and
// replayed like any other; without one that is not it holds. This is so with the call in a
// function of the library, or in line.
func TestOmit(t *testing.T) {
	for _, build := range []struct {
		source, compiler, opt string
		whole                 bool // with make whole
	}{
		{"calls.c", "gcc", "-O1", true}, {"calls.c", "clang", "-O0", false},
		{"guards.cc", "gcc", "-O0", true}, {"guards.cc", "gcc", "-O2", false}, {"guards.cc", "clang", "-O1", true},
	} {
		if build.whole && need.Amount(0, 1) == 0 {
			continue
		}
		t.Run(build.compiler+build.opt+" "+build.source, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			e := expectation{source: filepath.Join(repository(t), "testdata/omit", build.source)}
			if filepath.Ext(e.source) == ".cc" {
				e.flags = []string{"-std=c++17"}
			}
			prog := filepath.Join(dir, "prog")
			compileProgram(t, e, build.compiler, build.opt, prog)
			all := marks(t, e.source)
			for i, m := range all {
				spec := fmt.Sprintf("%s@%s:%d", m.call, build.source, m.line)
				find := func(without ...string) (r findJSON, status int) {
					args := append([]string{"find", "--json", "--time=30s", "--runs=600", "--no-early-timeouts"}, without...)
					status = jsonOf(t, heddleCommand(t, dir, nil, append(args, "--", prog, m.scenario)...), &r)
					return r, status
				}
				if i == 0 || all[i-1].scenario != m.scenario {
					if r, status := find(); status != exitNothing || len(r.Notes) > 0 {
						t.Errorf("%s as it is: %+v", m.scenario, r)
					}
				}
				r, status := find("--without=" + spec)
				if !m.needed {
					if status != exitNothing || !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, spec+" was omitted ") }) {
						t.Errorf("without %s: %+v", spec, r)
					}
					continue
				}
				if status != exitFound || r.Simplified == nil {
					t.Errorf("without %s: %+v", spec, r)
					continue
				}
				var again replayJSON
				if s := jsonOf(t, heddleCommand(t, dir, nil, "replay", "--json", r.Simplified.Trace), &again); s != exitFound || !again.Same {
					t.Errorf("without %s: the replay ended with %d: %+v", spec, s, again)
				}
				out, err := heddleCommand(t, dir, nil, "show", r.Simplified.Trace).Output()
				if err != nil || !strings.Contains(string(out), "without "+spec) {
					t.Errorf("show does not say what was omitted: %v\n%s", err, out)
				}
			}
		})
	}
}

// The lock is in a library, and so are the functions of headers that lead to it.
func TestOmitInLibrary(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("counter.cc", "#include <mutex>\nstatic std::mutex m;\nint n;\nvoid add() {\n  std::lock_guard<std::mutex> hold(m);\n  int v = n;\n  n = v + 1;\n}\n")
	write("main.cc", "#include <cassert>\n#include <thread>\nvoid add();\nextern int n;\nint main() {\n  std::thread a(add), b(add);\n  a.join();\n  b.join();\n  assert(n == 2);\n}\n")
	for _, args := range [][]string{
		{"-O0", "-g", "-fPIC", "-shared", "counter.cc", "-o", "libcounter.so"},
		{"-O0", "-g", "main.cc", "-L.", "-lcounter", "-Wl,-rpath," + dir, "-o", "prog"},
	} {
		if out, err := heddleCommand(t, dir, nil, append([]string{"c++"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	var r findJSON
	if status := jsonOf(t, heddleCommand(t, dir, nil, "find", "--json", "--runs=600", "--", "./prog"), &r); status != exitNothing {
		t.Fatalf("as it is: %+v", r)
	}
	if status := jsonOf(t, heddleCommand(t, dir, nil, "find", "--json", "--runs=600", "--without=pthread_mutex_lock@counter.cc:5", "--", "./prog"), &r); status != exitFound {
		t.Fatalf("without the lock: %+v", r)
	}
}

// A call that cannot be omitted is a usage error with a message of one sentence.
func TestOmitRefuses(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(repository(t), "testdata/omit/calls.c")
	prog := filepath.Join(dir, "prog")
	compileProgram(t, expectation{source: source}, "gcc", "-O1", prog)
	first := marks(t, source)[0]
	never := marks(t, source)[1]
	for _, c := range []struct{ spec, want string }{
		{"pthread_mutex_lock", "does not name a call: write it like"},
		{"pthread_mutex_lock@calls.c:x", "has no line number"},
		{"printf@calls.c:3", "heddle cannot omit printf; it can omit pthread_mutex_lock,"},
		{"pthread_mutex_unlock@calls.c:3", "name the call that locks"},
		{"pthread_cond_wait@calls.c:3", "would spin with the mutex held"},
		{"pthread_mutex_lock@queue.c:3", "no source file of the program is named queue.c"},
		{"pthread_mutex_lock@all.c:3", "no source file of the program is named all.c"},
		{fmt.Sprintf("pthread_mutex_lock@calls.c:%d", first.line+1), fmt.Sprintf("the nearest that do: %d, %d", first.line, never.line)},
	} {
		out, err := heddleCommand(t, dir, nil, "find", "--without", c.spec, "--", prog, "mutex").CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitUsage || !strings.Contains(string(out), c.want) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("--without %s: %v, %q", c.spec, err, out)
		}
	}
	// A call that is not reached says nothing.
	var r findJSON
	spec := fmt.Sprintf("pthread_mutex_lock@calls.c:%d", first.line)
	jsonOf(t, heddleCommand(t, dir, nil, "find", "--json", "--runs=20", "--without", spec, "--", prog, "spinlock"), &r)
	if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "no execution reached "+spec) {
		t.Errorf("%+v", r)
	}
	// Without debug information there are no lines.
	run := exec.Command("strip", "-g", prog)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, _ := heddleCommand(t, dir, nil, "find", "--without", spec, "--", prog, "mutex").CombinedOutput()
	if !strings.Contains(string(out), "built without -g") {
		t.Errorf("%s", out)
	}
}
