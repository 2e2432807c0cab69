package contract

import (
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/trace"
)

// Sim is the program for the simulated machine. Its sites are the lines of the program.
//
// With golang, threads start and end as goroutines do, so that programs whose operations do
// not block make the same decisions as in Go.
func Sim(c *Case, golang bool) simprog.Program {
	return simprog.Program{Name: c.Name, Main: func(t *simprog.Thread) {
		s := &interpreter{
			functions: map[string][]Op{}, vars: map[string]*simprog.Word{}, mutexes: map[string]*simprog.Mutex{},
			conds: map[string]*simprog.Cond{}, threads: map[string]*simprog.Thread{}, golang: golang,
		}
		if golang {
			t.At(siteOf(0)).Step(trace.OpThreadStart)
		}
		for _, f := range c.Program.Functions {
			s.functions[f.Name] = f.Ops
		}
		for _, v := range c.Program.Vars {
			s.vars[v] = t.Var(0)
		}
		for _, m := range c.Program.Mutexes {
			s.mutexes[m] = t.Mutex()
		}
		for v := range c.Program.Conds {
			s.conds[v] = t.Cond()
		}
		s.run(t, s.functions["main"])
	}}
}

func siteOf(line int) trace.Site { return trace.MakeSite(0, uint64(line)<<4) }

type interpreter struct {
	functions map[string][]Op
	vars      map[string]*simprog.Word
	mutexes   map[string]*simprog.Mutex
	conds     map[string]*simprog.Cond
	threads   map[string]*simprog.Thread
	golang    bool
}

// run executes operations up to the end of a loop, or of the function.
func (s *interpreter) run(t *simprog.Thread, ops []Op) {
	for i := 0; i < len(ops); i++ {
		if ops[i].Word != "loop" {
			s.do(t, ops[i])
			continue
		}
		end, depth := i, 0
		for {
			if ops[end].Word == "loop" {
				depth++
			} else if ops[end].Word == "end" {
				depth--
			}
			if depth == 0 {
				break
			}
			end++
		}
		for range ops[i].number(0) {
			s.run(t, ops[i+1:end])
		}
		i = end
	}
}

func (s *interpreter) do(t *simprog.Thread, o Op) {
	at := siteOf(o.Line)
	t.At(at)
	switch o.Word {
	case "go":
		body := s.functions[o.Args[0]]
		s.threads[o.Args[0]] = t.Go(func(t *simprog.Thread) { s.run(t, body) })
		if !s.golang {
			t.At(at).Step(trace.OpThreadCreated)
		}
	case "join":
		t.Join(s.threads[o.Args[0]])
	case "lock":
		t.Lock(s.mutexes[o.Args[0]])
	case "unlock":
		t.Unlock(s.mutexes[o.Args[0]])
	case "trylock":
		t.TryLock(s.mutexes[o.Args[0]])
	case "wait":
		t.Wait(s.conds[o.Args[0]], s.mutexes[o.Args[1]])
	case "timedwait":
		t.WaitFor(s.conds[o.Args[0]], s.mutexes[o.Args[1]], o.number(2))
	case "signal":
		t.Signal(s.conds[o.Args[0]])
	case "broadcast":
		t.Broadcast(s.conds[o.Args[0]])
	case "read":
		t.Read(s.vars[o.Args[0]])
	case "write":
		t.Write(s.vars[o.Args[0]], o.number(1))
	case "load":
		t.Load(s.vars[o.Args[0]])
	case "store":
		t.Store(s.vars[o.Args[0]], o.number(1))
	case "add":
		t.Add(s.vars[o.Args[0]], o.number(1))
	case "each":
		for _, v := range o.Args[:2] {
			t.At(at).Store(s.vars[v], o.number(2))
			t.At(at).Yield()
		}
	case "spin":
		for t.At(at).Load(s.vars[o.Args[0]]) != o.number(1) {
		}
	case "poll":
		for t.At(at).Load(s.vars[o.Args[0]]) != o.number(1) {
			t.At(at).Yield()
		}
	case "await":
		t.Await(s.vars[o.Args[0]], o.number(1))
	case "compute":
		t.Compute(int(o.number(0)))
	case "yield":
		t.Yield()
	case "sleep":
		t.Sleep(o.number(0))
	case "timer":
		t.Timer(o.number(0))
	default:
		panic(o.Word + " has no counterpart in the simulated machine: say so in the case")
	}
}
