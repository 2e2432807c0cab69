package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/goprog"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Builder builds Go programs with one go command.
type Builder struct {
	Cache string // the cache directory

	tool     *gotool.Tool
	over     gotool.Overlay
	opts     patch.Options
	launcher *Launcher
	once     sync.Once
	cgo      sync.Once // the note about it
}

// Builder returns a Builder for dir. env are variables to set for the go command in addition to
// heddle's own environment.
func (l *Launcher) Builder(ctx context.Context, dir string, env []string, opts patch.Options) (*Builder, error) {
	tool, err := gotool.Find(ctx, l.GoTool, dir)
	if err != nil {
		return nil, err
	}
	if err := tool.Supported(); err != nil {
		return nil, err
	}
	tool.Env = env
	if opts.Sanitizer {
		if err := tool.RaceDetector(ctx); err != nil {
			return nil, err
		}
	}
	cache, err := toolchain.CacheDir(l.Cache)
	if err != nil {
		return nil, err
	}
	if err := tool.Settle(ctx, cache); err != nil {
		return nil, err
	}
	over, err := l.Support.Overlay(ctx, tool, cache, opts)
	if err != nil {
		return nil, err
	}
	return &Builder{Cache: cache, tool: tool, over: over, opts: opts, launcher: l}, nil
}

// List returns the packages that patterns name; see gotool.Tool.List. flags are the build flags.
func (b *Builder) List(ctx context.Context, flags, patterns []string) ([]gotool.Package, error) {
	if err := checkPackages(patterns); err != nil {
		return nil, err
	}
	return b.tool.List(ctx, flags, patterns)
}

// Build builds the test binary or program of a recipe and returns its path. The output of a failing
// go command goes to Launcher.Output.
func (b *Builder) Build(ctx context.Context, r *trace.Recipe) (string, error) {
	test, flags := r.Kind == trace.RecipeTest, slices.Clone(r.Flags)
	if test && r.Vet != "" {
		flags = append(flags, "-vet="+r.Vet)
	}
	defer b.told(test, r.Packages)()
	what := gotool.Build{What: r.Packages, Test: test, Flags: flags, Overlay: b.over, Cache: b.Cache}
	sources, err := b.tool.Sources(ctx, what)
	if err != nil {
		return "", err
	}
	what.Replace = patch.Relink(sources.Linkage)
	if err := b.withCgo(ctx, &what, sources.Cgo); err != nil {
		return "", err
	}
	binary, err := b.tool.Build(ctx, what)
	if stamp := b.stamp(); err == nil && stamp != "" {
		_ = os.WriteFile(stamp, nil, 0o644) // on failure a later run prints the note again
	}
	var failed *gotool.BuildError
	if errors.As(err, &failed) {
		fmt.Fprint(b.launcher.Output, failed.Output)
	}
	return binary, err
}

// withCgo lets a build have C code if packages of it do, and notes once that it is not controlled.
func (b *Builder) withCgo(ctx context.Context, what *gotool.Build, packages []string) (err error) {
	if b.opts.Sanitizer || len(packages) == 0 { // the sanitizer's build has it
		return nil
	}
	opts := b.opts
	opts.Cgo = true
	what.Overlay, err = b.launcher.Support.Overlay(ctx, b.tool, b.Cache, opts)
	b.cgo.Do(func() {
		more := ""
		if n := len(packages) - 1; n > 0 {
			more = fmt.Sprintf(" (and %s more)", wording.Thousands(n))
		}
		b.launcher.Note(fmt.Sprintf("%s uses cgo%s: heddle does not see what C code accesses or waits for, and a call of C is one step", packages[0], more))
	})
	return err
}

// FuzzCache returns the directory in which Go's fuzzer keeps the inputs that it found for a target.
func (b *Builder) FuzzCache(p gotool.Package, target string) string {
	return b.tool.FuzzCache(p.ImportPath, target)
}

// Fuzz lets Go's own fuzzer look for inputs of a target of a recipe's package; see gotool.Tool.Fuzz.
func (b *Builder) Fuzz(ctx context.Context, r *trace.Recipe, target, time, minimize string) error {
	return b.tool.Fuzz(ctx, gotool.Fuzz{What: r.Packages, Target: target, Flags: r.Flags, Args: r.Args, Time: time, MinimizeTime: minimize})
}

// stamp returns the name of a file beside the overlay that exists once something was built with it,
// so that Go's cache has the standard library; empty without an overlay.
func (b *Builder) stamp() string {
	for _, f := range b.over.Flags {
		if name, ok := strings.CutPrefix(f, "-overlay="); ok {
			return filepath.Join(filepath.Dir(name), "built")
		}
	}
	return ""
}

// How long a build may take before a note is printed: the first one, and later ones.
const (
	firstBuildSilence = 3 * time.Second
	laterBuildSilence = 10 * time.Second
)

// told prints one note when a build takes long. With Launcher.Quiet, the caller reports builds of
// tests itself.
func (b *Builder) told(test bool, what []string) (done func()) {
	done = func() {}
	b.once.Do(func() {
		if test && b.launcher.Quiet {
			return
		}
		text, after := "building "+strings.Join(what, " "), laterBuildSilence
		if stamp := b.stamp(); stamp != "" && !exists(stamp) {
			text += "; the first build also compiles Go's standard library, with heddle in it"
			after = firstBuildSilence
		}
		timer := time.AfterFunc(after, func() { b.launcher.Say(text) })
		done = func() { timer.Stop() }
	})
	return done
}

// built is a target whose traces describe how to build it again: the program of a trace is a file
// in the cache, which other machines do not have.
type built struct {
	target.Target
	recipe *trace.Recipe
	dir    string // the directory it is built in
	sign   func(*trace.Header)
}

func (b *built) Header() trace.Header {
	h := b.Target.Header()
	b.name(&h)
	return h
}

// Unwrap implements target.Wrapper.
func (b *built) Unwrap() target.Target { return b.Target }

func (b *built) Run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	o, err := b.Target.Run(ctx, p)
	b.complete(&o)
	return o, err
}

func (b *built) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	return b.Target.Stream(ctx, next, func(p schedule.Plan, o schedule.Outcome) bool {
		b.complete(&o)
		return done(p, o)
	})
}

func (b *built) complete(o *schedule.Outcome) {
	if o.Trace != nil {
		b.name(&o.Trace.Header)
	}
}

func (b *built) name(h *trace.Header) {
	h.Command, h.Recipe, h.Dir = nil, b.recipe, b.dir
	b.sign(h)
}

// startGo builds a program from Go source and starts it.
func (l *Launcher) startGo(ctx context.Context, r *trace.Recipe, dir string, p *Program, how How) (target.Target, error) {
	b, err := l.Builder(ctx, dir, nil, patch.Options{})
	if err != nil {
		return nil, err
	}
	packages, err := b.List(ctx, nil, r.Packages)
	if err != nil {
		return nil, err
	}
	switch p := packages[0]; {
	case len(packages) > 1:
		return nil, fmt.Errorf("%s names %d packages: name one program", strings.Join(r.Packages, " "), len(packages))
	case p.Err != "":
		return nil, fmt.Errorf("%s cannot be built: %s", p.ImportPath, p.Err)
	case p.Name != "main":
		return nil, fmt.Errorf("%s is package %s, not a program: its tests can be run with heddle test", p.ImportPath, p.Name)
	}
	binary, err := b.Build(ctx, r)
	if err != nil {
		return nil, err
	}
	return l.startBuilt(ctx, r, dir, configOf(r, binary, dir, p.Stdin, p.Outputs, how))
}

// StartTest starts the tests that a recipe selects from a test binary built in dir. outputs judge what
// an execution of them writes.
func (l *Launcher) StartTest(ctx context.Context, r *trace.Recipe, binary, dir string, p gotool.Package, outputs Outputs, how How) (target.Target, error) {
	return l.startBuilt(ctx, r, dir, configOf(r, binary, p.Dir, nil, outputs, how))
}

func (l *Launcher) startBuilt(ctx context.Context, r *trace.Recipe, dir string, cfg goprog.Config) (target.Target, error) {
	t, err := l.startSupported(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &built{t, r, dir, l.sign}, nil
}

// startSupported starts a program through Launcher's Support.
func (l *Launcher) startSupported(ctx context.Context, cfg goprog.Config) (target.Target, error) {
	cfg.Memory, cfg.Version = l.Memory, l.Version
	return l.Support.Start(ctx, cfg)
}

// DefaultParallel is how many parallel tests run at once unless a recipe says otherwise: the same
// on every machine, or a trace would not replay on another one.
const DefaultParallel = 8

// Parallel returns how many parallel tests of a recipe run at once.
func Parallel(r *trace.Recipe) int { return cmp.Or(r.Parallel, DefaultParallel) }

// configOf returns the configuration that repeatedly runs the recipe's selection from the built
// binary. dir is the working directory.
func configOf(r *trace.Recipe, binary, dir string, stdin []byte, outputs Outputs, how How) goprog.Config {
	if r.Kind == trace.RecipeProgram {
		return goprog.Config{Path: binary, Args: append([]string{binary}, r.Args...), Dir: dir, Stdin: stdin, ExpectOutput: outputs.ExpectOutput, Oracle: outputs.Oracle, Watchdog: how.Watchdog, Randomize: how.Randomize}
	}
	// As go test has them; the time limit has no effect (internal/target/goprog/patch).
	args := []string{binary, "-test.paniconexit0", "-test.timeout=10m0s", "-test.run=" + r.Run}
	if r.Parallel > 0 {
		args = append(args, fmt.Sprintf("-test.parallel=%d", r.Parallel))
	}
	return goprog.Config{
		Path: binary, Args: append(args, BinaryArgs(r)...), Dir: dir, Test: true, Parallel: DefaultParallel,
		Fresh: strings.HasPrefix(r.Run, "^Example") || how.Isolation == trace.IsolationProcess, // go test never repeats an example
		Exec:  r.Exec, Cover: how.Cover,
		NoLeaks: r.Leaks == LeaksIgnore, LeakIgnore: r.LeakIgnore, ExpectOutput: outputs.ExpectOutput, Oracle: outputs.Oracle, Watchdog: how.Watchdog, Randomize: how.Randomize,
	}
}

// BinaryArgs returns the user's arguments of a test binary.
func BinaryArgs(r *trace.Recipe) (args []string) {
	if r.Short {
		args = append(args, "-test.short=true")
	}
	if r.Skip != "" {
		args = append(args, "-test.skip="+r.Skip)
	}
	return append(args, r.Args...)
}

// startRecordedGo rebuilds the Go program of a trace and starts it. If the program is the same, the
// trace then names the new file.
func (l *Launcher) startRecordedGo(ctx context.Context, tr *trace.Trace, how How) (target.Target, error) {
	cfg, r, err := l.recordedGo(ctx, tr, patch.Options{}, how)
	if err != nil {
		return nil, err
	}
	t, err := l.startSupported(ctx, cfg)
	if err != nil {
		return nil, err
	}
	relocate(tr, t.Modules())
	return &built{t, r, tr.Header.Dir, l.sign}, nil
}

// recordedGo builds the program of a trace.
func (l *Launcher) recordedGo(ctx context.Context, tr *trace.Trace, opts patch.Options, how How) (cfg goprog.Config, r *trace.Recipe, err error) {
	h, run := &tr.Header, tr.Header.Run()
	dir, err := sourceDir(run.Dir)
	if err != nil {
		return cfg, nil, err
	}
	if r, err = RecipeOf(run, dir); err != nil {
		return cfg, nil, fmt.Errorf("the trace does not say how to build its program: %w", err)
	}
	if !l.signed(h) {
		if err := harmless(r); err != nil {
			return cfg, nil, err
		}
	}
	b, err := l.Builder(ctx, dir, r.Env, opts)
	if err != nil {
		return cfg, nil, err
	}
	packages, err := b.List(ctx, r.Flags, r.Packages)
	if err != nil {
		return cfg, nil, err
	}
	binary, err := b.Build(ctx, r)
	if err != nil {
		return cfg, nil, err
	}
	if r.Kind == trace.RecipeTest {
		dir = packages[0].Dir
	}
	cfg = configOf(r, binary, dir, run.Stdin, outputsOf(h), how)
	cfg.Fresh = cfg.Fresh || run.Isolation == trace.IsolationProcess
	return cfg, r, nil
}

// sourceDir returns the directory from which a trace's program is built: the recorded one, or the
// current one if that does not exist, as on another machine.
func sourceDir(recorded string) (string, error) {
	if info, err := os.Stat(recorded); err == nil && info.IsDir() {
		return recorded, nil
	}
	return WorkingDir()
}

// relocate makes a trace refer to the file that now holds its program, if it is the same build.
func relocate(tr *trace.Trace, now []trace.Module) {
	for i := range tr.Modules {
		if m := &tr.Modules[i]; m.Program && i < len(now) && now[i].BuildID == m.BuildID {
			m.Path = now[i].Path
		}
	}
}

// Findable ensures that the names and lines of a Go trace can be looked up. Its program is in the
// cache, which may have been emptied.
func (l *Launcher) Findable(ctx context.Context, tr *trace.Trace) {
	if tr.Header.Target != "go" {
		return
	}
	for i := range tr.Modules {
		m := &tr.Modules[i]
		if !m.Program || readable(*m) == nil {
			continue
		}
		var cfg goprog.Config
		err := l.trust(ctx, tr) // building runs commands too
		if err == nil {
			cfg, _, err = l.recordedGo(ctx, tr, patch.Options{}, How{})
		}
		if err == nil {
			now := *m
			now.Path = cfg.Path
			if err = readable(now); err == nil {
				*m = now
			}
		}
		if err != nil && ctx.Err() == nil {
			l.Note(fmt.Sprintf("places in the program have no names: %v", err))
		}
	}
}

// Changed reports whether the file of a trace's program is there and no longer the recorded one.
func Changed(tr *trace.Trace) bool {
	for _, m := range tr.Modules {
		if m.Program && m.BuildID == "" {
			m.BuildID = tr.Header.BuildID
		}
		if m.Program && exists(m.Path) && readable(m) != nil {
			return true
		}
	}
	return false
}

// readable returns the reason why the names of a module cannot be looked up.
func readable(m trace.Module) error {
	table := symbol.New([]trace.Module{m}, symbol.Options{})
	table.Call(trace.MakeSite(0, 1))
	return errors.Join(table.Problems()...)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
