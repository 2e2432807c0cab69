package engine

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// copied is a target whose replicas a test sees. after may change their outcomes.
type copied struct {
	*simprog.Target
	program simprog.Program
	after   func(*schedule.Outcome)
	fail    error

	mu  sync.Mutex
	all []*simprog.Target
}

func (r *copied) Replica() func(context.Context) (target.Target, error) {
	return func(context.Context) (target.Target, error) {
		t := simprog.New(r.program)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all = append(r.all, t)
		if r.after == nil && r.fail == nil {
			return t, nil
		}
		return &meddler{Target: t, after: func(_ *schedule.Plan, o *schedule.Outcome) {
			if r.after != nil {
				r.after(o)
			}
		}, before: func(schedule.Plan) error { return r.fail }}, nil
	}
}

func (r *copied) executions() (n int) {
	for _, t := range r.all {
		n += t.Executions()
	}
	return n
}

// TestSimplifyProcesses: the result, and the executions that lead to it, are the same on any number of
// targets, also if they fail or if their executions use something outside of the program.
func TestSimplifyProcesses(t *testing.T) {
	lost := errors.New("the process is gone")
	for _, program := range []simprog.Program{simprog.LostUpdate(4), simprog.ABBA(), simprog.LostWakeup(), simprog.TwoStage()} {
		found := find(t, simprog.New(program), Options{NoSimplify: true, Seed: 3})
		var want *Simplified
		for _, c := range []struct {
			name      string
			processes int
			after     func(*schedule.Outcome)
			fail      error
			most      int // executions of replicas, if limited
		}{
			{name: "one", processes: 1, most: -1},
			{name: "two", processes: 2},
			{name: "five", processes: 5},
			{name: "outside", processes: 3, after: func(o *schedule.Outcome) {
				o.External, o.Ending, o.Trace.Ending = true, trace.Ending{}, trace.Ending{}
			}, most: 16},
			{name: "unknown library", processes: 3, after: func(o *schedule.Outcome) {
				o.Trace.Modules = append(o.Trace.Modules, trace.Module{Path: "late"})
				o.Ending, o.Trace.Ending = trace.Ending{}, trace.Ending{}
			}, most: 16},
			{name: "lost", processes: 3, fail: lost, most: 16},
		} {
			r := &copied{Target: simprog.New(program), program: program, after: c.after, fail: c.fail}
			s, err := Simplify(t.Context(), r, found.Finding.Recorded, SimplifyOptions{Processes: c.processes, eager: true}, nil)
			if err != nil || !s.Confirmed {
				t.Fatalf("%s, %s: %v, %+v", program.Name, c.name, err, s)
			}
			switch n := r.executions(); {
			case c.processes > 1 && n == 0 && s.Executions > 100:
				t.Errorf("%s, %s: no replica executed anything", program.Name, c.name)
			case c.most < 0 && n > 0 || c.most > 0 && n > c.most:
				t.Errorf("%s, %s: %d executions of replicas", program.Name, c.name, n)
			}
			t.Logf("%s, %s: %d executions, %d of replicas", program.Name, c.name, s.Executions, r.executions())
			if want == nil {
				want = s
			}
			if !reflect.DeepEqual(s.Recorded.Events, want.Recorded.Events) || s.Executions != want.Executions ||
				s.Complete != want.Complete || !reflect.DeepEqual(s.Details.Operations, want.Details.Operations) {
				t.Errorf("%s, %s:\n%+v, want\n%+v", program.Name, c.name, s.Details, want.Details)
			}
		}
	}
}

// TestOutside: executions that only use the program's own objects can run beside others.
func TestOutside(t *testing.T) {
	channel := func(kind, fd uint64) trace.Object { return trace.Object(1<<44 | kind<<40 | fd<<28) }
	const pipe, file, external = 1, 6, 7
	for _, c := range []struct {
		name string
		e    trace.Event
		want bool
	}{
		{"lock", trace.Event{Op: trace.OpMutexLock, Object: trace.MakeObject(trace.RegionGlobal, 0, 64)}, false},
		{"pipe", trace.Event{Op: trace.OpFdOpen, Object: channel(pipe, 5)}, false},
		{"write to a pipe", trace.Event{Op: trace.OpFdWrite, Object: channel(pipe, 5)}, false},
		{"standard output", trace.Event{Op: trace.OpFdWrite, Object: channel(external, 1)}, false},
		{"fopen", trace.Event{Op: trace.OpFdOpen}, true},
		{"open", trace.Event{Op: trace.OpFdOpen, Object: channel(file, 5)}, true},
		{"unlink", trace.Event{Op: trace.OpFdCtl, Object: channel(file, 0xfff)}, true},
		{"read", trace.Event{Op: trace.OpFdRead, Object: channel(file, 5)}, true},
		{"FIFO", trace.Event{Op: trace.OpFdRead, Object: channel(external, 5)}, true},
		{"child", trace.Event{Op: trace.OpProcessStart}, true},
	} {
		o := schedule.Outcome{Trace: &trace.Trace{Events: []trace.Event{{Op: trace.OpThreadStart}, c.e}}}
		if got := outside(&o); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
	if !outside(&schedule.Outcome{}) || !outside(&schedule.Outcome{External: true, Trace: &trace.Trace{}}) || !outside(&schedule.Outcome{Trace: &trace.Trace{Header: trace.Header{Isolation: "fork"}}}) {
		t.Error("an execution that heddle does not control runs beside others")
	}
}
