package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

// The programs in testdata/conformance print what each call returns, and print the same
// under every schedule. Under heddle that must be what they print with libc alone, and what
// they print with the runtime linked and no heddle about.
func TestConformance(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.c", "*.cc"} {
		found, err := filepath.Glob(filepath.Join(repository(t), "testdata/conformance", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 10 {
		t.Fatalf("only %d programs", len(files))
	}
	for _, c := range compilers {
		for _, file := range files {
			e := readExpectation(t, file)
			t.Run(c.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				compiler := c.name
				if filepath.Ext(file) == ".cc" {
					compiler = map[string]string{"gcc": "g++", "clang": "clang++"}[c.name]
				}
				need.Tool(t, compiler)
				alone := filepath.Join(dir, "alone")
				args := append([]string{"-g", c.opt, "-pthread", "-o", alone}, e.flags...)
				if b, err := exec.CommandContext(t.Context(), compiler, append(args, file)...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, b)
				}
				want := said(t, alone)
				prog := filepath.Join(dir, e.name)
				compileProgram(t, e, c.name, c.opt, prog)
				if got := said(t, prog); got != want {
					t.Errorf("with the runtime linked: %s", firstDifference(want, got))
				}
				schedules := [][]string{nil}
				for seed := range 4 {
					schedules = append(schedules, []string{"--strategy", []string{"random", "stay", "pct", "pos"}[seed], "--seed", fmt.Sprint(seed)})
				}
				for _, s := range schedules {
					file := filepath.Join(dir, "c.hdl")
					out, err := heddleCommand(t, dir, nil, append(append([]string{"record", "-o", file}, s...), "--", prog)...).CombinedOutput()
					if err != nil && !strings.Contains(err.Error(), "exit status 1") {
						t.Fatalf("%v: %v\n%s", s, err, out)
					}
					tr, err := trace.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					if err := trace.Validate(tr); err != nil {
						t.Error(err)
					}
					if d := readyDifference(tr); d != "" {
						t.Errorf("%v: %s", s, d)
					}
					if tr.Ending.Kind != trace.Clean && tr.Ending.Kind != trace.Exit {
						t.Fatalf("%v: %v %s", s, tr.Ending.Kind, tr.Ending.Message)
					}
					if got := fmt.Sprintf("%sstatus %d\n", tr.Ending.Output, tr.Ending.Status); got != want {
						t.Fatalf("%v: %s", s, firstDifference(want, got))
					}
				}
			})
		}
	}
}

// said is a program's output and exit status.
func said(t *testing.T, prog string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, prog)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%sstatus %d\n", out, cmd.ProcessState.ExitCode())
}

// firstDifference shows where two outputs part.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range w {
		if i >= len(g) || w[i] != g[i] {
			rest := ""
			if i < len(g) {
				rest = g[i]
			}
			return fmt.Sprintf("line %d is %q, want %q\n%s", i+1, rest, w[i], strings.Join(g[max(0, i-8):min(i, len(g))], "\n"))
		}
	}
	return fmt.Sprintf("more lines than the %d wanted:\n%s", len(w), strings.Join(g[len(w):], "\n"))
}

// undecided operations are ready or not by what is not in the trace.
var undecided = []trace.Op{trace.OpFdRead, trace.OpFdWrite, trace.OpFdConnect, trace.OpFdPoll, trace.OpSignalDeliver, trace.OpSignalInterrupt}

// readyDifference is where the runtime and the analysis of orders disagree on which threads could run
// on. A join that does not wait is always ready; the analysis knows only its result. How
// much room there is in a channel or a queue of connections, what a poll looks at, and which
// close is the last, is not in the trace. Nor is what a thread was about to do that took a
// signal first.
//
// Nor is the time: a sleep, and a wait that ran out, may have been over for the runtime
// before their own event. Where the analysis takes them for ready, the runtime must, too.
func readyDifference(tr *trace.Trace) string {
	next := make([]*trace.Event, len(tr.Threads)) // what each thread does next
	enabled := ops.Enabled(tr)
	for i := len(tr.Events) - 1; i >= 0; i-- {
		e := &tr.Events[i]
		if e.Flags&trace.FlagNoDecision != 0 {
			continue
		}
		next[e.Thread] = e
		for u, n := range next {
			if n == nil || n.Op == trace.OpThreadJoin || slices.Contains(undecided, n.Op) {
				continue
			}
			a, r := enabled[i].Has(trace.ThreadID(u)), e.Enabled.Has(trace.ThreadID(u))
			// At its own event all is known: whether it overtook is in the trace.
			timed := n != e && (n.Op == trace.OpSleep || n.Flags&trace.FlagTimeout != 0)
			if a != r && (a || !timed) {
				return fmt.Sprintf("event %d (T%d %v): could T%d go on with %v? %v says the analysis, %v the runtime", i, e.Thread, e.Op, u, n.Op, a, r)
			}
		}
	}
	return ""
}
