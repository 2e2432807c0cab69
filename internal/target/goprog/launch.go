package goprog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/godump"
	"github.com/heddle-dev/heddle/internal/target/ipc"
)

// launch starts a process that has stopped where its next execution begins. If its warm-up fails,
// the target is cold from then on.
func (t *Target) launch(ctx context.Context) (*ipc.Process, error) {
	p, err := launch(ctx, &t.cfg, t.coldAt(0))
	if errors.Is(err, ipc.ErrCold) {
		t.cold.Store(true)
		p, err = launch(ctx, &t.cfg, true)
	}
	return p, err
}

// launch returns a cold program's error unchanged: only the target's own goroutine may make the
// target cold.
func launch(ctx context.Context, cfg *Config, cold bool) (*ipc.Process, error) {
	budget := cfg.PerProcess
	if cold {
		budget = 1
	}
	c := command(cfg, cold)
	if err := scratch(c); err != nil {
		return nil, err
	}
	p, err := ipc.Launch(ctx, c)
	if errors.Is(err, ipc.ErrCold) && cold {
		err = errors.New("the program reports that its warm-up failed, but none was requested: a bug in heddle")
	}
	if err != nil {
		return nil, err
	}
	if len(cfg.Exec) > 0 && !runs(p.Pid(), cfg.Path) {
		p.Close()
		return nil, fmt.Errorf("the command of -exec, %s, runs the test in a process of its own: %s", cfg.Exec[0], mustExec)
	}
	p.Budget, p.Mark = budget, p.OutputSize()
	return p, nil
}

// mustExec says how a command of -exec starts the test binary, which heddle watches, signals and ends by its process.
const mustExec = "it must end in an exec of the test binary, and leave it the environment and all open files"

// runs reports whether a process runs an executable.
func runs(pid int, path string) bool {
	now, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	file, ferr := os.Stat(path)
	return err == nil && ferr == nil && os.SameFile(now, file)
}

// command returns how a process is started.
func command(cfg *Config, cold bool) *ipc.Command {
	c := &ipc.Command{
		Path: cfg.Path, Args: cfg.Args, Dir: cfg.Dir, Env: environment(cfg), Stdin: cfg.Stdin,
		Append: true, Bound: true, Quit: syscall.SIGQUIT, QuitEnds: true, Early: early, Words: godump.Words, Where: godump.Positions, Randomize: cfg.Randomize,
	}
	if len(cfg.Exec) > 0 {
		c.Path, c.Args = cfg.Exec[0], slices.Concat(cfg.Exec, []string{cfg.Path}, cfg.Args[1:])
		c.Early = func(loaded bool, how, words string) string {
			if loaded {
				return early(loaded, how, words)
			}
			return fmt.Sprintf("the command of -exec, %s, ended before the test began (%s): %s", cfg.Exec[0], how, mustExec)
		}
	}
	if cfg.NoLeaks {
		c.Options |= abi.OptNoLeaks
	}
	if cold {
		c.Options |= abi.OptNoWarmup
	} else {
		// A test that hangs in its warm-up counts as failing.
		c.WarmUp = cfg.Watchdog
	}
	return c
}

// scratch gives the process its own directory for temporary files: their names are the same in
// every process, and several processes may run at once.
func scratch(c *ipc.Command) error {
	var id [4]byte
	rand.Read(id[:])
	c.Scratch = filepath.Join(tempDir(c.Env), fmt.Sprintf("heddle-%x", id))
	if err := os.MkdirAll(c.Scratch, 0o700); err != nil {
		return fmt.Errorf("cannot make a directory for temporary files: %w", err)
	}
	c.Env = append(c.Env, "TMPDIR="+c.Scratch)
	return nil
}

// tempDir returns the directory for temporary files of a program with this environment.
func tempDir(env []string) string {
	dir := "/tmp"
	for _, e := range env {
		if d, ok := strings.CutPrefix(e, "TMPDIR="); ok && d != "" {
			dir = d // the last setting of a name wins
		}
	}
	return dir
}

// early returns the sentence for a program that ended before its first execution.
func early(loaded bool, how, words string) string {
	s := fmt.Sprintf("the program ended before heddle's scheduler took over (%s): was it built with heddle's overlay, and is there a test to run?", how)
	if loaded {
		s = fmt.Sprintf("the program ended before its first execution began (%s)", how)
	}
	if words != "" {
		s += "; it wrote:\n" + words
	}
	return s
}

// environment returns the program's environment: the user's, and settings that make Go's runtime
// repeatable.
func environment(cfg *Config) []string {
	env := make([]string, 0, len(cfg.Env)+10)
	debug, race := "", ""
	for _, e := range cfg.Env {
		name, value, _ := strings.Cut(e, "=")
		switch name {
		case "GODEBUG":
			debug = value + ","
		case "GORACE":
			race = value + " "
		case "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GOTRACEBACK", "HEDDLE_GO", "HEDDLE_LEAK_IGNORE", "HEDDLE_PARALLEL", "HEDDLE_COVER":
		case "PWD":
			if cfg.Dir == "" { // otherwise PWD is another directory's
				env = append(env, e)
			}
		default:
			env = append(env, e)
		}
	}
	kind := "main"
	if cfg.Test {
		kind = "test"
	}
	if cfg.Dir != "" {
		env = append(env, "PWD="+cfg.Dir)
	}
	if cfg.Parallel > 0 {
		env = append(env, fmt.Sprintf("HEDDLE_PARALLEL=%d", cfg.Parallel))
	}
	if len(cfg.LeakIgnore) > 0 {
		env = append(env, "HEDDLE_LEAK_IGNORE="+strings.Join(cfg.LeakIgnore, "\n"))
	}
	if cfg.Cover != "" {
		env = append(env, "HEDDLE_COVER="+cfg.Cover)
	}
	return append(env, "HEDDLE_GO="+kind, "GOMAXPROCS=1", "GOTRACEBACK=all", "GOGC=off", "GOMEMLIMIT=off",
		// The last setting of a name wins.
		"GODEBUG="+strings.TrimPrefix(debug, ",")+"asyncpreemptoff=1,gcshrinkstackoff=1,gcstoptheworld=2",
		// Otherwise each process of a -race build sleeps for a second at exit.
		"GORACE="+race+"atexit_sleep_ms=0")
}
