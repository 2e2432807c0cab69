package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/bench"
)

// cost is what one execution costs: the least of several measured ones, or of the averages over
// several blocks of them.
type cost struct {
	Processor  float64 `json:"processor_s"` // user and system time: the program's and heddle's
	Wall       float64 `json:"wall_s"`
	Peak       int64   `json:"peak_bytes"` // resident memory: the program's and heddle's together
	Executions int     `json:"executions"` // that were measured; 0 if none ended in time
}

// row is what was measured of a program at one size.
type row struct {
	Program  string `json:"program"`
	Accesses int    `json:"accesses"`
	Native   cost   `json:"native"`
	TSan     cost   `json:"tsan"`
	Plain    cost   `json:"plain"`    // an execution as most of a search are
	Profiled cost   `json:"profiled"` // the first execution of a search, which is checked for races
	Recorded cost   `json:"recorded"` // with all accesses in the trace, as far as memory allows
	// FirstExecution is how long a search takes until an execution has ended, from starting the
	// program; PerSecond is its rate from then on.
	FirstExecution float64 `json:"first_execution_s"` // 0 if none ended in time
	PerSecond      float64 `json:"executions_per_s"`
	Search         *found  `json:"search,omitempty"`
}

// firstInTime reports whether the first execution of a search, with the start of the program, took at
// most 5 times as long as the program alone and 1 s more.
func (r *row) firstInTime() bool {
	return r.FirstExecution > 0 && r.FirstExecution <= 5*r.Native.Wall+1
}

// measure measures the correct twin, everything in turn.
func measure(ctx context.Context, s settings, b binaries, accesses int) (r row, err error) {
	r = row{Program: b.name, Accesses: accesses}
	argument := strconv.Itoa(accesses)
	if r.Native, err = alone(ctx, s, b.native, argument); err != nil {
		return r, err
	}
	if r.TSan, err = alone(ctx, s, b.tsan, argument); err != nil {
		return r, err
	}
	for _, m := range []struct {
		part string
		cost *cost
	}{{"plain", &r.Plain}, {"profiled", &r.Profiled}, {"recorded", &r.Recorded}} {
		if err := inPart(ctx, m.part, s, b, b.heddle, argument, 0, m.cost); err != nil {
			return r, err
		}
	}
	var f explored
	if err := inPart(ctx, "explore", s, b, b.heddle, argument, 1, &f); err != nil {
		return r, err
	}
	if f.Found {
		return r, fmt.Errorf("heddle reports a bug in the correct program: %s", f.Message)
	}
	r.FirstExecution, r.PerSecond = f.First, f.PerSecond
	return r, nil
}

// least is how often programs run alone are measured at least.
const least = 5

// alone runs a program without heddle, once to warm up and then for s.Time, least times at least.
func alone(ctx context.Context, s settings, program string, args ...string) (c cost, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	for began := time.Now(); c.Executions <= least || time.Since(began) < s.Time; c.Executions++ {
		cmd := exec.CommandContext(ctx, program, args...)
		start := time.Now()
		if msg, err := cmd.CombinedOutput(); ctx.Err() != nil && c.Executions > 1 {
			break
		} else if err != nil {
			return c, fmt.Errorf("%s: %w\n%s", program, err, msg)
		}
		wall := time.Since(start).Seconds()
		usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if processor := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(); c.Executions <= 1 || processor < c.Processor {
			c.Processor = processor
		}
		if c.Executions <= 1 || wall < c.Wall {
			c.Wall = wall
		}
		c.Peak = max(c.Peak, usage.Maxrss<<10)
	}
	c.Executions--
	return c, nil
}

// inPart measures something in a process of its own, whose memory is heddle's alone, and decodes
// what it prints.
func inPart(ctx context.Context, part string, s settings, b binaries, program, argument string, seed int, result any) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*s.Limit+time.Minute) // heddle keeps to its limits, or is broken
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "-part", part, "--", s.Time.String(), s.Limit.String(), strconv.Itoa(seed), b.runtime, program, argument)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", part, err, &errs)
	}
	return json.Unmarshal(out.Bytes(), result)
}

// found is what searching for a program's bug gave, over several seeds. Times and numbers of
// executions are medians.
type found struct {
	Seeds        int     `json:"seeds"`
	Found        int     `json:"found"` // searches that found the bug that the program states
	Other        int     `json:"other"` // searches that found something else
	Seconds      float64 `json:"seconds"`
	Execution    int     `json:"execution"` // that showed the bug
	Minimum      [2]int  `json:"minimum"`   // argued: context switches and preemptions
	Best         [2]int  `json:"best"`      // simplified
	Worst        [2]int  `json:"worst"`
	AtMinimum    int     `json:"at_minimum"`
	Complete     int     `json:"complete"`               // simplifications that called themselves complete
	FalselySo    int     `json:"falsely_so"`             // complete, but not at the minimum
	BelowMinimum int     `json:"below_minimum"`          // refutes the argument
	ToResult     int     `json:"simplifying_to_result"`  // executions
	Afterwards   int     `json:"simplifying_afterwards"` // executions
	Paper        int     `json:"paper_executions"`       // FSE'10, Table 2, for the program that this one has the shape of
	Simplifying  float64 `json:"simplifying_s"`
}

// paperExecutions are the executions of Table 2 of FSE'10, by the program here that has the shape of the paper's.
var paperExecutions = map[string]int{
	"annealing":         138,  // canneal
	"block_queue":       78,   // pbzip2
	"block_turns":       64,   // bzip2
	"dedup_pipeline":    49,   // dedup
	"event_tracer":      250,  // ctrace
	"file_scanner":      109,  // pfscan
	"frame_encoder":     187,  // x264
	"online_clustering": 2586, // streamcluster
	"option_pricing":    54,   // blackscholes
	"parallel_sort":     1300, // swarm
}

// search looks for the program's bug with several seeds.
func search(ctx context.Context, s settings, p program, b binaries, accesses int) (*found, error) {
	f := &found{Seeds: s.Seeds, Minimum: [2]int{p.Switches, p.Preempted}, Paper: paperExecutions[p.Name]}
	var seconds, simplifying []float64
	var execution, toResult, afterwards []int
	for seed := 1; seed <= s.Seeds; seed++ {
		var e explored
		if err := inPart(ctx, "find", s, b, b.seeded, strconv.Itoa(accesses), seed, &e); err != nil {
			return nil, err
		}
		switch {
		case !e.Found:
			continue
		case e.Kind != p.Kind || !strings.Contains(e.Message+" "+e.Where, p.Finding):
			f.Other++
			continue
		}
		f.Found++
		seconds, execution = append(seconds, e.ToFinding), append(execution, e.Execution)
		if !e.Simplified {
			continue
		}
		simplifying = append(simplifying, e.Simplifying)
		toResult, afterwards = append(toResult, e.SimplifyingExecutions-e.Afterwards), append(afterwards, e.Afterwards)
		if len(simplifying) == 1 || slices.Compare(e.Cost[:], f.Best[:]) < 0 {
			f.Best = e.Cost
		}
		if slices.Compare(e.Cost[:], f.Worst[:]) > 0 {
			f.Worst = e.Cost
		}
		if e.Complete {
			f.Complete++
		}
		switch c := slices.Compare(e.Cost[:], f.Minimum[:]); {
		case c == 0:
			f.AtMinimum++
		case c < 0:
			f.BelowMinimum++
		case e.Complete:
			f.FalselySo++
		}
	}
	f.Seconds, f.Simplifying = bench.Median(seconds), bench.Median(simplifying)
	f.Execution, f.ToResult, f.Afterwards = bench.Median(execution), bench.Median(toResult), bench.Median(afterwards)
	return f, nil
}

// memoryOf returns the peak resident memory of a process in bytes.
func memoryOf(pid string) (int64, error) {
	b, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("no VmHWM in /proc/" + pid + "/status")
}
