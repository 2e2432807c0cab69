package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/testing/need"
)

// inGdb replays a trace in gdb with the commands given, and returns what is printed.
func inGdb(t *testing.T, dir, file string, commands ...string) string {
	t.Helper()
	need.Tool(t, "gdb")
	return inDebugger(t, dir, "--gdb", file, commands...)
}

// inDebugger is the same with the flag that names the debugger.
func inDebugger(t *testing.T, dir, flag, file string, commands ...string) string {
	t.Helper()
	cmd := heddleCommand(t, dir, nil, "replay", flag, file)
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
		`event 1 of the \d+ events of the trace: T0, pthread_create returns`,
		`Breakpoint 4, teller`, `^\* \d .*"T[12]" +teller \(`, `#0  teller \(`,
		`event 5 of the \d+ events of the trace: T[12], read`, `in teller`,
		`T0, abort`, `the failure, in the thread that failed`, `in main \(\)`, `assert\(account\.balance == 160\)`,
		`\* 1 .*\n?.*heddle_at_failure`, `"T1"`, `"T2"`,
		`exited normally`)
}

// --at begins after an event; heddle-goto goes on to another, but not back.
func TestReplayAt(t *testing.T) {
	dir, file := found(t, "lost_update.c")
	out, err := heddleCommand(t, dir, nil, "show", "--json", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var v report.View
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatal(err)
	}
	var writes []report.Row
	for _, r := range v.Full() {
		if r.Cell != nil && r.Cell.Op == "write" {
			writes = append(writes, r)
		}
	}
	if len(writes) != 2 {
		t.Fatalf("%d writes", len(writes))
	}
	first, second := writes[0], writes[1]
	debuggers := []string{"--gdb"}
	for _, name := range lldbs(t) {
		debuggers = append(debuggers, "--gdb="+name)
	}
	need.Tool(t, "gdb")
	for _, d := range debuggers {
		cmd := heddleCommand(t, dir, nil, "replay", d, "--at", strconv.Itoa(first.Event), file)
		cmd.Stdin = strings.NewReader(fmt.Sprintf("heddle-goto %d\nheddle-goto %d\n", second.Event, first.Event))
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", d, err, text)
		}
		inOrder(t, string(text), fmt.Sprintf(`heddle: event %d of the \d+ events of the trace: T%d, write`, first.Event, first.Thread),
			fmt.Sprintf(`heddle: event %d of the \d+ events of the trace: T%d, write`, second.Event, second.Thread), fmt.Sprintf(`event %d is over`, first.Event))
	}
	for flags, want := range map[string]string{"--gdb --at 900": "the trace has events 0 to", "--at 3": "--at goes with --gdb or --dlv"} {
		cmd := heddleCommand(t, dir, nil, append(append([]string{"replay"}, strings.Fields(flags)...), file)...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, %s", flags, err, out)
		}
	}
}

// A fatal signal stops the program where it is raised, a deadlock where the last thread has
// come to stand; the others are to be seen in their waits.
func TestReplayInGdbOtherFailures(t *testing.T) {
	dir, file := found(t, "null_publish.c")
	inOrder(t, inGdb(t, dir, file, "continue", "bt"), "SIGSEGV", `null_publish\.c:\d+`)
	dir, file = found(t, "abba_deadlock.c")
	text := inGdb(t, dir, file, "continue", "thread apply all bt")
	inOrder(t, text, "the failure, in the thread that failed", `abba_deadlock\.c:\d+`,
		`"T2"`, `in transfer `, `"T1"`, `in transfer `, `"abba_deadlock"`, `in main `)
	inOrder(t, text, `^Thread \d .*"`+lastToLock(t, text)+`"\):\n#0 +heddle_at_failure`, `in transfer `)
}

// lastToLock is the thread that comes to stand last in a deadlock: that of the last event.
// Either transfer may be the one, in two traces that are equally short.
func lastToLock(t *testing.T, text string) string {
	t.Helper()
	m := regexp.MustCompile(`events of the trace: (T[12]), lock\n(?:.*\n)*?heddle: the failure`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("the last event is not the lock of a transfer in\n%s", text)
	}
	return m[1]
}

// lldbs are the lldbs that are installed, of any version.
func lldbs(t *testing.T) (names []string) {
	t.Helper()
	for _, name := range []string{"lldb", "lldb-14", "lldb-15", "lldb-16", "lldb-17", "lldb-18", "lldb-19"} {
		if path, err := exec.LookPath(name); err == nil {
			names = append(names, path)
			version, err := exec.Command(path, "--version").Output()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %s", path, strings.TrimSpace(string(version)))
		}
	}
	if len(names) == 0 {
		t.Skip("lldb is not installed")
	}
	return names
}

// In lldb it is as in gdb.
func TestReplayInLldb(t *testing.T) {
	names := lldbs(t)
	dir, lost := found(t, "lost_update.c")
	nullDir, null := found(t, "null_publish.c")
	deadDir, deadlock := found(t, "abba_deadlock.c")
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			flag := "--gdb=" + name
			text := inDebugger(t, dir, flag, lost, "heddle-where", "heddle-next", "heddle-next",
				"breakpoint set -n teller", "continue", "thread list", "bt", "breakpoint delete 4", "heddle-next", "continue",
				"thread list", "frame info", "continue", "heddle-where")
			inOrder(t, text, `at main\.`, `before event 0 of the trace, which has \d+`,
				`main at lost_update\.c:28`, `event 0 of the \d+ events of the trace: T0, pthread_create`,
				`event 1 of the \d+ events of the trace: T0, pthread_create returns`,
				`stop reason = breakpoint 4`, `^\* thread #\d.*teller\(.*name = 'T[12]'`, `frame #0: .*teller\(`,
				`frame #\d.*teller\(.*lost_update\.c:21`, `event 5 of the \d+ events of the trace: T[12], read`,
				`T0, abort`, `the failure, in the thread that failed`, `main at lost_update\.c:30`,
				`\* thread #1.*heddle_at_failure`, `name = 'T1'`, `name = 'T2'`, `frame #\d.*main at lost_update\.c:30`,
				`exited with status = 0`)
			inOrder(t, text, `exited with status = 0`, `\(lldb\) quit`)
			if want := "the program has ended, or is running"; strings.Count(text, want) != 1 {
				t.Errorf("%q is not said once:\n%s", want, text)
			}
			inOrder(t, inDebugger(t, nullDir, flag, null, "continue", "bt"), "SIGSEGV", `null_publish\.c:\d+`)
			text = inDebugger(t, deadDir, flag, deadlock, "continue", "bt all")
			inOrder(t, text, "the failure, in the thread that failed", `abba_deadlock\.c:\d+`,
				`name = 'abba_deadlock'`, `main at`, `name = 'T1'`, `transfer\(`, `name = 'T2'`, `transfer\(`)
			inOrder(t, text, `thread #\d, name = '`+lastToLock(t, text)+`'.*\n +frame #0: .*heddle_at_failure`, `transfer\(`)
		})
	}
}

func TestGdbIsNotThere(t *testing.T) {
	dir, file := found(t, "lost_update.c")
	for name, script := range map[string]string{"lldb-mute": "exit 0", "lldb-broken": "echo no Python here; exit 1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for flag, want := range map[string]string{
		"--gdb=./lldb-mute":   `lldb-mute does not run Python, in which heddle's commands for lldb are written (it says "")`,
		"--gdb=./lldb-broken": "(exit status 1): install its module (on Debian and Ubuntu: python3-lldb), or use gdb",
		"--gdb=no-such-gdb":   "no-such-gdb is not in PATH",
		"--gdb=/bin/true":     "the debugger ended before it had stopped the program",
	} {
		b, err := heddleCommand(t, dir, nil, "replay", flag, file).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitFailed || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v\n%s", flag, err, b)
		}
	}
}
