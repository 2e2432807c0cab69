package interactive

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/term"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/reporttest"
	"github.com/heddle-dev/heddle/trace"
)

// reader is a user at a simulated screen.
type reader struct {
	t      testing.TB
	screen tcell.SimulationScreen
	m      *model
}

func viewOf(t testing.TB, fixture string) *report.View {
	t.Helper()
	tr, names := reporttest.Load(t, fixture)
	return report.Build(tr, names, report.Options{})
}

// source has every line of every file.
func source(file string, line int) (string, bool) {
	return fmt.Sprintf("\tline %d of %s\x1b[2J", line, file), true
}

func newReader(t testing.TB, v *report.View, width, height int) *reader {
	t.Helper()
	s := tcell.NewSimulationScreen("UTF-8")
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Fini)
	s.SetSize(width, height)
	r := &reader{t: t, screen: s, m: newModel(v, Options{Draw: term.Options{Unicode: true, Color: true}, Source: source}, width, height)}
	r.m.draw(s)
	return r
}

// The command for a debugger is the one for the event, and the failure's at the end.
func TestDebugger(t *testing.T) {
	r := newReader(t, viewOf(t, "lost_update"), 100, 30)
	r.press("d")
	if want := "no debugger: the trace has no program"; r.m.message != want {
		t.Errorf("%q, want %q", r.m.message, want)
	}
	h := trace.Header{Target: "c"}
	r.m.opt.Debuggers = func(event int) (lines []string) {
		for _, d := range report.DebuggerCommands(&h, "a b.hdl") {
			if lines = append(lines, d.Line()); event < r.m.v.Events {
				lines[len(lines)-1] = d.At(strconv.Itoa(event))
			}
		}
		return lines
	}
	for _, c := range [][2]string{
		{"gjjd", "heddle replay --gdb --at 2 'a b.hdl'"}, {"d", "heddle replay --gdb=lldb --at 2 'a b.hdl'"}, {"d", "heddle replay --gdb --at 2 'a b.hdl'"},
		{"jd", "heddle replay --gdb --at 3 'a b.hdl'"}, {"Gd", "heddle replay --gdb 'a b.hdl'"},
	} {
		r.press(c[0])
		if r.m.message != c[1] || r.m.command != c[1] {
			t.Errorf("%s: %q, want %q", c[0], r.m.message, c[1])
		}
	}
	h.Target = "go"
	if r.press("d"); r.m.command != "heddle replay --dlv 'a b.hdl'" {
		t.Errorf("%q", r.m.command)
	}
}

// press presses keys: letters, or one of the names of named.
func (r *reader) press(keys ...string) *reader {
	r.t.Helper()
	named := map[string]tcell.Key{"enter": tcell.KeyEnter, "down": tcell.KeyDown, "up": tcell.KeyUp, "right": tcell.KeyRight, "left": tcell.KeyLeft, "esc": tcell.KeyEscape, "home": tcell.KeyHome, "end": tcell.KeyEnd, "back": tcell.KeyBackspace2, "pgdn": tcell.KeyPgDn}
	for _, k := range keys {
		if key, ok := named[k]; ok {
			r.m.key(tcell.NewEventKey(key, 0, tcell.ModNone))
		} else {
			for _, c := range k {
				r.m.key(tcell.NewEventKey(tcell.KeyRune, c, tcell.ModNone))
			}
		}
		r.m.draw(r.screen)
	}
	return r
}

// text returns the lines of the screen.
func (r *reader) text() []string {
	cells, w, h := r.screen.GetContents()
	lines := make([]string, h)
	for y := range h {
		var b strings.Builder
		for _, c := range cells[y*w : (y+1)*w] {
			b.Write(c.Bytes)
		}
		lines[y] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

func (r *reader) String() string { return strings.Join(r.text(), "\n") }

// current returns the lines that are marked as the current row.
func (r *reader) current() string {
	cells, w, h := r.screen.GetContents()
	var lines []string
	text := r.text()
	for y := range h - 1 { // the last one is the status
		if _, _, a := cells[y*w].Style.Decompose(); a&tcell.AttrReverse != 0 {
			lines = append(lines, text[y])
		}
	}
	return strings.Join(lines, "\n")
}

// at checks that the current row is drawn with a text.
func (r *reader) at(want string) {
	r.t.Helper()
	if got := r.current(); !strings.Contains(got, want) {
		r.t.Errorf("the current row is %q, want %q, on\n%s", got, want, r)
	}
}

func (r *reader) shows(want string) {
	r.t.Helper()
	if !strings.Contains(r.String(), want) {
		r.t.Errorf("the screen lacks %q:\n%s", want, r)
	}
}

func (r *reader) lacks(text string) {
	r.t.Helper()
	if strings.Contains(r.String(), text) {
		r.t.Errorf("the screen has %q:\n%s", text, r)
	}
}

// Stepping visits the events in order and skips the switches; n and p visit the switches; N only the
// preemptions. Arrows do the same.
func TestStep(t *testing.T) {
	r := newReader(t, viewOf(t, "lost_update"), 100, 30)
	r.at("0  start main")
	r.shows("./lost 2")
	r.shows("▶ 11      line 11 of lost.c?[2J") // which no terminal takes for a command
	r.press("j").at("1  create T1")
	r.press("down", "j").at("3                             │ start teller")
	r.press("k").at("2  create T2")
	r.press("up", "up", "up", "up").at("0  start main")
	r.shows("this is the beginning of the execution")
	r.press("n").at("T0 waits for T1 to end (lost.c:17)")
	r.shows("▶ 17 ") // where T0 waits
	r.press("right").at("T1 PREEMPTED before write account.balance")
	r.press("j").at("5                             │                            │ start teller")
	r.press("p").at("T1 PREEMPTED")
	r.press("left").at("T0 waits for T1")
	r.press("p")
	r.shows("no earlier context switch")
	r.press("N").at("T1 PREEMPTED")
	r.press("N")
	r.shows("no later preemption")
	r.press("P")
	r.shows("no earlier preemption")
}

// The end has the failure, and its place below.
func TestEnd(t *testing.T) {
	r := newReader(t, viewOf(t, "lost_update"), 100, 30).press("G")
	r.at("✗ ")
	r.shows("\nthe end")
	before := r.String()
	r.press("j")
	r.shows("this is the end of the execution")
	r.press("g").at("0  start main")
	if r.press("end"); r.String() != before {
		t.Errorf("end and G differ:\n%s\n%s", before, r)
	}
	r.press("k").at("14 abort")
	r.press("j").at("✗ ")
}

// Following an object visits its events only, and dims the others.
func TestFollow(t *testing.T) {
	r := newReader(t, viewOf(t, "lost_update"), 100, 30)
	r.press("jjjj").at("read account.balance → 100")
	r.press("f")
	r.shows("following account.balance: 1 of ")
	var steps []string
	for range 3 {
		r.press("j")
		steps = append(steps, strings.Fields(r.current())[0])
	}
	if got := strings.Join(steps, " "); got != "6 7 9" {
		t.Errorf("followed to events %s, want 6 7 9", got)
	}
	dim := 0
	cells, w, h := r.screen.GetContents()
	for y := range h {
		if _, _, a := cells[y*w].Style.Decompose(); a&tcell.AttrDim != 0 && strings.HasPrefix(r.text()[y], "0  start main") {
			dim++
		}
	}
	if dim != 1 {
		t.Errorf("start main is not dim:\n%s", r)
	}
	r.press("k").at("write account.balance ← 140")
	r.press("f", "j").at("8 ")
	r.lacks("following")
	r.press("g", "f")
	r.shows("following main: 1 of 1") // a start is about its thread
	r.press("esc")
	r.lacks("following")
}

// A loop unfolds to all of its turns, a fold to its events; both fold again, from inside, too.
func TestFold(t *testing.T) {
	r := newReader(t, viewOf(t, "loops"), 100, 30)
	r.at("… 22 events")
	r.press("enter").at("22 events:")
	r.press("j").at("start main")
	r.press("j", "enter").at("… 22 events")
	r.press("jjjj").at("50 times:")
	r.at("│ unlock mut")
	r.press("enter").at("50 times:")
	if strings.Contains(r.current(), "unlock") {
		t.Errorf("the heading of an open loop has its turn:\n%s", r.current())
	}
	r.press("jj").at("read count → 0")
	r.press("jjjj").at("read count → 1")
	r.at("│") // the loop's bar
	r.press("enter").at("50 times:")
	r.at("read count → 0 … 49")
	r.press("g", "j", "enter")
	r.shows("nothing to unfold here")

	// Everything: as many events as the view has.
	r.press("a", "g")
	events := 0
	for i := 0; ; i++ {
		if row := r.m.row(); row == nil {
			break
		} else if row.Kind == report.EventRow {
			events++
		}
		r.m.step(1)
	}
	if want := r.m.v.Events - r.m.v.Hidden; events != want {
		t.Errorf("stepped through %d events of %d", events, want)
	}
	r.press("g", "a").at("… 22 events")
}

// A search ignores case, finds what is folded and source lines, begins again after the last
// match, and goes to numbers.
func TestSearch(t *testing.T) {
	r := newReader(t, viewOf(t, "loops"), 100, 30)
	r.press("/", "UNLOCK").shows("/UNLOCK")
	r.press("enter").at("50 times:") // drawn there, so nothing unfolds
	r.press("/", "enter").at("unlock mut")
	r.lacks("not found")
	first := r.current()
	r.press("/", "enter").at("50 times:")
	r.shows("searched from the beginning")
	if first == r.current() {
		t.Error("a repeated search stays where it is")
	}
	r.press("/", "table[7]", "enter").at("write table[7]") // in the fold at the beginning
	r.press("enter").at("×20")
	r.press("k", "enter").at("… 22 events")
	r.press("/", "p->field = 7", "enter").at("write block #1+8 ← 7")
	r.press("/", "xyzzy", "enter").at("write block #1+8 ← 7")
	r.shows(`"xyzzy" not found`)
	r.press("/", "#42", "enter").at("42 ")
	r.press("/", "abc", "back", "back", "back", "back")
	r.lacks("/abc")
	r.press("/", "q", "esc").at("42 ")
}

// The pane below has the source, the call stack, or is not there.
func TestPanes(t *testing.T) {
	r := newReader(t, viewOf(t, "lost_update"), 100, 30)
	r.press("jjjj")
	r.shows("── T1  read account.balance → 100  lost.c:7 in teller ──")
	r.press("s")
	r.shows("  teller  lost.c:7")
	r.press("s")
	r.lacks("lost.c:7 in teller")
	r.press("s")
	r.shows("▶  7 ")
	r.press("?")
	for _, k := range keys {
		r.shows(k[1])
	}
	r.press("j").at("read account.balance → 100") // it only closes the help
	r.lacks(keys[0][1])
	r.press("z")
	r.shows("'z' does nothing")
}

// The reader may begin at an event, which is unfolded; one that does not exist is not silently another.
func TestBeginAtEvent(t *testing.T) {
	begin := func(n int) *model {
		return newModel(viewOf(t, "loops"), Options{Event: &n, Source: source}, 100, 30)
	}
	if m := begin(9); m.row().Event != 9 || m.row().Kind != report.EventRow {
		t.Errorf("began at %+v, want event 9", m.row())
	}
	if m := begin(1000); m.at != 0 || !strings.Contains(m.status(), `"#1000" not found`) {
		t.Errorf("event 1000 of 345: row %d, %s", m.at, m.status())
	}
}

// No size of the screen breaks the drawing, and the current row is on it.
func TestSizes(t *testing.T) {
	for _, fixture := range reporttest.Fixtures() {
		v := viewOf(t, fixture)
		for _, size := range [][2]int{{1, 1}, {10, 2}, {24, 5}, {40, 10}, {80, 24}, {200, 60}} {
			r := newReader(t, v, size[0], size[1])
			for _, keys := range []string{"", "n", "jj", "f", "a", "G", "k", "s", "?"} {
				r.press(keys)
				if size[1] >= 5 && keys != "?" && r.current() == "" {
					t.Errorf("%s, %v after %q: the current row is not on the screen\n%s", fixture, size, keys, r)
				}
			}
		}
	}
}

// A screen that changes its size is drawn again.
func TestResize(t *testing.T) {
	r := newReader(t, viewOf(t, "lost_update"), 100, 30)
	r.press("jjjj")
	r.screen.SetSize(60, 20)
	r.m.resize(60, 20)
	r.m.draw(r.screen)
	r.at("│ account.balance")
	for _, l := range r.text() {
		if len([]rune(l)) > 60 {
			t.Errorf("a line of %d cells: %s", len([]rune(l)), l)
		}
	}
}

// Keys reach the model through the screen; q, Ctrl-C and the end of the context end it.
func TestRun(t *testing.T) {
	for name, end := range map[string]func(s tcell.SimulationScreen, cancel func()){
		"q":       func(s tcell.SimulationScreen, _ func()) { s.InjectKey(tcell.KeyRune, 'q', tcell.ModNone) },
		"Ctrl-C":  func(s tcell.SimulationScreen, _ func()) { s.InjectKey(tcell.KeyCtrlC, 0, tcell.ModCtrl) },
		"context": func(_ tcell.SimulationScreen, cancel func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			s := tcell.NewSimulationScreen("UTF-8")
			if err := s.Init(); err != nil {
				t.Fatal(err)
			}
			defer s.Fini()
			s.SetSize(100, 30)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				run(ctx, s, viewOf(t, "lost_update"), Options{Draw: term.Options{Unicode: true}, Source: source})
			}()
			s.InjectKey(tcell.KeyRune, 'j', tcell.ModNone)
			select {
			case <-ended:
				t.Fatal("j ended it")
			case <-time.After(100 * time.Millisecond):
			}
			end(s, cancel)
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Fatal("it does not end")
			}
		})
	}
}

// A step in an execution of 100,000 events draws the screen, not the execution: it takes a small
// part of the time that laying out everything takes.
func TestSpeedLongExecution(t *testing.T) {
	need.Speed(t)
	tr, names := reporttest.Random(t, 1, 8, 100_000)
	v := report.Build(tr, names, report.Options{})
	best := math.Inf(1)
	for range need.Tries {
		began := time.Now()
		r := newReader(t, v, 120, 40)
		r.press("a")
		all := time.Since(began)
		const steps = 50
		began = time.Now()
		for range steps {
			r.press("j")
		}
		step := time.Since(began) / steps
		t.Logf("%d rows: layout %v, step %v", len(r.m.rows), all, step)
		if best = min(best, step.Seconds()/all.Seconds()); best <= 0.1 {
			return
		}
	}
	t.Errorf("a step takes %.2f times as long as the layout of all rows", best)
}
