package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/goprog"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// goFlags say how a Go program is built and what counts as its failure. They are the same
// for go test and heddle test.
type goFlags struct {
	Leaks      leakMode `default:"note" enum:"note,fail,ignore" placeholder:"HOW" help:"Treat goroutines that a test leaves behind as a note (note), as a failure where nothing worse is found (fail), or not at all (ignore)."`
	NoLeaks    bool     `hidden:"" help:"The same as --leaks=ignore."`
	LeakIgnore []string `placeholder:"FUNC" sep:"none" help:"Goroutines that were started in FUNC, or stand in it, may be left; like example.com/pool.(*Pool).worker. Can be repeated."`

	Tags     string   `group:"go" placeholder:"LIST" help:"Build tags."`
	Mod      string   `group:"go" placeholder:"MODE" help:"Module mode."`
	Modfile  string   `group:"go" placeholder:"FILE" help:"Use this in place of go.mod."`
	Overlay  string   `group:"go" placeholder:"FILE" help:"Replace files in the build."`
	Ldflags  []string `group:"go" name:"ldflags" sep:"none" placeholder:"ARGS" help:"For the linker."`
	Gcflags  []string `group:"go" name:"gcflags" sep:"none" placeholder:"ARGS" help:"For the compiler."`
	Asmflags []string `group:"go" name:"asmflags" sep:"none" placeholder:"ARGS" help:"For the assembler."`
	PGO      string   `group:"go" name:"pgo" placeholder:"FILE" help:"Profile for the compiler."`
	P        string   `group:"go" name:"p" placeholder:"N" help:"Build this much in parallel."`
	Trimpath bool     `group:"go" help:"Build without file system paths."`
	Vet      string   `group:"go" placeholder:"LIST" help:"Checks that go vet makes before tests are built; off for none."`
}

// leakMode is a value of --leaks.
type leakMode string

const (
	leaksNote   leakMode = "note"
	leaksFail   leakMode = "fail"
	leaksIgnore leakMode = "ignore"
)

// leaks is what --leaks says, or --no-leaks, which command lines in older traces have.
func (f *goFlags) leaks() leakMode {
	if f.NoLeaks {
		return leaksIgnore
	}
	return cmp.Or(f.Leaks, leaksNote)
}

// build are the flags of go build among them.
func (f *goFlags) build() (words []string) {
	add := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				words = append(words, "-"+name+"="+v)
			}
		}
	}
	add("tags", f.Tags)
	add("mod", f.Mod)
	add("modfile", f.Modfile)
	add("overlay", f.Overlay)
	add("ldflags", f.Ldflags...)
	add("gcflags", f.Gcflags...)
	add("asmflags", f.Asmflags...)
	add("pgo", f.PGO)
	add("p", f.P)
	if f.Trimpath {
		words = append(words, "-trimpath")
	}
	return words
}

// words are all of them that are set.
func (f *goFlags) words() (words []string) {
	if mode := f.leaks(); mode != leaksNote {
		words = append(words, "--leaks="+string(mode))
	}
	for _, name := range f.LeakIgnore {
		words = append(words, "--leak-ignore="+name)
	}
	if f.Vet != "" {
		words = append(words, "-vet="+f.Vet)
	}
	return append(words, f.build()...)
}

// goBuilder builds Go programs with one go command.
type goBuilder struct {
	tool  *gotool.Tool
	over  gotool.Overlay
	cache string
	app   *app
	once  sync.Once
}

// goBuilder makes ready to build in dir.
func (a *app) goBuilder(dir string, opts patch.Options) (*goBuilder, error) {
	tool, err := gotool.Find(a.ctx, a.Go, dir)
	if err != nil {
		return nil, err
	}
	if err := tool.Supported(); err != nil {
		return nil, err
	}
	if opts.Sanitizer {
		if err := tool.RaceDetector(a.ctx); err != nil {
			return nil, err
		}
	}
	cache, err := toolchain.CacheDir(a.Cache)
	if err != nil {
		return nil, err
	}
	if err := tool.Settle(a.ctx, cache); err != nil {
		return nil, err
	}
	over, err := goPrograms.overlay(a.ctx, tool, cache, opts)
	if err != nil {
		return nil, err
	}
	return &goBuilder{tool: tool, over: over, cache: cache, app: a}, nil
}

// build builds a test binary or a program.
func (b *goBuilder) build(ctx context.Context, test bool, f *goFlags, what []string) (string, error) {
	flags := f.build()
	if test && f.Vet != "" {
		flags = append(flags, "-vet="+f.Vet)
	}
	defer b.told(test, what)()
	binary, err := b.tool.Build(ctx, gotool.Build{What: what, Test: test, Flags: flags, Overlay: b.over, Cache: b.cache})
	if stamp := b.stamp(); err == nil && stamp != "" {
		_ = os.WriteFile(stamp, nil, 0o644) // without it a sentence is printed once more
	}
	return binary, err
}

// stamp is a file beside the overlay that is there once something was built with it, so that
// Go's cache has the standard library; empty without an overlay.
func (b *goBuilder) stamp() string {
	for _, f := range b.over.Flags {
		if name, ok := strings.CutPrefix(f, "-overlay="); ok {
			return filepath.Join(filepath.Dir(name), "built")
		}
	}
	return ""
}

// How long a build takes before it is mentioned: the first one, and later ones.
const (
	firstBuildSilence = 3 * time.Second
	laterBuildSilence = 10 * time.Second
)

// told says once that a build takes long. heddle test has a line for that on a terminal.
func (b *goBuilder) told(test bool, what []string) (done func()) {
	done = func() {}
	b.once.Do(func() {
		if _, terminal := b.app.terminal(); test && terminal {
			return
		}
		text, after := "building "+strings.Join(what, " "), laterBuildSilence
		if stamp := b.stamp(); stamp != "" && !there(stamp) {
			text += "; the first build also compiles Go's standard library, with heddle in it"
			after = firstBuildSilence
		}
		timer := time.AfterFunc(after, func() { fmt.Fprintf(b.app.stderr, "heddle: %s\n", text) })
		done = func() { timer.Stop() }
	})
	return done
}

// built is a target whose traces say how to build it again: the program of a trace is a
// file in the cache, which another machine has not.
type built struct {
	target.Target
	command []string // a command line of heddle
	dir     string   // where to give it
	sign    func(*trace.Header)
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
	h.Command, h.Dir = b.command, b.dir
	b.sign(h)
}

// startRecordedGo builds the Go program of a trace again and makes it ready. The trace then
// names the file that was built, if it is the same program.
func (a *app) startRecordedGo(tr *trace.Trace, watchdog time.Duration) (target.Target, error) {
	cfg, err := a.recordedGo(tr, patch.Options{})
	if err != nil {
		return nil, err
	}
	cfg.Watchdog = watchdog
	t, err := goPrograms.start(a.ctx, a.bounded(cfg))
	if err != nil {
		return nil, err
	}
	relocate(tr, t.Modules())
	return &built{t, tr.Header.Command, tr.Header.Dir, a.sign}, nil
}

// recordedGo builds the program of a trace.
func (a *app) recordedGo(tr *trace.Trace, opts patch.Options) (cfg goprog.Config, err error) {
	h := &tr.Header
	c, err := parseRecorded(h.Command)
	if err != nil {
		return cfg, fmt.Errorf("the trace does not say how to build its program: %w", err)
	}
	dir, err := sourceDir(h.Dir)
	if err != nil {
		return cfg, err
	}
	if !a.signed(h) {
		if err := c.harmless(); err != nil {
			return cfg, err
		}
	}
	test := h.Command[1] == "test"
	f, what, args := &c.Test.goFlags, c.Test.Packages, []string(nil)
	if !test {
		f = &goFlags{}
		what, args = goWords(dir, c.Find.Program.words())
	}
	if err := checkPackages(what); err != nil {
		return cfg, err
	}
	if len(what) == 0 {
		return cfg, fmt.Errorf("the trace does not say how to build its program: no build command in %q", strings.Join(h.Command, " "))
	}
	b, err := a.goBuilder(dir, opts)
	if err != nil {
		return cfg, err
	}
	packages, err := b.tool.List(a.ctx, f.build(), what)
	if err != nil {
		return cfg, err
	}
	binary, err := b.build(a.ctx, test, f, what)
	switch {
	case err != nil:
		return cfg, a.buildFailed(err)
	case test:
		return c.Test.config(binary, packages[0].Dir, c.Test.Pattern), nil
	}
	return goprog.Config{Path: binary, Args: append([]string{binary}, args...), Dir: dir, Stdin: h.Stdin}, nil
}

// parseRecorded reads the command line in a trace's header.
func parseRecorded(words []string) (*commandLine, error) {
	if len(words) < 3 || words[0] != "heddle" || words[1] != "test" && words[1] != "find" {
		return nil, fmt.Errorf("%q is no command line of heddle test or heddle find", strings.Join(words, " "))
	}
	return parseQuietly(words)
}

// sourceDir is the directory from which a trace's program is built: the recorded one, or
// where heddle is called if that is not there, as on another machine.
func sourceDir(recorded string) (string, error) {
	if info, err := os.Stat(recorded); err == nil && info.IsDir() {
		return recorded, nil
	}
	return workingDir()
}

// relocate lets a trace name the file that holds its program now, if it is the same build.
func relocate(tr *trace.Trace, now []trace.Module) {
	for i := range tr.Modules {
		if m := &tr.Modules[i]; m.Program && i < len(now) && now[i].BuildID == m.BuildID {
			m.Path = now[i].Path
		}
	}
}

// findable sees to it that the names and lines of a Go trace can be looked up: its program
// lies in the cache, which may have been emptied.
func (a *app) findable(tr *trace.Trace) {
	if tr.Header.Target != "go" {
		return
	}
	for i := range tr.Modules {
		m := &tr.Modules[i]
		if !m.Program || readable(*m) == nil {
			continue
		}
		var cfg goprog.Config
		err := a.trust(tr) // building runs commands, too
		if err == nil {
			cfg, err = a.recordedGo(tr, patch.Options{})
		}
		if err == nil {
			now := *m
			now.Path = cfg.Path
			if err = readable(now); err == nil {
				*m = now
			}
		}
		if err != nil && a.ctx.Err() == nil {
			fmt.Fprintf(a.stderr, "heddle: note: places in the program have no names: %v\n", err)
		}
	}
}

// readable says why the names of a module cannot be looked up.
func readable(m trace.Module) error {
	table := symbol.New([]trace.Module{m}, symbol.Options{})
	table.Call(trace.MakeSite(0, 1))
	return errors.Join(table.Problems()...)
}

// buildFailed prints what the go command said, and returns the sentence.
func (a *app) buildFailed(err error) error {
	var failed *gotool.BuildError
	if errors.As(err, &failed) {
		fmt.Fprint(a.stderr, failed.Output)
	}
	return err
}

func workingDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the working directory is gone: %w", err)
	}
	return dir, nil
}

func there(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
