package launch

import (
	"context"
	"fmt"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/goprog"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// RaceReports holds the reports of Go's own race detector about an execution.
type RaceReports struct {
	Choices int      // number of scheduling decisions, all of which were followed
	Reports []string // in the detector's words
}

// RaceReports builds the program of a trace with Go's race detector and follows the trace's
// schedule there. t is the program as recorded. building is called when the build begins and
// returns a function to call when it has ended.
func (l *Launcher) RaceReports(ctx context.Context, t target.Target, tr *trace.Trace, how How, building func() (done func())) (*RaceReports, error) {
	if tr.Header.Target != "go" {
		return nil, usage.Errorf("--race-report is for traces of Go programs")
	}
	plan, err := engine.ReplayPlan(t, tr) // rejects a trace of another build
	if err != nil {
		return nil, err
	}
	done := building()
	cfg, _, err := l.recordedGo(ctx, tr, patch.Options{Sanitizer: true}, how)
	done()
	if err != nil {
		return nil, err
	}
	sites, err := goprog.NewCounterparts(ProgramFile(t), cfg.Path)
	if err != nil {
		return nil, err
	}
	detector, err := l.startSupported(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer detector.Close()
	o, err := engine.ReplayElsewhere(ctx, detector, tr, sites.Site)
	if err != nil {
		return nil, err
	}
	if o.Ending.Kind == trace.Diverged {
		at := 0
		if o.Diverged != nil {
			at = o.Diverged.Step
		}
		return nil, fmt.Errorf("with Go's race detector the program left the schedule at decision %s of %s: the two builds differ there, as a package that uses cgo does",
			wording.Thousands(at+1), wording.Thousands(len(plan.Script)))
	}
	return &RaceReports{Choices: len(plan.Script), Reports: goprog.RaceReports(o.Ending.Output)}, nil
}

// ProgramFile returns the file of a target's program.
func ProgramFile(t target.Target) string {
	for _, m := range t.Modules() {
		if m.Program {
			return m.Path
		}
	}
	return ""
}
