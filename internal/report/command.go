package report

import (
	"fmt"

	"github.com/heddle-dev/heddle/trace"
)

// CommandLine returns the command line that runs the program of a trace: the program's own or, if
// the trace has a build recipe, a heddle command that builds the program first. It is for display
// only.
func CommandLine(h *trace.Header) []string {
	r := h.Recipe
	if r == nil {
		return h.Command
	}
	if r.Kind != trace.RecipeTest {
		return append(append([]string{"heddle", "find", "--"}, r.Packages...), r.Args...)
	}
	words := []string{"heddle", "test"}
	if r.Leaks != "" {
		words = append(words, "--leaks="+r.Leaks)
	}
	for _, name := range r.LeakIgnore {
		words = append(words, "--leak-ignore="+name)
	}
	if r.Vet != "" {
		words = append(words, "-vet="+r.Vet)
	}
	words = append(words, r.Flags...)
	if r.RacesAllowed {
		words = append(words, "-race=false")
	}
	if r.Short {
		words = append(words, "-short")
	}
	if r.Parallel != 0 {
		words = append(words, fmt.Sprintf("-parallel=%d", r.Parallel))
	}
	if r.Skip != "" {
		words = append(words, "-skip="+r.Skip)
	}
	words = append(append(words, "-run="+r.Run), r.Packages...)
	if len(r.Args) > 0 {
		words = append(append(words, "-args"), r.Args...)
	}
	return words
}
