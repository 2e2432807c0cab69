package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/handmade"
)

type numberedProgram struct {
	number  int
	program *handmade.Program
}

// batch is programs of one style that one compiler translates in one go: compilation takes longer than
// most searches.
type batch struct {
	compiler string
	programs []numberedProgram
}

// batches divides programs among the compilers.
func batches(programs []numberedProgram, s *settings) (all []batch) {
	for c, compiler := range s.Compilers {
		for _, style := range handmade.Styles {
			var own []numberedProgram
			for i, p := range programs {
				if p.program.Style.Name == style.Name && i/2%len(s.Compilers) == c {
					own = append(own, p)
				}
			}
			for part := range slices.Chunk(own, s.Batch) {
				all = append(all, batch{compiler, part})
			}
		}
	}
	return all
}

// row is what came out for one program.
type row struct {
	Number     int     `json:"number"`
	Family     string  `json:"family"`
	Bug        string  `json:"bug,omitempty"`
	Program    string  `json:"program"`
	Compiler   string  `json:"compiler"`
	Verdict    string  `json:"verdict"` // right, or what is wrong
	Outcome    string  `json:"outcome"`
	Ended      string  `json:"ended"`
	Executions int     `json:"executions"`
	Seconds    float64 `json:"seconds"`
	Kind       string  `json:"kind,omitempty"`
	Message    string  `json:"message,omitempty"`
	Where      string  `json:"where,omitempty"`
	Source     string  `json:"source,omitempty"` // of an exception
}

const (
	right        = "right"
	falseFinding = "false finding"
	missed       = "missed"
	otherKind    = "another kind of finding"
	undecided    = "nothing decided"
	notNative    = "fails without heddle"
)

// searched is what heddle find prints about a search, as far as it is used.
type searched struct {
	Outcome    string  `json:"outcome"`
	Ended      string  `json:"ended"`
	Executions int     `json:"executions"`
	Seconds    float64 `json:"seconds"`
	Finding    *struct {
		Kind      string `json:"kind"`
		Message   string `json:"message"`
		Where     string `json:"where"`
		Execution int    `json:"execution"`
	} `json:"finding"`
}

// measure compiles the programs in a new directory and searches each.
func (b *batch) measure(ctx context.Context, s *settings, dir string) (rows []row, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	var programs []*handmade.Program
	for _, p := range b.programs {
		programs = append(programs, p.program)
	}
	source, driver := filepath.Join(dir, "programs.c"), "cc"
	own := b.compiler
	var std []string
	if programs[0].Style.CXX {
		source, driver, std = filepath.Join(dir, "programs.cc"), "c++", []string{"-std=c++17"}
		own = map[string]string{"gcc": "g++", "clang": "clang++"}[b.compiler]
	}
	if err := os.WriteFile(source, []byte(handmade.Source(programs)), 0o600); err != nil {
		return nil, err
	}
	compile := func(out string, command ...string) error {
		args := slices.Concat(command, std, []string{"-O1", "-g", "-pthread", "-o", out, source})
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "HEDDLE_CC="+b.compiler, "HEDDLE_CXX="+own)
		if msg, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, msg)
		}
		return nil
	}
	binary, native := filepath.Join(dir, "programs"), filepath.Join(dir, "native")
	if err := compile(binary, s.Heddle, driver); err != nil {
		return nil, err
	}
	if s.Native > 0 {
		if err := compile(native, own); err != nil {
			return nil, err
		}
	}
	for i, p := range b.programs {
		var args []string
		if len(programs) > 1 {
			args = []string{strconv.Itoa(i)}
		}
		r := row{Number: p.number, Family: p.program.Family, Bug: p.program.Bug, Program: p.program.String(), Compiler: b.compiler}
		if p.program.Verdict == handmade.Correct && !p.program.Starves {
			if r.Message = runNative(ctx, s.Native, native, args); r.Message != "" {
				r.Verdict = notNative
			}
		}
		if r.Verdict == "" {
			if err := r.search(ctx, s, p.program, binary, args); err != nil {
				return nil, err
			}
		}
		if r.Verdict != right {
			r.Source = handmade.Source([]*handmade.Program{p.program})
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// runNative runs a program without heddle and says how it failed, if it did.
func runNative(ctx context.Context, times int, native string, args []string) string {
	for range times {
		limited, cancel := context.WithTimeout(ctx, 20*time.Second)
		err := exec.CommandContext(limited, native, args...).Run()
		late := errors.Is(limited.Err(), context.DeadlineExceeded)
		cancel()
		if late {
			return "does not end"
		}
		if err != nil {
			return err.Error()
		}
	}
	return ""
}

// search searches a program and judges the result.
func (r *row) search(ctx context.Context, s *settings, p *handmade.Program, binary string, programArgs []string) error {
	dir := filepath.Dir(binary)
	args := slices.Concat([]string{"find", "--json", "--no-simplify", "--races=ignore", "--runs", strconv.Itoa(s.Runs), "--time", s.Time.String(),
		"--seed", strconv.FormatUint(s.Generate.Seed, 10), "-o", filepath.Join(dir, "trace.hdl")}, s.Options, []string{"--", binary}, programArgs)
	cmd := exec.CommandContext(ctx, s.Heddle, args...)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	runErr := cmd.Run()
	var found searched
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		r.Verdict, r.Message = undecided, fmt.Sprintf("%v: %s", runErr, strings.TrimSpace(errs.String()))
		return ctx.Err()
	}
	r.Outcome, r.Ended, r.Executions, r.Seconds = found.Outcome, found.Ended, found.Executions, found.Seconds
	if f := found.Finding; f != nil {
		r.Kind, r.Message, r.Where = f.Kind, f.Message, f.Where
	}
	r.Verdict = judge(p, &found)
	return nil
}

// judge compares the result of a search with what is known of the program.
func judge(p *handmade.Program, r *searched) string {
	stuck := []string{"deadlock", "hang", "livelock"}
	switch {
	case r.Finding == nil && p.Verdict != handmade.Correct:
		return missed
	case r.Finding == nil && r.Outcome == "clean":
		return right
	case r.Finding == nil:
		return undecided
	case p.Verdict == handmade.Correct:
		return falseFinding
	case slices.Contains(stuck, r.Finding.Kind), p.Verdict == handmade.Wrong && r.Finding.Kind == "assertion":
		return right
	}
	return otherKind
}
