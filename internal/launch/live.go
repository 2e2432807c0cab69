package launch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/target/live"
	"github.com/heddle-dev/heddle/trace"
)

// Live prepares a C or C++ program for the backend live. modules are those of a controlled execution
// of it, which says where its libraries are.
func (l *Launcher) Live(ctx context.Context, p Program, modules []trace.Module) (*live.Program, error) {
	dir, err := WorkingDir()
	if err != nil {
		return nil, err
	}
	return l.live(ctx, p, dir, modules)
}

// live is Live for a program in a directory.
func (l *Launcher) live(ctx context.Context, p Program, dir string, modules []trace.Module) (*live.Program, error) {
	path, err := Executable(p.Words)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if gotool.Built(path) {
		return nil, fmt.Errorf("%s is a Go program, and the backend live is for C and C++: the Go runtime schedules goroutines itself", path)
	}
	rt, err := l.build(ctx, heddle.LiveRuntime())
	if err != nil {
		return nil, err
	}
	return live.New(live.Config{Path: path, Args: p.Words, Dir: dir, Env: os.Environ(), Stdin: p.Stdin, Library: rt.Library, Modules: modules}), nil
}
