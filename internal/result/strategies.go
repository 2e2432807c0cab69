package result

import (
	"fmt"
	"text/tabwriter"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/wording"
)

// Strategies prints what each strategy of a search did, if there are rows.
func (p *Printer) Strategies(rows []engine.Explained) error {
	if len(rows) == 0 {
		return nil
	}
	seconds := 0.0
	for _, r := range rows {
		seconds += r.Seconds
	}
	fmt.Fprintln(p.Words, "\nwhat each strategy did:")
	t := tabwriter.NewWriter(p.Words, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  strategy\texecutions\ttime\tnew signatures\tnew pairs\tfailures\twhy")
	for _, r := range rows {
		share := "–"
		if seconds > 0 && r.Executions > 0 {
			share = wording.Percent(r.Seconds / seconds)
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Strategy, wording.Thousands(r.Executions), share,
			wording.Thousands(r.New), wording.Thousands(r.Pairs), wording.Thousands(r.Failures), r.Why)
	}
	return t.Flush()
}
