// Package smt runs solvers that read SMT-LIB 2 (Barrett, Fontaine and Tinelli, The SMT-LIB Standard).
package smt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Solver is an installed solver.
type Solver struct {
	Name  string
	path  string
	args  []string
	limit time.Duration
}

// solvers are the solvers that heddle knows, in order of preference, with what makes them read a script
// from standard input.
var solvers = []Solver{
	{Name: "z3", args: []string{"-smt2", "-in"}},
	{Name: "cvc5", args: []string{"--lang=smt2", "-"}},
	{Name: "cvc4", args: []string{"--lang=smt2", "-"}},
}

// Find returns the first solver in PATH, or nil if none is installed. Each script may take limit.
func Find(limit time.Duration) *Solver {
	for _, s := range solvers {
		if path, err := exec.LookPath(s.Name); err == nil {
			s.path, s.limit = path, limit
			return &s
		}
	}
	return nil
}

// Solve gives the solver a script and returns its answers: "sat", "unsat" or "unknown" in the first line.
// A script that takes longer than the limit has the answer "unknown".
func (s *Solver) Solve(ctx context.Context, script string) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	cmd := exec.CommandContext(bounded, s.path, s.args...)
	cmd.Stdin = strings.NewReader(script)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case bounded.Err() != nil:
		return "unknown", nil
	}
	// After unsat, z3 exits with 1 because values were asked for.
	first, _, _ := strings.Cut(string(out), "\n")
	switch strings.TrimSpace(first) {
	case "sat", "unsat", "unknown":
		return string(out), nil
	}
	if err == nil {
		err = errors.New("no answer")
	}
	return "", fmt.Errorf("%s: %w: %.200s%s", s.Name, err, out, stderr.String())
}
