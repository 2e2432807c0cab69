package launch

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// goTool is Recipe.Tool of all programs that heddle builds.
const goTool = "go"

// Values of Recipe.Leaks besides the empty one, which means a note.
const (
	LeaksFail   = "fail"
	LeaksIgnore = "ignore"
)

// RecipeOf returns how to build the program of a Go trace in dir. An older trace has
// a heddle command line instead, which RecipeOf converts; nothing else reads those.
func RecipeOf(run trace.Run, dir string) (*trace.Recipe, error) {
	r := run.Recipe
	if r == nil {
		var err error
		if r, err = fromCommandLine(run.Command, dir); err != nil {
			return nil, err
		}
	}
	switch {
	case r.Tool != goTool:
		return nil, fmt.Errorf("unknown build tool %q; use the heddle that recorded it", r.Tool)
	case r.Kind != trace.RecipeProgram && r.Kind != trace.RecipeTest:
		return nil, fmt.Errorf("unknown kind of build %q; use the heddle that recorded it", r.Kind)
	case r.Leaks != "" && r.Leaks != LeaksFail && r.Leaks != LeaksIgnore:
		return nil, fmt.Errorf("unknown handling of leaked goroutines %q; use the heddle that recorded it", r.Leaks)
	case len(r.Packages) == 0:
		return nil, fmt.Errorf("no packages in %q", strings.Join(report.CommandLine(&trace.Header{Command: run.Command, Recipe: run.Recipe}), " "))
	}
	return r, checkPackages(r.Packages)
}

// fromCommandLine returns the recipe for a command line of heddle test or heddle find, as earlier
// versions wrote it into headers: flags in one word each, then packages, then -args and arguments.
func fromCommandLine(words []string, dir string) (*trace.Recipe, error) {
	if len(words) >= 3 && words[0] == "heddle" {
		switch {
		case words[1] == "find" && words[2] == "--":
			what, args := goWords(dir, words[3:])
			return &trace.Recipe{Kind: trace.RecipeProgram, Tool: goTool, Packages: what, Args: args}, nil
		case words[1] == "test":
			return fromTestLine(words[2:])
		}
	}
	return nil, fmt.Errorf("%q is not a command line that heddle wrote", strings.Join(words, " "))
}

func fromTestLine(words []string) (*trace.Recipe, error) {
	r := &trace.Recipe{Kind: trace.RecipeTest, Tool: goTool}
	for len(words) > 0 && strings.HasPrefix(words[0], "-") && words[0] != "-args" {
		if err := addTestFlag(r, words[0]); err != nil {
			return nil, err
		}
		words = words[1:]
	}
	for len(words) > 0 && words[0] != "-args" {
		if strings.HasPrefix(words[0], "-") {
			return nil, fmt.Errorf("the flag %s comes after the packages", words[0])
		}
		r.Packages = append(r.Packages, words[0])
		words = words[1:]
	}
	if len(words) > 0 {
		r.Args = words[1:]
	}
	return r, nil
}

// addTestFlag adds a flag of heddle test, name and value in one word.
func addTestFlag(r *trace.Recipe, word string) error {
	name, value, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	switch name {
	case "tags", "mod", "modfile", "overlay", "ldflags", "gcflags", "asmflags", "pgo", "p", "trimpath":
		r.Flags = append(r.Flags, "-"+strings.TrimLeft(word, "-"))
	case "vet":
		r.Vet = value
	case "run":
		r.Run = value
	case "skip":
		r.Skip = value
	case "short":
		r.Short = true
	case "race":
		r.RacesAllowed = value == "false"
	case "parallel":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("%s is not a number of tests", word)
		}
		r.Parallel = n
	case "leaks":
		r.Leaks = value
		if value == "note" {
			r.Leaks = ""
		}
	case "no-leaks":
		r.Leaks = LeaksIgnore
	case "leak-ignore":
		r.LeakIgnore = append(r.LeakIgnore, value)
	default:
		return errors.New("unknown flag " + word)
	}
	return nil
}
