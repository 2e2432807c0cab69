package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// meddler is a target whose outcomes a test can inspect and change.
type meddler struct {
	target.Target
	before func(schedule.Plan) error               // of a single execution
	after  func(*schedule.Plan, *schedule.Outcome) // likewise
	seeds  []uint64                                // of the executions streamed
}

func (m *meddler) Run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	if m.before != nil {
		if err := m.before(p); err != nil {
			return schedule.Outcome{}, err
		}
	}
	o, err := m.Target.Run(ctx, p)
	if m.after != nil && err == nil {
		m.after(&p, &o)
	}
	return o, err
}

func (m *meddler) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	var fail error
	index := map[uint64]int{}
	err := m.Target.Stream(ctx, next, func(p schedule.Plan, o schedule.Outcome) bool {
		one := p
		one.Seed += uint64(index[p.Seed])
		index[p.Seed]++
		if m.before != nil {
			if fail = m.before(one); fail != nil {
				return false
			}
		}
		m.seeds = append(m.seeds, one.Seed)
		if m.after != nil {
			m.after(&one, &o)
		}
		return done(p, o)
	})
	if fail != nil {
		return fail
	}
	return err
}

func find(t *testing.T, target target.Target, opts Options) *Report {
	t.Helper()
	r, err := Find(context.Background(), target, opts, nil)
	if err != nil {
		t.Fatalf("Find: %v", err)
	}
	return r
}

// keepIn writes the original trace to one file and the simplified one to another; an empty name
// means that it is not written.
func keepIn(bug, simple string) func(*trace.Trace, string) (string, error) {
	return func(tr *trace.Trace, original string) (string, error) {
		name := bug
		if strings.HasPrefix(tr.Header.Strategy, "simplified") {
			name = simple
		}
		if name == "" {
			return "", nil
		}
		tr.Header.Original = original
		return name, trace.WriteFile(name, tr)
	}
}

func record(t *testing.T, program simprog.Program, opts RecordOptions) *trace.Trace {
	t.Helper()
	tr, err := Record(context.Background(), simprog.New(program), opts)
	if err != nil {
		t.Fatalf("Record: %v", err)
	}
	return tr
}
