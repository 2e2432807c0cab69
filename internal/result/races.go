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
	// Unconfirmed: a library of Result.RacesUnconfirmed may order the accesses.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
}

// racesSeen returns the races of a report, including the finding's.
func racesSeen(r *engine.Report) []Race {
	out := []Race{}
	for _, x := range r.Races {
		out = append(out, Race{Access{x.First.Op, x.First.Where}, Access{x.Second.Op, x.Second.Where}, x.Name, x.Unconfirmed})
	}
	return out
}

// racesShown is how many races are listed; --json lists all of them.
const racesShown = 10

// printRaces lists the races of a report.
func printRaces(w io.Writer, r *engine.Report) {
	var certain, doubtful []Race
	for _, x := range racesSeen(r) {
		if x.Unconfirmed {
			doubtful = append(doubtful, x)
		} else {
			certain = append(certain, x)
		}
	}
	list := func(races []Race, how string) {
		if len(races) == 0 {
			return
		}
		var all []places
		for _, r := range races {
			all = append(all, places{object: r.Object, where: [2]string{r.First.Where, r.Second.Where}})
		}
		groups := grouped(all)
		fmt.Fprintf(w, "\n%s seen%s:\n", wording.Count(len(groups), "data race"), how)
		for i, g := range groups {
			if i == racesShown {
				fmt.Fprintf(w, "  and %s more (--json lists all)\n", wording.Thousands(len(groups)-i))
				return
			}
			r := races[g[0]]
			more := morePlaces(all, g)
			if more != "" {
				more = ", " + more
			}
			fmt.Fprintf(w, "  %s: %s, %s%s\n", r.Object, r.First.text(), r.Second.text(), more)
		}
	}
	list(certain, "")
	list(doubtful, ", unconfirmed: "+strings.Join(r.RacesUnconfirmed, ", ")+" may order the accesses, in ways that heddle does not know")
}

func (a Access) text() string {
	if a.Where == "" {
		return a.Op + " at an unknown place"
	}
	return a.Op + " at " + a.Where
}
