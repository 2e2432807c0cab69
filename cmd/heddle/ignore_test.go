package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/trace"
)

// foundKinds maps the kinds of the findings of a search for all to the findings.
func foundKinds(t *testing.T, aside result.Aside) map[string]result.Distinct {
	t.Helper()
	out := map[string]result.Distinct{}
	for _, f := range aside.Findings {
		if out[f.Finding.Kind].Finding != nil {
			t.Errorf("two findings of kind %s", f.Finding.Kind)
		}
		if !finding.IsKey(f.Finding.Key) || !f.Finding.Confirmed || f.Executions == 0 || f.Trace == "" {
			t.Errorf("%+v, %+v", f, f.Finding)
		}
		out[f.Finding.Kind] = f
	}
	return out
}

// The bug behind another one is found once that is ignored, by its key, by its trace or by a file of
// keys; and both by --all. The keys are the same for both compilers, at any optimization.
func TestIgnore(t *testing.T) {
	var keys [2][2]string
	for i, build := range [][2]string{{"gcc", "-O1"}, {"clang", "-O0"}} {
		t.Run(build[0], func(t *testing.T) {
			dir := t.TempDir()
			prog := filepath.Join(dir, "masked")
			compileProgram(t, expectation{source: filepath.Join(repository(t), "testdata/ignore/masked.c")}, build[0], build[1], prog)
			all := runJSON[findJSON](t, dir, exitFound, "find", "--json", "--races=ignore", "--runs", "3000", "--all", "--", prog)
			found := foundKinds(t, all.Aside)
			assertion, deadlock := found["assertion"], found["deadlock"]
			if len(found) != 2 || all.Ended != "runs" || all.Executions != 3000 || all.Finding == nil || all.Finding.Key != all.Findings[0].Finding.Key {
				t.Fatalf("%+v", all)
			}
			keys[i] = [2]string{assertion.Finding.Key, deadlock.Finding.Key}
			for _, f := range found {
				// main joins while the workers run: one preemption in either.
				if f.Simplified == nil || f.Simplified.Preemptions != 1 {
					t.Errorf("%+v", f.Simplified)
				}
				runJSON[replayJSON](t, dir, exitFound, "replay", "--json", f.Trace)
				tr, err := trace.ReadFile(filepath.Join(dir, f.Simplified.Trace))
				if err != nil || tr.Header.Finding != f.Finding.Key {
					t.Errorf("%s: %v, finding %q, want %q", f.Simplified.Trace, err, tr.Header.Finding, f.Finding.Key)
				}
			}
			// By default the races that lead to the assertion are findings, too.
			withRaces := runJSON[findJSON](t, dir, exitFound, "find", "--json", "--runs", "3000", "--no-simplify", "--all", "--", prog)
			kinds, ignored := map[string]int{}, []string{"find", "--json", "--runs", "3000"}
			for _, f := range withRaces.Findings {
				kinds[f.Finding.Kind]++
				ignored = append(ignored, "--ignore", f.Finding.Key)
			}
			if kinds["data race"] != 2 || kinds["assertion"] != 1 || kinds["deadlock"] != 1 {
				t.Errorf("with races: %v", kinds)
			}
			runJSON[findJSON](t, dir, exitNothing, append(ignored, "--", prog)...)
			list := filepath.Join(dir, "known.txt")
			text := fmt.Sprintf("# known\n\n%s # a comment\n", assertion.Finding.Key)
			if err := os.WriteFile(list, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{assertion.Finding.Key, assertion.Trace, assertion.Simplified.Trace, list} {
				r := runJSON[findJSON](t, dir, exitFound, "find", "--json", "--races=ignore", "--runs", "3000", "--no-simplify", "--ignore", name, "--", prog)
				if r.Finding == nil || r.Finding.Key != deadlock.Finding.Key || len(r.Ignored) != 1 || r.Ignored[0].Key != assertion.Finding.Key {
					t.Errorf("ignoring %s: %+v", name, r)
				}
			}
			both := runJSON[findJSON](t, dir, exitNothing, "find", "--json", "--races=ignore", "--runs", "1000", "--ignore", list, "--ignore", deadlock.Trace, "--", prog)
			if both.Outcome != "clean" || both.Executions != 1000 || len(both.Ignored) != 2 || both.Masked != both.Ignored[0].Executions+both.Ignored[1].Executions || both.Masked == 0 {
				t.Errorf("ignoring both: %+v", both)
			}
			out, err := heddleCommand(t, dir, nil, "find", "--races=ignore", "--runs", "1000", "--ignore", list, "--ignore", deadlock.Trace, "--", prog).CombinedOutput()
			if want := fmt.Sprintf("ignored: %d executions of %s\n", both.Ignored[0].Executions, both.Ignored[0].Key); err != nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "no other failure in 1,000 executions") {
				t.Errorf("%v, want %q in\n%s", err, want, out)
			}
		})
	}
	if keys[0] != keys[1] && keys[1][0] != "" {
		t.Errorf("gcc's keys are %q, clang's %q", keys[0], keys[1])
	}
}

// The correct twin stays clean, and is told that the key did nothing.
func TestIgnoreNothing(t *testing.T) {
	dir := t.TempDir()
	prog := filepath.Join(dir, "correct")
	compileProgram(t, expectation{source: filepath.Join(repository(t), "testdata/ignore/correct.c")}, "gcc", "-O1", prog)
	out, err := heddleCommand(t, dir, nil, "find", "--runs", "500", "--all", "--ignore", "hang#00000000", "--", prog).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "no failure in 500 executions") || !strings.Contains(string(out), "ignored: no execution of hang#00000000") {
		t.Errorf("%v\n%s", err, out)
	}
}

// An --ignore that names nothing is a mistake in the command line, with one sentence.
func TestIgnoreWrong(t *testing.T) {
	dir := t.TempDir()
	list := filepath.Join(dir, "list.txt")
	if err := os.WriteFile(list, []byte("deadlock@a.c:1#0123abcd\ndeadlock@a.c:1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ argument, want string }{
		{"nonsense", `invalid --ignore "nonsense": want the key of a finding`},
		{"deadlock@a.c:1", `invalid --ignore "deadlock@a.c:1": want the key`},
		{"unsupported@a.c:1#01234567", "want the key"},
		{list, `list.txt:2: "deadlock@a.c:1" is not the key of a finding: want KIND@PLACE#HASH`},
		{dir, "not a regular file"},
	} {
		for _, args := range [][]string{{"find", "--ignore", test.argument, "--", "/bin/true"}, {"test", "--ignore", test.argument, "./..."}} {
			out, err := heddleCommand(t, dir, nil, args...).CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != exitUsage || !strings.Contains(string(out), test.want) || strings.Count(string(out), "\n") != 1 {
				t.Errorf("%v: %v\n%s\nwant %q", args, err, out, test.want)
			}
		}
	}
}

// If every execution ends in an ignored finding, the program is not called clean.
func TestIgnoreEverything(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "always.c")
	text := "#include <stdlib.h>\nint main(void) { abort(); }\n"
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	prog := filepath.Join(dir, "always")
	compileProgram(t, expectation{source: source}, "gcc", "-O1", prog)
	r := runJSON[findJSON](t, dir, exitFound, "find", "--json", "--runs", "20", "--", prog)
	ignored := runJSON[findJSON](t, dir, exitFailed, "find", "--json", "--runs", "20", "--ignore", r.Trace, "--", prog)
	if ignored.Outcome != "ignored" || ignored.Masked != ignored.Executions || ignored.Executions == 0 {
		t.Errorf("%+v", ignored)
	}
	out, _ := heddleCommand(t, dir, nil, "find", "--runs", "20", "--ignore", r.Trace, "--", prog).CombinedOutput()
	if !strings.Contains(string(out), "every execution ended in an ignored finding") {
		t.Errorf("%s", out)
	}
}

// The same for tests: kept findings are among all, are ignored by their files, and ones that were
// kept before do not hide others.
func TestIgnoreGo(t *testing.T) {
	t.Parallel()
	dir := goTests(t, "masked")
	only := []string{"-run", "TestMasked", "-count", "400", "-timeout", "60s", "./masked"}
	tests, _ := runTest(t, dir, nil, exitFound, only...)
	first := tests[0].Finding
	if first == nil || first.Kind != "test failure" && first.Kind != "deadlock" {
		t.Fatalf("%+v", tests[0])
	}
	tests, packages := runTest(t, dir, nil, exitFound, append([]string{"--all"}, only...)...)
	found := foundKinds(t, tests[0].Aside)
	if len(found) != 2 || !found[first.Kind].Known || packages[0].Found != 2 {
		t.Fatalf("%+v", tests[0])
	}
	for kind, f := range found {
		// Both are kept now; the other one is found, and known.
		tests, _ := runTest(t, dir, nil, exitFound, append([]string{"--ignore", f.Trace}, only...)...)
		if r := tests[0]; r.Finding == nil || r.Finding.Kind == kind || !r.Known || len(r.Ignored) > 1 {
			t.Errorf("ignoring the %s: %+v", kind, r)
		}
	}
	tests, _ = runTest(t, dir, nil, exitNothing, append([]string{"--ignore", found["deadlock"].Trace, "--ignore", found["test failure"].Finding.Key}, only...)...)
	if r := tests[0]; r.Outcome != "clean" || len(r.Ignored) != 2 || r.Executions != 402 || len(r.Fixed) > 0 {
		t.Errorf("ignoring both: %+v", r)
	}
	always := []string{"-run", "TestAlways", "-count", "30", "-timeout", "60s", "./masked"}
	tests, _ = runTest(t, dir, nil, exitFound, always...)
	key := tests[0].Finding.Key
	tests, packages = runTest(t, dir, nil, exitFailed, append([]string{"--ignore", key}, always...)...)
	if tests[0].Outcome != "ignored" || packages[0].Outcome != "ignored" || packages[0].Ignored != 1 {
		t.Errorf("%+v, %+v", tests[0], packages[0])
	}
	runTest(t, dir, nil, exitNothing, append([]string{"--allow-unfinished", "--ignore", key}, always...)...)
	tests, _ = runTest(t, dir, nil, exitNothing, "-run", "TestCorrect", "-count", "300", "--all", "./masked")
	if tests[0].Outcome != "clean" || tests[0].Finding != nil {
		t.Errorf("%+v", tests[0])
	}
}

// Findings in functions of the C++ library's headers are at the program's own lines, with one key
// whether the compiler has put the functions in line or not; and their messages name no function that
// the program did not call.
func TestPlacesInLibrary(t *testing.T) {
	t.Parallel()
	line := sourceLines(t, filepath.Join(repository(t), "testdata/ignore/library.cc"))
	inner, inverted := line("  m.lock();", 1), line("  a.lock();", 2)
	first, second := line("std::swap", 1), line("std::swap", 2)
	keys := map[string]bool{}
	for _, build := range [][2]string{{"gcc", "-O0"}, {"gcc", "-O2"}, {"clang", "-O1"}} {
		dir := t.TempDir()
		prog := filepath.Join(dir, "library")
		compileProgram(t, expectation{source: filepath.Join(repository(t), "testdata/ignore/library.cc")}, build[0], build[1], prog)
		all := runJSON[findJSON](t, dir, exitFound, "find", "--json", "--runs", "2000", "--no-simplify", "--races-fail", "--all", "--", prog)
		found := foundKinds(t, all.Aside)
		race, deadlock := found["data race"].Finding, found["deadlock"].Finding
		if race == nil || deadlock == nil {
			t.Fatalf("%v: %+v", build, all)
		}
		if !strings.HasPrefix(deadlock.Key, fmt.Sprintf("deadlock@library.cc:%d,library.cc:%d#", inner, inverted)) || !strings.Contains(deadlock.Where, "library.cc:") ||
			!strings.Contains(deadlock.Message, "(mutex lock)") || strings.Contains(deadlock.Message, "pthread") {
			t.Errorf("%v: %+v", build, deadlock)
		}
		if !strings.HasPrefix(race.Key, fmt.Sprintf("data-race@library.cc:%d,library.cc:%d#", first, second)) {
			t.Errorf("%v: %+v", build, race)
		}
		for _, text := range []string{race.Message, race.Where, race.Race[0].Where, race.Race[1].Where} {
			if !strings.Contains(text, "library.cc:") || strings.Contains(text, ".h:") || strings.Contains(text, ".tcc:") {
				t.Errorf("%v: %q", build, text)
			}
		}
		keys[deadlock.Key], keys[race.Key] = true, true
	}
	if len(keys) != 2 {
		t.Errorf("keys %v, want one for each finding", keys)
	}
	dir := t.TempDir()
	prog := filepath.Join(dir, "correct")
	compileProgram(t, expectation{source: filepath.Join(repository(t), "testdata/ignore/library_correct.cc")}, "gcc", "-O0", prog)
	if r := runJSON[findJSON](t, dir, exitNothing, "find", "--json", "--runs", "500", "--races-fail", "--all", "--", prog); r.Outcome != "clean" {
		t.Errorf("%+v", r)
	}
}

// sourceLines returns a function that returns the number of the n-th line of a file that contains a text.
func sourceLines(t *testing.T, file string) func(text string, n int) int {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string, n int) int {
		for i, l := range strings.Split(string(b), "\n") {
			if strings.Contains(l, text) {
				if n--; n == 0 {
					return i + 1
				}
			}
		}
		t.Fatalf("%s has no such line: %q", file, text)
		return 0
	}
}
