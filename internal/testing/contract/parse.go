package contract

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
)

// Case is one case of the corpus.
type Case struct {
	Name    string
	Comment string
	Program Program
	Plan    schedule.Plan // without script and points
	Points  bool          // plain accesses are scheduling points
	Holds   []Hold
	Script  []Turn
	Weights map[string]int // by thread
	// Interesting are instructions of the program.
	Interesting []instruction
	Expected    map[string]Expected // by language
	None        map[string]string   // why a language has no counterpart, by language
}

// Expected is what a language is expected to do.
type Expected struct {
	known bool
	Turns []Turn         // nil if they do not matter
	End   string         // "clean 0", "hang", …; empty if it does not matter
	Stats map[string]int // points, switches, preemptions, deviations
	Holds []schedule.HoldCount
}

// Hold is a hold of the case's plan in terms of its program.
type Hold struct {
	schedule.Hold     // without sites and thread
	Site, Until, Last instruction
	Thread            string // empty for any
}

// instruction is one of the program: a word and its line; line 0 for none.
type instruction struct {
	word string
	line int
}

// Turn is what a thread does until another one runs.
type Turn struct {
	Thread string
	Words  []string
}

// Program is a program of the corpus.
type Program struct {
	Vars, Mutexes []string
	Conds         map[string]string // their mutexes, by name
	Functions     []Function
}

// Function is the code of a thread or of a signal handler.
type Function struct {
	Name string
	Ops  []Op
}

// Op is an operation in the language of the corpus.
type Op struct {
	Line int // of the program
	Word string
	Args []string
}

// number is an argument as a number.
func (o Op) number(i int) int64 {
	n, err := strconv.ParseInt(o.Args[i], 10, 64)
	if err != nil {
		panic(fmt.Sprintf("line %d: %v", o.Line, err))
	}
	return n
}

// accesses are those of a quiet stretch: the access after them ends it.
const accesses = abi.Quiet + 1

// languages are those that implement the contract.
var languages = []string{"c", "go", "sim"}

// arguments of each operation.
var arguments = map[string]int{
	"go": 1, "join": 1, "lock": 1, "unlock": 1, "trylock": 1, "wait": 2, "timedwait": 3, "signal": 1, "broadcast": 1,
	"read": 1, "write": 2, "load": 1, "store": 2, "add": 2, "each": 3, "spin": 2, "poll": 2, "await": 2, "compute": 1, "yield": 0, "sleep": 1, "timer": 1,
	"handle": 1, "kill": 1, "loop": 1, "end": 0,
}

// Load reads a case.
func Load(file string) (*Case, error) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		return nil, err
	}
	c := &Case{
		Name: strings.TrimSuffix(filepath.Base(file), ".txtar"), Comment: string(a.Comment),
		Expected: map[string]Expected{}, None: map[string]string{},
	}
	for _, f := range a.Files {
		kind := strings.Fields(f.Name)
		text := string(f.Data)
		switch kind[0] {
		case "program":
			err = c.Program.parse(text)
		case "plan":
			err = c.plan(text)
		case "script":
			c.Script, _, err = turns(text)
		case "expect", "none":
			for _, lang := range kind[1:] {
				_, twice := c.Expected[lang]
				if !slices.Contains(languages, lang) || twice || c.None[lang] != "" {
					return nil, fmt.Errorf("%s: section %q", c.Name, f.Name)
				}
				if kind[0] == "none" {
					c.None[lang] = strings.TrimSpace(text)
					continue
				}
				e := Expected{known: true}
				if e.Turns, text, err = turns(string(f.Data)); err == nil {
					err = e.parse(text)
				}
				c.Expected[lang] = e
			}
		default:
			err = fmt.Errorf("section %q", f.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	for _, lang := range languages {
		if _, ok := c.Expected[lang]; ok == (c.None[lang] != "") {
			return nil, fmt.Errorf("%s says nothing of %s: say what is expected, or why there is no counterpart", c.Name, lang)
		}
	}
	return c, nil
}

func (p *Program) parse(text string) error {
	p.Conds = map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case line[0] == ' ' || line[0] == '\t':
			if n, ok := arguments[f[0]]; !ok || n != len(f)-1 || len(p.Functions) == 0 {
				return fmt.Errorf("program line %d: %q", i+1, line)
			}
			fn := &p.Functions[len(p.Functions)-1]
			fn.Ops = append(fn.Ops, Op{i + 1, f[0], f[1:]})
		case f[0] == "var":
			p.Vars = append(p.Vars, f[1:]...)
		case f[0] == "mutex":
			p.Mutexes = append(p.Mutexes, f[1:]...)
		case f[0] == "cond" && len(f) == 3:
			p.Conds[f[1]] = f[2]
		case len(f) == 1 && strings.HasSuffix(f[0], ":"):
			p.Functions = append(p.Functions, Function{Name: strings.TrimSuffix(f[0], ":")})
		default:
			return fmt.Errorf("program line %d: %q", i+1, line)
		}
	}
	return nil
}

// uses reports whether the program has any of these operations.
func (p *Program) uses(words ...string) bool {
	for _, f := range p.Functions {
		for _, o := range f.Ops {
			if slices.Contains(words, o.Word) {
				return true
			}
		}
	}
	return false
}

// blocks reports whether some operation of the program may have to wait for another thread or
// for time. A goroutine that waits reaches another operation, its resumption. One that spins
// counts as waiting: in Go an observation counts when the goroutine reaches it.
func (p *Program) blocks() bool {
	return p.uses("join", "lock", "unlock", "trylock", "wait", "timedwait", "signal", "broadcast", "sleep", "timer", "spin", "poll", "await")
}

// accesses reports whether the operation at a line of the program is a plain access.
func (c *Case) accesses(line int) bool {
	for _, f := range c.Program.Functions {
		for _, o := range f.Ops {
			if o.Line == line && (o.Word == "read" || o.Word == "write") {
				return true
			}
		}
	}
	return false
}

func (c *Case) plan(text string) (err error) {
	p := &c.Plan
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "":
		case "policy":
			p.Policy, err = schedule.ParsePolicy(value)
		case "mode":
			i := slices.Index([]string{"none", "strict", "tolerant"}, value)
			p.Mode = schedule.Mode(i)
		case "delays":
			i := slices.Index([]string{"short", "none", "any"}, value)
			p.Delays = schedule.Delays(i)
		case "seed":
			p.Seed, err = strconv.ParseUint(value, 10, 64)
		case "stay":
			p.Stay, err = strconv.ParseFloat(value, 64)
		case "depth":
			p.Depth, err = strconv.Atoi(value)
		case "length":
			p.Length, err = strconv.Atoi(value)
		case "steps":
			p.MaxSteps, err = strconv.Atoi(value)
		case "fair-after":
			p.FairAfter, err = strconv.Atoi(value)
		case "timeouts":
			p.Timeouts = true
		case "spurious":
			p.Spurious = true
		case "points":
			c.Points = true
		case "weights":
			c.Weights = map[string]int{}
			for _, f := range strings.Fields(value) {
				thread, n, _ := strings.Cut(f, "=")
				if c.Weights[thread], err = strconv.Atoi(n); err != nil {
					break
				}
			}
		case "interesting":
			var in instruction
			if in, err = instructionOf(value); err == nil {
				c.Interesting = append(c.Interesting, in)
			}
		case "hold":
			var h Hold
			if h, err = hold(value); err == nil {
				c.Holds = append(c.Holds, h)
			}
		default:
			return fmt.Errorf("plan: %q", line)
		}
		if err != nil {
			return fmt.Errorf("plan: %w", err)
		}
	}
	return nil
}

// hold reads a line of a plan: the instruction, then fields.
func hold(text string) (h Hold, err error) {
	for i, f := range strings.Fields(text) {
		key, value, _ := strings.Cut(f, "=")
		if i == 0 {
			key, value = "site", f
		}
		switch key {
		case "site":
			h.Site, err = instructionOf(value)
		case "until":
			h.Until, err = instructionOf(value)
		case "last":
			h.Last, err = instructionOf(value)
		case "thread":
			h.Thread = value
		case "arrival":
			h.Arrival, err = strconv.Atoi(value)
		case "steps":
			h.Steps, err = strconv.Atoi(value)
		case "ever":
			h.When = schedule.Ever
		case "reached":
			h.When = schedule.Reached
		case "same":
			h.Same = true
		case "not":
			h.Not = true
		case "time":
			h.Time = true
		default:
			err = fmt.Errorf("hold: %q", f)
		}
		if err != nil {
			return h, err
		}
	}
	return h, nil
}

func instructionOf(text string) (in instruction, err error) {
	word, line, _ := strings.Cut(text, "@")
	in.word = word
	in.line, err = strconv.Atoi(line)
	return in, err
}

// turns reads lines of decisions, up to the first that is none.
func turns(text string) (out []Turn, rest string, err error) {
	for text != "" {
		line, after, _ := strings.Cut(text, "\n")
		thread, words, ok := strings.Cut(strings.TrimSpace(line), ":")
		if thread == "end" || thread == "stats" || thread == "hold" {
			return out, text, nil
		}
		text = after
		if !ok && thread == "" {
			continue
		}
		if !ok {
			return nil, "", fmt.Errorf("%q is not a turn", line)
		}
		if len(out) == 0 || out[len(out)-1].Thread != thread {
			out = append(out, Turn{Thread: thread})
		}
		last := &out[len(out)-1]
		for _, w := range strings.Fields(words) {
			word, times, many := strings.Cut(w, "*")
			n := 1
			if many {
				if n, err = strconv.Atoi(times); err != nil {
					return nil, "", fmt.Errorf("%q: %w", w, err)
				}
			}
			last.Words = append(last.Words, slices.Repeat([]string{word}, n)...)
		}
	}
	return out, "", nil
}

// parse reads what follows the decisions: how the execution ends, and its counts.
func (e *Expected) parse(text string) error {
	e.Stats = map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "":
		case "end":
			e.End = strings.TrimSpace(value)
		case "hold":
			var c schedule.HoldCount
			fields := map[string]*int{"arrived": &c.Arrived, "held": &c.Held, "done": &c.Done, "nobody": &c.Nobody, "steps": &c.Steps, "script": &c.Script}
			f := strings.Fields(value)
			for i := 0; i+1 < len(f); i += 2 {
				n, err := strconv.Atoi(f[i+1])
				if err != nil || fields[f[i]] == nil {
					return fmt.Errorf("%q: not counts of a hold", line)
				}
				*fields[f[i]] = n
			}
			e.Holds = append(e.Holds, c)
		case "stats":
			f := strings.Fields(value)
			for i := 0; i+1 < len(f); i += 2 {
				n, err := strconv.Atoi(f[i+1])
				if err != nil {
					return err
				}
				e.Stats[f[i]] = n
			}
		default:
			return fmt.Errorf("%q after the decisions", line)
		}
	}
	return nil
}

// Format is the inverse of what reads decisions.
func Format(turns []Turn) string {
	var b strings.Builder
	for _, t := range turns {
		b.WriteString(t.Thread + ":")
		for i := 0; i < len(t.Words); {
			n := 1
			for i+n < len(t.Words) && t.Words[i+n] == t.Words[i] {
				n++
			}
			b.WriteString(" " + t.Words[i])
			if n > 1 {
				fmt.Fprintf(&b, "*%d", n)
			}
			i += n
		}
		b.WriteString("\n")
	}
	return b.String()
}
