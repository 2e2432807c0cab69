package result

import (
	"fmt"
	"io"
	"strings"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/wording"
)

// Race is a data race: two accesses that nothing orders.
type Race struct {
	First  Access `json:"first"`
	Second Access `json:"second"`
	Object string `json:"object"`
}

// racesSeen returns the races of a report, including the finding's.
func racesSeen(r *engine.Report) []Race {
	out := []Race{}
	for _, x := range r.Races {
		out = append(out, Race{Access{x.First.Op, x.First.Where}, Access{x.Second.Op, x.Second.Where}, x.Name})
	}
	return out
}

// racesShown is how many races are listed; --json lists all of them.
const racesShown = 10

// printRaces lists the races of a report.
func printRaces(w io.Writer, r *engine.Report) {
	races := racesSeen(r)
	if len(races) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s seen", wording.Count(len(races), "data race"))
	if len(r.RacesUnconfirmed) > 0 {
		fmt.Fprintf(w, ", unconfirmed: %s may order the accesses, in ways that heddle does not know", strings.Join(r.RacesUnconfirmed, ", "))
	}
	fmt.Fprintln(w, ":")
	for i, r := range races {
		if i == racesShown {
			fmt.Fprintf(w, "  and %s more (--json lists all)\n", wording.Thousands(len(races)-i))
			return
		}
		fmt.Fprintf(w, "  %s: %s, %s\n", r.Object, r.First.text(), r.Second.text())
	}
}

func (a Access) text() string {
	if a.Where == "" {
		return a.Op + " at an unknown place"
	}
	return a.Op + " at " + a.Where
}
