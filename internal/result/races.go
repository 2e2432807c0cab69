package main

import (
	"fmt"
	"io"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/trace"
)

// raceJSON is a data race that was seen: two accesses that nothing orders.
type raceJSON struct {
	First  accessJSON `json:"first"`
	Second accessJSON `json:"second"`
	Object string     `json:"object"`
}

// racesSeen are the races of a report, those of the finding included.
func racesSeen(r *engine.Report) []raceJSON {
	out := []raceJSON{}
	for _, x := range r.Races {
		out = append(out, raceJSON{accessJSON{x.First.Op, x.First.Where}, accessJSON{x.Second.Op, x.Second.Where}, x.Name})
	}
	return out
}

// racesShown is how many races are listed; --json has all of them.
const racesShown = 10

// printRaces lists races that were seen.
func printRaces(w io.Writer, races []raceJSON) {
	if len(races) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s seen:\n", count(len(races), "data race"))
	for i, r := range races {
		if i == racesShown {
			fmt.Fprintf(w, "  and %s more (--json lists all)\n", thousands(len(races)-i))
			return
		}
		fmt.Fprintf(w, "  %s: %s, %s\n", r.Object, r.First.text(), r.Second.text())
	}
}

func (a accessJSON) text() string {
	if a.Where == "" {
		return a.Op + " at an unknown place"
	}
	return a.Op + " at " + a.Where
}

// objectNames names objects of the program: a variable, or the allocation that a block comes
// from.
func objectNames(t target.Target) func(*trace.Trace, trace.Object, uint32, int) string {
	var modules []trace.Module
	var table *symbol.Table
	return func(tr *trace.Trace, o trace.Object, size uint32, at int) string {
		if now := t.Modules(); table == nil || len(now) > len(modules) { // more have been loaded
			modules, table = now, symbol.New(now, symbol.Options{})
		}
		n := table.Objects(tr).Name(o, size, at)
		switch {
		case n.Detail != "": // the block's number means something in its own trace only
			return fmt.Sprintf("block (%s)%s", n.Detail, n.Suffix)
		}
		return n.Text
	}
}
