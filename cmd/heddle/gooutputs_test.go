package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Oracles judge what each execution of a test writes, although executions follow one another in a
// process, and a kept finding is judged by the oracles of the run that tries it.
func TestGoOutputs(t *testing.T) {
	t.Parallel()
	dir := goTests(t, "outputs")
	if err := os.WriteFile(filepath.Join(dir, "right"), []byte("total 2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	expect := []string{"-count=300", "--expect=right"}
	failures := func(status int, args ...string) map[string]string {
		tests, _ := runTest(t, dir, nil, status, append(args, "./outputs")...)
		found := map[string]string{}
		for _, test := range tests {
			if found[test.Test] = test.Outcome; test.Finding != nil {
				found[test.Test] = test.Finding.Kind + ": " + test.Finding.Message
			}
		}
		return found
	}
	const wrong = `wrong output: line 1 of the output is "total 1", expected "total 2"`
	for name, got := range failures(exitFound, append(expect, "-run=Lost|Kept|Split|Logged|Replaced")...) {
		want := map[string]string{"TestLost": wrong, "TestLogged": "test failure: n is 1, want 2"}[name]
		if want == "" {
			want = "clean"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	kept, err := filepath.Glob(filepath.Join(dir, "outputs/_heddle/TestLost/*.hdl"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept: %v, %v", kept, err)
	}

	// The trace has what is expected, so that replay judges as the search did.
	if out, err := heddleCommand(t, dir, nil, "replay", "-q", kept[0]).Output(); err == nil || !strings.Contains(string(out), "identical") {
		t.Errorf("replay: %v\n%s", err, out)
	}
	// Tried first with an oracle; without one, an output is not wrong.
	if got := failures(exitFound, append(expect, "-run=TestLost")...); got["TestLost"] != wrong {
		t.Errorf("known: %v", got)
	}
	if got := failures(exitNothing, "-count=300", "-run=TestLost"); got["TestLost"] != "clean" {
		t.Errorf("without an oracle: %v", got)
	}
	if got := failures(exitNothing, "-count=300", "-run=TestLost", "--oracle=grep -q total"); got["TestLost"] != "clean" {
		t.Errorf("with an oracle that accepts it: %v", got)
	}
	if got := failures(exitFound, "-count=300", "-run=TestLost", `--oracle=grep -q "total 2" || { echo lost; false; }`); !strings.Contains(got["TestLost"], "ended with status 1: lost") {
		t.Errorf("with an oracle that rejects it: %v", got)
	}

	// --all goes on past a wrong output, and counts it once.
	tests, _ := runTest(t, dir, nil, exitFound, append(expect, "--all", "-run=TestLost", "./outputs")...)
	if len(tests) != 1 || len(tests[0].Findings) != 1 || tests[0].Executions < 300 || tests[0].Findings[0].Executions < 2 {
		t.Errorf("with --all: %+v", tests)
	}

	// An output that is too long is never right, and no command can judge it.
	if got := failures(exitFound, append(expect, "-run=Long")...); !strings.HasPrefix(got["TestLong"], "wrong output: line 1") {
		t.Errorf("long: %v", got)
	}
	tests, _ = runTest(t, dir, nil, exitFailed, "-run=Long", "--oracle=true", "./outputs")
	if len(tests) != 1 || !strings.Contains(tests[0].Error, "printed more than 1024 kB") {
		t.Errorf("long, with an oracle: %+v", tests)
	}
}

// A Go program's output and exit status are judged like a C program's.
func TestGoProgramOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const program = `package main

import (
	"fmt"
	"sync"
)

func main() {
	var wg sync.WaitGroup
	for _, s := range []string{"a", "b"} {
		wg.Add(1)
		go func() { defer wg.Done(); fmt.Print(s) }()
	}
	wg.Wait()
	fmt.Println()
}
`
	for name, text := range map[string]string{"main.go": program, "want": "ba\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		flags  []string
		status int
		want   string
	}{
		{[]string{"--expect=want"}, exitFound, `wrong output: line 1 of the output is "ab", expected "ba"`},
		{[]string{"--oracle=grep -qx ba"}, exitFound, "ended with status 1"},
		{[]string{`--oracle=test "$HEDDLE_STATUS" = 0 && grep -qxE "ab|ba"`}, exitNothing, "no failure in"},
	} {
		cmd := heddleCommand(t, dir, nil, slices.Concat([]string{"find", "--runs=100", "--no-simplify", "-o", "t.hdl"}, c.flags, []string{"--", "./main.go"})...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != c.status || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: status %d, want %d and %q\n%s", c.flags, cmd.ProcessState.ExitCode(), c.status, c.want, out)
		}
		os.Remove(filepath.Join(dir, "t.hdl"))
	}
}
