package result

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/canonical"
	"github.com/heddle-dev/heddle/trace"
)

func TestOutputDifference(t *testing.T) {
	long := strings.Repeat("x", 5000)
	text := func(s *string) string {
		if s == nil {
			return "(end)"
		}
		return *s
	}
	for _, c := range []struct {
		golden, other     string
		line              int
		inGolden, inOther string
	}{
		{"a\nb\nc\n", "a\nB\nc\n", 2, "b", "B"},
		{"a\nb\n", "a\n", 2, "b", "(end)"},
		{"", "a\n", 1, "(end)", "a"},
		{"a\n", "a", 1, `"a\n"`, `"a"`},
		{"a\n\x01\n", "a\n\x02\n", 2, `"\x01\n"`, `"\x02\n"`},
		{"first\n" + long + "1" + long, "first\n" + long + "2" + long, 2,
			"… " + long[:60] + "1" + long[:59] + " …", "… " + long[:60] + "2" + long[:59] + " …"},
		{strings.Repeat("é", 300) + "1", strings.Repeat("é", 300) + "2", 1, "… " + strings.Repeat("é", 59) + "1 …", "… " + strings.Repeat("é", 59) + "2 …"},
	} {
		d := outputDifference([]byte(c.golden), []byte(c.other))
		if d == nil || d.Line != c.line || text(d.Golden) != c.inGolden || text(d.Other) != c.inOther {
			t.Errorf("%.20q and %.20q: %+v, %q, %q", c.golden, c.other, d, text(d.Golden), text(d.Other))
		}
	}
	if d := outputDifference([]byte("a"), []byte("a")); d != nil {
		t.Errorf("equal outputs: %+v", d)
	}
}

func TestEndingText(t *testing.T) {
	for _, c := range []struct {
		ending canonical.Ending
		want   string
	}{
		{canonical.Ending{Kind: trace.Clean, Thread: "T0", Site: "-"}, "exit status 0"},
		{canonical.Ending{Kind: trace.Exit, Status: 3, Thread: "T0", Site: "-"}, "exit status 3"},
		{canonical.Ending{Kind: trace.Signal, Status: 11, Thread: "T0.1", Site: "lost+0x10"}, "signal: SIGSEGV, in T0.1, at lost+0x10"},
		{canonical.Ending{Kind: trace.Panic, Thread: "T0.1", Site: "-", Message: "panic: boom"}, "panic: boom, in T0.1"},
		{canonical.Ending{Kind: trace.Deadlock, Thread: "-", Site: "-"}, "deadlock"},
		{canonical.Ending{Kind: trace.Hang, Thread: "-", Site: "-", Message: trace.NoProgress}, "hang: no progress"},
	} {
		e := endingOf(&c.ending, NewCanonicalNames(&canonical.Execution{}))
		if got := e.in(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.ending, got, c.want)
		}
	}
}

// In the order of the execution, not of the threads.
func TestOrder(t *testing.T) {
	at := func(thread, kind string, n int) *DeviationEvent {
		e := &DeviationEvent{Kind: kind, Thread: thread, Trace: &n}
		if n < 0 {
			e.Trace = nil
		}
		return e
	}
	threads := func() []ThreadDeviation {
		return []ThreadDeviation{
			{Thread: "T0", First: at("T0", "control", -1), Control: at("T0", "control", -1)},
			{Thread: "T0.1", First: at("T0.1", "data", 30), Control: at("T0.1", "control", 50)},
			{Thread: "T0.2"},
			{Thread: "T0.3", First: at("T0.3", "control", 20), Control: at("T0.3", "control", 20)},
		}
	}
	d := Deviations{Ordered: true, Threads: threads()}
	d.order()
	if got := [4]int{d.Threads[0].Order, d.Threads[1].Order, d.Threads[2].Order, d.Threads[3].Order}; got != [4]int{0, 2, 0, 1} || d.Control.Thread != "T0.3" {
		t.Errorf("order %v, control in %s", got, d.Control.Thread)
	}
	d = Deviations{Threads: threads()}
	d.order()
	if d.Threads[1].Order != 0 || d.Control.Thread != "T0" {
		t.Errorf("of a file without an order: %+v", d)
	}
}
