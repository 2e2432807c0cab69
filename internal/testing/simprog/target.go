package simprog

import (
	"context"
	"fmt"
	"runtime"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// DefaultMaxSteps is the step budget of plans without one.
const DefaultMaxSteps = 20_000

// Program is a simulated program.
type Program struct {
	Name string
	Main func(*Thread)
	// Blind reports that accesses are not seen, as in a program that was compiled without
	// hooks: only synchronisation can be controlled and recorded.
	Blind bool
}

// Target runs a program. It implements target.Target.
type Target struct {
	program    Program
	executions int

	// choose decides instead of script and policy, if not nil; for tests.
	choose func(can []*Thread) *Thread
}

// New returns a target that runs a program.
func New(p Program) *Target { return &Target{program: p} }

// Executions returns the number of executions run so far.
func (t *Target) Executions() int { return t.executions }

// Run implements target.Target.
func (t *Target) Run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	p.Repeat = 1
	return t.execute(ctx, p, 0)
}

// ahead is how many plans are taken before the first of them has run, as a target does
// whose program must not wait for the next one.
const ahead = 8

// Stream implements target.Target.
func (t *Target) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	var queue []schedule.Plan
	for {
		for len(queue) < ahead {
			p, ok := next()
			if !ok {
				break
			}
			queue = append(queue, p)
		}
		if len(queue) == 0 {
			return nil
		}
		p := queue[0]
		queue = queue[1:]
		for i := range max(1, p.Repeat) {
			o, err := t.execute(ctx, p, i)
			if err != nil {
				return err
			}
			if !done(p, o) {
				return nil
			}
			if p.Ends(&o) {
				break
			}
		}
	}
}

func (t *Target) execute(ctx context.Context, p schedule.Plan, index int) (schedule.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return schedule.Outcome{}, err
	}
	if err := p.CheckHolds(); err != nil {
		return schedule.Outcome{}, err
	}
	t.executions++
	p.Seed += uint64(index)
	if p.MaxSteps == 0 {
		p.MaxSteps = DefaultMaxSteps
	}
	o := newExecution(t, p).run()
	o.Index = index
	return o, nil
}

// Replica implements target.Replicator.
func (t *Target) Replica() func(context.Context) (target.Target, error) {
	return func(context.Context) (target.Target, error) { return New(t.program), nil }
}

// Header implements target.Target.
func (t *Target) Header() trace.Header {
	return trace.Header{
		Target: "simprog", PointsVersion: schedule.PointsVersion,
		Command: []string{t.program.Name}, BuildID: "simprog:" + t.program.Name, Instrumented: !t.program.Blind,
	}
}

// Modules implements target.Target: the test binary.
func (t *Target) Modules() []trace.Module {
	return []trace.Module{{Path: t.program.Name, BuildID: "simprog:" + t.program.Name, Program: true}}
}

// Close implements target.Target.
func (t *Target) Close() error { return nil }

// Locate is where in the program's source a site is: "main.go:12".
func Locate(s trace.Site) string {
	f, _ := runtime.CallersFrames([]uintptr{uintptr(s.Offset())}).Next()
	file := f.File
	for i := len(file) - 1; i >= 0; i-- {
		if file[i] == '/' {
			file = file[i+1:]
			break
		}
	}
	return fmt.Sprintf("%s:%d", file, f.Line)
}
