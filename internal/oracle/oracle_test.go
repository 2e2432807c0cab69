package oracle

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

const kept = 1 << 20

func ending(output string) *trace.Ending { return &trace.Ending{Output: []byte(output)} }

func TestExpectedOutput(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, test := range []struct{ want, got, message string }{
		{"", "", ""},
		{"a\nb\n", "a\nb\n", ""},
		{"", "a\n", `line 1 of the output is "a", expected the end`},
		{"a\n", "", `the output ends before line 1, expected "a"`},
		{"a\nb\n", "a\n", `the output ends before line 2, expected "b"`},
		{"a\nb\n", "a\nc\n", `line 2 of the output is "c", expected "b"`},
		{"a\n", "a", `line 1 of the output is "a" without a newline, expected "a"`},
		{"a\n", "a\nb", `line 2 of the output is "b" without a newline, expected the end`},
		{"a\n\n", "a\n", `the output ends before line 2, expected ""`},
		{long + "1\n", long + "2\n", `line 1 of the output from byte 80 on is "` + long[80:] + `2", expected "` + long[80:] + `1"`},
	} {
		o := Of(&trace.Header{ExpectOutput: []byte(test.want)}, kept)
		e := ending(test.got)
		if err := o.Judge(context.Background(), e); err != nil {
			t.Fatal(err)
		}
		if failed := e.Kind == trace.WrongOutput; failed != (test.message != "") || e.Message != test.message {
			t.Errorf("%q, expected %q: %v %q", test.got, test.want, e.Kind, e.Message)
		}
	}
}

// The oracle is asked about executions that end as they should, and nothing else.
func TestOnlyCleanExecutions(t *testing.T) {
	if o := Of(&trace.Header{}, kept); o != nil {
		t.Fatal("an oracle without anything to judge by")
	}
	var none *Oracle
	if e := ending("x"); none.Judge(context.Background(), e) != nil || e.Kind != trace.Clean {
		t.Error("no oracle rejects an output")
	}
	for k := trace.Assertion; k <= trace.Race; k++ {
		e := ending("x")
		e.Kind = k
		if err := Of(&trace.Header{ExpectOutput: []byte("y"), Oracle: "exit 1"}, kept).Judge(context.Background(), e); err != nil || e.Kind != k {
			t.Errorf("%v became %v, %v", k, e.Kind, err)
		}
	}
}

func TestCommand(t *testing.T) {
	for _, test := range []struct {
		command, output string
		status          int32
		message, err    string
	}{
		{"grep -q good", "good\n", 0, "", ""},
		{"grep -q good", "bad\n", 1, "the oracle 'grep -q good' ended with status 1", ""},
		{"exit 0", strings.Repeat("not read\n", 100_000), 0, "", ""},
		{"echo why; echo more; exit 125", "", 125, "the oracle 'echo why; echo more; exit 125' ended with status 125: why", ""},
		{`test "$HEDDLE_STATUS" = 3`, "", 0, "", ""},
		{"./oracle", "", 0, "", ""},
		{"no-such-command", "", 0, "", "could not judge an output: "},
		{"exit 126", "", 0, "", "could not judge an output: "},
		{"kill -9 $$", "", 0, "", "could not judge an output: signal: killed"},
		{"exit 0", strings.Repeat("x", kept+1), 0, "", "printed more than 1024 kB"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "oracle"), []byte("#!/bin/sh\ncat >/dev/null\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		e := ending(test.output)
		e.Status = 3
		err := Of(&trace.Header{Oracle: test.command, Dir: dir}, kept).Judge(context.Background(), e)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) || e.Kind != trace.Clean {
				t.Errorf("%s: %v, error %v; want %q", test.command, e.Kind, err, test.err)
			}
			continue
		}
		if err != nil || e.Message != test.message || (e.Kind == trace.WrongOutput) != (test.status != 0) || test.status != 0 && e.Status != test.status {
			t.Errorf("%s: %v %d %q, error %v", test.command, e.Kind, e.Status, e.Message, err)
		}
	}
}

// The command runs once for each different output.
func TestCommandRunsOnce(t *testing.T) {
	dir := t.TempDir()
	o := Of(&trace.Header{Oracle: "echo >>calls; grep -q 1", Dir: dir}, kept)
	for i := range 10 {
		e := ending([]string{"1", "2"}[i%2])
		if err := o.Judge(context.Background(), e); err != nil || (e.Kind == trace.WrongOutput) != (i%2 == 1) {
			t.Fatalf("%v, %v", e.Kind, err)
		}
	}
	if calls, err := os.ReadFile(filepath.Join(dir, "calls")); len(calls) != 2 {
		t.Errorf("%d runs of the command (%v), want 2", len(calls), err)
	}
}

// An interrupt ends a command that hangs.
func TestCommandInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Of(&trace.Header{Oracle: "sleep 60"}, kept).Judge(ctx, ending("")); err != context.Canceled {
		t.Error(err)
	}
}
