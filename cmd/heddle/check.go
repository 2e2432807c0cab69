package main

import (
	"errors"
	"fmt"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/simplify/proof"
	"github.com/heddle-dev/heddle/internal/simplify/stmt"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/wording"
)

type checkCommands struct {
	Derivation  checkDerivationCommand  `cmd:"" help:"Replay the proof that a simplified trace is the same execution, rule by rule."`
	Determinism checkDeterminismCommand `cmd:"" help:"Decide whether every schedule gives each thread the events that a trace has."`
}

type checkDerivationCommand struct {
	Trace      string `arg:"" predictor:"trace" help:"The trace that the derivation is of."`
	Derivation string `arg:"" help:"What simplify --static --derivation wrote."`
	Result     string `arg:"" optional:"" predictor:"trace" help:"The simplified trace: check that it is what the derivation makes of the trace."`
}

type checkJSON struct {
	Holds  bool   `json:"holds"`
	Reason string `json:"reason,omitempty"` // why not
	Result string `json:"result,omitempty"` // the simplified trace that was checked
	Steps  int    `json:"steps"`
	Before int    `json:"before"` // context switches
	After  int    `json:"after"`
}

func (c *checkDerivationCommand) Help() string {
	return `Needs nothing of the code that made the derivation. Ends with 1 if a step does not follow, or
if the simplified trace is not what the steps make of the trace.`
}

func (c *checkDerivationCommand) Run(a *app) error {
	in, err := tracefile.ReadAny(c.Trace)
	if err != nil {
		return err
	}
	file, err := regular.Open(c.Derivation)
	if err != nil {
		return err
	}
	defer file.Close()
	d, err := stmt.ReadDerivation(file)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Derivation, err)
	}
	order, err := proof.Check(in.Units(), d)
	var wrong *proof.CheckError
	if err != nil && !errors.As(err, &wrong) {
		return err
	}
	out := checkJSON{Holds: err == nil, Result: c.Result, Steps: d.Steps(), Before: d.Before, After: d.After}
	switch {
	case wrong != nil:
		out.Reason = wrong.Error()
	case c.Result != "":
		other, err := tracefile.NotReordered(in, order, c.Result)
		if err != nil {
			return err
		}
		if other != "" {
			out.Holds, out.Reason = false, fmt.Sprintf("the derivation holds, but %s is not what it makes of the trace: %s", c.Result, other)
		}
	}
	switch {
	case a.JSON:
		if perr := a.printJSON(out); perr != nil {
			return perr
		}
	case out.Holds:
		fmt.Fprintf(a.stdout, "the derivation holds: %s steps, %d context switches before, %d after\n", wording.Thousands(out.Steps), out.Before, out.After)
		if c.Result != "" {
			fmt.Fprintf(a.stdout, "%s is its result\n", c.Result)
		}
	default:
		fmt.Fprintf(a.stdout, "%s\n", out.Reason)
	}
	if !out.Holds {
		return errFound
	}
	return nil
}
