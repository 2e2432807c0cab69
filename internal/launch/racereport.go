package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/goprog"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/trace"
)

type raceReportJSON struct {
	Outcome string   `json:"outcome"` // found, clean
	Choices int      `json:"choices"` // of the schedule, all followed
	Reports []string `json:"reports"` // as Go's race detector words them
}

// raceReport builds the program of a trace with Go's own race detector, follows the trace's
// schedule there and prints what the detector reports. t is the program as it was recorded.
func (a *app) raceReport(t target.Target, tr *trace.Trace, watchdog time.Duration) error {
	if tr.Header.Target != "go" {
		return errors.New("--race-report is for traces of Go programs")
	}
	plan, err := engine.ReplayPlan(t, tr) // refuses a trace of another build
	if err != nil {
		return err
	}
	p := a.progress()
	p.line("build: with Go's race detector")
	cfg, err := a.recordedGo(tr, patch.Options{Sanitizer: true})
	p.done()
	if err != nil {
		return err
	}
	sites, err := goprog.NewCounterparts(programOf(t), cfg.Path)
	if err != nil {
		return err
	}
	cfg.Watchdog = watchdog
	detector, err := goPrograms.start(a.ctx, a.bounded(cfg))
	if err != nil {
		return err
	}
	defer detector.Close()
	o, err := engine.ReplayElsewhere(a.ctx, detector, tr, sites.Site)
	if err != nil {
		return err
	}
	if o.Ending.Kind == trace.Diverged {
		at := 0
		if o.Diverged != nil {
			at = o.Diverged.Step
		}
		return fmt.Errorf("with Go's race detector the program took another course, at choice %s of %s: the two builds differ there, as a package that uses cgo does",
			thousands(at+1), thousands(len(plan.Script)))
	}
	out := raceReportJSON{Outcome: "clean", Choices: len(plan.Script), Reports: goprog.RaceReports(o.Ending.Output)}
	if len(out.Reports) > 0 {
		out.Outcome = "found"
	}
	if a.JSON {
		if out.Reports == nil {
			out.Reports = []string{}
		}
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		for _, r := range out.Reports {
			fmt.Fprintf(a.stdout, "%s\n", r)
		}
		fmt.Fprintf(a.stdout, "followed the schedule with Go's race detector: %s choices, %s\n", thousands(out.Choices), count(len(out.Reports), "data race"))
	}
	if len(out.Reports) > 0 {
		return errFound
	}
	return nil
}

// programOf is the file of a target's program.
func programOf(t target.Target) string {
	for _, m := range t.Modules() {
		if m.Program {
			return m.Path
		}
	}
	return ""
}
