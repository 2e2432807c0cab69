package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/machine"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/cprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// processMemory is what a process of heddle needs besides the memory for an execution.
const processMemory = 256 << 20

// runPart is a process that inPart has started: it does what heddle's controller does, measures
// one thing, and prints it as JSON.
func runPart(ctx context.Context, part string, args []string) error {
	if len(args) != 6 {
		return fmt.Errorf("-part takes 6 arguments, not %d", len(args))
	}
	repeat, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	limit, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	seed, err := strconv.ParseUint(args[2], 10, 64)
	if err != nil {
		return err
	}
	memory := machine.DefaultMemory()
	debug.SetMemoryLimit(memory + processMemory)
	began := time.Now()
	tg, err := cprog.Start(ctx, cprog.Config{
		Path: args[4], Args: args[4:], Dir: filepath.Dir(args[4]), Runtime: args[3], Memory: memory, Watchdog: limit,
	})
	if err != nil {
		return err
	}
	defer tg.Close()
	var result any
	switch part {
	case "plain":
		result, err = executions(ctx, tg, engine.Job{Plan: schedule.Plan{Policy: schedule.Random, Seed: 1, Repeat: math.MaxInt32}}, repeat, limit)
	case "profiled":
		setting := strategy.Setting{Build: tg.Header().BuildID, Seed: 1}
		first := strategy.FirstRequest(&setting)
		result, err = executions(ctx, tg, engine.Job{Plan: first.Plan, Observe: first.Observe}, repeat, limit)
	case "recorded":
		result, err = executions(ctx, tg, engine.Job{Plan: schedule.Plan{Policy: schedule.Fair, Seed: 1, Record: true, Accesses: true}}, repeat, limit)
	case "explore":
		result, err = explore(ctx, tg, began, repeat, engine.Options{Seed: seed, Time: limit, NoSimplify: true})
	case "find":
		result, err = explore(ctx, tg, began, limit, engine.Options{Seed: seed, Time: limit, Simplify: engine.SimplifyOptions{Time: limit / 2}})
	default:
		err = fmt.Errorf("unknown part %q", part)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// block is how long executions are measured together, at least.
const block = 200 * time.Millisecond

// executions repeats a job for the given time after its first execution, which warms up, and
// measures blocks of executions. If the first one takes longer than the limit, nothing is measured.
func executions(ctx context.Context, tg *cprog.Target, j engine.Job, repeat, limit time.Duration) (c cost, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type moment struct {
		wall      time.Time
		processor float64
	}
	now := func() (m moment) {
		m.wall = time.Now()
		m.processor, err = processorTime(tg.Pid())
		return m
	}
	c.Processor, c.Wall = math.Inf(1), math.Inf(1)
	var began, from moment
	n, warm := 0, false
	end := func(x *engine.Execution) bool {
		switch {
		case x.Outcome == nil:
			return true
		case x.Outcome.Ending.Kind != trace.Clean:
			err = fmt.Errorf("an execution of the correct program ended with %v: %s", x.Outcome.Ending.Kind, x.Outcome.Ending.Message)
		case !warm:
			warm = true
			began = now()
			from = began
		default:
			n++
			if time.Since(from.wall) >= block || time.Since(began.wall) >= repeat {
				to := now()
				c.Processor = min(c.Processor, (to.processor-from.processor)/float64(n))
				c.Wall = min(c.Wall, to.wall.Sub(from.wall).Seconds()/float64(n))
				c.Executions += n
				n, from = 0, to
				if err == nil { // the process ends with the last block
					c.Peak, err = peak(tg.Pid())
				}
			}
		}
		return err == nil && (!warm || c.Executions == 0 || time.Since(began.wall) < repeat)
	}
	again := func() (engine.Job, bool) { return j, c.Executions == 0 || time.Since(began.wall) < repeat }
	failed := engine.Local(tg).Work(ctx, again, end)
	if err != nil {
		return c, err
	}
	if failed != nil && ctx.Err() == nil {
		return c, failed
	}
	if c.Executions == 0 {
		return cost{}, nil
	}
	return c, nil
}

// processorTime returns the processor time that this process and the program's carrier thread have
// had, in seconds.
func processorTime(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err != nil {
		return 0, err
	}
	var ns float64
	if _, err := fmt.Sscan(string(b), &ns); err != nil {
		return 0, err
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return 0, err
	}
	return ns/1e9 + float64(own.Utime.Nano()+own.Stime.Nano())/1e9, nil
}

// peak returns the peak resident memory of this process and the program's together. Pages that
// they share count twice.
func peak(pid int) (int64, error) {
	own, err := memoryOf("self")
	if err != nil {
		return 0, err
	}
	program, err := memoryOf(strconv.Itoa(pid))
	return own + program, err
}

// explored is the result of a search.
type explored struct {
	Found                 bool    `json:"found"`
	First                 float64 `json:"first_s"` // until the first execution had ended; 0 if none has
	PerSecond             float64 `json:"per_second"`
	Kind                  string  `json:"kind"`
	Message               string  `json:"message"`
	Where                 string  `json:"where"`
	Execution             int     `json:"execution"`
	ToFinding             float64 `json:"to_finding_s"`
	Simplified            bool    `json:"simplified"`
	Complete              bool    `json:"complete"`
	Cost                  [2]int  `json:"cost"` // context switches and preemptions
	SimplifyingExecutions int     `json:"simplifying_executions"`
	Afterwards            int     `json:"simplifying_afterwards"` // of them, those after the result was found
	Simplifying           float64 `json:"simplifying_s"`
}

// explore runs a search as heddle find does, until it finds something, or until it has gone on for
// the given time after its first execution. began is when the program was started.
func explore(ctx context.Context, tg *cprog.Target, began time.Time, after time.Duration, opts engine.Options) (explored, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timed := &stopwatch{Target: tg, first: func() { time.AfterFunc(after, cancel) }}
	opts.Where = report.NewRunning(tg.Modules).Place
	r, err := engine.Find(ctx, timed, opts, nil)
	if err != nil && ctx.Err() == nil {
		return explored{}, err
	}
	x := explored{}
	if timed.executions > 0 {
		x.First = timed.began.Sub(began).Seconds()
	}
	if timed.executions > 1 {
		x.PerSecond = float64(timed.executions-1) / timed.ended.Sub(timed.began).Seconds()
	}
	if f := r.Finding; f != nil {
		x.Found = true
		x.Kind, x.Message, x.Where, x.Execution = f.Kind, f.Message, f.Where, f.Execution
		x.ToFinding = r.Seconds
	}
	if s := r.Simplified; s != nil {
		x.ToFinding -= s.Seconds
		x.Simplified, x.Complete, x.Cost = true, s.Complete, [2]int{s.Switches, s.Preemptions}
		x.SimplifyingExecutions, x.Afterwards, x.Simplifying = s.Executions, s.Details.Afterwards, s.Seconds
	}
	return x, nil
}

// stopwatch times and counts the executions of a target's streams.
type stopwatch struct {
	target.Target
	first        func()    // is called when the first execution has ended
	began, ended time.Time // when the first and the last one had ended
	executions   int
}

// Unwrap implements target.Wrapper.
func (w *stopwatch) Unwrap() target.Target { return w.Target }

// Stream implements target.Target.
func (w *stopwatch) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	return w.Target.Stream(ctx, next, func(p schedule.Plan, o schedule.Outcome) bool {
		w.ended = time.Now()
		w.executions++
		if w.executions == 1 {
			w.began = w.ended
			w.first()
		}
		return done(p, o)
	})
}
