// Racebench runs the tests of ThreadSanitizer itself (LLVM's compiler-rt/test/tsan) with gcc's
// ThreadSanitizer and with heddle find, and says which of the expected data races each reports, and whether
// it reports any where none is expected. docs/exploration.md explains the figures. Run it in the top
// directory of the repository, with the directory of the tests:
//
//	go run ./internal/testing/racebench -heddle bin/heddle -tests DIR
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/bench"
)

// settings are what a run measures, and how thoroughly.
type settings struct {
	Heddle   string        `json:"heddle"`
	Tests    string        `json:"tests"` // directory
	Runs     int           `json:"runs"`  // with ThreadSanitizer, and executions of a search
	Time     time.Duration `json:"time_ns"`
	Parallel int           `json:"parallel"`
}

func main() {
	var s settings
	flag.StringVar(&s.Heddle, "heddle", "bin/heddle", "measure this `program`")
	flag.StringVar(&s.Tests, "tests", "", "run the tests in this `directory`")
	only := flag.String("programs", "", "run only these tests, `files` separated by commas")
	flag.IntVar(&s.Runs, "runs", 400, "executions of a search; one in 40 as many with ThreadSanitizer")
	flag.DurationVar(&s.Time, "time", 10*time.Second, "end a search after this long")
	flag.IntVar(&s.Parallel, "parallel", 2, "run this many tests at a time")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	var err error
	switch {
	case flag.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q: name tests with -programs", flag.Arg(0))
	case s.Tests == "":
		err = fmt.Errorf("no tests: name a directory of them with -tests, such as compiler-rt/test/tsan of LLVM's sources")
	case s.Runs < 1 || s.Parallel < 1 || s.Time <= 0:
		err = fmt.Errorf("want at least one run, one test at a time, and a time limit")
	default:
		err = run(context.Background(), s, bench.Names(*only), *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "racebench:", err)
		os.Exit(2)
	}
}

// results are everything that a run has measured.
type results struct {
	Settings settings   `json:"settings"`
	Machine  bench.Host `json:"machine"`
	Rows     []row      `json:"rows"`
}

func run(ctx context.Context, s settings, only []string, asJSON bool) (err error) {
	for _, p := range []*string{&s.Heddle, &s.Tests} {
		if *p, err = filepath.Abs(*p); err != nil {
			return err
		}
	}
	tests, err := list(s.Tests, only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "racebench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cs, err := bench.FindCompilers(ctx)
	if err != nil {
		return err
	}
	m, err := newMeasurer(ctx, s, cs, dir)
	if err != nil {
		return err
	}
	all := results{Settings: s, Machine: bench.ThisHost(cs), Rows: make([]row, len(tests))}
	var wait sync.WaitGroup
	slots := make(chan bool, s.Parallel)
	for i := range tests {
		slots <- true
		wait.Go(func() {
			defer func() { <-slots }()
			all.Rows[i] = m.measure(ctx, &tests[i])
		})
	}
	wait.Wait()
	if asJSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(&all)
	}
	return printTable(os.Stdout, &all)
}
