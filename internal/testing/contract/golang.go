package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Go is a Go program with a function for the main goroutine of each case that has a
// counterpart in Go, chosen by the name of the case as its argument.
func Go(cases []*Case) string {
	var b, choose strings.Builder
	b.WriteString("package main\n\nimport (\n\t\"os\"\n\t\"runtime\"\n\t\"sync\"\n\t\"sync/atomic\"\n\t\"time\"\n)\n\n")
	b.WriteString("//go:noinline\nfunc use(int32) {}\n\nvar computed [1024]byte\n\nvar _ = runtime.Gosched\nvar _ sync.Mutex\nvar _ = atomic.AddInt32\nvar _ time.Time\n\n")
	for _, c := range cases {
		if c.None["go"] != "" {
			continue
		}
		id := identifier(c.Name)
		for _, v := range c.Program.Vars {
			fmt.Fprintf(&b, "var %s_%s int32\n", id, v)
		}
		for _, m := range c.Program.Mutexes {
			fmt.Fprintf(&b, "var %s_%s sync.Mutex\n", id, m)
		}
		for _, v := range slices.Sorted(maps.Keys(c.Program.Conds)) {
			fmt.Fprintf(&b, "var %s_%s = sync.NewCond(&%s_%s)\n", id, v, id, c.Program.Conds[v])
		}
		joined := map[string]bool{}
		for _, f := range c.Program.Functions {
			for _, o := range f.Ops {
				if o.Word == "join" {
					joined[o.Args[0]] = true
				}
			}
		}
		for f := range joined {
			fmt.Fprintf(&b, "var %s_done_%s = make(chan int)\n", id, f)
		}
		for _, f := range c.Program.Functions {
			fmt.Fprintf(&b, "func %s_%s() {\n", id, f.Name)
			for _, o := range f.Ops {
				fmt.Fprintf(&b, "//line %s:%d\n%s\n", c.Name, o.Line, goOp(id, o))
			}
			if joined[f.Name] {
				fmt.Fprintf(&b, "close(%s_done_%s)\n", id, f.Name)
			}
			b.WriteString("}\n")
		}
		fmt.Fprintf(&choose, "\tcase %q:\n\t\t%s_main()\n", c.Name, id)
	}
	fmt.Fprintf(&b, "func main() {\n\tswitch os.Args[1] {\n%s\t}\n}\n", choose.String())
	return b.String()
}

func goOp(id string, o Op) string {
	v := func(i int) string { return id + "_" + o.Args[i] }
	switch o.Word {
	case "go":
		return fmt.Sprintf("go %s()", v(0))
	case "join":
		return fmt.Sprintf("<-%s_done_%s", id, o.Args[0])
	case "lock":
		return v(0) + ".Lock()"
	case "unlock":
		return v(0) + ".Unlock()"
	case "trylock":
		return v(0) + ".TryLock()"
	case "wait":
		return v(0) + ".Wait()"
	case "signal":
		return v(0) + ".Signal()"
	case "broadcast":
		return v(0) + ".Broadcast()"
	case "read":
		return fmt.Sprintf("use(%s)", v(0))
	case "write":
		return fmt.Sprintf("%s = %d", v(0), o.number(1))
	case "load":
		return fmt.Sprintf("atomic.LoadInt32(&%s)", v(0))
	case "store":
		return fmt.Sprintf("atomic.StoreInt32(&%s, %d)", v(0), o.number(1))
	case "add":
		return fmt.Sprintf("atomic.AddInt32(&%s, %d)", v(0), o.number(1))
	case "each":
		return fmt.Sprintf("for _, v := range []*int32{&%s, &%s} { atomic.StoreInt32(v, %d); runtime.Gosched() }", v(0), v(1), o.number(2))
	case "spin":
		return fmt.Sprintf("for atomic.LoadInt32(&%s) != %d { }", v(0), o.number(1))
	case "poll":
		return fmt.Sprintf("for atomic.LoadInt32(&%s) != %d { runtime.Gosched() }", v(0), o.number(1))
	case "await":
		return fmt.Sprintf("for %s != %d { use(0) }", v(0), o.number(1))
	case "compute":
		return fmt.Sprintf("for i := range %d { computed[i&1023] = byte(i) }", o.number(0)*accesses)
	case "yield":
		return "runtime.Gosched()"
	case "sleep":
		return fmt.Sprintf("time.Sleep(%d)", o.number(0))
	case "loop":
		return fmt.Sprintf("for range %d {", o.number(0))
	case "end":
		return "}"
	}
	panic(fmt.Sprintf("%q has no counterpart in Go: say so in the case", o.Word))
}
