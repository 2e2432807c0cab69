// Endingsbench measures whether heddle find is right about how programs end: it generates small programs that
// synchronise threads by means of their own (internal/testing/handmade), correct ones and ones with a bug,
// searches each, and compares. Run it in the top directory of the repository:
//
//	go run ./internal/testing/endingsbench -heddle bin/heddle
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
	"time"

	"github.com/heddle-dev/heddle/internal/testing/bench"
	"github.com/heddle-dev/heddle/internal/testing/handmade"
)

// settings are what a run measures.
type settings struct {
	Heddle    string           `json:"heddle"`
	Programs  int              `json:"programs"`
	Runs      int              `json:"runs"`
	Generate  handmade.Options `json:"generate"`
	Compilers []string         `json:"compilers"`
	Time      time.Duration    `json:"time_ns"` // of each search
	Native    int              `json:"native"`
	Batch     int              `json:"batch"`
	Which     string           `json:"which"`
	Only      int              `json:"-"`
	Options   []string         `json:"options"` // of heddle find
}

func main() {
	s := settings{Only: -1}
	flag.StringVar(&s.Heddle, "heddle", "bin/heddle", "measure this `program`")
	flag.IntVar(&s.Programs, "programs", 200, "generate this many programs; every second has a bug")
	flag.IntVar(&s.Runs, "runs", 2000, "search for this many executions")
	flag.Uint64Var(&s.Generate.Seed, "seed", 1, "generate other programs, and choose other schedules")
	families := flag.String("families", "", "generate only these `families`, separated by commas")
	styles := flag.String("styles", "", "write operations only in these `styles`: stdatomic, builtin, sync, c++")
	compilers := flag.String("compilers", "gcc", "compile with these `compilers` in turn: gcc, clang")
	flag.BoolVar(&s.Generate.Small, "small", false, "generate programs with few workers and rounds")
	flag.DurationVar(&s.Time, "time", time.Minute, "end a search after this long")
	flag.IntVar(&s.Native, "native", 0, "also run each correct program this many `times` without heddle; it must end as it should")
	flag.IntVar(&s.Batch, "batch", 40, "compile this many programs at a time")
	flag.StringVar(&s.Which, "which", "all", "search `programs` of this kind: all, correct, buggy")
	flag.IntVar(&s.Only, "only", -1, "search only the program with this `number`, and print its source")
	options := flag.String("options", "", "further `options` of heddle find, separated by commas")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	s.Generate.Families, s.Generate.Styles, s.Compilers, s.Options = bench.Names(*families), bench.Names(*styles), bench.Names(*compilers), bench.Names(*options)
	var err error
	switch {
	case flag.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q: name families with -families", flag.Arg(0))
	case s.Programs < 1 || s.Runs < 1 || s.Batch < 1 || s.Time <= 0 || len(s.Compilers) == 0 || s.Only >= s.Programs:
		err = errors.New("want at least one program, one execution and one compiler, and a time limit")
	case !slices.Contains([]string{"all", "correct", "buggy"}, s.Which):
		err = fmt.Errorf("invalid -which %q: want all, correct or buggy", s.Which)
	default:
		err = measureAll(context.Background(), s, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "endingsbench:", err)
		os.Exit(2)
	}
}

// measureAll makes all searches and prints the results to standard output.
func measureAll(ctx context.Context, s settings, asJSON bool) error {
	dir, err := os.MkdirTemp("", "endingsbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if s.Heddle, err = filepath.Abs(s.Heddle); err != nil {
		return err
	}
	programs, err := handmade.Generate(s.Programs, s.Generate)
	if err != nil {
		return err
	}
	var numbered []numberedProgram
	for i, p := range programs {
		kind := "buggy"
		if p.Verdict == handmade.Correct {
			kind = "correct"
		}
		if i == s.Only || s.Only < 0 && (s.Which == "all" || s.Which == kind) {
			numbered = append(numbered, numberedProgram{i, p})
		}
	}
	rows := make([]row, 0, len(programs))
	for n, b := range batches(numbered, &s) {
		more, err := b.measure(ctx, &s, filepath.Join(dir, fmt.Sprint(n)))
		if err != nil {
			return err
		}
		rows = append(rows, more...)
		fmt.Fprintf(os.Stderr, "endingsbench: %d of %d programs\n", len(rows), len(numbered))
	}
	if asJSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Settings settings `json:"settings"`
			Rows     []row    `json:"rows"`
		}{s, rows})
	}
	if s.Only >= 0 {
		fmt.Println(handmade.Source([]*handmade.Program{numbered[0].program}))
	}
	return printTable(os.Stdout, rows)
}
