// Controllerbench measures how much of the processor time of a search is the controller's, heddle itself,
// and how much is that of the programs under test, and how many more executions the search makes with more
// processes. docs/exploration.md explains the figures. Run it in the top directory of the repository:
//
//	go run ./internal/testing/controllerbench -heddle bin/heddle
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/testing/bench"
)

// programs are correct programs, from a small one to one of many scheduling points.
var programs = []string{
	"pass/lost_update.c", "pass/bounded_buffer.c", "pass/token_ring.c", "pass/twenty_threads.c", "bench/long_execution.c",
}

// settings are what a run measures, and how thoroughly.
type settings struct {
	Heddle     string   `json:"heddle"`
	Programs   []string `json:"programs"`
	Strategies []string `json:"strategies"` // "default" is find without --strategy
	Jobs       []string `json:"jobs"`       // of find -j, the first one to compare with
	Time       string   `json:"time"`       // of each search
}

// row is the processor time of one search.
type row struct {
	Program    string `json:"program"`
	Strategy   string `json:"strategy"`
	Jobs       string `json:"jobs"`
	Executions int    `json:"executions"`
	// Times is how many times as many executions that is as with the first of settings.Jobs.
	Times float64 `json:"times"`
	// Of heddle and of all processes that it started, in seconds.
	Controller float64 `json:"controller_seconds"`
	Target     float64 `json:"target_seconds"`
}

// share is the controller's part of the processor time.
func (r *row) share() float64 { return r.Controller / (r.Controller + r.Target) }

func main() {
	var s settings
	flag.StringVar(&s.Heddle, "heddle", "bin/heddle", "measure this `program`")
	only := flag.String("programs", strings.Join(programs, ","), "measure these `programs` of testdata/programs")
	strategies := flag.String("strategies", "default,random", "search by these `strategies`; default is the search without --strategy")
	jobs := flag.String("jobs", "1,2", "explore with so `many` processes, one search for each number")
	limit := flag.Duration("time", 3*time.Second, "search for this long")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	s.Programs, s.Strategies, s.Jobs, s.Time = bench.Names(*only), bench.Names(*strategies), bench.Names(*jobs), limit.String()
	var err error
	switch {
	case flag.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q: name programs with -programs", flag.Arg(0))
	case len(s.Programs) == 0 || len(s.Strategies) == 0 || len(s.Jobs) == 0 || *limit < time.Second:
		err = fmt.Errorf("want at least one program, one strategy, one number of processes and one second")
	default:
		err = measureAll(context.Background(), &s, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "controllerbench:", err)
		os.Exit(2)
	}
}

func measureAll(ctx context.Context, s *settings, asJSON bool) error {
	dir, err := os.MkdirTemp("", "controllerbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if s.Heddle, err = filepath.Abs(s.Heddle); err != nil {
		return err
	}
	var rows []row
	for _, p := range s.Programs {
		binary := filepath.Join(dir, "program")
		build := exec.CommandContext(ctx, s.Heddle, "cc", "-g", "-O1", "-pthread", "-o", binary, filepath.Join("testdata/programs", p))
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", p, err, out)
		}
		for _, strategy := range s.Strategies {
			first := 0 // executions with the first number of processes
			for _, jobs := range s.Jobs {
				r, err := measure(ctx, s, binary, strategy, jobs)
				if err != nil {
					return fmt.Errorf("%s: %w", p, err)
				}
				if first == 0 {
					first = max(1, r.Executions)
				}
				r.Program, r.Times = p, float64(r.Executions)/float64(first)
				rows = append(rows, r)
			}
		}
	}
	if asJSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Settings *settings `json:"settings"`
			Rows     []row     `json:"rows"`
		}{s, rows})
	}
	return printTable(os.Stdout, rows)
}

// measure makes one search that does not end before its time.
func measure(ctx context.Context, s *settings, binary, strategy, jobs string) (r row, err error) {
	// Spurious wake-ups make find sample, however few behaviours the program has.
	args := []string{"find", "--json", "--no-simplify", "--stale", "0", "--spurious", "-j", jobs, "--time", s.Time, "-o", binary + ".hdl"}
	if strategy != "default" {
		args = append(args, "--strategy", strategy)
	}
	cmd := exec.CommandContext(ctx, s.Heddle, append(args, "--", binary)...)
	cmd.Dir = filepath.Dir(binary)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return r, err
	}
	// Wait4 would return the sum of heddle's time and that of its children: read both of the process that
	// has ended and is not yet waited for.
	var info unix.Siginfo
	for {
		err = unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return r, err
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
	if err != nil {
		return r, err
	}
	if err := cmd.Wait(); err != nil {
		return r, fmt.Errorf("heddle %s: %w\n%s", strings.Join(args, " "), err, &errs)
	}
	var search struct {
		Executions int `json:"executions"`
	}
	if err := json.Unmarshal(out.Bytes(), &search); err != nil {
		return r, err
	}
	r = row{Strategy: strategy, Jobs: jobs, Executions: search.Executions}
	r.Controller, r.Target, err = processorTime(string(stat))
	return r, err
}

// ticks is the unit of times in /proc/PID/stat, per second: USER_HZ, which is 100 on every Linux system.
const ticks = 100

// processorTime reads from a /proc/PID/stat the processor time of a process, and that of the children
// that it has waited for, in seconds.
func processorTime(stat string) (own, children float64, err error) {
	name := strings.LastIndex(stat, ") ") // its end; the name may have any character
	fields := strings.Fields(stat[name+1:])
	const utime = 11 // proc(5): field 14, and the first two end with the name
	if name < 0 || len(fields) < utime+4 {
		return 0, 0, fmt.Errorf("/proc/PID/stat has the unknown form %q", stat)
	}
	var t [4]float64 // utime, stime, cutime, cstime
	for i := range t {
		n, err := strconv.ParseUint(fields[utime+i], 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("/proc/PID/stat: %w", err)
		}
		t[i] = float64(n) / ticks
	}
	return t[0] + t[1], t[2] + t[3], nil
}

func printTable(w io.Writer, rows []row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "program\tstrategy\t-j\texecutions\ttimes\tcontroller, µs\ttarget, µs\tcontroller's share\t\n")
	for _, r := range rows {
		each := 1e6 / float64(max(1, r.Executions))
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%.2f\t%.1f\t%.1f\t%.0f %%\t\n", r.Program, r.Strategy, r.Jobs, r.Executions, r.Times, r.Controller*each, r.Target*each, 100*r.share())
	}
	return t.Flush()
}
