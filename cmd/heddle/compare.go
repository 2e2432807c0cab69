package main

import (
	"fmt"
	"io"

	"github.com/heddle-dev/heddle/internal/analysis/canonical"
	"github.com/heddle-dev/heddle/internal/rapid"
	"github.com/heddle-dev/heddle/internal/report/page"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
)

type compareCommand struct {
	HTML string `name:"html" placeholder:"FILE" help:"Also write a page to FILE, which a browser shows without a network: of one trace, both executions side by side; of two, where the deviation began, and how it spread."`
	besideFlags

	Golden string `arg:"" predictor:"trace" help:"The trace of a failure; with a second one, the trace of a good execution, sanitised or not."`
	Other  string `arg:"" optional:"" predictor:"trace" help:"The trace to compare with it, sanitised or not."`
}

func (c *compareCommand) Help() string {
	return `With the trace of a failure alone, makes the nearest execution that does not fail, or takes the one that heddle find or heddle
explain kept, and shows both side by side: where their orders differ first, which value differs because of that, and what the
failing operation does in the other one. Ends with 0, and with 3 if no execution passes.

With two traces of one build, of which one fails and the other does not, and that were not both recorded with --values, shows these
side by side in the same way. With any other two, compares them thread by thread and event by event, in the names that heddle sanitize gives.
The deviation is none; data, if an instruction had another value; address, if it accessed another
place; or control, if another instruction was executed. After a control deviation, the comparison
goes on where the thread does the same again. The outcome is benign (the same ending and output), silent
data corruption (only the output differs), crash, hang, or detected (another exit status). Traces of two builds are compared by function,
line within the function, and variables. Ends with 1 if the executions deviate.`
}

func (c *compareCommand) Run(a *app) error {
	if c.Other == "" {
		return c.beside(a, c.Golden, "")
	}
	if c.besideFlags.given() {
		return usage.Errorf("--all, --output, --runs, --time, --watchdog, --isolation and --threads are for one trace, whose program is executed: leave them out")
	}
	if c.HTML != "" {
		for _, input := range []string{c.Golden, c.Other} {
			if err := checkPage(c.HTML, input); err != nil {
				return err
			}
		}
	}
	golden, err := opened(a, c.Golden)
	if err != nil {
		return err
	}
	defer golden.Close()
	other, err := opened(a, c.Other)
	if err != nil {
		return err
	}
	defer other.Close()
	if failing, passing := c.withoutValues(golden, other); failing != "" {
		return c.beside(a, failing, passing)
	}
	noteGaps(a, golden, c.Golden)
	noteGaps(a, other, c.Other)
	if err := c.comparable(golden, other); err != nil {
		return err
	}
	from, to := result.NewCanonicalNames(golden), result.NewCanonicalNames(other)
	var names, otherNames canonical.Names
	builds := golden.BuildID != other.BuildID
	if builds {
		names, otherNames = from, to
	}
	found, err := canonical.Compare(a.ctx, golden, other, names, otherNames)
	if err != nil {
		return err
	}
	out := result.DeviationsOf(found, builds, from, to)
	out.AddExecutions(golden, other, from, to)
	if c.HTML != "" {
		err := tracefile.WriteWhole(c.HTML, func(w io.Writer) error {
			return page.RenderComparison(w, page.Comparison{Golden: c.Golden, Other: c.Other, Comparison: out})
		})
		if err != nil {
			return err
		}
	}
	if a.JSON {
		err = a.printJSON(out)
	} else {
		out.Print(a.stdout)
	}
	if err == nil && (found.Deviation != canonical.Same || found.Outcome != canonical.Benign) {
		return errFound
	}
	return err
}

// withoutValues returns the files of a failing execution and of one of the same program that passes, if one of the traces lacks values
// that executing it again gives; otherwise nothing.
func (c *compareCommand) withoutValues(golden, other *canonical.Execution) (failing, passing string) {
	again := golden.Target != rapid.Target && !golden.Live && !other.Live && !canonical.IsFile(c.Golden) && !canonical.IsFile(c.Other) && golden.Fault == nil && other.Fault == nil
	if !again || golden.BuildID != other.BuildID || golden.Instrumented != other.Instrumented || golden.Values && other.Values {
		return "", ""
	}
	switch fails, otherFails := golden.Ending.Kind.Failed(), other.Ending.Kind.Failed(); {
	case fails == otherFails:
		return "", ""
	case fails:
		return c.Golden, c.Other
	}
	return c.Other, c.Golden
}

// comparable refuses executions that differ in each thread because of how they were recorded.
func (c *compareCommand) comparable(golden, other *canonical.Execution) error {
	// files are the names of the two, first of the one that has something.
	files := func(golden bool) []any {
		if golden {
			return []any{c.Golden, c.Other}
		}
		return []any{c.Other, c.Golden}
	}
	switch {
	case golden.Target != other.Target:
		kinds := map[string]string{"c": "a C or C++ program", "go": "a Go program", rapid.Target: "another tool"}
		return fmt.Errorf("%s is a trace of %s and %s one of %s: compare executions of one program, or of two builds of it", c.Golden, kinds[golden.Target], c.Other, kinds[other.Target])
	case golden.Live != other.Live:
		return fmt.Errorf("%s was recorded with --backend=live and %s was not, and they have different events of libc's functions: record both in one way", files(golden.Live)...)
	case golden.Instrumented != other.Instrumented:
		return fmt.Errorf("%s has accesses to memory and %s has none, because that program was not compiled with heddle cc: compile both with it", files(golden.Instrumented)...)
	case golden.Instrumented && golden.Values != other.Values:
		return fmt.Errorf("%s was recorded with --values and %s was not, so that repeated accesses and values are missing there: record both with --values", files(golden.Values)...)
	}
	return nil
}
