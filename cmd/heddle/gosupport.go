package main

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

// goSupport puts heddle into Go programs and starts them.
type goSupport interface {
	// overlay makes the files that put heddle into the runtime of the tool's release.
	overlay(ctx context.Context, t *gotool.Tool, cache string, opts patch.Options) (gotool.Overlay, error)
	start(context.Context, goprog.Config) (target.Target, error)
}

// goPrograms is the production implementation; tests replace it.
var goPrograms goSupport = patched{}

// patched is an overlay over Go's own runtime.
type patched struct{}

func (patched) overlay(ctx context.Context, t *gotool.Tool, cache string, opts patch.Options) (gotool.Overlay, error) {
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return gotool.Overlay{}, fmt.Errorf("the cache directory cannot be made (%w): set HEDDLE_CACHE to a directory that can", err)
	}
	o, err := patch.Make(ctx, t.Root, cache, opts)
	if err != nil {
		return gotool.Overlay{}, err
	}
	return gotool.Overlay{Flags: o.Flags, Env: o.Env}, nil
}

func (patched) start(ctx context.Context, c goprog.Config) (target.Target, error) {
	c.Version = currentVersion().Version
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
