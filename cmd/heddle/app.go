package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf16"

	"github.com/alecthomas/kong"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/lossless"
	"github.com/heddle-dev/heddle/internal/machine"
	"github.com/heddle-dev/heddle/internal/report/term"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
)

// Exit statuses, of every command but cc and c++, which end as the compiler does.
const (
	exitNothing = 0 // did what was asked, found nothing
	exitFound   = 1 // found a bug
	exitUsage   = 2 // the command line is wrong
	exitFailed  = 3 // heddle could not do its work, and reported why
)

// errFound is returned by commands that found a bug and have reported it.
var errFound = errors.New("a bug was found")

// commandLine is the command-line grammar. A command is a field here and a type with a Run
// method in a file of its own.
type commandLine struct {
	flags

	CC        ccCommand        `cmd:"" name:"cc" passthrough:"" help:"Compile and link C as cc would, with access hooks and heddle's runtime."`
	CXX       cxxCommand       `cmd:"" name:"c++" passthrough:"" help:"Compile and link C++ as c++ would, with access hooks and heddle's runtime."`
	Find      findCommand      `cmd:"" set:"corpus=Keep findings in DIR, in a directory for each program, and try those that are there first, as far as their schedules go in this build." help:"Explore schedules until something breaks; write, simplify and show the trace."`
	Test      testCommand      `cmd:"" set:"corpus=Keep findings in DIR in place of the packages' _heddle directories, and try those that are there first." help:"Explore schedules of a Go package's tests."`
	Races     racesCommand     `cmd:"" help:"List the data races of a program, each with what is known about its consequences."`
	Record    recordCommand    `cmd:"" help:"Run once and write the trace."`
	Replay    replayCommand    `cmd:"" set:"where=With --schedule: " help:"Run a recorded execution again, and check that it is the same."`
	Atomicity atomicityCommand `cmd:"" help:"Force the interleavings that break up what a thread does in several steps."`
	Simplify  simplifyCommand  `cmd:"" help:"Find the fewest context switches that still show the failure of a trace."`
	Show      showCommand      `cmd:"" help:"Draw a trace: a column per thread."`
	Explain   explainCommand   `cmd:"" help:"Say on which order of events a failure depends, and what happens the other way round."`
	View      viewCommand      `cmd:"" help:"Step through a trace on the terminal."`
	Check     checkCommands    `cmd:"" help:"Check a derivation, or whether an execution is deterministic."`
	Sanitize  sanitizeCommand  `cmd:"" help:"Write a trace in a form that does not depend on the schedule or on addresses."`
	Compare   compareCommand   `cmd:"" help:"Show a failing execution beside one that passes, or where one execution deviates from another."`
	Inject    injectCommand    `cmd:"" help:"Inject faults into executions, and compare them with one without."`
	Convert   convertCommand   `cmd:"" help:"Turn a trace into another format."`
	DAP       dapCommand       `cmd:"" name:"dap" help:"Step through a trace in an editor (Debug Adapter Protocol)."`
	MCP       mcpCommand       `cmd:"" name:"mcp" help:"Serve find, test, replay, explain and show to agents and editors (Model Context Protocol)."`
	Bench     benchCommand     `cmd:"" help:"Measure what the papers' tables show."`
	Doctor    doctorCommand    `cmd:"" help:"Check whether heddle can use this machine, and a program, and if not, why."`
	Version   versionCommand   `cmd:"" help:"Print the version."`

	Help       helpCommand       `cmd:"" help:"Print the help of a command."`
	Completion completionCommand `cmd:"" help:"Print the script that makes a shell complete heddle's commands."`
	Man        manCommand        `cmd:"" help:"Write man pages."`
}

// flags hold for every command.
type flags struct {
	Form    jsonForm   `name:"json" help:"Print JSON. With heddle test, --json=go prints the events of go test -json."`
	NoColor bool       `help:"Print without colour, as when the output is not a terminal or NO_COLOR is set."`
	Go      string     `placeholder:"PATH" help:"Build Go programs with this go command (otherwise the one in PATH)."`
	Memory  memorySize `placeholder:"SIZE" help:"Use about this much memory to record an execution and look for races in it, like 512M or 4G (otherwise 2G, or a quarter of the machine's if that is less). Past it, heddle records no more memory accesses and prints a note; it records every scheduling point."`
	Trust   bool       `help:"Do not ask before running the program of a trace that was recorded elsewhere."`
	Cache   string     `placeholder:"DIR" predictor:"dir" help:"Keep built runtimes in DIR (otherwise $$HEDDLE_CACHE, or heddle/ in the user's cache directory)."`

	// ProgressFD is a descriptor that is open for writing: a program that started heddle reads lines
	// about its progress there, one a second.
	ProgressFD int `name:"progress-fd" hidden:"" help:"Write lines about progress to this file descriptor."`

	ShowVersion versionFlag `name:"version" help:"Print the version."`
}

// jsonForm is how results are printed as JSON; empty for text.
type jsonForm string

const (
	jsonOwn jsonForm = "heddle" // as docs/json.md describes
	jsonGo  jsonForm = "go"     // as the events of go test -json
)

// IsBool says that the flag needs no value.
func (jsonForm) IsBool() bool { return true }

// Decode implements kong.MapperValue.
func (j *jsonForm) Decode(ctx *kong.DecodeContext) error {
	value := "true"
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		value = fmt.Sprint(ctx.Scan.Pop().Value)
	}
	switch value {
	case "true":
		*j = jsonOwn
	case "false":
		*j = ""
	case string(jsonGo):
		*j = jsonGo
	default:
		return usage.Errorf("invalid value %q: want go, or no value for heddle's own", value)
	}
	return nil
}

// processMemory is what heddle needs besides the memory for an execution: symbols, tables,
// behaviours.
const processMemory = 256 << 20

// app is what a command works with.
type app struct {
	flags
	JSON bool // print JSON in place of text
	ctx  context.Context
	// stdout and stderr are for text that may come from a program or a trace, and filter out
	// everything that a terminal acts on. screen and tty are unfiltered, for drawings that are
	// already safe.
	stdout, stderr io.Writer
	screen, tty    io.Writer
	// reader reads lines about progress; nil for the user.
	reader *os.File
}

// printJSON prints one value.
func (a *app) printJSON(v any) error {
	return a.encode(v, "  ")
}

// encode prints one value as JSON. Characters that a terminal would act on are escaped.
func (a *app) encode(v any, indent string) error {
	text, err := lossless.MarshalIndent(v, false, indent)
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, r := range string(text) + "\n" {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&out, "\\u%04x", unit)
			}
			continue
		}
		out.WriteRune(r)
	}
	_, err = io.WriteString(a.screen, out.String())
	return err
}

// printLine prints one value on one line, without delay.
func (a *app) printLine(v any) error { return a.encode(v, "") }

// goEvents reports whether results are printed as the events of go test -json.
func (a *app) goEvents() bool { return a.Form == jsonGo }

// memory is how much memory heddle may use to record an execution and look for races in it.
func (a *app) memory() int64 {
	if a.Memory != 0 {
		return int64(a.Memory)
	}
	return machine.DefaultMemory()
}

// goSupport adds heddle to Go programs; tests replace it.
var goSupport launch.Support = launch.Patched{}

// launcher starts programs with the flags of all commands.
func (a *app) launcher() *launch.Launcher {
	_, quiet := a.terminal()
	l := &launch.Launcher{
		Cache: a.Cache, GoTool: a.Go, Version: currentVersion().Version, Memory: a.memory(), Support: goSupport, Trusted: a.Trust,
		Note: a.note, Say: a.say, Slowly: a.slowly, Quiet: quiet, Output: a.stderr,
	}
	if a.canAsk() {
		l.Confirm = a.ask
	}
	return l
}

// traceWriter writes the traces of a command; see tracefile.NewWriter.
func (a *app) traceWriter(given, name string, more ...string) (*tracefile.Writer, error) {
	w, err := tracefile.NewWriter(given, name, more...)
	if err != nil {
		return nil, err
	}
	w.Cache, w.Note = a.Cache, a.note
	return w, nil
}

// printer prints results as text.
func (a *app) printer(draw drawFlags, stats statsFlag) *result.Printer {
	how := a.drawing()
	how.Stacks = draw.Stacks
	return &result.Printer{Words: a.stdout, Errors: a.stderr, Screen: a.screen, Draw: how, Full: draw.Full, Stats: stats.Stats}
}

// drawing are the options for standard output.
func (a *app) drawing() term.Options {
	o := term.Options{Width: 80}
	if f, ok := a.screen.(*os.File); ok {
		o = term.Detect(f, os.Environ())
	}
	o.Color = o.Color && !a.NoColor
	return o
}

func (a *app) note(text string) { a.say("note: " + text) }

func (a *app) say(text string) { fmt.Fprintf(a.stderr, "heddle: %s\n", text) }

// newParser returns the parser of command lines. It never ends the process: it calls exit for
// options that end heddle.
func newParser(c *commandLine, stdout, stderr io.Writer, exit func(int)) (*kong.Kong, error) {
	return kong.New(c,
		kong.Name("heddle"),
		kong.Description("Find the interleaving that breaks a concurrent program, replay it, and make it short."),
		kong.Writers(stdout, stderr),
		kong.Exit(exit),
		kong.Vars{
			"stale": staleFind, "where": "", "corpus": "", "steps": wording.Thousands(abi.MaxSteps),
			"parallel": strconv.Itoa(launch.DefaultParallel), "searches": strings.Join(strategy.SearchNames()[len(strategy.Names()):], ", "), "policies": strings.Join(strategy.Names(), ", "),
		},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.Help(printHelp),
		kong.KindMapper(reflect.String, kong.MapperFunc(plainString)),
	)
}

// run is heddle as a function: it takes the arguments (the first is the name heddle was started as)
// and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (status int) {
	type ended int // what kong's --help does instead of os.Exit
	defer func() {
		switch e := recover().(type) {
		case nil:
		case ended:
			status = int(e)
		default:
			panic(e)
		}
	}()
	screen, tty := stdout, stderr
	stdout, stderr = term.Plain(stdout), term.Plain(stderr)
	var c commandLine
	parser, err := newParser(&c, stdout, stderr, func(status int) { panic(ended(status)) })
	if err != nil {
		panic(err) // the struct tags are wrong: no user can cause it
	}
	parsed, err := parser.Parse(goTestWords(parser.Model, commandWords(args)))
	if err != nil {
		fmt.Fprintf(stderr, "heddle: %s\n", parseError(err))
		return exitUsage
	}
	programs := []program{c.Find.Program, c.Races.Program, c.Record.Program}
	if !slices.Contains(args, "--") { // which is not among the words of replay
		programs = append(programs, append(program{c.Replay.Trace}, c.Replay.Args...))
	}
	for _, p := range programs {
		if err := p.misplaced(parsed.Selected()); err != nil {
			fmt.Fprintf(stderr, "heddle: %s\n", sentence(err))
			return exitUsage
		}
	}
	if c.Form == jsonGo && parsed.Selected().Name != "test" {
		fmt.Fprintf(stderr, "heddle: --json=go prints the events of go test -json, which only heddle test has: use --json\n")
		return exitUsage
	}
	a := &app{flags: c.flags, JSON: c.Form != "", ctx: ctx, stdout: stdout, stderr: stderr, screen: screen, tty: tty}
	if c.ProgressFD > 0 {
		syscall.CloseOnExec(c.ProgressFD) // not for the programs that heddle starts
		a.reader = os.NewFile(uintptr(c.ProgressFD), "progress")
	}
	// A soft limit for the garbage collector, instead of twice the memory in use.
	debug.SetMemoryLimit(a.memory() + processMemory)
	if os.Getenv("GOGC") == "" {
		collectLess()
	}
	err = parsed.Run(a)
	var refusal *toolchain.Refusal
	var wrong *usage.Error
	switch {
	case err == nil:
		return exitNothing
	case errors.Is(err, errFound):
		return exitFound
	}
	fmt.Fprintf(stderr, "heddle: %s\n", sentence(err))
	if errors.As(err, &refusal) || errors.As(err, &wrong) {
		return exitUsage
	}
	return exitFailed
}

// commandWords returns the words to parse. Started as heddle-cc or heddle-c++ (a
// link), heddle is that command: many build systems want a compiler that is one word.
// Any other name is that of a copy, such as heddle-1.2.
func commandWords(args []string) []string {
	if name, ok := strings.CutPrefix(filepath.Base(args[0]), "heddle-"); ok && (name == "cc" || name == "c++") {
		return append([]string{name}, args[1:]...)
	}
	return helpWords(args[1:])
}

var (
	notNumber = regexp.MustCompile(`^(\S+): expected a valid \d+ bit (u?)int but got (.*)$`)
	// goTestNames are flags of the other commands for which heddle test has the name that go test gives them.
	goTestNames = map[string]string{"runs": "count", "time": "timeout"}
	unknownFlag = regexp.MustCompile(`^unknown flag --?(\w+)`)
	leadingDash = regexp.MustCompile(`^(\S+): expected .* value but got "(-.*)" \(.*\); perhaps try .*$`)
)

// plainString decodes a word as it is. The parser's own decoder goes by way of JSON, which replaces bytes that are not UTF-8, and
// a file may have any name.
func plainString(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("string")
	if err != nil {
		return err
	}
	word, ok := token.Value.(string)
	if !ok {
		word = fmt.Sprint(token.Value)
	}
	target.SetString(word)
	return nil
}

// parseError words an error of the parser, and names the help that has the answer.
func parseError(err error) string {
	text := sentence(err)
	if m := notNumber.FindStringSubmatch(text); m != nil {
		text = fmt.Sprintf("invalid %s %s: want a whole number", m[1], m[3])
		if m[2] != "" {
			text += ", 0 or more"
		}
	} else if m := leadingDash.FindStringSubmatch(text); m != nil {
		text = fmt.Sprintf("invalid %s %q: a value that begins with - is written %s=VALUE", m[1], m[2], m[1])
		if m[2] != "-" && strings.Trim(m[2][1:2], "0123456789.") == "" {
			text = fmt.Sprintf("invalid %s %q: cannot be negative", m[1], m[2])
		}
	}
	command := "heddle"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		for node := parse.Context.Selected(); node != nil && node.Parent != nil; node = node.Parent {
			if node.Parent.Parent == nil {
				command += " " + node.Name
			}
		}
	}
	if m := unknownFlag.FindStringSubmatch(text); m != nil {
		if why := refusal(m[1]); why != "" && command == "heddle test" {
			return why
		}
		for other, its := range goTestNames {
			if command != "heddle test" {
				other, its = its, other
			}
			if m[1] == other && hasFlag(parse, its) {
				text = fmt.Sprintf("unknown flag --%s: %s has --%s for that", other, command, its)
			}
		}
	}
	return fmt.Sprintf("%s; see %s --help", text, command)
}

// hasFlag reports whether the command whose words could not be parsed has a flag.
func hasFlag(parse *kong.ParseError, name string) bool {
	if parse == nil || parse.Context == nil {
		return false
	}
	for _, group := range parse.Context.Selected().AllFlags(true) {
		for _, f := range group {
			if f.Name == name {
				return true
			}
		}
	}
	return false
}

func sentence(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	if err == context.DeadlineExceeded {
		return "the time limit was reached before anything was known; raise --time"
	}
	return err.Error()
}

// printHelp prints kong's help, with the correct synopsis for commands that take a program.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if node := ctx.Selected(); node != nil {
		hideFlags(ctx.Model.Flags, node.Name)
	}
	stdout := ctx.Stdout
	var text bytes.Buffer
	ctx.Stdout = &text
	err := kong.DefaultHelpPrinter(options, ctx)
	ctx.Stdout = stdout
	if err != nil {
		return err
	}
	_, err = io.WriteString(stdout, synopsis(text.String()))
	return err
}

// hideFlags hides, for commands that work with no program, the flags of all commands that have no
// effect there.
func hideFlags(flags []*kong.Flag, command string) {
	kept, some := map[string][]string{
		"version": {"help", "json"}, "man": {"help", "json"}, "completion": {"help"}, "help": {"help"},
		"mcp": {"help", "go", "memory", "trust", "cache"},
	}[command]
	for _, f := range flags {
		f.Hidden = f.Hidden || some && !slices.Contains(kept, f.Name)
	}
}

// synopsis corrects the synopsis of a command that takes a program: heddle's flags come first.
func synopsis(text string) string {
	text = strings.Replace(text, " <program> [flags]", " [flags] -- <program> [args]", 1)
	return strings.Replace(text, "heddle replay <trace> [<args>] [flags]",
		"heddle replay [flags] <trace>, or heddle replay [flags] --schedule=STRING -- <program> [args]", 1)
}
