package engine

import (
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// TestUnfinishedIsTheSame: where heddle ends an execution before it is over differs from run to run.
func TestUnfinishedIsTheSame(t *testing.T) {
	recorded := trace.Ending{Kind: trace.Unfinished, Message: "watchdog: blocked in the kernel, in read", Thread: 1, Site: trace.MakeSite(0, 0x53), Output: []byte("tick tick ")}
	for _, test := range []struct {
		name   string
		change func(*trace.Ending)
		same   bool
	}{
		{"site", func(e *trace.Ending) { e.Site++ }, true},
		{"output", func(e *trace.Ending) { e.Output = []byte("tick tick tick ") }, true},
		{"thread", func(e *trace.Ending) { e.Thread++ }, true},
		{"message", func(e *trace.Ending) { e.Message = trace.CutBySteps }, true},
		{"kind", func(e *trace.Ending) { e.Kind = trace.Deadlock }, false},
	} {
		met := recorded
		test.change(&met)
		if d := same(&trace.Trace{Ending: recorded}, &trace.Trace{Ending: met}); (d == nil) != test.same {
			t.Errorf("%s: %v", test.name, d)
		}
	}
}

// TestTextVaries: a failure with other text or output is the recorded one if everything else agrees.
func TestTextVaries(t *testing.T) {
	recorded := trace.Ending{
		Kind: trace.Assertion, Message: "assertion failed: port 4711 is taken at x.c:5 in f", Site: trace.MakeSite(0, 5),
		Stack: []trace.Site{trace.MakeSite(0, 9)}, Output: []byte("pid 17"),
	}
	for _, test := range []struct {
		name         string
		change       func(*trace.Ending)
		same, varies bool
	}{
		{"nothing", func(*trace.Ending) {}, true, false},
		{"number", func(e *trace.Ending) { e.Message = "assertion failed: port 80 is taken at x.c:5 in f" }, true, true},
		{"words", func(e *trace.Ending) { e.Message = "assertion failed: no route at x.c:5 in f" }, true, true},
		{"output", func(e *trace.Ending) { e.Output = []byte("pid 18") }, true, true},
		{"line", func(e *trace.Ending) { e.Message = "assertion failed: port 80 is taken at x.c:6 in f" }, false, true},
		{"stack", func(e *trace.Ending) {
			e.Message, e.Stack = "assertion failed: port 80 is taken at x.c:5 in f", []trace.Site{trace.MakeSite(0, 10)}
		}, false, true},
		{"site", func(e *trace.Ending) { e.Site++ }, false, false},
		{"kind", func(e *trace.Ending) { e.Kind = trace.Misuse }, false, false},
		{"status", func(e *trace.Ending) { e.Status = 2 }, false, false},
	} {
		met := recorded
		test.change(&met)
		a, b := &trace.Trace{Ending: recorded}, &trace.Trace{Ending: met}
		if d := same(a, b); (d == nil) != test.same {
			t.Errorf("%s: %v", test.name, d)
		}
		if v := Varies(a, b); (v != "") != test.varies {
			t.Errorf("%s: Varies = %q", test.name, v)
		}
		a.Events, b.Events = []trace.Event{{Op: trace.OpWrite, Value: 1}}, []trace.Event{{Op: trace.OpWrite, Value: 2}}
		if d := same(a, b); d == nil || d.Field != "value" {
			t.Errorf("%s, after another event: %v", test.name, d)
		}
	}
	for _, kind := range []trace.Kind{trace.Clean, trace.Misuse, trace.Deadlock} {
		a, b := &trace.Trace{Ending: trace.Ending{Kind: kind, Message: "x 1"}}, &trace.Trace{Ending: trace.Ending{Kind: kind, Message: "x 2"}}
		if same(a, b) == nil {
			t.Errorf("%v: the message is heddle's own", kind)
		}
	}
	a, b := &trace.Trace{Ending: trace.Ending{Output: []byte("1")}}, &trace.Trace{Ending: trace.Ending{Output: []byte("2")}}
	if same(a, b) == nil {
		t.Error("a clean execution has nothing but its output to compare")
	}
}

// TestUnknownStack: an event whose stack the runtime may have had no room for is the same; two stacks that are known must be equal.
func TestUnknownStack(t *testing.T) {
	of := func(stack uint32, stacks int) *trace.Trace {
		all := append([][]trace.Site{nil, {trace.MakeSite(0, 9)}, {trace.MakeSite(0, 10)}}, make([][]trace.Site, stacks)...)
		return &trace.Trace{Events: []trace.Event{{Site: trace.MakeSite(0, 5), Stack: stack}}, Stacks: all}
	}
	for _, x := range []struct {
		a, b   uint32
		stacks int
		same   bool
	}{{1, 1, 0, true}, {0, 1, 0, false}, {0, 1, fullStacks, true}, {1, 0, fullStacks, true}, {1, 2, fullStacks, false}} {
		if d := same(of(x.a, x.stacks), of(x.b, x.stacks)); (d == nil) != x.same {
			t.Errorf("%+v: %v", x, d)
		}
	}
}
