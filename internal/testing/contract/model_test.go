package contract

import (
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
)

// model evaluates the pseudo-code of docs/scheduler.md for programs whose operations do not
// block, apart from the three implementations. It is only for short ones: nothing in it
// spins or monopolises.
type model struct {
	plan    schedule.Plan
	points  bool
	golang  bool
	state   uint64
	fair    uint64 // random state of strongly fair decisions
	late    bool
	lateAt  int // count when the fair phase began
	until   int // count with which the last fair window ended, or is to end
	count   int
	low     int64
	changes []int
	threads []*modelThread
	current *modelThread
	out     []Turn
}

type modelThread struct {
	name string
	ops  []Op // first is pending
	prio int64
	over bool
	last int // count at its last operation, or birth
}

func (m *model) draw() uint64 { return number(&m.state) }

func number(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

func (m *model) high() int64 { return int64(m.draw()/4 | 0x2000000000000000) }

func (m *model) birth(name string, ops []Op) *modelThread {
	t := &modelThread{name: name, prio: m.high(), ops: ops, last: m.count}
	m.threads = append(m.threads, t)
	return t
}

// comes is where a thread has reached an operation.
func (m *model) comes(t *modelThread) {
	yields := t.ops[0].Word == "yield"
	switch {
	case m.plan.Policy == schedule.PCT:
		for i := range m.changes {
			if m.changes[i] > 0 && m.changes[i] <= m.count {
				m.changes[i], t.prio = 0, int64(i)+1
			}
		}
		if yields {
			t.prio = m.low
			m.low--
		}
	case m.plan.Policy == schedule.POS && yields:
		m.low -= 8
		t.prio = m.low - int64(m.draw()%64)
	case m.plan.Policy == schedule.POS:
		t.prio = m.high()
	}
}

func (m *model) pick() *modelThread {
	var live []*modelThread
	for _, t := range m.threads {
		if !t.over {
			live = append(live, t)
		}
	}
	c := m.current
	if !m.late && m.count >= m.plan.FairAfter {
		m.late, m.lateAt = true, m.count
		m.fair = mixed(m.plan.Seed+m.plan.FairSeed, abi.FairSalt+1)
	}
	if !m.late && m.count-m.until >= 16384 {
		m.until = m.count + 512
	}
	if m.late || m.count < m.until {
		return m.pickStrongly(live)
	}
	switch m.plan.Policy {
	case schedule.Fair:
		if !c.over && c.ops[0].Word != "yield" {
			return c
		}
		i := slices.Index(m.threads, c)
		for {
			if i = (i + 1) % len(m.threads); !m.threads[i].over {
				return m.threads[i]
			}
		}
	case schedule.Random:
		if stay := uint64(m.plan.Stay * 65535); stay > 0 && !c.over && c.ops[0].Word != "yield" && m.draw()%65536 < stay {
			return c
		}
		if len(live) > 1 {
			return live[m.draw()>>32*uint64(len(live))>>32]
		}
		return live[0]
	}
	best := live[0]
	for _, t := range live[1:] {
		if t.prio > best.prio {
			best = t
		}
	}
	return best
}

// pickStrongly is strongly_fair().
func (m *model) pickStrongly(live []*modelThread) *modelThread {
	c := m.current
	if !c.over && c.ops[0].Word != "yield" {
		odds := uint64(4)
		if m.late && (m.count-m.lateAt)/512%2 == 1 {
			odds = 256
		}
		if number(&m.fair)%odds > 0 {
			return c
		}
	}
	var others []*modelThread
	for _, t := range live {
		if t != c {
			others = append(others, t)
		}
	}
	if len(others) == 0 {
		return c
	}
	if len(others) > 1 {
		if r := number(&m.fair); r%2 == 0 {
			return others[r>>32*uint64(len(others))>>32]
		}
	}
	first := others[0]
	for _, t := range others {
		if t.last < first.last {
			first = t
		}
	}
	return first
}

// mixed is mix().
func mixed(a, b uint64) uint64 {
	x := (a ^ b) * 0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

func race(a, b Op) bool {
	reads := func(o Op) bool { return o.Word == "read" || o.Word == "load" }
	about := func(o Op) string {
		if slices.Contains([]string{"read", "write", "load", "store", "add"}, o.Word) {
			return o.Args[0]
		}
		return ""
	}
	return about(a) != "" && about(a) == about(b) && !(reads(a) && reads(b))
}

// run returns the decisions of a case under a plan.
func run(c *Case, plan schedule.Plan, golang bool) []Turn {
	m := &model{plan: plan, golang: golang, state: mixed(plan.Seed, 0x6865646c65), fair: mixed(plan.Seed, abi.FairSalt)}
	code := map[string][]Op{}
	for _, f := range c.Program.Functions {
		for _, o := range f.Ops {
			code[f.Name] = append(code[f.Name], o)
			if o.Word == "go" && !golang {
				code[f.Name] = append(code[f.Name], Op{Word: "created"})
			}
		}
	}
	if plan.Policy == schedule.PCT {
		for range plan.Depth - 1 {
			m.changes = append(m.changes, 1+int(m.draw()%uint64(plan.Length)))
		}
	}
	main := append(code["main"], Op{Word: "exit"})
	if golang {
		main = append([]Op{{Word: "start"}}, main...)
	}
	t := m.birth("main", main)
	m.current = t
	m.count++
	m.comes(t)
	for {
		t := m.pick()
		m.current = t
		did := t.ops[0]
		t.ops = t.ops[1:]
		if n := len(m.out); n == 0 || m.out[n-1].Thread != t.name {
			m.out = append(m.out, Turn{Thread: t.name})
		}
		t.last = m.count
		last := &m.out[len(m.out)-1]
		last.Words = append(last.Words, did.Word)
		if did.Word == "exit" {
			return m.out
		}
		var child *modelThread
		body := func() []Op {
			return slices.Concat([]Op{{Word: "start"}}, code[did.Args[0]], []Op{{Word: "end"}})
		}
		if did.Word == "go" && !golang {
			child = m.birth(did.Args[0], body())
		}
		if plan.Policy == schedule.POS {
			for _, u := range m.threads {
				if u != t && !u.over && race(did, u.ops[0]) && u.ops[0].Word != "yield" {
					u.prio = m.high()
				}
			}
		}
		if did.Word == "go" && golang {
			child = m.birth(did.Args[0], body())
		}
		if child != nil {
			m.comes(child)
		}
		if len(t.ops) == 0 {
			t.over = true
			continue
		}
		m.count++
		m.comes(t)
	}
}

// TestModel: the simulated machine makes the decisions of the pseudo-code, which is evaluated
// separately. TestSeeds compares the other implementations with the machine.
func TestModel(t *testing.T) {
	c, err := Load("testdata/accesses.txtar")
	if err != nil {
		t.Fatal(err)
	}
	behaviours := map[string]bool{}
	for _, golang := range []bool{false, true} {
		tg := simprog.New(Sim(c, golang))
		for policy := range schedule.POS + 1 {
			for seed := range uint64(200) {
				c.Plan = schedule.Plan{Policy: policy, Seed: seed, Depth: 1 + int(seed%5), Length: 25, Stay: float64(seed%3) / 3, FairAfter: schedule.Never}
				if seed%4 == 3 {
					c.Plan.FairAfter, c.Plan.FairSeed = 1+int(seed)/4, seed/3
				}
				r, _ := follow(t, c, "sim", tg)
				got, want := Format(r.turns), Format(run(c, c.Plan, golang))
				if got != want {
					t.Fatalf("policy %v, seed %d, goroutines %t: did\n%sthe model\n%s", policy, seed, golang, got, want)
				}
				behaviours[fmt.Sprint(policy, got)] = true
			}
		}
	}
	if len(behaviours) < 500 {
		t.Errorf("only %d schedules of 1,600", len(behaviours))
	}
}
