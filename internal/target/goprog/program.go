package goprog

import (
	"bytes"
	"cmp"
	"context"
	"strings"

	"github.com/heddle-dev/heddle/internal/expectation"
	"github.com/heddle-dev/heddle/internal/godump"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// program implements ipc.Program.
type program struct{ *Target }

// Launch returns a process that has run nothing but the warm-up.
func (p program) Launch(ctx context.Context) (*ipc.Process, error) { return p.take(ctx) }

// PC returns the address of an instruction, which is its offset.
func (p program) PC(s trace.Site) uint64 { return s.Offset() }

// Site returns the site of an address in the executable, unknown for any other.
func (p program) Site(pc uint64) trace.Site {
	if pc < p.exe.lo || pc > p.exe.hi {
		return 0
	}
	return trace.MakeSite(0, pc)
}

// Begin does nothing: a Go program has one module.
func (program) Begin() {}

// Object decodes what the runtime sends. The runtime names heap and stack objects itself; only
// objects in the executable's data arrive as addresses.
func (p program) Object(sent uint64, _ *ipc.Stacks, _ trace.ThreadID) trace.Object {
	o := trace.Object(sent)
	if o.Region() == trace.RegionOther && sent >= p.exe.lo && sent < p.exe.hi {
		return trace.MakeObject(trace.RegionGlobal, 0, sent)
	}
	return o
}

// MarkVisited does nothing: runtimes of Go programs ignore such plans.
func (program) MarkVisited() {}

// Pointer returns false: the runtime knows which values are pointers.
func (program) Pointer(uint64, *ipc.Stacks, trace.ThreadID) (trace.Object, bool) { return 0, false }

// Ended adds the program's output, and the message in it. With schedule.Plan.Output, the runtime has
// sent the output of a clean execution. Of the others, where they follow one another in a process
// without waiting for the controller, only the output of the last one can be separated, by what
// package testing writes before each test; otherwise the output is dropped.
func (p program) Ended(proc *ipc.Process, plan *schedule.Plan, e *trace.Ending) {
	e.Message = strings.TrimRight(e.Message, "\n") // of t.Error
	if proc.Scratch != "" {
		// The user's name for the directory, and the same in every process.
		temp := tempDir(p.cfg.Env)
		defer func() {
			e.Message = strings.ReplaceAll(e.Message, proc.Scratch, temp)
			e.Output = bytes.ReplaceAll(e.Output, []byte(proc.Scratch), []byte(temp))
		}()
	}
	sent := e.Output
	e.Output = nil
	if plan.Output && e.Kind == trace.Clean {
		if p.cfg.Test {
			sent = reportLine.ReplaceAll(sent, nil)
		}
		e.Output = sent
		return
	}
	shared := p.streaming && proc.Budget != 1
	goesOn := proc.Alive()
	if !e.Kind.Failed() && e.Kind != trace.Unfinished && (shared || !plan.Record) || shared && goesOn {
		return
	}
	text := proc.Output(proc.Mark, proc.OutputSize())
	told := true
	if goesOn {
		text = during(text)
	} else {
		text, told = lastRun(text)
	}
	if (e.Kind == trace.Hang || e.Kind == trace.Unfinished) && e.Site == 0 {
		for _, pc := range godump.Running(text) {
			e.Stack = append(e.Stack, p.Site(pc))
		}
		if len(e.Stack) > 0 {
			e.Site = e.Stack[0]
		}
	}
	if e.Kind == trace.Panic || e.Kind == trace.Fatal {
		prefix := godump.Panic
		if e.Kind == trace.Fatal {
			prefix = godump.Fatal
		}
		message, before := godump.Message(text, prefix)
		if e.Message == "" {
			e.Message = message
		}
		text = before
	}
	if told || !shared {
		e.Output = text
	}
	if e.Kind == trace.Test && e.Message == calledFail {
		e.Message = cmp.Or(expectation.Suite(text), calledFail)
	}
}

// calledFail is the message of the hook in (*testing.common).Fail (internal/target/goprog/patch): frameworks that run a suite in one test
// write what failed, and then call it.
const calledFail = "the test called Fail or FailNow"
