package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/trace"
)

var injectFaults = flag.Int("inject.faults", 40, "inject this many faults of each model into each program of testdata/sanitize; the figures in docs/inject.md are of 5000")

// TestInject: no execution with a fault has another outcome without a deviation, and each model has an
// effect in some program.
func TestInject(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(repository(t), "testdata/sanitize/same/*.c*"))
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	effects := make(chan string, len(files)*len(trace.FaultModels()))
	t.Run("programs", func(t *testing.T) {
		for _, file := range files {
			name := filepath.Base(file)
			if strings.Contains(name, "_omp") {
				continue // libgomp has no hooks: its own data are not seen
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				prog := filepath.Join(t.TempDir(), "prog")
				compileProgram(t, readExpectation(t, file), "gcc", "-O1", prog)
				for _, model := range trace.FaultModels() {
					out, err := heddleCommand(t, filepath.Dir(prog), nil, "inject", "--json", "-n", fmt.Sprint(*injectFaults), "--model", model.String(), "--", prog).Output()
					if e, ok := err.(*exec.ExitError); ok && strings.Contains(string(e.Stderr), "no occasion") {
						continue
					}
					var x result.Injections
					if err != nil || json.Unmarshal(out, &x) != nil {
						t.Fatalf("%v: %v\n%s", model, err, out)
					}
					if x.Unexplained > 0 || !x.Complete || x.Total != *injectFaults && !x.All || x.Unknown > x.Total/1000 {
						t.Errorf("%v: %+v", model, x)
						if text, err := os.ReadFile(filepath.Join(filepath.Dir(prog), x.File)); err == nil {
							for line := range strings.Lines(string(text)) {
								if strings.Contains(line, result.OutcomeUnknown) {
									t.Log(line)
								}
							}
						}
					}
					if len(x.Cells) != 1 || x.Cells[0].Deviation != "none" {
						effects <- model.String()
					}
					t.Logf("%v: %d faults, %d with another outcome, %d of these without a deviation, %d unknown: %+v", model, x.Total, x.Explained+x.Unexplained, x.Unexplained, x.Unknown, x.Cells)
				}
			})
		}
	})
	close(effects)
	had := map[string]bool{trace.FaultDelayed.String(): true} // which must have none
	for model := range effects {
		had[model] = true
	}
	for _, model := range trace.FaultModels() {
		if !had[model.String()] {
			t.Errorf("%v has no effect in any program", model)
		}
	}
}
