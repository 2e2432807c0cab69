package gotool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Settle makes sure that files of the Go installation can be overlaid. Since Go 1.25 the go command
// refuses that for an installation in the module cache, which it downloaded itself for a toolchain
// line or GOTOOLCHAIN. Settle then uses a copy in cache, made the first time, whose files are links
// where possible.
func (t *Tool) Settle(ctx context.Context, cache string) error {
	if t.ModCache == "" || !strings.HasPrefix(t.Root, t.ModCache+string(filepath.Separator)) {
		return nil
	}
	root := filepath.Join(cache, "goroot", filepath.Base(t.Root))
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		if err := copyTree(ctx, t.Root, root); err != nil {
			return fmt.Errorf("the Go installation in %s can neither be overlaid in place nor copied (%w): set HEDDLE_CACHE to a directory with 250 MB of free space", t.Root, err)
		}
	}
	t.Root = root
	t.Path = filepath.Join(root, "bin", "go")
	t.env = []string{"GOTOOLCHAIN=local", "GOROOT=" + root}
	return nil
}

// copyTree copies a directory, completely or not at all.
func copyTree(ctx context.Context, from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(to), "copying-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	err = filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		made := filepath.Join(tmp, rel)
		if d.IsDir() {
			return os.MkdirAll(made, 0o755)
		}
		if os.Link(name, made) == nil {
			return nil
		}
		return copyFile(name, made)
	})
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, to); err != nil {
		if _, other := os.Stat(to); other == nil {
			return nil // another heddle process was faster
		}
		return err
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
