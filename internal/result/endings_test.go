package result

import (
	"strings"
	"testing"
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
