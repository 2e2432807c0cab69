// Programbench measures heddle on the programs in testdata/programs/compute, beside the same
// programs built without it and with gcc's ThreadSanitizer: what an execution costs, how long the
// first one and the finding take, and how far simplification gets. docs/speed.md explains the
// figures. Run it in the top directory of the repository:
//
//	go run ./internal/testing/programbench
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/bench"
)

// settings are what a run measures, and how thoroughly.
type settings struct {
	Accesses []int         `json:"accesses"` // sizes: an execution's accesses to memory, roughly
	Time     time.Duration `json:"time_ns"`  // for each measurement, after the first execution
	Limit    time.Duration `json:"limit_ns"` // for each measurement in all
	Seeds    int           `json:"seeds"`    // searches for each bug, 0 for none
}

func main() {
	s := settings{}
	sizes := flag.String("accesses", "100000", "measure executions of about this many `accesses`, separated by commas")
	only := flag.String("programs", "", "measure only these `programs`, separated by commas")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.DurationVar(&s.Time, "time", 2*time.Second, "repeat each measurement for this long")
	flag.DurationVar(&s.Limit, "limit", time.Minute, "end a measurement after this long")
	flag.IntVar(&s.Seeds, "seeds", 5, "search for each bug with this many seeds")
	part := flag.String("part", "", "measure one thing and print JSON: the part of a process that programbench starts")
	flag.Parse()
	ctx := context.Background()
	var err error
	switch {
	case *part != "":
		err = runPart(ctx, *part, flag.Args())
	case flag.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q: name programs with -programs", flag.Arg(0))
	default:
		if s.Accesses, err = parseSizes(*sizes); err == nil {
			err = measureAll(ctx, ".", s, bench.Names(*only), *asJSON)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "programbench:", err)
		os.Exit(2)
	}
}

func parseSizes(list string) (sizes []int, err error) {
	for _, name := range bench.Names(list) {
		n, err := strconv.Atoi(name)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("invalid -accesses %q: want numbers of accesses, like 100000,10000000", name)
		}
		sizes = append(sizes, n)
	}
	if len(sizes) == 0 {
		return nil, fmt.Errorf("invalid -accesses %q: want at least one number of accesses", list)
	}
	return sizes, nil
}

// results are everything that a run has measured.
type results struct {
	Settings settings   `json:"settings"`
	Machine  bench.Host `json:"machine"`
	Rows     []row      `json:"rows"`
}

// measureAll measures the programs of the repository at root and prints the results to standard output.
func measureAll(ctx context.Context, root string, s settings, only []string, asJSON bool) error {
	dir, err := os.MkdirTemp("", "programbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	programs, err := list(filepath.Join(root, "testdata", "programs", "compute"), only)
	if err != nil {
		return err
	}
	compilers, err := bench.FindCompilers(ctx)
	if err != nil {
		return err
	}
	all := results{Settings: s, Machine: bench.ThisHost(compilers)}
	for _, p := range programs {
		fmt.Fprintln(os.Stderr, "programbench:", p.Name)
		built, err := build(ctx, &compilers, p, filepath.Join(dir, p.Name))
		if err != nil {
			return err
		}
		for i, accesses := range s.Accesses {
			r, err := measure(ctx, s, built, accesses)
			if err != nil {
				return fmt.Errorf("%s with %d accesses: %w", p.Name, accesses, err)
			}
			if s.Seeds > 0 && i == 0 {
				if r.Search, err = search(ctx, s, p, built, accesses); err != nil {
					return fmt.Errorf("%s with %d accesses: %w", p.Name, accesses, err)
				}
			}
			all.Rows = append(all.Rows, r)
		}
	}
	if asJSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(all)
	}
	return printTables(os.Stdout, &all)
}
