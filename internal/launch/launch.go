// Package launch makes programs ready to be executed: it builds heddle's runtime and Go
// programs, starts what a command line or a trace names, and decides whether a trace may be
// run at all.
package launch

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/heddle-dev/heddle/internal/toolchain"
)

// Launcher starts programs with what the user has said for all of them.
type Launcher struct {
	Cache   string // cache directory, as toolchain.CacheDir takes it
	GoTool  string // the go command, empty for the one in PATH
	Version string // heddle's, for traces
	Memory  int64  // bytes that recording an execution may take
	Support Support

	// Trusted runs the programs of traces of others without asking. Confirm asks the user
	// whether heddle should do what the text says, and is nil where nobody can be asked.
	Trusted bool
	Confirm func(ctx context.Context, text string) (bool, error)

	// Note takes a sentence for the user, without a full stop; Say one that reports what
	// takes long. Slowly says it if what follows has not ended after a moment, which the
	// function it returns reports.
	Note, Say func(string)
	Slowly    func(string) (done func())
	// Quiet says that something else reports builds of tests.
	Quiet bool
	// Output takes what a failing go command printed.
	Output io.Writer
}

// Runtime builds heddle's runtime, or finds it in the cache.
func (l *Launcher) Runtime(ctx context.Context) (toolchain.Runtime, error) {
	cache, err := toolchain.CacheDir(l.Cache)
	if err != nil {
		return toolchain.Runtime{}, err
	}
	cc, err := toolchain.Find(ctx, toolchain.C)
	if err != nil {
		return toolchain.Runtime{}, err
	}
	return toolchain.Build(ctx, toolchain.Options{Compiler: cc, Cache: cache, Building: func() func() {
		return l.Slowly(fmt.Sprintf("compiling heddle's runtime with %s; this is done once and kept in %s", cc.Path(), cache))
	}})
}

// WorkingDir is the directory that heddle was called in.
func WorkingDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the working directory is gone: %w", err)
	}
	return dir, nil
}
