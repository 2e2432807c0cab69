package gotool

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/heddle-dev/heddle/internal/godump"
)

// Binary is a test binary and how to run it: in its package's directory, as go test does.
type Binary struct {
	Path string
	Dir  string   // the package's directory
	Env  []string // nil for heddle's own
	Args []string // the user's, after heddle's: what follows -args, -test.short, …
	Exec []string // words of a command that executes the binary, as go test -exec names it; empty for none
}

// patience limits the run of a test binary outside heddle's control, to list tests or to find the
// subtests of one, unless the caller's limit is less.
const patience = time.Minute

// run runs the binary for at most the time limit, if it is not 0, and returns its output. One that does not end is asked where it is,
// and then has another second.
func (b Binary) run(ctx context.Context, limit time.Duration, args ...string) (string, error) {
	if limit <= 0 || limit > patience {
		limit = patience
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	words := slices.Concat(b.Exec, []string{b.Path}, args, b.Args)
	cmd := exec.CommandContext(bounded, words[0], words[1:]...)
	cmd.Dir, cmd.Env = b.Dir, b.Env
	// The process group includes what the tests start, and is killed as a whole.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = func() error {
		if ctx.Err() != nil {
			return kill()
		}
		return syscall.Kill(cmd.Process.Pid, syscall.SIGQUIT)
	}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case bounded.Err() != nil && cmd.Process != nil:
		kill() // what it has started, too
		err = fmt.Errorf("it did not end within %v", limit)
	}
	return string(out), err
}

// List returns what the binary prints for -list with a regular expression: the names of tests, benchmarks, fuzz targets
// and examples that match, a line each, and anything that a TestMain writes. limit bounds the run, 0 for a minute.
func (b Binary) List(ctx context.Context, expr string, limit time.Duration) (string, error) {
	out, err := b.run(ctx, limit, "-test.list="+expr)
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		// What package flag prints, before it lists all flags.
		if _, name, ok := strings.Cut(out, "flag provided but not defined: "); ok {
			name, _, _ = strings.Cut(name, "\n")
			return "", fmt.Errorf("neither go test nor the test binary has a flag %s", name)
		}
		return "", fmt.Errorf("the test binary cannot list its tests (%w)%s", err, said(out))
	}
	return out, nil
}

// Cover writes the coverage profile of the counters in a file, to which executions under heddle have added theirs, and
// returns the line in which go test sums them up.
func (b Binary) Cover(ctx context.Context, counters, profile string) (line string, err error) {
	if b.Env == nil {
		b.Env = os.Environ()
	}
	b.Env = append(slices.Clone(b.Env), "HEDDLE_COVER_LOAD="+counters)
	out, err := b.run(ctx, 0, "-test.run=^$", "-test.coverprofile="+profile)
	for l := range strings.Lines(out) {
		if strings.HasPrefix(l, "coverage: ") {
			line = strings.TrimSpace(l)
		}
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("the test binary cannot report it (%w)%s", err, said(out))
	}
	return line, err
}

// Tests returns the names of the binary's tests, fuzz targets and examples, in the order in which
// the binary runs them. It omits benchmarks.
// limit is as for List.
func (b Binary) Tests(ctx context.Context, limit time.Duration) ([]string, error) {
	out, err := b.List(ctx, ".", limit)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(Listed(out), func(name string) bool { return strings.HasPrefix(name, "Benchmark") }), nil
}

// Listed returns the names among what List returns.
func Listed(out string) (names []string) {
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); testName.MatchString(line) {
			names = append(names, line)
		}
	}
	return names
}

// testName distinguishes a test from what a TestMain prints.
var testName = regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)(|[\p{Lu}\p{N}_][\p{L}\p{N}_]*|_[\p{L}\p{N}_]*)$`)

// Subtests runs a test without heddle and returns the full names of those of its subtests that have
// no subtests themselves, in the order in which they ran. run is the -test.run that selects among
// them (Filter.Select), limit is as for List.
func (b Binary) Subtests(ctx context.Context, test, run string, limit time.Duration) ([]string, error) {
	out, err := b.run(ctx, limit, "-test.run="+run, "-test.v", "-test.count=1")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var names []string
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(line, "=== RUN "); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	if len(names) == 0 && err != nil {
		return nil, fmt.Errorf("%s cannot be run to find its subtests (%w)%s", test, err, said(out))
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name == test || slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	}), nil
}

// said returns what the output of a failed run says, for an error message: the message of Go's runtime and where the goroutines were,
// or the last lines.
func said(out string) string {
	text := []byte(out)
	var lines []string
	for _, prefix := range []string{godump.Panic, godump.Fatal} {
		if m, _ := godump.Message(text, prefix); m != "" {
			lines = append(lines, prefix+m)
		}
	}
	if lines = append(lines, godump.Positions(text)...); len(lines) == 0 {
		lines = strings.FieldsFunc(strings.TrimSpace(out), func(r rune) bool { return r == '\n' })
		lines = lines[max(0, len(lines)-3):]
	}
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines, "; ")
}
