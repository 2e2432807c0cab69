package shiviz

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/hb"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/testing/reporttest"
	"github.com/heddle-dev/heddle/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func render(t testing.TB, tr *trace.Trace, names report.Names) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, tr, report.Build(tr, names, report.Options{})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	reporttest.Golden(t, "testdata/shiviz.txtar", *update, func(t *testing.T, name string) []byte {
		tr, names := reporttest.Load(t, name)
		if len(tr.Events) > 100 {
			return nil
		}
		return render(t, tr, names)
	})
}

// entry is a line as ShiViz reads it.
type entry struct {
	host  string
	clock map[string]int
	event int
}

// parse reads a log by the regular expression in its first line.
func parse(t *testing.T, log []byte) (out []entry) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(string(log), "\n"), "\n")
	if lines[1] != "" {
		t.Fatalf("the second line is %q", lines[1])
	}
	re := regexp.MustCompile(lines[0])
	names := re.SubexpNames()
	for _, l := range lines[2:] {
		m := re.FindStringSubmatch(l)
		if m == nil || m[0] != l {
			t.Fatalf("%q is not an event", l)
		}
		e := entry{}
		for i, name := range names {
			switch name {
			case "host":
				e.host = m[i]
			case "clock":
				if err := json.Unmarshal([]byte(m[i]), &e.clock); err != nil {
					t.Fatalf("%q: %v", m[i], err)
				}
			case "number":
				e.event, _ = strconv.Atoi(m[i])
			}
		}
		out = append(out, e)
	}
	return out
}

// check tests what ShiViz demands of a log, and that its clocks order two events exactly if one happened
// before the other.
func check(t *testing.T, tr *trace.Trace, log []entry) {
	t.Helper()
	engine := hb.New()
	epochs := make([]hb.Epoch, len(tr.Events))
	next := 0
	seen := map[string]int{}
	for j := range tr.Events {
		engine.Event(&tr.Events[j])
		thread := tr.Events[j].Thread
		epochs[j] = engine.Epoch(thread)
		if next == len(log) || log[next].event != j {
			continue
		}
		e := log[next]
		if e.host != "T"+strconv.Itoa(int(thread)) {
			t.Fatalf("event %d is of %s", j, e.host)
		}
		seen[e.host]++
		if e.clock[e.host] != seen[e.host] {
			t.Fatalf("event %d: the clock of %s is %d, want %d", j, e.host, e.clock[e.host], seen[e.host])
		}
		for host, n := range e.clock {
			if n < 1 || n > seen[host] {
				t.Fatalf("event %d knows %d events of %s, which has had %d", j, n, host, seen[host])
			}
		}
		for _, p := range log[:next] {
			want := p.host == e.host || engine.Before(epochs[p.event], thread)
			if got := p.clock[p.host] <= e.clock[p.host]; got != want {
				t.Fatalf("event %d before event %d: %v by the clocks, %v by happens-before", p.event, j, got, want)
			}
		}
		next++
	}
	if next != len(log) {
		t.Fatalf("%d lines, but only %d are in the order of the trace", len(log), next)
	}
}

func TestClocks(t *testing.T) {
	for _, name := range reporttest.Fixtures() {
		tr, names := reporttest.Load(t, name)
		check(t, tr, parse(t, render(t, tr, names)))
	}
	for seed := range uint64(30) {
		tr, names := reporttest.Random(t, seed, 1+int(seed%6), 100)
		check(t, tr, parse(t, render(t, tr, names)))
	}
}

// The log of thousands of threads is refused.
func TestTooLarge(t *testing.T) {
	const threads = 4000
	tr := &trace.Trace{Threads: []trace.Thread{{Parent: -1}}, Events: []trace.Event{{Op: trace.OpThreadStart}}}
	v := &report.View{Places: []report.Place{{Label: "?"}}, Columns: make([]report.Column, threads), Rows: []report.Row{{Kind: report.EventRow, Cell: &report.Cell{}}}}
	add := func(e trace.Event) {
		v.Rows = append(v.Rows, report.Row{Kind: report.EventRow, Event: len(tr.Events), Cell: &report.Cell{}})
		tr.Events = append(tr.Events, e)
	}
	for i := 1; i < threads; i++ { // each creates the next one
		id := trace.ThreadID(i)
		tr.Threads = append(tr.Threads, trace.Thread{ID: id, Parent: id - 1})
		add(trace.Event{Thread: id - 1, Op: trace.OpThreadCreate, Value: uint64(i)})
		add(trace.Event{Thread: id, Op: trace.OpThreadStart})
	}
	if err := Render(io.Discard, tr, v); err == nil || !strings.Contains(err.Error(), "4,000 threads") {
		t.Errorf("%v", err)
	}
}
