// Package launch prepares programs for execution: it builds heddle's runtime and Go programs,
// starts the program of a command line or a trace, and decides whether a trace may be run at all.
package launch

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/heddle-dev/heddle/internal/toolchain"
)

// Launcher starts programs with the options that apply to all of them.
type Launcher struct {
	Cache   string // cache directory, as toolchain.CacheDir takes it
	GoTool  string // the go command, empty for the one in PATH
	Version string // heddle's, for traces
	Memory  int64  // limit on a recording's memory, in bytes
	Support Support

	// Trusted runs the programs of other users' traces without asking. Confirm asks the user
	// whether heddle should do what the text says; it is nil if no user can answer.
	Trusted bool
	Confirm func(ctx context.Context, text string) (bool, error)

	// Note prints a sentence for the user, without a full stop. Say prints one about a long
	// operation. Slowly prints its sentence unless the function it returns is called within a
	// moment.
	Note, Say func(string)
	Slowly    func(string) (done func())
	// Quiet means that the caller reports builds of tests.
	Quiet bool
	// Output receives the output of a failing go command.
	Output io.Writer
}

// Runtime returns heddle's runtime, from the cache or newly built.
func (l *Launcher) Runtime(ctx context.Context) (toolchain.Runtime, error) { return l.build(ctx, nil) }

// build returns a library of heddle's, from the cache or newly built; nil is the runtime's source.
func (l *Launcher) build(ctx context.Context, source fs.FS) (toolchain.Runtime, error) {
	cache, err := toolchain.CacheDir(l.Cache)
	if err != nil {
		return toolchain.Runtime{}, err
	}
	cc, err := toolchain.Find(ctx, toolchain.C)
	if err != nil {
		return toolchain.Runtime{}, err
	}
	return toolchain.Build(ctx, toolchain.Options{Compiler: cc, Cache: cache, Source: source, Building: func() func() {
		return l.Slowly(fmt.Sprintf("compiling heddle's runtime with %s; this is done once and kept in %s", cc.Path(), cache))
	}})
}

// WorkingDir returns the directory in which heddle was called.
func WorkingDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the working directory no longer exists: %w", err)
	}
	return dir, nil
}
