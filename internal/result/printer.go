package result

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/rapid"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/term"
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Printer prints results as text.
type Printer struct {
	// Words and Errors write text that may come from a program or a trace, and filter out
	// everything that a terminal acts on. Screen writes drawings, which are already safe.
	Words, Errors, Screen io.Writer
	Draw                  term.Options

	Full  bool   // draw every event; otherwise long executions are not drawn
	Stats bool   // print what the simplification did
	Seed  uint64 // of the search
	// Inexact says that the search began with executions that no seed repeats.
	Inexact bool
	// EarlyTimeouts says that the search had no bound for early timeouts (--early-timeouts).
	EarlyTimeouts bool

	AllPlaces bool // heddle races: each pair of places, not one for each group of them

	Prune bool // kept findings that no longer fail are removed

	// For heddle test.
	Bounded         bool // a test's report has at most testLines lines
	AllowUnfinished bool
	// Exhaustive says that an exhaustive search of tests was asked for, so what it has not covered is printed.
	Exhaustive bool
	LeaksNoted bool // leaked goroutines are neither failures nor ignored
}

// View prepares a trace for reading. It also looks for source files in sources.
func View(tr *trace.Trace, sources []string) *report.View {
	return view(tr, report.Options{SourceDirs: sources})
}

// ViewAs is View without sources of its own, in which objects have the names that they have in another trace of the program.
func ViewAs(tr, as *trace.Trace) *report.View {
	return report.Build(tr, report.NamesAs(tr, as, symbol.ForTrace(tr, symbol.Options{})), report.Options{})
}

// ShortView is View for a reader that does not expand loops and folds (report.Options.Short).
func ShortView(tr *trace.Trace, sources []string) *report.View {
	return view(tr, report.Options{SourceDirs: sources, Short: true})
}

// DrawnView is View for term.Render.
func DrawnView(tr *trace.Trace, sources []string, full bool) *report.View {
	return view(tr, report.Options{SourceDirs: sources, Short: !full, Long: term.LongTable, Head: term.TableHead, Tail: term.TableTail})
}

func view(tr *trace.Trace, o report.Options) *report.View {
	names := report.NamesOf(tr, symbol.ForTrace(tr, symbol.Options{}))
	if tr.Header.Target == rapid.Target {
		names = importedNames{names}
	}
	return report.Build(tr, names, o)
}

// importedNames are the names in a trace that was imported from STD, which has no symbols.
type importedNames struct{ report.Names }

func (importedNames) Problems() []error { return nil }

func (importedNames) Name(o trace.Object, _ uint32, _ int) symbol.Name {
	if o == 0 {
		return symbol.Name{Alloc: -1}
	}
	name := rapid.NameOf(o)
	return symbol.Name{Text: name, Base: name, Alloc: -1}
}

// Trace draws an execution without its cause, which is printed with what to do next.
func (p *Printer) Trace(tr *trace.Trace) error {
	v := DrawnView(tr, nil, p.Full)
	v.Why = nil
	return p.view(v)
}

// Explained draws an execution with its cause, if that is saved in the trace.
func (p *Printer) Explained(tr *trace.Trace) error { return p.view(DrawnView(tr, nil, p.Full)) }

// view draws an execution. It describes the schedule without the seed of its plan, which would be confused with --seed.
func (p *Printer) view(v *report.View) error {
	v.Strategy = strategy.Unseeded(v.Strategy)
	o := p.Draw
	o.Full = p.Full
	return term.Render(p.Screen, v, o)
}

// Summary prints the figures in the tables of FSE'10.
func (p *Printer) Summary(r *tinertia.Result) error {
	s := term.Simplification{
		Bug: r.Table2.Bug, Before: r.Before, After: r.After,
		Iterations: r.Table2.Iterations, Executions: r.Table2.Executions, Spent: Simplifying(r),
		Time: time.Duration(r.Table2.Seconds * float64(time.Second)),
	}
	switch {
	case r.Complete:
		s.Gap = "minimal"
	case r.Fewest > 0:
		s.Gap = fmt.Sprintf("at least %s with the same order of dependent operations", wording.Thousands(r.Fewest))
	}
	if i := slices.IndexFunc(r.Trace.Modules, func(m trace.Module) bool { return m.Program }); i >= 0 {
		s.Program = filepath.Base(r.Trace.Modules[i].Path)
	}
	for _, op := range r.Operations {
		if op.Accepted > 0 {
			s.Operations = append(s.Operations, term.OperationRow{Name: string(op.Operation), Tried: op.Tried, Accepted: op.Accepted, Switches: op.Switches})
		}
	}
	if err := term.Summary(p.Screen, s, p.Draw); err != nil {
		return err
	}
	_, err := io.WriteString(p.Words, "\n")
	return err
}
