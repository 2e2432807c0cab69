package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// row is how soon one strategy finds the bug of one program.
type row struct {
	Program  string `json:"program"`
	Strategy string `json:"strategy"`
	Seeds    int    `json:"seeds"`
	Found    int    `json:"found"` // searches that found a failure of the kind that the program states
	// Executions and Seconds are those until the failure, in ascending order; of a search that did
	// not find it, all that it made.
	Executions []int     `json:"executions"`
	Seconds    []float64 `json:"seconds"`
}

// searched is what heddle find prints about a search, as far as it is used.
type searched struct {
	Outcome    string  `json:"outcome"`
	Executions int     `json:"executions"`
	Seconds    float64 `json:"seconds"`
	Finding    *struct {
		Kind      string `json:"kind"`
		Execution int    `json:"execution"`
	} `json:"finding"`
}

// measure searches for a program's bug with each strategy and seed, one search at a time: executions
// of some programs write files.
func measure(ctx context.Context, s settings, p program, binary string) ([]row, error) {
	var rows []row
	for _, strategy := range s.Strategies {
		w := row{Program: p.Name, Strategy: strategy, Seeds: s.Seeds}
		for seed := 1; seed <= s.Seeds; seed++ {
			r, err := search(ctx, s, &p, binary, strategy, seed)
			if err != nil {
				return nil, err
			}
			executions := r.Executions
			if r.Finding != nil && isExpected(&p, r.Finding.Kind) {
				w.Found++
				executions = r.Finding.Execution
			}
			w.Executions, w.Seconds = append(w.Executions, executions), append(w.Seconds, r.Seconds)
		}
		slices.Sort(w.Executions)
		slices.Sort(w.Seconds)
		rows = append(rows, w)
	}
	return rows, nil
}

func isExpected(p *program, kind string) bool {
	for _, k := range p.Expect.Kinds {
		if k.String() == kind {
			return true
		}
	}
	return false
}

// search makes one search. A search that finds nothing returns no error.
func search(ctx context.Context, s settings, p *program, binary, strategy string, seed int) (r searched, err error) {
	dir := filepath.Dir(binary)
	args := slices.Concat([]string{"find", "--json", "--no-simplify", "--stale", "0", "--time", s.Time.String(), "--seed", strconv.Itoa(seed), "-o", filepath.Join(dir, "trace.hdl")}, p.Expect.Options)
	if strategy != "default" {
		args = append(args, "--strategy", strategy)
	}
	args = slices.Concat(args, []string{"--", binary}, p.Expect.Args)
	cmd := exec.CommandContext(ctx, s.Heddle, args...)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && out.Len() == 0 {
		return r, fmt.Errorf("heddle %s: %w\n%s", strings.Join(args, " "), err, &errs)
	}
	return r, json.Unmarshal(out.Bytes(), &r)
}
