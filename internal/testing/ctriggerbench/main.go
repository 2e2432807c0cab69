// Ctriggerbench measures heddle atomicity as CTrigger's paper does (Park, Lu and Zhou, ASPLOS 2009,
// §6): how soon it exposes and reproduces the bugs of the programs in testdata/atomicity, beside the
// four rivals of the paper's Table 3; how many interleavings pruning leaves, how good their ranking is,
// and what the backend live costs. docs/atomicity.md explains the figures. Run it in the top directory
// of the repository:
//
//	go run ./internal/testing/ctriggerbench
//
// or anywhere, to measure a program with a bug of which two builds exist, one of them by heddle cc:
//
//	ctriggerbench -native FILE -hooked FILE -- ARGUMENTS
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/bench"
)

// settings are what a run measures, and how thoroughly.
type settings struct {
	Limit      time.Duration `json:"limit_ns"` // of each search, and of each attempt to reproduce
	Work       int           `json:"work"`     // argument of the programs of testdata/atomicity
	Seeds      int           `json:"seeds"`    // searches of CTrigger
	Replays    int           `json:"replays"`  // executions that reproduce
	Recordings int           `json:"recordings"`
	Runs       int           `json:"runs"` // of each kind, to measure the slow-down
	Correct    bool          `json:"correct,omitempty"`
}

func main() {
	var s settings
	only := flag.String("programs", "", "measure only these `programs`, separated by commas")
	native := flag.String("native", "", "with -hooked, measure the program of which this `file` is a build without hooks, with the arguments that follow the flags")
	hooked := flag.String("hooked", "", "the `file` that heddle cc built of the program of -native")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.DurationVar(&s.Limit, "limit", 15*time.Second, "end a search for a bug after this long")
	flag.IntVar(&s.Work, "work", 200000, "let a thread compute this many steps between accesses to shared memory")
	flag.IntVar(&s.Seeds, "seeds", 3, "search with CTrigger this many times, with different seeds")
	flag.IntVar(&s.Replays, "replays", 10, "reproduce a failure with this many executions")
	flag.IntVar(&s.Recordings, "recordings", 20, "count the interleavings that this many recordings cover")
	flag.IntVar(&s.Runs, "runs", 7, "measure the slow-down with this many executions of each kind")
	flag.BoolVar(&s.Correct, "correct", false, "measure the correct twins, in which nothing must be exposed")
	flag.Parse()
	var err error
	switch {
	case (*native == "") != (*hooked == "") || *native != "" && *only != "":
		err = fmt.Errorf("want -native and -hooked together, and without -programs")
	case flag.NArg() > 0 && *native == "":
		err = fmt.Errorf("unexpected argument %q: name programs with -programs, or files with -native and -hooked", flag.Arg(0))
	case s.Limit <= 0 || s.Work < 0 || s.Seeds < 1 || s.Replays < 1 || s.Recordings < 1 || s.Runs < 1:
		err = fmt.Errorf("want a time limit, and at least one seed, replay, recording and run")
	default:
		err = measureAll(context.Background(), s, selection{bench.Names(*only), *native, *hooked, flag.Args()}, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ctriggerbench:", err)
		os.Exit(2)
	}
}

// results are everything that a run has measured.
type results struct {
	Settings settings   `json:"settings"`
	Machine  bench.Host `json:"machine"`
	Seconds  float64    `json:"seconds"` // of the whole run
	Rows     []row      `json:"rows"`
}

// row is what was measured of one program.
type row struct {
	Program    string     `json:"program"`
	Exposures  []exposure `json:"exposures"` // by method, in the order of methods
	Live       search     `json:"live"`
	Controlled search     `json:"controlled"`
	Slowdown   slowdown   `json:"slowdown"`
}

// selection says what to measure: programs of testdata/atomicity, all or those named, or one that
// exists in two builds.
type selection struct {
	only           []string
	native, hooked string
	args           []string
}

// measureAll measures programs and prints the results to standard output.
func measureAll(ctx context.Context, s settings, chosen selection, asJSON bool) error {
	began := time.Now()
	dir, err := os.MkdirTemp("", "ctriggerbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var programs []program
	if chosen.native != "" {
		programs = []program{{Name: filepath.Base(chosen.hooked)}}
	} else if programs, err = list("testdata/atomicity", chosen.only); err != nil {
		return err
	}
	b, err := newBuilder(ctx)
	if err != nil {
		return err
	}
	all := results{Settings: s, Machine: bench.ThisHost(b.compilers)}
	for i := range programs {
		fmt.Fprintln(os.Stderr, "ctriggerbench:", programs[i].Name)
		var built *built
		if chosen.native != "" {
			built, err = b.given(ctx, programs[i].Name, &chosen)
		} else {
			built, err = b.build(ctx, s, &programs[i], dir)
		}
		if err != nil {
			return err
		}
		r, err := measure(ctx, s, built)
		if err != nil {
			return fmt.Errorf("%s: %w", programs[i].Name, err)
		}
		all.Rows = append(all.Rows, r)
	}
	all.Seconds = time.Since(began).Seconds()
	if asJSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(all)
	}
	return printTables(os.Stdout, &all)
}

// measure measures one program, everything in turn.
func measure(ctx context.Context, s settings, b *built) (r row, err error) {
	r.Program = b.name
	m := &measurement{settings: s, built: b}
	if err := m.calibrate(ctx); err != nil {
		return r, err
	}
	if r.Exposures, err = m.rivals(ctx); err != nil {
		return r, err
	}
	for _, backend := range []struct {
		method string
		search func(context.Context, *exposure) (search, error)
		into   *search
	}{{methodLive, m.live, &r.Live}, {methodControlled, m.controlled, &r.Controlled}} {
		x := exposure{Method: backend.method}
		if *backend.into, err = backend.search(ctx, &x); err != nil {
			return r, fmt.Errorf("%s: %w", backend.method, err)
		}
		r.Exposures = append(r.Exposures, x)
	}
	r.Slowdown, err = m.slowdown(ctx)
	return r, err
}
