package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/goprog"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// fakeGo builds Go packages without an overlay and runs a simulated program in place of
// each of their tests: what the command does around the program is real. The name of the
// test says which program. It is used where HEDDLE_TEST_FAKE_GO is set, which has the
// value "fixed" for programs without the bug. Where HEDDLE_TEST_FAKE_INTERRUPT is set, heddle
// gets a SIGINT in the execution with that number (of those outside of explorations), or in an
// exploration in which no execution ends (stuck).
type fakeGo struct{}

func (fakeGo) Overlay(context.Context, *gotool.Tool, string, patch.Options) (gotool.Overlay, error) {
	return gotool.Overlay{Flags: []string{"-tags=heddle_fake"}}, nil
}

func (fakeGo) Start(_ context.Context, c goprog.Config) (target.Target, error) {
	b, err := os.ReadFile(c.Path)
	if err != nil {
		return nil, err
	}
	words := strings.Join(c.Args, " ")
	var p simprog.Program
	leaks, stuck := false, false
	fixed := os.Getenv("HEDDLE_TEST_FAKE_GO") == "fixed"
	switch {
	case strings.Contains(words, "LostUpdate") && fixed:
		p = simprog.LockedUpdate(2)
	case strings.Contains(words, "LostUpdate"), !c.Test:
		p = simprog.LostUpdate(2)
	case strings.Contains(words, "ABBA"):
		p = simprog.ABBA()
	case strings.Contains(words, "Leak"):
		leaks = c.Test && !c.NoLeaks
		p = simprog.LockedUpdate(2)
	case strings.Contains(words, "Slow"):
		p, stuck = simprog.LockedUpdate(2), true
	case strings.Contains(words, "Broken"):
		return nil, fmt.Errorf("the program %s was lost", filepath.Base(c.Path))
	default:
		p = simprog.LockedUpdate(2)
	}
	if log := os.Getenv("HEDDLE_TEST_FAKE_LOG"); log != "" {
		f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		fmt.Fprintf(f, "%s in %s\n", strings.TrimPrefix(words, c.Path+" "), filepath.Base(c.Dir))
	}
	return &fakeProgram{Target: simprog.New(p), leaks: leaks, stuck: stuck, module: trace.Module{Path: c.Path, BuildID: fmt.Sprintf("sha256:%x", sha256.Sum256(b)), Program: true}}, nil
}

// fakeProgram is a simulated program that says it is a file.
type fakeProgram struct {
	*simprog.Target
	module trace.Module
	runs   int
	leaks  bool // every good execution leaves a goroutine behind
	stuck  bool // no execution ends
}

func (p *fakeProgram) Header() trace.Header {
	h := p.Target.Header()
	h.Target, h.BuildID, h.Command = "go", p.module.BuildID, []string{p.module.Path}
	return h
}

func (p *fakeProgram) Modules() []trace.Module { return []trace.Module{p.module} }

func (p *fakeProgram) sign(o *schedule.Outcome) {
	if p.leaks && o.Ending.Kind == trace.Clean {
		o.Ending.Kind = trace.Leak
		o.Ending.Waiters = []trace.Waiter{{Thread: 0, Op: trace.OpChanSend, Site: trace.MakeSite(0, 8), Holder: -1}} // the others have ended
		if o.Trace != nil {
			o.Trace.Ending = o.Ending
		}
	}
	if o.Trace != nil {
		h := p.Header()
		o.Trace.Header.Target, o.Trace.Header.BuildID, o.Trace.Header.Command = h.Target, h.BuildID, h.Command
		o.Trace.Modules = p.Modules()
	}
}

func (p *fakeProgram) Run(ctx context.Context, plan schedule.Plan) (schedule.Outcome, error) {
	if p.runs++; os.Getenv("HEDDLE_TEST_FAKE_INTERRUPT") == strconv.Itoa(p.runs) {
		return schedule.Outcome{}, interruptSelf(ctx)
	}
	o, err := p.Target.Run(ctx, plan)
	p.sign(&o)
	return o, err
}

func (p *fakeProgram) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	if p.stuck {
		if os.Getenv("HEDDLE_TEST_FAKE_INTERRUPT") == "stuck" {
			return interruptSelf(ctx)
		}
		<-ctx.Done()
		return ctx.Err()
	}
	return p.Target.Stream(ctx, next, func(plan schedule.Plan, o schedule.Outcome) bool {
		p.sign(&o)
		return done(plan, o)
	})
}

// interruptSelf is Ctrl-C.
func interruptSelf(ctx context.Context) error {
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}
