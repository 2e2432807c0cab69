package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/cprog"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/trace"
)

// programFlags say how a program is run.
type programFlags struct {
	Stdin    string        `placeholder:"FILE" help:"Let every execution read FILE as its standard input (- for heddle's own); otherwise there is nothing to read."`
	Watchdog time.Duration `default:"10s" help:"Call it a hang when the program runs this long without reaching a scheduling point."`
	isolationFlags
	early bool // timers of Go programs may fire at any time
}

// isolationFlags say what lies between one execution of a C or C++ program and the next.
type isolationFlags struct {
	Isolation string `placeholder:"HOW" help:"Between one execution and the next: put memory back (snapshot), run each in a child process (fork), or launch a process for each (process). Otherwise whatever the program turns out to need."`
	Threads   bool   `help:"Give each of the program's threads a kernel thread; every execution is a process of its own then."`
}

// config is what they say, and what a trace says where they are silent.
func (f isolationFlags) config(recorded string) (cfg cprog.Config, err error) {
	if f.Isolation == "" {
		f.Isolation = recorded
	}
	cfg.Threads = f.Threads
	if cfg.Isolation, err = cprog.ParseIsolation(f.Isolation); err != nil {
		return cfg, usage(err)
	}
	return cfg, nil
}

// withoutFlags name calls to ignore, for commands that take a program.
type withoutFlags struct {
	Without []string `placeholder:"CALL@FILE:LINE" sep:"none" help:"Leave out a synchronisation call, like pthread_mutex_lock@queue.c:123, with the unlock that belongs to it, to see whether it is needed."`
}

// start makes a program ready at main: an executable, or one that is built from Go source.
func (a *app) start(p program, f programFlags, without []string) (target.Target, error) {
	dir, err := workingDir()
	if err != nil {
		return nil, err
	}
	cfg, err := f.config("")
	if err != nil {
		return nil, err
	}
	if err := cprog.CheckWithout(without); err != nil {
		return nil, usage(err)
	}
	cfg.Without = without
	if what, args := goWords(dir, p.words()); len(what) > 0 {
		if len(without) > 0 {
			return nil, usage(errors.New("--without leaves out calls of C and C++ programs, and not yet of Go programs"))
		}
		if f.isolationFlags != (isolationFlags{}) {
			return nil, usage(errors.New("--isolation and --threads are for C and C++ programs"))
		}
		return a.startGo(what, args, dir, f)
	}
	path, err := p.path()
	if err != nil {
		return nil, err
	}
	stdin, err := f.read()
	if err != nil {
		return nil, err
	}
	cfg.Path, cfg.Args, cfg.Dir, cfg.Stdin, cfg.Watchdog = path, p.words(), dir, stdin, f.Watchdog
	return a.launch(cfg)
}

func (f programFlags) read() ([]byte, error) {
	var in io.Reader
	switch f.Stdin {
	case "":
		return nil, nil
	case "-":
		in = os.Stdin
	default:
		file, err := os.Open(f.Stdin)
		if err != nil {
			return nil, fmt.Errorf("cannot read the program's input: %w", err)
		}
		defer file.Close()
		in = file
	}
	const most = 64 << 20
	b, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the program's input: %w", err)
	}
	if len(b) > most {
		return nil, fmt.Errorf("the program's input is larger than %d MB, and a trace must hold it: use a smaller one", most>>20)
	}
	return b, nil
}

// launch completes cfg and makes the program ready.
func (a *app) launch(cfg cprog.Config) (target.Target, error) {
	path := cfg.Path
	if isGo(path) {
		return nil, fmt.Errorf("%s is a Go program: name its package, and heddle builds it", path)
	}
	if _, err := toolchain.Inspect(path); err != nil {
		return nil, err
	}
	var err error
	if cfg.Path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	rt, err := a.runtime()
	if err != nil {
		return nil, err
	}
	cfg.Runtime, cfg.Version = rt.Library, currentVersion().Version
	cfg.Memory, cfg.Sign = a.memory(), a.sign
	cfg.Tell = func(s string) { fmt.Fprintf(a.stderr, "heddle: note: %s\n", s) }
	t, err := cprog.Start(a.ctx, cfg)
	var refused *cprog.RefusedError
	var wrong *cprog.WithoutError
	if errors.As(err, &wrong) {
		return nil, usage(err)
	}
	if errors.As(err, &refused) {
		return nil, fmt.Errorf("heddle cannot run %s: %w", filepath.Base(path), err)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// ignoredNotes say what became of the calls that were to be left out.
func ignoredNotes(t target.Target) (notes []string) {
	c, ok := target.As[target.Omitter](t)
	if !ok {
		return nil
	}
	for _, i := range c.Omitted() {
		if i.Times == 0 {
			notes = append(notes, fmt.Sprintf("no execution reached %s: this says nothing about whether it is needed", i.Call))
		} else {
			notes = append(notes, fmt.Sprintf("%s was left out %s times", i.Call, thousands(int(i.Times))))
		}
	}
	return notes
}

// startRecorded makes the program of a trace ready.
func (a *app) startRecorded(tr *trace.Trace, watchdog time.Duration, f isolationFlags) (target.Target, error) {
	cfg, err := f.config(tr.Header.Isolation)
	if err != nil {
		return nil, err
	}
	if err := a.trust(tr); err != nil {
		return nil, err
	}
	if tr.Header.Target == "go" {
		return a.startRecordedGo(tr, watchdog)
	}
	if tr.Header.Target != "c" || len(tr.Header.Command) == 0 {
		return nil, fmt.Errorf("the trace is of a %q program, which this heddle cannot run", tr.Header.Target)
	}
	if _, err := os.Stat(tr.Header.Command[0]); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the program of the trace, %s, is not there any more: build it again from the same source, at the same place", tr.Header.Command[0])
	}
	if _, err := os.Stat(tr.Header.Dir); tr.Header.Dir != "" && errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the working directory of the trace, %s, is not there any more: make it again, with the files that the program reads there", tr.Header.Dir)
	}
	args := slices.Clone(tr.Header.Command)
	args[0] = cmp.Or(tr.Header.Argv0, args[0])
	cfg.Path, cfg.Args, cfg.Dir, cfg.Stdin, cfg.Watchdog = tr.Header.Command[0], args, tr.Header.Dir, tr.Header.Stdin, watchdog
	cfg.Without, cfg.Modules = tr.Header.Without, tr.Modules
	return a.launch(cfg)
}

// read reads a trace, as every command that takes one does.
func readTrace(name string) (*trace.Trace, error) {
	tr, err := trace.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if err := trace.Validate(tr); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return tr, nil
}
