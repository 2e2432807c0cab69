package gotest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/wholefile"
)

// Fuzz says that each input of some fuzz targets is explored alone.
type Fuzz struct {
	Targets *regexp.Regexp
	// Time and MinimizeTime are -fuzztime and -fuzzminimizetime of Go's fuzzer, which looks for new inputs. An empty
	// Time means that it does not run.
	Time, MinimizeTime string
}

// fuzzes reports whether a test is a fuzz target whose inputs are explored alone.
func (s *suite) fuzzes(name string) bool {
	return s.options.Fuzz != nil && strings.HasPrefix(name, "Fuzz") && s.options.Fuzz.Targets.MatchString(name)
}

// fuzz explores a target's inputs: those of f.Add and testdata, then those that Go's fuzzer has found before, and then
// new ones.
func (s *suite) fuzz(ctx context.Context, u unit, plain gotool.Binary, r *result.Package) error {
	own := filepath.Join(u.pkg.Dir, "testdata", "fuzz", u.name)
	done := map[string]bool{}
	explore := func(inputs []string) error {
		for _, input := range inputs {
			if name := filepath.Base(input); !done[name] {
				done[name] = true
				if err := s.input(ctx, u, own, input, r); err != nil {
					return err
				}
			}
			if s.options.Failfast && r.Found > 0 {
				return nil
			}
		}
		return nil
	}
	names, err := plain.Subtests(ctx, u.name, gotool.Only(u.name), s.listing())
	if err != nil {
		return err
	}
	var seeds []string // of the testdata, and seed#0, seed#1, … of f.Add
	for _, name := range names {
		seed, _, _ := strings.Cut(strings.TrimPrefix(name, u.name+"/"), "/") // the input may have subtests
		seeds = append(seeds, seed)
	}
	cache := s.builder.FuzzCache(u.pkg, u.name)
	if err := explore(slices.Concat(seeds, files(own), files(cache))); err != nil || s.options.Fuzz.Time == "" {
		return err
	}
	finished := s.events.Building("inputs of " + u.name)
	err = s.builder.Fuzz(ctx, u.recipe, u.name, s.options.Fuzz.Time, s.options.Fuzz.MinimizeTime)
	finished()
	if err != nil {
		if ctx.Err() == nil {
			s.launcher.Note(fmt.Sprintf("%s: no new inputs: %v", u.name, err))
		}
		return ctx.Err()
	}
	return explore(slices.Concat(files(own), files(cache)))
}

// input explores a target with one input alone. An input of the fuzzer's cache is in the testdata for that time, where
// the test reads it, and stays there if it shows a bug, as Go's fuzzer leaves one.
func (s *suite) input(ctx context.Context, u unit, own, file string, r *result.Package) error {
	name := filepath.Base(file)
	u.name += "/" + name
	u.recipe = s.recipe(u.pkg, gotool.Only(u.name))
	at := filepath.Join(own, name)
	if filepath.IsAbs(file) && file != at {
		undo, err := place(file, at)
		if err != nil {
			return fmt.Errorf("the input %s cannot be put into the package's testdata: %w", file, err)
		}
		before := r.Found
		defer func() {
			if r.Found == before {
				undo()
			}
		}()
	}
	return s.unit(ctx, u, r)
}

// place copies a file to a place where none is, and returns how to undo it.
func place(file, at string) (undo func(), err error) {
	var made []string // directories, the inner ones first
	for dir := filepath.Dir(at); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		made = append(made, dir)
	}
	b, err := os.ReadFile(file)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(at), 0o777)
	}
	if err == nil {
		err = wholefile.WriteBytes(at, 0o666, b)
	}
	return func() {
		os.Remove(at)
		for _, dir := range made {
			os.Remove(dir)
		}
	}, err
}

// files returns the names of the files in a directory.
func files(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}
