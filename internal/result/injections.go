package result

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/analysis/canonical"
	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// InjectionsVersion is the version of files of injections.
const InjectionsVersion = 2

// InjectionsHead is the first line of a file of injections: what was executed, and how faults were drawn.
// Two files with the same heads have the same faults under the same numbers.
type InjectionsHead struct {
	Heddle  string   `json:"heddle"` // "inject"
	Version int      `json:"version"`
	Command []string `json:"command"`
	Build   string   `json:"build"` // of the program
	Stdin   string   `json:"stdin,omitempty"`
	Model   string   `json:"model"`
	Seed    uint64   `json:"seed"`
	At      string   `json:"at,omitempty"`
	Amount  *uint64  `json:"amount,omitempty"`
	// Events and Occasions are of the golden execution. Faults is how many different faults of the model there are.
	Events    int `json:"events"`
	Occasions int `json:"occasions"`
	Faults    int `json:"faults"`
}

// Injection is an execution with a fault, a further line of the file.
type Injection struct {
	Number int    `json:"number"` // from 0
	Thread string `json:"thread"` // that the fault was in, of the golden execution
	Index  uint64 `json:"index"`  // of the occasion, among the thread's at the place
	Amount uint64 `json:"amount"`
	Where  string `json:"where"` // the place of the event or call
	Event  int    `json:"event"` // events before the fault
	// Deviation is none, data, address or control; empty if the execution was not recorded.
	Deviation string `json:"deviation"`
	// Outcome is a canonical.Outcome; or unknown, with Why.
	Outcome string `json:"outcome"`
	Why     string `json:"why,omitempty"`
	Ending  string `json:"ending"`
	// First is the first deviation. Latency is the number of events of the execution from the fault to it, and
	// Spread how many threads deviate.
	First   *DeviationEvent `json:"first,omitempty"`
	Latency int             `json:"latency,omitempty"`
	Spread  int             `json:"spread,omitempty"`
	Trace   string          `json:"trace,omitempty"` // file
}

// OutcomeNoOccasion is that of a fault that was not injected, because the runtime had no occasion for it. It does not count.
const OutcomeNoOccasion = "no occasion"

// OutcomeUnknown is the outcome of an execution that heddle itself could not continue.
const OutcomeUnknown = "unknown"

// InjectionOf describes an execution with a fault.
func InjectionOf(n int, in *engine.Injected, golden *trace.Trace, names *CanonicalNames, where func(trace.Site) string) Injection {
	out := Injection{
		Number: n, Index: in.Fault.Index, Amount: in.Fault.Amount, Event: in.Fault.Event, Outcome: in.Outcome.String(), Ending: in.Ending.Kind.String(),
	}
	for i := range golden.Threads {
		if golden.Threads[i].Name == in.Fault.Thread {
			out.Thread = fmt.Sprintf("T%d", i)
		}
	}
	out.Where = where(in.Fault.Site)
	if in.Unknown != "" {
		out.Outcome, out.Why, out.Ending = OutcomeUnknown, in.Unknown, ""
		return out
	}
	if c := in.Comparison; c != nil {
		d := DeviationsOf(c, false, names, names)
		out.Deviation, out.First = d.Deviation, d.First
		for i := range d.Threads {
			if d.Threads[i].First != nil {
				out.Spread++
			}
		}
		if out.First != nil && out.First.Trace != nil {
			out.Latency = max(*out.First.Trace-in.Fault.Event, 0)
		}
	}
	return out
}

// Injections is the result of a campaign.
type Injections struct {
	Head InjectionsHead `json:"campaign"`
	File string         `json:"file"`
	// Total faults were injected. All: these are all possible ones, but for those without an occasion.
	Total   int            `json:"total"`
	All     bool           `json:"all"`
	Without int            `json:"without_occasion"`
	Cells   []InjectionsOf `json:"cells"`
	// Unexplained counts executions with another outcome without a deviation. Of Explained, all other executions
	// with another outcome, heddle knows where they deviated.
	Unexplained int  `json:"unexplained"`
	Explained   int  `json:"explained"`
	Unknown     int  `json:"unknown"`
	Complete    bool `json:"complete"`
	// Latency and Spread are of the executions that deviate, as in Injection.
	Latency Quantiles `json:"latency"`
	Spread  Quantiles `json:"spread"`

	unexplained        []int // numbers
	latencies, spreads []int
}

// Quantiles describe numbers; all are 0 if there is no number.
type Quantiles struct {
	Median int `json:"median"`
	Most   int `json:"most"` // 90 % of the numbers are at most this
	Max    int `json:"max"`
}

func quantilesOf(numbers []int) Quantiles {
	if len(numbers) == 0 {
		return Quantiles{}
	}
	slices.Sort(numbers)
	at := func(percent int) int { return numbers[(len(numbers)*percent+99)/100-1] }
	return Quantiles{Median: at(50), Most: at(90), Max: at(100)}
}

// InjectionsOf counts the executions with a deviation and an outcome, with the 95 % interval of their part of all possible
// faults; nil if all of them were injected.
type InjectionsOf struct {
	Deviation string      `json:"deviation"`
	Outcome   string      `json:"outcome"`
	Count     int         `json:"count"`
	Interval  *[2]float64 `json:"interval,omitempty"`
}

// Add counts an execution.
func (x *Injections) Add(i *Injection) {
	if i.Outcome == OutcomeNoOccasion {
		x.Without++
		return
	}
	x.Total++
	if i.Outcome == OutcomeUnknown {
		x.Unknown++
	} else if i.Outcome != canonical.Benign.String() {
		if i.Deviation == canonical.Same.String() {
			x.Unexplained++
			x.unexplained = append(x.unexplained, i.Number)
		} else if i.Deviation != "" {
			x.Explained++
		}
	}
	if i.First != nil {
		x.latencies, x.spreads = append(x.latencies, i.Latency), append(x.spreads, i.Spread)
	}
	at := slices.IndexFunc(x.Cells, func(c InjectionsOf) bool { return c.Deviation == i.Deviation && c.Outcome == i.Outcome })
	if at < 0 {
		at = len(x.Cells)
		x.Cells = append(x.Cells, InjectionsOf{Deviation: i.Deviation, Outcome: i.Outcome})
	}
	x.Cells[at].Count++
}

// Finish orders the cells, the most frequent first, and computes intervals and quantiles.
func (x *Injections) Finish() {
	x.All = x.Total+x.Without == x.Head.Faults
	x.Latency, x.Spread = quantilesOf(x.latencies), quantilesOf(x.spreads)
	slices.SortFunc(x.Cells, func(a, b InjectionsOf) int { return b.Count - a.Count })
	for i := range x.Cells {
		if x.Cells[i].Interval = nil; !x.All {
			w := wilson(x.Cells[i].Count, x.Total)
			x.Cells[i].Interval = &w
		}
	}
}

func (q Quantiles) text(unit string) string {
	return fmt.Sprintf("median %s, 90 %% at most %s, maximum %s", wording.Thousands(q.Median), wording.Thousands(q.Most), wording.Count(q.Max, unit))
}

// wilson returns the 95 % score interval of a proportion of k in n (Wilson 1927).
func wilson(k, n int) [2]float64 {
	if n == 0 {
		return [2]float64{0, 1}
	}
	const z = 1.959963984540054
	p, m := float64(k)/float64(n), float64(n)
	centre := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return [2]float64{max(centre-half, 0), min(centre+half, 1)}
}

// Print prints the campaign as text.
func (x *Injections) Print(w io.Writer) {
	faults, column := wording.Thousands(x.Total)+" of "+wording.Count(x.Head.Faults-x.Without, "fault"), "of all, 95 % interval"
	switch {
	case x.All:
		faults, column = wording.Count(x.Total, "fault"), "of all"
	case x.Without > 0: // and there may be more
		faults = wording.Thousands(x.Total) + " of at most " + wording.Count(x.Head.Faults-x.Without, "fault")
	}
	fmt.Fprintf(w, "%s of %s, at %s of the %s of an execution\n", faults, x.Head.Model, wording.Thousands(x.Head.Occasions), wording.Count(x.Head.Events, "event"))
	if x.Without > 0 {
		fmt.Fprintf(w, "%s more could not be injected: the calls there cannot have such a fault\n", wording.Thousands(x.Without))
	}
	if x.All {
		fmt.Fprintln(w, "these are all possible faults, so the parts are exact")
	}
	fmt.Fprintf(w, "%-10s %-22s %8s   %s\n", "deviation", "outcome", "faults", column)
	for _, c := range x.Cells {
		deviation := c.Deviation
		if deviation == "" {
			deviation = "?"
		}
		fmt.Fprintf(w, "%-10s %-22s %8s   %.1f %%", deviation, c.Outcome, wording.Thousands(c.Count), 100*float64(c.Count)/float64(x.Total))
		if c.Interval != nil {
			fmt.Fprintf(w, " (%.1f to %.1f)", 100*c.Interval[0], 100*c.Interval[1])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "another outcome without a deviation: %d of %d", x.Unexplained, x.Unexplained+x.Explained)
	if !x.All && x.Unexplained+x.Explained > 0 {
		fmt.Fprintf(w, " (95 %% interval to %.2f %%)", 100*wilson(x.Unexplained, x.Unexplained+x.Explained)[1])
	}
	fmt.Fprintln(w)
	if len(x.latencies) > 0 {
		fmt.Fprintf(w, "from the fault to the first deviation: %s\n", x.Latency.text("event"))
		fmt.Fprintf(w, "threads that deviate: %s\n", x.Spread.text("thread"))
	}
	if len(x.unexplained) > 0 {
		slices.Sort(x.unexplained)
		fmt.Fprintf(w, "NOT EXPLAINED: faults %s of %s changed the outcome, and heddle saw no deviation: it happened where heddle sees no accesses, or heddle is wrong\n",
			strings.Trim(fmt.Sprint(x.unexplained[:min(len(x.unexplained), 20)]), "[]"), x.File)
	}
	fmt.Fprintf(w, "written to: %s\n", x.File)
}
