// Package runtimecache gives all tests of a machine one cache of built C runtimes, so that a run of the suite compiles
// each of them once and not once for each package.
package runtimecache

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/internal/toolchain"
)

// unused is how long what no test has asked for is kept: longer than a run of the suite takes.
const unused = 24 * time.Hour

// Dir returns the directory, made if need be. It outlives the tests. What is in it is found by its content, so that tests of
// different sources can share it; a test of the cache itself has one of its own.
var Dir = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("heddle-tests-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > unused {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	return dir, nil
})

// Build returns the runtime of this checkout, built with the C compiler that heddle would take.
func Build(ctx context.Context) (toolchain.Runtime, error) {
	dir, err := Dir()
	if err != nil {
		return toolchain.Runtime{}, err
	}
	cc, err := toolchain.Find(ctx, toolchain.C)
	if err != nil {
		return toolchain.Runtime{}, err
	}
	rt, err := toolchain.Build(ctx, toolchain.Options{Compiler: cc, Cache: dir})
	if err == nil {
		now := time.Now()
		_ = os.Chtimes(rt.Dir, now, now) // in use
	}
	return rt, err
}
