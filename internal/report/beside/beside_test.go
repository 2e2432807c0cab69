package beside

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// execution makes one of lines like `1 read 100`: a thread, the instruction, its value. Its numbers of events are those of the trace.
func execution(ending trace.Kind, lines ...string) Execution {
	t := &trace.Trace{Ending: trace.Ending{Kind: ending}}
	sites := map[string]uint64{"lock": 1, "read": 2, "write": 3, "check": 4, "exit": 5, "wait": 6}
	v := &report.View{Ending: ending.String(), Places: []report.Place{{}}}
	for i, l := range lines {
		var thread int
		var op string
		value := -1
		fmt.Sscanf(l, "%d %s %d", &thread, &op, &value)
		for len(t.Threads) <= thread {
			n := len(t.Threads)
			t.Threads = append(t.Threads, trace.Thread{ID: trace.ThreadID(n), Name: uint64(100 + n)})
		}
		e := trace.Event{Thread: trace.ThreadID(thread), Op: trace.OpMutexLock, Site: trace.MakeSite(0, sites[op]), Object: trace.Object(1 << 40), Size: 4}
		switch op {
		case "read", "check":
			e.Op = trace.OpRead
		case "write":
			e.Op = trace.OpWrite
		}
		text, number := op, ""
		if value >= 0 {
			e.Value = uint64(value)
			text = fmt.Sprintf("%s → %d", op, value)
			number = fmt.Sprint(value)
		}
		t.Events = append(t.Events, e)
		v.Rows = append(v.Rows, report.Row{Kind: report.EventRow, Thread: e.Thread, Event: i, Events: 1, Cell: &report.Cell{Text: text, Object: "counter", Value: number, Shared: true}})
	}
	if ending.Failed() {
		v.Failure = &report.Failure{Title: "fails", Thread: 0}
	}
	return Execution{File: ending.String() + ".hdl", Recorded: t, Full: t, View: v, Ended: v}
}

// drawn is the table in few characters.
func drawn(rows []Row) string {
	var b strings.Builder
	event := func(e *Event) string {
		if e == nil {
			return "-"
		}
		return fmt.Sprintf("%d", e.Event)
	}
	for i := range rows {
		r := &rows[i]
		if r.Kind == Fold {
			fmt.Fprintf(&b, "(%d/%d/%d) ", r.Events, r.Equal, r.Values)
			continue
		}
		_, _, mark, _ := r.cells()
		fmt.Fprintf(&b, "%s%s%s ", event(r.Failing), strings.ReplaceAll(mark, " ", "="), event(r.Passing))
	}
	return strings.TrimSpace(b.String())
}

func TestCompare(t *testing.T) {
	failing := execution(trace.Assertion, "0 lock", "2 read 1", "1 read 1", "1 write 2", "2 write 2", "0 check 2")
	passing := execution(trace.Clean, "0 lock", "1 read 1", "1 write 2", "2 read 2", "2 write 3", "0 check 3", "0 exit")
	c := Compare(failing, passing, nil, Options{})
	if got, want := drawn(c.Rows), "0=0 1<- 2=1 3=2 ->3 4≠4 5≠5 ->6"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	if c.Same != 1 || c.Order.Failing.Event != 1 || c.Order.Passing.Event != 1 {
		t.Errorf("the first difference is %+v after %d events", c.Order, c.Same)
	}
	if v := c.Value; v == nil || v.Failing.Event != 1 || v.Passing.Event != 3 || v.Wrote.Failing != nil || v.Wrote.Passing == nil || v.Wrote.Passing.Event != 2 {
		t.Errorf("the first value is %+v", v)
	}
	if len(c.Stops) != 1 || c.Stops[0].Passing == nil || c.Stops[0].Passing.Event != 5 {
		t.Errorf("the failure is %+v", c.Stops)
	}
	moved := c.Rows[1]
	if moved.There == nil || moved.There.Event != 3 || !moved.Later || !moved.Differs {
		t.Errorf("the read has changed places: %+v", moved)
	}
	var out strings.Builder
	c.Print(&out, 100)
	if !strings.Contains(out.String(), "1 T2 read → 1      <   ↓ 3: read → 2") {
		t.Errorf("%s", &out)
	}
}

// A thread that waits when the execution ends gets on in the other one.
func TestWaits(t *testing.T) {
	failing := execution(trace.Deadlock, "0 lock", "1 lock")
	passing := execution(trace.Clean, "0 lock", "1 lock", "1 wait", "0 exit")
	failing.Full.Ending.Waiters = []trace.Waiter{{Thread: 1, Op: trace.OpMutexLock, Site: trace.MakeSite(0, 6)}}
	failing.View.Failure.Waits = []report.Wait{{Thread: 1, Text: "T1 waits", Since: 1}}
	c := Compare(failing, passing, nil, Options{})
	if len(c.Stops) != 1 || c.Stops[0].Failing != "T1 waits, since event 1" || c.Stops[0].Passing == nil || c.Stops[0].Passing.Event != 2 {
		t.Errorf("%+v", c.Stops)
	}
	if !c.Rows[2].Waits || c.Rows[3].Waits {
		t.Errorf("%+v", c.Rows)
	}
	if c.Order.Failing != nil || c.Order.Passing.Event != 2 || c.Same != 2 {
		t.Errorf("%+v", c.Order)
	}
}

// What is not shown is counted, and a fold of one line is that line. Nothing is lost.
func TestFolds(t *testing.T) {
	var a, b []string
	for i := range 50 {
		a, b = append(a, "0 lock"), append(b, "0 lock")
		if i == 30 {
			a, b = append(a, "1 write 1", "2 write 2"), append(b, "2 write 2", "1 write 1")
		}
	}
	for _, lines := range []int{1, 3, 4, 5, 8} {
		for _, whole := range []bool{false, true} {
			c := Compare(execution(trace.Assertion, append(a, "0 check 2")...), execution(trace.Clean, append(b, "0 check 1")...), nil, Options{Lines: lines, Whole: whole})
			if len(c.Rows) > lines {
				t.Errorf("%d rows, at most %d: %s", len(c.Rows), lines, drawn(c.Rows))
			}
			n := 0
			for _, r := range c.Rows {
				if r.Kind != Fold {
					n++
					continue
				}
				n += r.Events
				if r.Events == 1 || whole && len(r.Rows) != r.Events || !whole && r.Rows != nil {
					t.Errorf("a fold of %d rows has %d", r.Events, len(r.Rows))
				}
			}
			if n != 54 { // one of the two that changed places has two rows
				t.Errorf("%d rows in all: %s", n, drawn(c.Rows))
			}
		}
	}
}

func TestIncreasing(t *testing.T) {
	for _, c := range []struct {
		list []int
		want int
	}{{nil, 0}, {[]int{3}, 1}, {[]int{3, 1, 2}, 2}, {[]int{2, 3, 0, 1, 4}, 3}, {[]int{4, 3, 2, 1}, 1}} {
		got := increasing(c.list)
		if len(got) != c.want || !slices.IsSortedFunc(got, func(a, b int) int { return c.list[a] - c.list[b] }) || !slices.IsSorted(got) {
			t.Errorf("%v: %v", c.list, got)
		}
	}
}

// A long thread is aligned by its operations' occurrences, in their order.
func TestOccurrences(t *testing.T) {
	a := newSide(execution(trace.Assertion, "0 read", "0 write", "0 read", "0 lock"), true)
	b := newSide(execution(trace.Clean, "0 write", "0 read", "0 lock", "0 read"), true)
	out := []int{-1, -1, -1, -1}
	occurrences(a, b, []int{0, 1, 2, 3}, []int{0, 1, 2, 3}, out)
	last := -1
	n := 0
	for i, j := range out {
		if j < 0 {
			continue
		}
		if n++; j <= last || a.operation(i) != b.operation(j) {
			t.Errorf("%v", out)
		}
		last = j
	}
	if n != 2 {
		t.Errorf("%d of 4 aligned: %v", n, out)
	}
}

// What a library does, accesses that are not scheduling points, and allocations are not the first difference in order.
func TestFirstOrder(t *testing.T) {
	failing := execution(trace.Assertion, "0 lock", "0 wait", "0 write 1", "2 lock", "1 lock")
	passing := execution(trace.Clean, "0 lock", "0 read 1", "0 exit", "0 write 1", "1 lock", "2 lock")
	failing.Full.Events[1].Op = trace.OpMalloc
	failing.Full.Events[2].Flags = trace.FlagNoDecision
	library := func(tr *trace.Trace, event int) bool { return tr != passing.Full || event != 2 }
	c := Compare(failing, passing, nil, Options{Own: library})
	if d := c.Order; d.Failing == nil || d.Passing == nil || d.Failing.Event != 3 || d.Passing.Event != 4 || c.Same != 2 {
		t.Errorf("the first difference is %+v after %d events", d, c.Same)
	}
	// With nothing else, it is what a library does.
	c = Compare(execution(trace.Assertion, "0 lock"), execution(trace.Clean, "0 lock", "0 exit"), nil, Options{Own: func(_ *trace.Trace, event int) bool { return event == 0 }})
	if d := c.Order; d.Failing != nil || d.Passing == nil || d.Passing.Event != 1 {
		t.Errorf("the first difference is %+v", d)
	}
}

// Only a number that the program reads from a variable differs because of the order.
func TestFirstValue(t *testing.T) {
	failing := func() Execution {
		return execution(trace.Assertion, "0 lock", "2 write 5", "0 read 5", "1 write 6")
	}
	passing := func() Execution { return execution(trace.Clean, "0 lock", "1 write 6", "2 write 7", "0 read 7") }
	for _, c := range []struct {
		name  string
		known bool
		spoil func(a, b *Execution)
	}{
		{"a number", true, func(a, b *Execution) {}},
		{"a time", false, func(a, b *Execution) {
			for _, i := range []int{1, 2} {
				a.View.Rows[i].Cell.Value, b.View.Rows[i+1].Cell.Value = "1000005000400", "1000005000800"
			}
		}},
		{"addresses", false, func(a, b *Execution) { a.View.Rows[2].Cell.Value, b.View.Rows[3].Cell.Value = "&block #3", "NULL" }},
		{"an unknown value", false, func(a, b *Execution) { a.View.Rows[2].Cell.Value = "" }},
		{"without a name", false, func(a, b *Execution) {
			a.View.Rows[2].Cell.Object, b.View.Rows[3].Cell.Object = "stack of T0 -0x370", "stack of T0 -0x370"
		}},
		{"two variables", false, func(a, b *Execution) { b.View.Rows[3].Cell.Object = "another" }},
		{"two sizes", false, func(a, b *Execution) { b.Full.Events[3].Size = 2 }},
		{"a write of a part", false, func(a, b *Execution) { a.Full.Events[1].Size = 1 }},
		{"another value written", false, func(a, b *Execution) { a.View.Rows[1].Cell.Value = "4" }},
	} {
		a, b := failing(), passing()
		c.spoil(&a, &b)
		got := Compare(a, b, nil, Options{}).Value
		if (got != nil) != c.known || c.known && (got.Failing.Event != 2 || got.Wrote.Failing.Event != 1 || got.Wrote.Passing.Event != 2) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	// What was read before the orders differ has another reason.
	same := Compare(execution(trace.Assertion, "0 write 1", "0 read 1", "1 lock", "2 lock"), execution(trace.Clean, "0 write 2", "0 read 2", "2 lock", "1 lock"), nil, Options{})
	if same.Value != nil || same.Order.Failing == nil || same.Order.Failing.Event != 2 {
		t.Errorf("%+v %+v", same.Value, same.Order)
	}
}
