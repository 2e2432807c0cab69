package gotool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Tool is a go command used in one directory: a toolchain line in go.mod or go.work there can
// select another release than elsewhere.
type Tool struct {
	Path    string   // the go command
	Dir     string   // working directory of its calls
	Version string   // release, like go1.25.6
	Root    string   // GOROOT of that release
	Flags   []string // the words of GOFLAGS
	ModCache,
	Cache, // GOCACHE
	OS, Arch string
	Cgo bool // packages may use cgo: CGO_ENABLED is set, or a C compiler exists
	// Env are variables set for builds, in addition to heddle's own environment.
	Env []string

	env []string // environment of its calls, in addition to heddle's own
}

// Find finds the go command, flag if it is not empty and else the one in PATH, and queries its
// settings in dir. It accepts any release; see Supported.
func Find(ctx context.Context, flag, dir string) (*Tool, error) {
	path := flag
	if path == "" {
		path = "go"
	}
	found, err := exec.LookPath(path)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		if flag != "" {
			return nil, fmt.Errorf("--go %s is not a command that can be run: give the path of a go command", flag)
		}
		return nil, errors.New("no go command is in PATH: install Go from https://go.dev/dl, or name one with --go")
	}
	if found, err = filepath.Abs(found); err != nil {
		return nil, err
	}
	t := &Tool{Path: found, Dir: dir}
	out, err := t.output(ctx, "env", "-json", "GOVERSION", "GOROOT", "GOFLAGS", "GOMODCACHE", "GOCACHE", "CGO_ENABLED", "GOOS", "GOARCH")
	if err != nil {
		return nil, fmt.Errorf("the go command %s cannot be used here: %w", found, err)
	}
	var env struct{ GOVERSION, GOROOT, GOFLAGS, GOMODCACHE, GOCACHE, CGO_ENABLED, GOOS, GOARCH string }
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("%s is not a go command: it does not answer go env -json", found)
	}
	t.Version, t.Root, t.ModCache, t.Cache, t.OS, t.Arch = env.GOVERSION, env.GOROOT, env.GOMODCACHE, env.GOCACHE, env.GOOS, env.GOARCH
	t.Cgo = env.CGO_ENABLED == "1"
	if t.Flags, err = SplitQuoted(env.GOFLAGS); err != nil {
		return nil, fmt.Errorf("GOFLAGS: %w", err)
	}
	return t, nil
}

// command prepares a call of the go command in its directory. When interrupted, the command gets
// the time to remove its temporary files.
func (t *Tool) command(ctx context.Context, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.Path, args...)
	cmd.Dir = t.Dir
	cmd.Env = append(os.Environ(), "PWD="+t.Dir)
	cmd.Env = slices.Concat(cmd.Env, t.Env, t.env, env)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// output returns what the go command prints. The error is the command's own message.
func (t *Tool) output(ctx context.Context, args ...string) ([]byte, error) {
	cmd := t.command(ctx, nil, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && stderr.Len() > 0:
		return nil, errors.New(oneLine(stderr.String()))
	}
	return out, err
}

// oneLine turns a message of the go command into part of a sentence.
func oneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' })
	for i, l := range lines {
		lines[i] = strings.TrimSpace(strings.TrimPrefix(l, "go: "))
	}
	return strings.Join(lines, "; ")
}

// BuildEnv returns the environment variables, NAME=value, that are set and decide what the go
// command builds. It omits GOFLAGS, which can name programs to run, and CGO_ENABLED, which the
// overlay decides.
func BuildEnv() (vars []string) {
	for _, name := range []string{"GOAMD64", "GOEXPERIMENT"} {
		if v := os.Getenv(name); v != "" {
			vars = append(vars, name+"="+v)
		}
	}
	return vars
}
