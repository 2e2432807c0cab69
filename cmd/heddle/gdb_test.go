package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inGdb replays a trace in gdb with the commands given, and returns what is printed.
func inGdb(t *testing.T, dir, file string, commands ...string) string {
	t.Helper()
	if _, err := exec.LookPath("gdb"); err != nil {
		t.Fatal("gdb is not installed: heddle must be tested with it")
	}
	cmd := heddleCommand(t, dir, nil, "replay", "--gdb", file)
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	b, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return string(b)
}

// inOrder reports the first of the expressions that does not match after the ones before it.
func inOrder(t *testing.T, text string, expressions ...string) {
	t.Helper()
	rest := text
	for _, e := range expressions {
		at := regexp.MustCompile("(?m)" + e).FindStringIndex(rest)
		if at == nil {
			t.Fatalf("%q is missing, or not at its place, in\n%s", e, text)
		}
		rest = rest[at[1]:]
	}
}

// found is a program that fails and the simplified trace of its failure.
func found(t *testing.T, name string) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	e := readExpectation(t, filepath.Join(repository(t), "testdata/programs/fail", name))
	prog := filepath.Join(dir, e.name)
	compileProgram(t, e, "gcc", "-O1", prog)
	out := runJSON[findJSON](t, dir, exitFound, "find", "--json", "--time", "20s", "--", prog)
	return dir, out.Simplified.Trace
}

// In gdb the program stands at main, goes from event to event, stops at breakpoints and at
// the failure, and its threads are real ones.
func TestReplayInGdb(t *testing.T) {
	dir, file := found(t, "lost_update.c")
	text := inGdb(t, dir, file, "heddle-where", "heddle-next", "heddle-next",
		"break teller", "continue", "info threads", "bt", "delete 4", "heddle-next", "continue", "info threads", "continue")
	inOrder(t, text, `at main\.`, `before event 0 of the trace, which has \d+`,
		`event 0 of the \d+ events of the trace: T0, pthread_create`, `main \(\)`,
		`event 1 of the \d+ events of the trace: T0, pthread_create`,
		`Breakpoint 4, teller`, `^\* \d .*"T[12]" +teller \(`, `#0  teller \(`,
		`event 3 of the \d+ events of the trace: T[12], read`, `in teller`,
		`T0, abort`, `the failure, in the thread that failed`, `in main \(\)`, `assert\(account\.balance == 160\)`,
		`\* 1 .*\n?.*heddle_at_failure`, `"T1"`, `"T2"`,
		`exited normally`)
}

// A fatal signal stops the program where it is raised, a deadlock where the last thread has
// come to stand; the others are to be seen in their waits.
func TestReplayInGdbOtherFailures(t *testing.T) {
	dir, file := found(t, "null_publish.c")
	inOrder(t, inGdb(t, dir, file, "continue", "bt"), "SIGSEGV", `null_publish\.c:\d+`)
	dir, file = found(t, "abba_deadlock.c")
	inOrder(t, inGdb(t, dir, file, "continue", "thread apply all bt"), "the failure, in the thread that failed", `abba_deadlock\.c:\d+`,
		`"T2"`, `in transfer `, `"T1"`, `heddle_at_failure`, `in transfer `, `"abba_deadlock"`, `in main `)
}

func TestGdbIsNotThere(t *testing.T) {
	dir, file := found(t, "lost_update.c")
	for flag, want := range map[string]string{
		"--gdb=no-such-gdb": "no-such-gdb is not in PATH",
		"--gdb=/bin/true":   "the debugger ended before it had stopped the program",
	} {
		b, err := heddleCommand(t, dir, nil, "replay", flag, file).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitFailed || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v\n%s", flag, err, b)
		}
	}
}
