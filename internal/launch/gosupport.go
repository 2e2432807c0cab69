package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/goprog"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
)

// Support adds heddle to Go programs and starts them.
type Support interface {
	// Overlay makes the files that add heddle to the runtime of the tool's release.
	Overlay(ctx context.Context, t *gotool.Tool, cache string, opts patch.Options) (gotool.Overlay, error)
	// Start starts a program that was built with that overlay.
	Start(context.Context, goprog.Config) (target.Target, error)
}

// Patched is the production Support: an overlay over Go's own runtime.
type Patched struct{}

// Overlay implements Support.
func (Patched) Overlay(ctx context.Context, t *gotool.Tool, cache string, opts patch.Options) (gotool.Overlay, error) {
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return gotool.Overlay{}, fmt.Errorf("the cache directory cannot be made (%w): set HEDDLE_CACHE to a writable directory", err)
	}
	o, err := patch.Make(ctx, t.Root, cache, opts)
	if err != nil {
		return gotool.Overlay{}, err
	}
	return gotool.Overlay{Flags: o.Flags, Env: o.Env}, nil
}

// Start implements Support.
func (Patched) Start(ctx context.Context, c goprog.Config) (target.Target, error) {
	t, err := goprog.Start(ctx, c)
	var refused *goprog.RefusedError
	if errors.As(err, &refused) {
		return nil, fmt.Errorf("heddle cannot run %s: %w", filepath.Base(c.Path), err)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}
