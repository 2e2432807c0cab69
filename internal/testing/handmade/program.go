package handmade

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Verdict is what is known of a program.
type Verdict uint8

const (
	Correct Verdict = iota // every execution ends as it should, if threads are scheduled fairly
	Stuck                  // some execution does not end: a deadlock, a hang or a livelock
	Wrong                  // some execution fails an assertion, or does not end
)

// String returns the word for it.
func (v Verdict) String() string { return [...]string{"correct", "stuck", "wrong"}[v] }

// Program is a generated program.
type Program struct {
	Family  string
	Bug     string // empty for a correct program
	Verdict Verdict
	Workers int
	Rounds  int
	Style   Style
	Text    string // in the package's language
	// Starves reports that a thread lets go of a latch only to take it again at once. It keeps others out for long
	// where locks are not fair, as those of Linux are not.
	Starves bool

	unit *unit
}

// String says what the program is.
func (p *Program) String() string {
	bug := "correct"
	if p.Bug != "" {
		bug = p.Bug
	}
	return fmt.Sprintf("%s, %s, %d workers, %d rounds, %s", p.Family, bug, p.Workers, p.Rounds, p.Style.Name)
}

// Truth finds out how the program may end by looking at all its states, of which there may be so many.
func (p *Program) Truth(limit int) (Truth, error) {
	c, err := compileProgram(p.unit)
	if err != nil {
		return Truth{}, err
	}
	g := newGraph(c, p.Workers, limit)
	if err := g.explore(); err != nil {
		return Truth{States: len(g.states)}, err
	}
	return g.truth(), nil
}

// Options are what Generate makes.
type Options struct {
	Seed     uint64
	Families []string // all if empty
	Styles   []string // all if empty
	// Small programs have so few workers and rounds that all their states can be looked at.
	Small bool
}

// Generate makes n programs, the same ones for the same options. Each family takes its turn, and every
// second program has a bug.
func Generate(n int, o Options) ([]*Program, error) {
	var all []family
	for _, f := range families {
		if len(o.Families) == 0 || slices.Contains(o.Families, f.name) {
			all = append(all, f)
		}
	}
	var styles []Style
	for _, s := range Styles {
		if len(o.Styles) == 0 || slices.Contains(o.Styles, s.Name) {
			styles = append(styles, s)
		}
	}
	if len(all) == 0 || len(styles) == 0 {
		return nil, fmt.Errorf("no such family or style; families are %s", strings.Join(FamilyNames(), ", "))
	}
	var programs []*Program
	for i := range n {
		f := all[i/2%len(all)]
		g := &gen{Rand: rand.New(rand.NewPCG(o.Seed, uint64(i))), small: o.Small}
		p := g.program(f, i%2 == 1, i/2/len(all))
		p.Style = styles[g.IntN(len(styles))]
		var err error
		if p.unit, err = parse(p.Text); err == nil {
			_, err = compileProgram(p.unit)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", p, err, p.Text)
		}
		programs = append(programs, p)
	}
	return programs, nil
}

// FamilyNames are the names of all families.
func FamilyNames() (names []string) {
	for _, f := range families {
		names = append(names, f.name)
	}
	return names
}

// family is a kind of program. Its function writes one, with the bug if that is not empty.
type family struct {
	name  string
	bugs  []string // those that an execution does not end with are first
	write func(g *gen, bug string)
	// stuck is the number of bugs with which no assertion can fail.
	stuck int
	// least and most are the numbers of workers.
	least, most int
}

// gen writes one program.
type gen struct {
	*rand.Rand
	small   bool
	workers int
	rounds  int
	starves bool
	text    strings.Builder
}

func (g *gen) program(f family, buggy bool, turn int) *Program {
	g.workers, g.rounds = f.least+g.IntN(f.most-f.least+1), 1+g.IntN(3)
	if g.small {
		g.workers, g.rounds = f.least, 1+g.IntN(2)
	}
	p := &Program{Family: f.name}
	if buggy {
		k := turn % len(f.bugs)
		p.Bug, p.Verdict = f.bugs[k], Stuck
		if k >= f.stuck {
			p.Verdict = Wrong
		}
		g.rounds = max(g.rounds, 2)
	}
	f.write(g, p.Bug)
	p.Workers, p.Rounds, p.Starves = g.workers, g.rounds, g.starves
	p.Text = indent(strings.NewReplacer("$N", fmt.Sprint(g.workers), "$R", fmt.Sprint(g.rounds)).Replace(g.text.String()))
	return p
}

// pick returns one of its arguments.
func (g *gen) pick(of ...string) string { return of[g.IntN(len(of))] }

// emit appends to the program.
func (g *gen) emit(text string) {
	g.text.WriteString(strings.TrimSpace(text))
	g.text.WriteString("\n")
}

// pauses returns a statement between two looks of a loop that waits. It may need a variable of its
// own, whose declaration comes before the loop.
func (g *gen) pauses() (before, statement string) {
	switch g.IntN(9) {
	case 0:
		return "", "pause();"
	case 1, 2, 3:
		return "", "yield();"
	case 4:
		return "", "nap();"
	case 5: // exponential backoff
		return "int delay = 1;", "for (int k = 0; k < delay; k++) pause(); if (delay < 8) delay = delay * 2;"
	case 6: // backoff of yields
		return "int delay = 1;", "for (int k = 0; k < delay; k++) yield(); if (delay < 4) delay = delay * 2;"
	case 7: // spins a little, then yields
		return "int looks = 0;", "if (looks < 3) looks++; else yield();"
	default: // spins a little, yields a little, then sleeps
		return "int looks = 0;", "if (looks < 2) { looks++; pause(); } else if (looks < 4) { looks++; yield(); } else nap();"
	}
}

// until returns a loop that waits for a condition.
func (g *gen) until(cond string) string {
	before, wait := g.pauses()
	return "{ " + before + " while (!(" + cond + ")) { " + wait + " } }"
}

// forever returns a loop whose body leaves it by break or return, and pauses otherwise.
func (g *gen) forever(body string) string {
	before, wait := g.pauses()
	return "{ " + before + " for (;;) { " + body + " " + wait + " } }"
}

// indent gives each statement a line of its own, as a reader of a trace expects.
func indent(text string) string {
	var b strings.Builder
	depth, parens := 0, 0
	line := true // at the beginning of a line
	text = strings.Join(strings.Fields(text), " ")
	for i := 0; i < len(text); i++ {
		c := text[i]
		if line && c == ' ' {
			continue
		}
		if c == '}' {
			depth--
		}
		if line {
			b.WriteString(strings.Repeat("\t", depth))
			line = false
		}
		b.WriteByte(c)
		switch {
		case c == '(':
			parens++
		case c == ')':
			parens--
		case c == '{':
			depth++
			line = true
		case c == '}' && !strings.HasPrefix(text[i+1:], " else"), c == ';' && parens == 0:
			line = true
		}
		if line {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
