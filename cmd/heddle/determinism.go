package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/reversible"
	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/lossless"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/smt"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wholefile"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

type checkDeterminismCommand struct {
	Executions int           `default:"20" help:"After reversibility holds, compare each thread's events, and the output, in N executions under other schedules."`
	SolverTime time.Duration `default:"60s" help:"Give an SMT solver (z3, cvc5 or cvc4, if one is installed) at most this long for each pair that the search does not decide; 0 to use none."`
	Output     string        `short:"o" placeholder:"FILE" help:"Write the execution that shows the failure to FILE (otherwise to the first free one of NAME.reordered.hdl, NAME.reordered.2.hdl, …)."`
	seedFlag
	timeFlag
	runFlags

	Trace string `arg:"" predictor:"trace" help:"The trace of a clean execution."`
}

func (c *checkDeterminismCommand) Help() string {
	return `Decides whether every schedule gives each thread of the program the same events, with the same input
(the pseudo-deterministic condition of TraceSanitizer, DSN 2020): no two dependent events of the trace
can happen in the other order, and executions under other schedules have the same events and output. Answers
that it holds; that it fails, with the pair and the execution that shows it; or that it is not
decided, and why. Writes the answer beside the trace (NAME.hdl: NAME.determinism.json).

Ends with 0 if the condition holds, 1 if it fails and 3 if it is not decided.`
}

type determinismJSON struct {
	Answer string `json:"answer"` // holds, fails, undecided
	Why    string `json:"why,omitempty"`
	// TraceHash identifies the trace file: sha256: and its hash.
	TraceHash string     `json:"traceHash"`
	Pair      []pairJSON `json:"pair,omitempty"`
	// Difference is set if a thread had another event although no pair can be reversed.
	Difference []pairJSON `json:"difference,omitempty"`
	// Output is set if only the output differs.
	Output *outputDifferenceJSON `json:"output,omitempty"`
	// Moved is true if that execution had other addresses, too, which a replay does not repeat.
	Moved bool `json:"moved,omitempty"`
	// Deadlock is set if threads wait for each other in that execution, or, if the answer is undecided, may do so.
	Deadlock []waitJSON `json:"deadlock,omitempty"`
	// Reordered is the trace of the execution that shows the failure.
	Reordered string `json:"reordered,omitempty"`
	Events    int    `json:"events"` // accesses included
	// Dependent pairs that vector clocks did not order, and those that the search and the solver decided.
	Left       int    `json:"left"`
	Searched   int    `json:"searched"`
	Solved     int    `json:"solved"`
	Executions int    `json:"executions"`
	Solver     string `json:"solver,omitempty"`
}

type outputDifferenceJSON struct {
	Line int `json:"line"` // the first line that differs, from 1
	// The line in the recorded execution and in the other one; empty if the output has no more.
	Recorded string `json:"recorded"`
	Other    string `json:"other"`
}

// operationJSON is an operation of a thread.
type operationJSON struct {
	Thread    string `json:"thread"`
	Operation string `json:"operation"`
	Object    string `json:"object,omitempty"`
	Where     string `json:"where,omitempty"`
}

func operation(names *report.Running, thread trace.ThreadID, op trace.Op, site trace.Site) operationJSON {
	return operationJSON{Thread: fmt.Sprintf("T%d", thread), Operation: op.String(), Where: names.Place(site)}
}

// text returns the operation without its thread.
func (o *operationJSON) text() string {
	s := o.Operation
	if o.Object != "" {
		s += " " + o.Object
	}
	if o.Where != "" {
		s += " at " + o.Where
	}
	return s
}

type pairJSON struct {
	operationJSON
	Event int `json:"event"` // its index in the execution with all accesses
	// Value is set if the events of a difference only differ in it: a value, or a place, as in a sanitised trace.
	Value string `json:"value,omitempty"`
}

// waitJSON is what a thread of a deadlock waits for, and what is held meanwhile.
type waitJSON struct {
	operationJSON
	// Holder is the thread that holds Held: the same one, or one that waits for it.
	Holder    string `json:"holder,omitempty"`
	Held      string `json:"held,omitempty"`
	HeldWhere string `json:"heldWhere,omitempty"`
}

func (w *waitJSON) String() string {
	s := w.Thread + " waits: " + w.text()
	if w.Held != "" {
		s += "; holds " + w.Held
		if w.HeldWhere != "" {
			s += " since " + w.HeldWhere
		}
	}
	return s
}

// possible says how the thread comes to wait.
func (w *waitJSON) possible() string {
	s := w.Thread + " acquires " + w.Object
	switch {
	case w.Held == "":
		return s
	case w.Holder == w.Thread:
		return s + " while it holds " + w.Held
	}
	return s + " before " + w.Holder + " can release " + w.Held
}

func (c *checkDeterminismCommand) Run(a *app) error {
	if c.Executions < 1 || c.SolverTime < 0 {
		return usage.Errorf("--executions must be at least 1, and --solver-time cannot be negative")
	}
	tr, err := c.readTrace(a, c.Trace)
	if err != nil {
		return err
	}
	if err := unfaulted(tr); err != nil {
		return err
	}
	hash, err := hashOf(c.Trace)
	if err != nil {
		return err
	}
	if c.Output != "" {
		if err := tracefile.NotInput(c.Output, c.Trace); err != nil {
			return err
		}
	}
	t, err := a.launcher().StartRecorded(a.ctx, tr, c.how())
	if err != nil {
		return err
	}
	defer t.Close()
	files, err := a.traceWriter(c.Output, tracefile.Derived(c.Trace, "reordered"))
	if err != nil {
		return err
	}
	opts := engine.DeterminismOptions{Executions: c.Executions, Seed: c.Seed, Moved: func(ctx context.Context) (target.Target, error) {
		how := c.how()
		how.Randomize = true
		return a.launcher().StartRecorded(ctx, tr, how)
	}}
	out := determinismJSON{TraceHash: hash}
	if c.SolverTime > 0 {
		if s := smt.Find(c.SolverTime); s != nil {
			opts.Solve = func(ctx context.Context, formula string) (string, error) {
				out.Solver = s.Name
				return s.Solve(ctx, formula)
			}
		}
	}
	ctx, cancel, err := c.within(a)
	if err != nil {
		return err
	}
	defer cancel()
	done := a.slowly("checking")
	d, err := engine.CheckDeterminism(ctx, t, tr, opts)
	done()
	if err != nil && engine.OutOfTime(ctx) {
		d, err = &engine.Determinism{Answer: reversible.Undecided, Why: c.overtime(ctx, a, t, err).Error()}, nil
	}
	if err != nil {
		return err
	}
	out.fill(d, t)
	if d.Reordered != nil {
		if out.Reordered, err = files.Keep(d.Reordered, ""); err != nil {
			return err
		}
	}
	if err := out.keep(c.Trace); err != nil {
		return err
	}
	if a.JSON {
		err = a.printJSON(out)
	} else {
		c.print(a, &out)
	}
	switch {
	case err != nil:
		return err
	case d.Answer == reversible.Fails:
		return errFound
	case d.Answer == reversible.Undecided:
		return errors.New("not decided: " + out.Why)
	}
	return nil
}

// unfaulted refuses a trace with a fault: executions under other schedules would not have it.
func unfaulted(tr *trace.Trace) error {
	if tr.Header.Fault == nil {
		return nil
	}
	return fmt.Errorf("the execution has a fault (%s), which executions under other schedules would not have: heddle replay repeats it, and heddle compare shows its effect", tr.Header.Fault.Model)
}

func hashOf(name string) (string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// fill copies the result of a check, with the names of the program's places.
func (out *determinismJSON) fill(d *engine.Determinism, t target.Target) {
	out.Answer, out.Why, out.Executions = string(d.Answer), d.Why, d.Executions
	names := report.NewRunning(t.Modules)
	event := func(tr *trace.Trace, e int) pairJSON {
		if e < 0 {
			return pairJSON{operationJSON: operationJSON{Operation: "no event"}, Event: -1}
		}
		ev := &tr.Events[e]
		p := pairJSON{operationJSON: operation(names, ev.Thread, ev.Op, ev.Site), Event: e}
		if ev.Object != 0 && ops.Of(ev.Op).Of != ops.Thread {
			p.Object = names.Object(tr, ev.Object, ev.Size, e)
		}
		return p
	}
	if r := d.Reversal; r != nil {
		out.Events, out.Left, out.Searched, out.Solved = r.Events, r.Left, r.Searched, r.Solved
		out.Executions += r.Executions
		if r.Answer == reversible.Fails && r.Deadlock == nil {
			out.Pair = []pairJSON{event(d.Golden, r.Pair.First), event(d.Golden, r.Pair.Second)}
		}
	}
	in := d.Golden
	if d.Answer == reversible.Fails {
		in = d.Reordered
	}
	for _, w := range d.Waits {
		x := waitJSON{operationJSON: operation(names, w.Thread, w.Op, w.Site)}
		if w.Object != 0 {
			x.Object = names.Object(in, w.Object, 0, len(in.Events)-1)
		}
		if w.Held != 0 {
			x.Holder, x.Held, x.HeldWhere = fmt.Sprintf("T%d", w.Holder), names.Object(in, w.Held, 0, len(in.Events)-1), names.Place(w.HeldAt)
		}
		out.Deadlock = append(out.Deadlock, x)
	}
	if d.Answer == reversible.Undecided && len(out.Deadlock) > 0 {
		var parts []string
		for i := range out.Deadlock {
			parts = append(parts, out.Deadlock[i].possible())
		}
		out.Why += ": " + strings.Join(parts, ", ")
	}
	if x := d.Difference; x != nil {
		out.Difference = []pairJSON{event(d.Golden, x.Golden), event(d.Reordered, x.Other)}
		out.Difference[0].Value, out.Difference[1].Value, out.Moved = x.GoldenValue, x.OtherValue, x.Moved
	}
	if x := d.Output; x != nil {
		out.Output, out.Moved = &outputDifferenceJSON{Line: x.Line, Recorded: x.Golden, Other: x.Other}, x.Moved
	}
}

// keep writes the answer beside the trace.
func (out *determinismJSON) keep(name string) error {
	data, err := lossless.MarshalIndent(out, true, "  ")
	if err != nil {
		return err
	}
	return wholefile.WriteBytes(strings.TrimSuffix(name, trace.Ext)+".determinism.json", 0o644, append(data, '\n'))
}

func (p *pairJSON) String() string {
	if p.Event < 0 {
		return "no more events"
	}
	s := p.Thread + " " + p.text()
	if p.Value != "" {
		s += ": " + p.Value
	}
	return s
}

// where says how the other execution differs from the recorded one, and what that means for its trace.
func (out *determinismJSON) where() (where, note string) {
	if out.Moved {
		return "under another schedule at other addresses", " (a replay has the recorded addresses, and may differ)"
	}
	return "under another schedule", ""
}

func (c *checkDeterminismCommand) print(a *app, out *determinismJSON) {
	switch {
	case out.Answer == string(reversible.Holds):
		fmt.Fprintf(a.stdout, "the condition holds: no two dependent events can be reversed, and %s under other schedules had the same events, values and output\n", wording.Count(out.Executions, "execution"))
	case out.Pair != nil:
		fmt.Fprintf(a.stdout, "the condition fails: two dependent events can happen in either order\n  %s\n  %s\n", &out.Pair[0], &out.Pair[1])
		fmt.Fprintf(a.stdout, "in the other order: %s\n", out.Reordered)
	case out.Deadlock != nil && out.Answer == string(reversible.Fails):
		fmt.Fprintf(a.stdout, "the condition fails: no two dependent events can be reversed, but threads can wait for each other\n")
		for i := range out.Deadlock {
			fmt.Fprintf(a.stdout, "  %s\n", &out.Deadlock[i])
		}
		fmt.Fprintf(a.stdout, "the other execution: %s\n", out.Reordered)
	case out.Difference != nil:
		what := "events"
		if out.Difference[0].Value != "" {
			what = "values"
		}
		where, note := out.where()
		fmt.Fprintf(a.stdout, "the condition fails: no two dependent events can be reversed, but a thread had other %s %s\n  recorded: %s\n  then:     %s\n", what, where, &out.Difference[0], &out.Difference[1])
		fmt.Fprintf(a.stdout, "the other execution: %s%s\n", out.Reordered, note)
	case out.Output != nil:
		where, note := out.where()
		fmt.Fprintf(a.stdout, "the condition fails: the threads had the same events and values %s, but the output differs in line %d\n  recorded: %q\n  then:     %q\n", where, out.Output.Line, out.Output.Recorded, out.Output.Other)
		fmt.Fprintf(a.stdout, "the other execution: %s%s\n", out.Reordered, note)
	}
	if out.Events > 0 {
		fmt.Fprintf(a.stdout, "%s; vector clocks left %s of dependent events, the search decided %s, the solver %s\n",
			wording.Count(out.Events, "event"), wording.Count(out.Left, "pair"), wording.Thousands(out.Searched), wording.Thousands(out.Solved))
	}
}
