package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/analysis/canonical"
	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/filelock"
	"github.com/heddle-dev/heddle/internal/lossless"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

type injectCommand struct {
	programFlags
	seedFlag
	jobsFlag
	expectFlag
	timeFlag
	Model  string `required:"" placeholder:"MODEL" help:"What goes wrong: bit-flip-read, bit-flip-write, short-allocation, invalid-pointer, overrun, argument, dropped-sync, delayed-sync or killed-thread."`
	Faults int    `short:"n" default:"1" placeholder:"N" help:"Make N executions, each with another fault, or fewer if there are no more faults."`
	Index  int    `default:"-1" placeholder:"N" help:"Inject one fault, at the N-th occasion of the execution, from 0; otherwise occasions are drawn from the seed."`
	At     string `placeholder:"FILE:LINE" help:"Inject only at instructions of this line."`
	Amount string `placeholder:"N" help:"The bit to flip, how many bytes an allocation is short or a copy too long, or how many events others do during a delay; otherwise it is drawn from the seed."`
	Output string `short:"o" placeholder:"FILE" help:"Write the trace, or the list of all faults if there are several, to FILE (otherwise to PROGRAM.fault.hdl, or to PROGRAM.MODEL.jsonl, which is continued)."`
	Keep   string `placeholder:"DIR" help:"Keep in DIR the trace of each execution that ends otherwise than without a fault."`

	Program program `arg:"" passthrough:"partial" help:"The program and its arguments, after --."`
}

func (c *injectCommand) Help() string {
	return `Executes the program once without a fault, then with a fault, and compares the two (heddle
compare). With -n it makes many executions, each with another fault, and counts the deviations and outcomes;
if it is interrupted, the same command continues. The program must be pseudo-deterministic (heddle check
determinism). The schedule is the same in each execution, as long as the fault does not change it. The traces
can be replayed, with the fault. Ends with 0 whatever the faults bring about.`
}

func (c *injectCommand) options() (engine.InjectOptions, error) {
	opts := engine.InjectOptions{Seed: c.Seed, ExpectStatus: c.status()}
	var err error
	if opts.Model, err = trace.ParseFaultModel(c.Model); err != nil {
		return opts, usage.Wrap(err)
	}
	switch {
	case c.Faults < 1:
		return opts, usage.Errorf("-n must be at least 1")
	case c.Index >= 0 && c.Faults > 1:
		return opts, usage.Errorf("--index means one fault, and -n %d several", c.Faults)
	}
	if c.Amount != "" {
		n, err := strconv.ParseUint(c.Amount, 10, 32)
		if err != nil {
			return opts, usage.Errorf("--amount %s is not a number from 0 to 4294967295", c.Amount)
		}
		if err := engine.CheckAmount(opts.Model, n); err != nil {
			return opts, usage.Errorf("--amount %s does not go with --model %s: %w", c.Amount, c.Model, err)
		}
		opts.Amount = &n
	}
	return opts, c.checkExit()
}

func (c *injectCommand) Run(a *app) error {
	opts, err := c.options()
	if err != nil {
		return err
	}
	jobs, err := c.processes()
	if err != nil {
		return err
	}
	program, err := c.program(c.Program.words())
	if err != nil {
		return err
	}
	t, err := a.launcher().Start(a.ctx, program, c.how())
	if err != nil {
		return err
	}
	defer t.Close()
	if t.Header().Target != "c" {
		return errors.New("faults are injected into C and C++ programs only: the hooks of Go programs see no values")
	}
	names := report.NewRunning(t.Modules)
	if c.At != "" {
		if opts.At, err = atLine(c.At, names); err != nil {
			return err
		}
	}
	ctx, cancel, err := c.within(a)
	if err != nil {
		return err
	}
	defer cancel()
	opts.Memory = a.memory() / 4 / int64(jobs)
	done := a.slowly("recording")
	x, err := engine.NewInjector(ctx, t, opts)
	done()
	switch {
	case errors.Is(err, engine.ErrNoOccasion) && c.Amount != "":
		return fmt.Errorf("the execution has no occasion for %s of --amount %s there: give a smaller one, or none", c.Model, c.Amount)
	case errors.Is(err, engine.ErrNoOccasion) && c.At != "":
		return fmt.Errorf("%s has no occasion for %s in this execution: give another line, or none", c.At, c.Model)
	}
	if err != nil {
		return c.overtime(ctx, a, t, err)
	}
	defer x.Close()
	if c.Index >= x.Occasions() {
		return usage.Errorf("--index %d: the execution has %s for %s", c.Index, wording.Count(x.Occasions(), "occasion"), c.Model)
	}
	golden, err := canonical.Sanitize(canonical.Whole(x.Golden), opts.Memory)
	if err != nil {
		return err
	}
	defer golden.Close()
	i := injections{ctx: ctx, a: a, c: c, x: x, names: result.NewCanonicalNames(golden), where: func(s trace.Site) string { return names.Place(s) }}
	if c.Faults == 1 {
		return i.one()
	}
	head := result.InjectionsHead{
		Heddle: "inject", Version: result.InjectionsVersion, Command: c.Program.words(), Build: t.Header().BuildID, Stdin: c.Stdin, Model: c.Model, Seed: c.Seed,
		At: c.At, Amount: opts.Amount, Events: len(x.Golden.Events), Occasions: x.Occasions(), Faults: x.Faults(),
	}
	return i.campaign(head, jobs)
}

// atLine returns whether an instruction is of a line, given as FILE:LINE with any end of the file's path.
func atLine(at string, names *report.Running) (func(trace.Site) bool, error) {
	file, text, ok := cutLast(at, ":")
	line, err := strconv.Atoi(text)
	if !ok || err != nil || line < 1 || file == "" {
		return nil, usage.Errorf("--at %s is not FILE:LINE", at)
	}
	known := map[trace.Site]bool{}
	return func(s trace.Site) bool {
		is, ok := known[s]
		if !ok {
			for _, f := range names.Frames(s) {
				is = is || f.Line == line && (f.File == file || strings.HasSuffix(f.File, "/"+file))
			}
			known[s] = is
		}
		return is
	}, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// injections executes what the command line asks for.
type injections struct {
	ctx   context.Context
	a     *app
	c     *injectCommand
	x     *engine.Injector
	names *result.CanonicalNames
	where func(trace.Site) string
}

// one injects one fault and compares.
func (i *injections) one() error {
	files, err := i.a.traceWriter(i.c.Output, i.c.Program.name()+".fault.hdl")
	if err != nil {
		return err
	}
	in, err := i.x.One(i.ctx, i.c.Index)
	switch {
	case errors.Is(err, engine.ErrNoOccasion) && i.c.Index >= 0:
		return fmt.Errorf("no call there can have a fault of %s: give another --index", i.c.Model)
	case errors.Is(err, engine.ErrNoOccasion):
		return fmt.Errorf("none of the calls that were tried can have a fault of %s: give another --seed, or another model", i.c.Model)
	case err != nil && engine.OutOfTime(i.ctx):
		return fmt.Errorf("no fault was injected within --time %v", i.c.Time)
	case err != nil:
		return err
	}
	out := result.InjectionOf(0, in, i.x.Golden, i.names, i.where)
	if in.Trace != nil {
		if out.Trace, err = files.Keep(in.Trace, ""); err != nil {
			return err
		}
	}
	if i.a.JSON {
		return i.a.printJSON(out)
	}
	amount := ""
	if engine.CheckAmount(in.Fault.Model, out.Amount) == nil {
		amount = fmt.Sprintf(", amount %d", out.Amount)
	}
	fmt.Fprintf(i.a.stdout, "injected: %s%s, in %s, before event %s", i.c.Model, amount, out.Thread, wording.Thousands(out.Event))
	if out.Where != "" {
		fmt.Fprintf(i.a.stdout, " at %s", out.Where)
	}
	fmt.Fprintln(i.a.stdout)
	switch {
	case out.Outcome == result.OutcomeUnknown:
		fmt.Fprintf(i.a.stdout, "outcome: unknown: %s\n", out.Why)
	case in.Comparison == nil:
		fmt.Fprintf(i.a.stdout, "outcome: %s (%s); the execution was not recorded\n", out.Outcome, out.Ending)
	default:
		d := result.DeviationsOf(in.Comparison, false, i.names, i.names)
		d.Print(i.a.stdout)
	}
	if out.Trace != "" {
		fmt.Fprintf(i.a.stdout, "recorded: %s\n", out.Trace)
	}
	return nil
}

// campaign injects all faults that the file of results does not have yet.
func (i *injections) campaign(head result.InjectionsHead, jobs int) error {
	sum := result.Injections{Head: head, File: i.c.Output}
	if sum.File == "" {
		sum.File = i.c.Program.name() + "." + i.c.Model + ".jsonl"
	}
	file, err := os.OpenFile(sum.File, os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW, 0o666)
	if err != nil {
		return fmt.Errorf("the results cannot be written: %w", err)
	}
	defer file.Close()
	if err := filelock.Try(file); errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("another heddle inject writes to %s: wait for it, or give another file with -o", sum.File)
	}
	known, whole, err := readInjections(sum.File, &head)
	if err != nil {
		return err
	}
	// A last line that is not whole is what an interruption left.
	if err := file.Truncate(whole); err != nil {
		return fmt.Errorf("the results cannot be written: %w", err)
	}
	if _, err := file.Seek(whole, io.SeekStart); err != nil {
		return fmt.Errorf("the results cannot be written: %w", err)
	}
	write := func(v any) error {
		line, err := lossless.Marshal(v, true)
		if err == nil {
			_, err = file.Write(append(line, '\n'))
		}
		if err != nil {
			return fmt.Errorf("the results cannot be written: %w", err)
		}
		return nil
	}
	if whole == 0 {
		if err := write(head); err != nil {
			return err
		}
	}
	// The file may have more faults than are asked for now.
	for n := 0; sum.Total < i.c.Faults && n < head.Faults; n++ {
		if k, ok := known[n]; ok {
			sum.Add(k)
		}
	}
	if i.c.Keep != "" {
		if err := os.MkdirAll(i.c.Keep, 0o777); err != nil {
			return fmt.Errorf("the traces cannot be kept: %w", err)
		}
	}
	p, began, executed := i.a.progress(), time.Now(), 0
	most := i.c.Faults - sum.Total
	err = i.x.Campaign(i.ctx, func(n int) bool { return known[n] != nil }, most, jobs, func(n int, in *engine.Injected) error {
		if in == nil {
			out := result.Injection{Number: n, Outcome: result.OutcomeNoOccasion}
			sum.Add(&out)
			return write(&out)
		}
		out := result.InjectionOf(n, in, i.x.Golden, i.names, i.where)
		if i.c.Keep != "" && in.Trace != nil && out.Outcome != canonical.Benign.String() {
			files, err := i.a.traceWriter(filepath.Join(i.c.Keep, fmt.Sprintf("%s.%d.hdl", i.c.Model, n)), "")
			if err == nil {
				out.Trace, err = files.Keep(in.Trace, "")
			}
			if err != nil {
				return err
			}
		}
		if err := write(&out); err != nil {
			return err
		}
		sum.Add(&out)
		executed++
		left := time.Duration(float64(time.Since(began)) / float64(executed) * float64(most-executed))
		p.line(fmt.Sprintf("injecting: %s of %s, %s without a deviation but with another outcome; %.0f s left", wording.Thousands(sum.Total), wording.Count(i.c.Faults, "fault"), wording.Thousands(sum.Unexplained), left.Seconds()))
		return nil
	})
	p.done()
	sum.Finish()
	sum.Complete = sum.Total == i.c.Faults || sum.All
	if i.a.ctx.Err() != nil {
		return fmt.Errorf("interrupted after %s of %s, which are in %s: the same command continues", wording.Thousands(sum.Total), wording.Count(i.c.Faults, "fault"), sum.File)
	}
	if err != nil && engine.OutOfTime(i.ctx) {
		i.a.note(fmt.Sprintf("--time %v ended the campaign after %s of %s, which are in %s: the same command continues", i.c.Time, wording.Thousands(sum.Total), wording.Count(i.c.Faults, "fault"), sum.File))
		err = nil
	}
	if err != nil {
		return err
	}
	if sum.Total == 0 && engine.OutOfTime(i.ctx) {
		return fmt.Errorf("no fault was injected within --time %v", i.c.Time)
	}
	if sum.Total == 0 {
		return fmt.Errorf("the execution has no occasion for %s: heddle tried all %s", i.c.Model, wording.Count(head.Faults, "fault"))
	}
	if i.a.JSON {
		return i.a.printJSON(sum)
	}
	sum.Print(i.a.stdout)
	return nil
}

// readInjections reads the results of a file, if it exists, and how many of its bytes are whole lines. It
// refuses a file of another campaign.
func readInjections(name string, head *result.InjectionsHead) (map[int]*result.Injection, int64, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	whole := int64(bytes.LastIndexByte(data, '\n') + 1)
	lines := bufio.NewReader(bytes.NewReader(data[:whole]))
	first, _ := lines.ReadBytes('\n')
	var was result.InjectionsHead
	if len(data) > 0 && (json.Unmarshal(first, &was) != nil || was.Heddle != head.Heddle) {
		return nil, 0, fmt.Errorf("%s is not a list of faults, and is not overwritten: give another file with -o", name)
	}
	if len(data) > 0 && !reflect.DeepEqual(was, *head) {
		return nil, 0, fmt.Errorf("%s is of another campaign, or of another build of the program: give another file with -o, or remove it", name)
	}
	known := map[int]*result.Injection{}
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return known, whole, nil
		}
		r := &result.Injection{}
		if err := json.Unmarshal(line, r); err != nil {
			return nil, 0, fmt.Errorf("%s is damaged: %w", name, err)
		}
		known[r.Number] = r
	}
}
