package report

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/wording"
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
	if len(r.Exec) > 0 {
		words = append(words, "-exec="+wording.QuotedWords(r.Exec))
	}
	words = append(append(words, "-run="+r.Run), r.Packages...)
	if len(r.Args) > 0 {
		words = append(append(words, "-args"), r.Args...)
	}
	return words
}

// DebuggerCommand opens a debugger on the execution of a trace.
type DebuggerCommand struct {
	Debugger string // `gdb`
	before   string
	file     string
}

// DebuggerCommands returns commands that replay a trace file in a debugger. An imported trace, which has no program, has
// none.
func DebuggerCommands(h *trace.Header, file string) (out []DebuggerCommand) {
	switch h.Target {
	case "c":
		out = []DebuggerCommand{{Debugger: "gdb", before: "--gdb"}, {Debugger: "lldb", before: "--gdb=lldb"}}
	case "go":
		out = []DebuggerCommand{{Debugger: "Delve", before: "--dlv"}}
	}
	for i := range out {
		out[i].file = wording.Quoted(file)
	}
	return out
}

// Line is the command line. The debugger stops at the failure.
func (c DebuggerCommand) Line() string { return "heddle replay " + c.before + " " + c.file }

// At is the command line with which the debugger stops at an event first, given by its number.
func (c DebuggerCommand) At(event string) string {
	return "heddle replay " + c.before + " --at " + event + " " + c.file
}
