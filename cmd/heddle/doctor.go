package main

import (
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/internal/doctor"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/toolchain"
)

type doctorCommand struct {
	Program program `arg:"" optional:"" passthrough:"partial" help:"A program to check as well."`
}

func (doctorCommand) Help() string {
	return "Builds the runtime if it is not in the cache. Ends with status 0 if nothing is in the way, 3 if something is."
}

// diagnosis is what doctor prints.
type diagnosis struct {
	OK      bool               `json:"ok"`
	Version versionInfo        `json:"heddle"`
	Checks  []doctor.Check     `json:"checks"`
	Program *toolchain.Program `json:"program,omitempty"`
}

func (d *doctorCommand) Run(a *app) error {
	dir, err := launch.WorkingDir()
	if err != nil {
		return err
	}
	checks := doctor.Machine(a.ctx, doctor.Config{Cache: a.Cache, GoTool: a.Go, Dir: dir})
	diag := diagnosis{Version: currentVersion()}
	if len(d.Program.words()) > 0 {
		var c doctor.Check
		c, diag.Program = doctor.Program(d.Program.words())
		checks = append(checks, c)
		if diag.Program != nil {
			checks = append(checks, doctor.Libraries(a.ctx, diag.Program))
		}
	}
	if err := a.ctx.Err(); err != nil {
		return err
	}
	diag.Checks = checks
	var failed []string
	for _, c := range checks {
		if c.Grade == doctor.Bad {
			failed = append(failed, c.Name)
		}
	}
	diag.OK = len(failed) == 0
	if err := a.printDiagnosis(diag); err != nil {
		return err
	}
	if !diag.OK {
		return fmt.Errorf("not ready: %s; see the advice above", strings.Join(failed, ", "))
	}
	return nil
}

func (a *app) printDiagnosis(d diagnosis) error {
	if a.JSON {
		return a.printJSON(d)
	}
	var b strings.Builder
	width := 0
	for _, c := range d.Checks {
		width = max(width, len(c.Name))
	}
	for _, c := range d.Checks {
		fmt.Fprintf(&b, "%-4s  %-*s  %s\n", c.Grade, width, c.Name, c.Detail)
		if c.Advice != "" {
			indent := strings.Repeat(" ", len("warn")+2+width+2)
			b.WriteString(indent + strings.ReplaceAll(c.Advice, "\n", "\n"+indent) + "\n")
		}
	}
	_, err := a.stdout.Write([]byte(b.String()))
	return err
}
