// Searchbench measures how soon heddle find shows the bugs of the programs in testdata/programs/fail,
// and of families of programs at growing size, for its default search and for each strategy alone.
// docs/exploration.md explains the figures. Run it in the top directory of the repository:
//
//	go run ./internal/testing/searchbench -heddle bin/heddle
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/bench"
)

// settings are what a run measures, and how thoroughly.
type settings struct {
	Heddle     string        `json:"heddle"`
	Strategies []string      `json:"strategies"` // "default" is find without --strategy
	Seeds      int           `json:"seeds"`
	Time       time.Duration `json:"time_ns"` // of each search
	Parallel   int           `json:"parallel"`
}

func main() {
	var s settings
	flag.StringVar(&s.Heddle, "heddle", "bin/heddle", "measure this `program`")
	strategies := flag.String("strategies", "default,random,pct,stay,pos,feedback,race-directed", "compare these `strategies`; default is the search without --strategy")
	only := flag.String("programs", "", "measure only `programs` whose names begin with one of these, separated by commas")
	flag.IntVar(&s.Seeds, "seeds", 20, "search with this many seeds")
	flag.DurationVar(&s.Time, "time", 10*time.Second, "end a search after this long")
	flag.IntVar(&s.Parallel, "parallel", 1, "measure this many programs at a time; times are then longer")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	s.Strategies = bench.Names(*strategies)
	var err error
	switch {
	case flag.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q: name programs with -programs", flag.Arg(0))
	case len(s.Strategies) == 0 || s.Seeds < 1 || s.Parallel < 1 || s.Time <= 0:
		err = fmt.Errorf("want at least one strategy, one seed, one search at a time, and a time limit")
	default:
		err = measureAll(context.Background(), s, bench.Names(*only), *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "searchbench:", err)
		os.Exit(2)
	}
}

// results are everything that a run has measured.
type results struct {
	Settings settings `json:"settings"`
	Rows     []row    `json:"rows"`
}

// measureAll measures the programs below the current directory and prints the results to standard output.
func measureAll(ctx context.Context, s settings, only []string, asJSON bool) error {
	dir, err := os.MkdirTemp("", "searchbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if s.Heddle, err = filepath.Abs(s.Heddle); err != nil {
		return err
	}
	programs, err := list("testdata/programs", only)
	if err != nil {
		return err
	}
	rows := make([][]row, len(programs))
	errs := make([]error, len(programs))
	places := make(chan struct{}, s.Parallel)
	var done sync.WaitGroup
	for i, p := range programs {
		places <- struct{}{}
		done.Add(1)
		go func() {
			defer func() { <-places; done.Done() }()
			fmt.Fprintln(os.Stderr, "searchbench:", p.Name)
			binary, err := p.build(ctx, s.Heddle, dir)
			if err == nil {
				rows[i], err = measure(ctx, s, p, binary)
			}
			errs[i] = err
		}()
	}
	done.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	all := results{Settings: s, Rows: slices.Concat(rows...)}
	if asJSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(all)
	}
	return printTables(os.Stdout, &all)
}
