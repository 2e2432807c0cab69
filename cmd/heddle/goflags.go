package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/heddle-dev/heddle/internal/gotest"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
)

// The flags of go test are fields of testCommand and goFlags, or in one of the two tables below. A test compares them
// with what the go command documents.

// ignoredGoFlags are flags of go test that heddle test accepts and ignores.
type ignoredGoFlags struct {
	CPU       string `group:"go" name:"cpu" placeholder:"LIST" help:"Accepted for compatibility; ignored."`
	Fullpath  bool   `group:"go" hidden:""`
	Artifacts bool   `group:"go" hidden:""`
	Work      bool   `group:"go" hidden:""`
	Benchtime string `group:"go" hidden:""`
	Benchmem  bool   `group:"go" hidden:""`
}

// given returns a sentence for each flag that the user gave.
func (f *ignoredGoFlags) given() (notes []string) {
	for _, flag := range []struct {
		set       bool
		name, why string
	}{
		{f.CPU != "", "-cpu", "one goroutine runs at a time, and heddle chooses which"},
		{f.Fullpath, "-fullpath", "reports name a file relative to the package's directory, so that a finding has the same key everywhere"},
		{f.Artifacts, "-artifacts", "a test runs many times, and the artifacts of its executions would replace one another"},
		{f.Work, "-work", "heddle keeps the test binary in its cache, and -c writes it"},
		{f.Benchtime != "", "-benchtime", "heddle runs no benchmarks"},
		{f.Benchmem, "-benchmem", "heddle runs no benchmarks"},
	} {
		if flag.set {
			notes = append(notes, flag.name+" has no effect: "+flag.why)
		}
	}
	return notes
}

// coverFlags say whether and how coverage is measured.
type coverFlags struct {
	Cover        bool   `group:"go" help:"Report the share of statements that some execution reached."`
	Covermode    string `group:"go" placeholder:"MODE" help:"Write a profile of this kind: set (the default), count or atomic. Counts are sums over all executions."`
	Coverpkg     string `group:"go" placeholder:"LIST" help:"Measure the packages that match these patterns."`
	Coverprofile string `group:"go" placeholder:"FILE" help:"Write the coverage of all packages' tests to FILE, for go tool cover."`
	Outputdir    string `group:"go" placeholder:"DIR" help:"Put the file of -coverprofile into DIR."`
}

// cover returns what is measured, nil for nothing. dir is the working directory.
func (f *coverFlags) cover(dir string) (*gotest.Cover, error) {
	if !f.Cover && f.Covermode == "" && f.Coverpkg == "" && f.Coverprofile == "" {
		return nil, nil
	}
	c := &gotest.Cover{Mode: cmp.Or(f.Covermode, "set"), Profile: f.Coverprofile}
	if !slices.Contains([]string{"set", "count", "atomic"}, c.Mode) {
		return nil, usage.Errorf("invalid -covermode %q: want set, count or atomic", c.Mode)
	}
	for p := range strings.SplitSeq(f.Coverpkg, ",") {
		if slices.Contains(unmeasured, p) {
			return nil, usage.Errorf("-coverpkg=%s: heddle adds files to Go's runtime, and the go command cannot measure a file that an overlay adds: name your own packages, like ./...", p)
		}
	}
	if c.Profile == "" {
		return c, nil
	}
	for _, d := range []string{f.Outputdir, dir} {
		if !filepath.IsAbs(c.Profile) {
			c.Profile = filepath.Join(d, c.Profile)
		}
	}
	return c, tracefile.Writable(c.Profile)
}

// unmeasured are patterns of -coverpkg that include packages to which heddle adds files.
var unmeasured = []string{"all", "std", "...", "runtime", "runtime/...", "sync", "sync/...", "testing", "testing/...", "syscall"}

// buildCover are the flags of the build that measure it.
func (f *coverFlags) buildCover(c *gotest.Cover) []string {
	if c == nil {
		return nil
	}
	words := []string{"-cover", "-covermode=" + c.BuildMode()}
	if f.Coverpkg != "" {
		words = append(words, "-coverpkg="+f.Coverpkg)
	}
	return words
}

// fuzzFlags say whether the inputs of fuzz targets are explored one by one.
type fuzzFlags struct {
	Fuzz             string `group:"go" placeholder:"REGEXP" help:"Explore each input of the fuzz targets that match alone: those of f.Add, testdata/fuzz and the fuzzer's cache, and then those that go's fuzzer adds to its cache in the time of -fuzztime."`
	Fuzztime         string `group:"go" default:"10s" placeholder:"T" help:"Let go's fuzzer look for new inputs for this long or, as 100x, for so many runs; 0: not at all."`
	Fuzzminimizetime string `group:"go" placeholder:"T" help:"As for go test."`
}

// fuzz returns what is fuzzed, nil for nothing.
func (f *fuzzFlags) fuzz() (*gotest.Fuzz, error) {
	if f.Fuzz == "" {
		return nil, nil
	}
	targets, err := regexp.Compile(f.Fuzz)
	if err != nil {
		return nil, usage.Errorf("-fuzz: %q is not a regular expression: %w", f.Fuzz, err)
	}
	out := &gotest.Fuzz{Targets: targets, Time: f.Fuzztime, MinimizeTime: f.Fuzzminimizetime}
	for name, text := range map[string]string{"-fuzztime": f.Fuzztime, "-fuzzminimizetime": f.Fuzzminimizetime} {
		if !fuzzTime.MatchString(text) {
			return nil, usage.Errorf("invalid %s %q: want a duration like 10s, or a number of runs like 100x", name, text)
		}
	}
	if strings.Trim(f.Fuzztime, "0smhx") == "" {
		out.Time = ""
	}
	return out, nil
}

var fuzzTime = regexp.MustCompile(`^(|0|[0-9]+x|([0-9.]+(ns|us|µs|ms|s|m|h))+)$`)

// refusedGoFlags are the flags of go test that heddle test does not take, each with the reason and what to do.
var refusedGoFlags = func() map[string]string {
	const profile = "a profile of executions under heddle's scheduler describes heddle: profile the tests with go test"
	const compiler = "heddle is built into the runtime by the compiler gc, in the mode for executables: leave it out"
	const sanitizer = "heddle takes the place of a sanitizer in Go's runtime: leave it out"
	return map[string]string{
		"bench":      "a benchmark measures time, and under heddle time is virtual and one goroutine runs at a time: run benchmarks with go test",
		"cpuprofile": profile, "memprofile": profile, "memprofilerate": profile, "blockprofile": profile, "blockprofilerate": profile,
		"mutexprofile": profile, "mutexprofilefraction": profile, "trace": profile,
		"msan": sanitizer, "asan": sanitizer,
		"buildmode": compiler, "compiler": compiler, "gccgoflags": compiler, "linkshared": compiler, "installsuffix": compiler, "pkgdir": compiler,
		"n": "it prints commands in place of running them, and heddle needs what they make: use go test -n",
		"x": "heddle shows what a build prints only if it fails: use go test -x",
	}
}()

// refusal returns why heddle test does not take a flag, and what to do; empty if go test has no such flag, or heddle test takes it.
func refusal(name string) string {
	why := refusedGoFlags[strings.TrimPrefix(name, "test.")]
	if why == "" {
		return ""
	}
	return fmt.Sprintf("heddle test does not take -%s: %s", name, why)
}

// shuffleFlag is go test's -shuffle.
type shuffleFlag struct{ seed *int64 }

// Decode implements kong.MapperValue.
func (f *shuffleFlag) Decode(ctx *kong.DecodeContext) error {
	var text string
	if err := ctx.Scan.PopValueInto("off, on or a number", &text); err != nil {
		return err
	}
	*f = shuffleFlag{}
	switch text {
	case "off":
		return nil
	case "on":
		now := time.Now().UnixNano()
		f.seed = &now
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return usage.Errorf("invalid value %q: want off, on or a whole number", text)
	}
	f.seed = &n
	return nil
}

// go test's flags have one dash or two, and follow or precede the packages. goTestWords
// turns the words of a command line of heddle test into those that the parser of all
// commands knows: two dashes, name and value in one word, what follows -args as values of
// a flag. An unknown flag with one dash is one of the test binary's, and so is what follows it from the first word that is
// not a flag, as in go test. Other command lines, and unknown flags with two dashes, are left unchanged: the
// parser has the sentence for them.
func goTestWords(app *kong.Application, words []string) []string {
	var test *kong.Node
	at := -1
	for i := 0; i < len(words) && at < 0; i++ {
		switch f, _, joined := flagOf(app.Flags, words[i]); {
		case f != nil && !f.IsBool() && !joined:
			i++
		case !strings.HasPrefix(words[i], "-"):
			at = i
		}
	}
	for _, n := range app.Children {
		if at >= 0 && words[at] == "test" && n.Name == "test" {
			test = n
		}
	}
	if test == nil {
		return words
	}
	flags := append(append([]*kong.Flag{}, app.Flags...), test.Flags...)
	out := append([]string{}, words[:at+1]...)
	theirs := false // whether a flag of the test binary was seen
	for i := at + 1; i < len(words); i++ {
		w := words[i]
		dashes := w == "-args" || w == "--args"
		if dashes || theirs && !strings.HasPrefix(w, "-") {
			if dashes {
				i++
			}
			for _, arg := range words[i:] {
				out = append(out, "--args="+arg)
			}
			break
		}
		f, value, joined := flagOf(flags, w)
		switch {
		case f == nil && len(w) > 2 && w[0] == '-' && w[1] != '-':
			if name, _, _ := strings.Cut(w[1:], "="); refusal(name) != "" || name == "help" || goTestNames[name] != "" {
				out = append(out, "-"+w)
				continue
			}
			theirs = true
			out = append(out, "--args="+w)
		case f == nil:
			out = append(out, w)
		case f.IsBool() && !joined:
			out = append(out, "--"+f.Name)
		case !joined && i+1 < len(words):
			i++
			out = append(out, "--"+f.Name+"="+words[i])
		case !joined:
			out = append(out, "--"+f.Name)
		default:
			out = append(out, "--"+f.Name+"="+value)
		}
	}
	return out
}

// flagOf returns the flag that a word names, nil if it names none, and the value joined to it. Like
// go test, it accepts "test." before a name.
func flagOf(flags []*kong.Flag, word string) (f *kong.Flag, value string, joined bool) {
	name, ok := strings.CutPrefix(word, "-")
	if !ok || name == "" || name == "-" {
		return nil, "", false
	}
	name = strings.TrimPrefix(name, "-")
	name, value, joined = strings.Cut(name, "=")
	name = strings.TrimPrefix(name, "test.")
	for _, f := range flags {
		if f.Name == name || len(name) == 1 && f.Short == rune(name[0]) {
			return f, value, joined
		}
	}
	// -j2, as other programs have it
	if number := name[1:]; !joined && word[1] != '-' && number != "" && strings.Trim(number, "0123456789") == "" {
		for _, f := range flags {
			if f.Short == rune(name[0]) && !f.IsBool() {
				return f, number, true
			}
		}
	}
	return nil, "", false
}
