package goprog

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/testing/ipctest"
	"github.com/heddle-dev/heddle/trace"
)

// The program under test is this test binary, run again: a real Go executable, whose part
// of the protocol the fake below plays instead of a patched Go runtime.
func TestMain(m *testing.M) {
	if os.Getenv("HEDDLE_GO") != "" {
		fake(os.Args[1], os.Args[2:])
		os.Exit(0)
	}
	status := m.Run()
	os.RemoveAll(real.dir)
	os.Exit(status)
}

var fakeGlobal [4]uint64

// fake behaves as configured: what happens before it is ready, and at which seeds what.
// An execution's signature is its seed, its points are the process, its switches how many
// executions there were before in the process.
func fake(before string, at []string) {
	if before == "plain" {
		fmt.Println("no tests to run")
		os.Exit(0)
	}
	p := ipctest.Open()
	cold := p.Shm.Options&abi.OptNoWarmup != 0
	if os.Getenv("HEDDLE_GO") == "test" && !cold {
		fmt.Println("what the warm-up writes")
	}
	switch before {
	case "early":
		fmt.Println("cannot open the database")
		os.Exit(1)
	case "refuse":
		p.State(abi.StateRefused, "the test uses plugins: heddle cannot follow them")
		os.Exit(125)
	case "broken":
		p.State(abi.StateFatal, "a token was lost")
		os.Exit(125)
	case "cold":
		if !cold {
			p.State(abi.StateCold, "")
			os.Exit(1)
		}
	case "stuck":
		for !cold {
			time.Sleep(time.Hour)
		}
	case "later": // the third process and those after it are cold
		name := os.Getenv("FAKE_COUNTER")
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			os.Exit(124)
		}
		f.WriteString("x")
		if b, _ := os.ReadFile(name); len(b) >= 3 && !cold {
			p.State(abi.StateCold, "")
			os.Exit(1)
		}
	case "slow": // to start
		time.Sleep(300 * time.Millisecond)
	}
	p.State(abi.StateReady, "")
	for n := 0; ; {
		plan := p.Next()
		for i := range uint64(plan.Repeat) {
			seed := plan.Seed + i
			r := abi.Result{Plan: plan.Id, Index: i, Signature: seed, Points: uint32(os.Getpid()), Switches: uint32(n), Threads: 1}
			n++
			what := "clean"
			for _, a := range at {
				if s, w, _ := strings.Cut(a, "="); s == fmt.Sprint(seed) || s == "all" {
					what = w
				}
			}
			execute(p, &plan, &r, what)
			p.Beat()
			ipctest.Send(p, abi.RecResult, r)
			if r.Last != 0 {
				die(what)
			}
			if plan.Flags&abi.PlanStop != 0 && (r.Outcome != abi.OutClean || r.Status != plan.ExpectStatus) {
				break
			}
		}
		ipctest.Send(p, abi.RecPlanEnd, plan.Id)
	}
}

type failure struct{ n int }

func (f failure) Error() string { return fmt.Sprintf("broken\nin %d ways", f.n) }

// execute does what an execution does up to its result.
func execute(p *ipctest.Program, plan *ipctest.Plan, r *abi.Result, what string) {
	what, arg, _ := strings.Cut(what, ":")
	switch what {
	case "clean":
	case "says":
		fmt.Println("=== RUN   TestIt\nall is well\n--- PASS: TestIt (0.00s)")
	case "test":
		fmt.Println("=== RUN   TestIt")
		fmt.Println("before the failure")
		r.Outcome = abi.OutTest
		ipctest.Send(p, abi.RecMessage, "it_test.go:7: got 1, want 2")
	case "report": // the package's report comes before the controller looks
		fmt.Println("in the test")
		r.Outcome = abi.OutTest
		ipctest.Send(p, abi.RecMessage, "failed")
		fmt.Println("--- FAIL: TestIt (0.00s)\n    it_test.go:7: failed\n=== RUN   TestIt\nthe next one")
	case "panic", "nil", "again":
		fmt.Println("=== RUN   TestOther\nof an execution before")
		fmt.Println("=== RUN   TestIt\n=== RUN   TestIt/sub\nbefore the panic")
		r.Outcome, r.Last = abi.OutPanic, 1
	case "throw":
		r.Outcome, r.Last = abi.OutFatal, 1
	case "leak":
		r.Outcome, r.Notes = abi.OutLeak, abi.NoteExternal
		ipctest.Send(p, abi.RecWaiter, abi.Waiter{Thread: 1, Op: uint16(trace.OpChanRecv), Pc: textAddress(), Object: uint64(trace.MakeObject(trace.RegionHeap, 0, 64))})
	case "exit":
		n, _ := strconv.Atoi(arg)
		fmt.Print("bye")
		r.Status, r.Last = int32(n), 1
	case "lost":
		fmt.Fprintln(os.Stderr, "fatal error: out of luck in a library")
		os.Exit(99)
	case "killed":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "spin":
		fmt.Println("spinning")
		spinForGood()
	case "deaf":
		signal.Ignore(syscall.SIGQUIT)
		spinForGood()
	case "stdin":
		b, _ := io.ReadAll(os.Stdin)
		fmt.Printf("%q", b)
	case "env":
		for _, e := range os.Environ() {
			if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "HEDDLE") || name == "MINE" {
				fmt.Println(strings.ReplaceAll(e, "\n", "|"))
			}
		}
		fmt.Println("options", p.Shm.Options)
	case "trace":
		record(p)
	case "script":
		for _, s := range plan.Steps {
			fmt.Printf("%d op %d pc %#x aux %d\n", s.Thread, s.Op, s.Pc, s.Aux)
		}
	default:
		fmt.Println("cannot do", what)
		os.Exit(98)
	}
}

// die is what a process does after the result of its last execution.
func die(what string) {
	time.Sleep(20 * time.Millisecond) // the controller has to wait for the message
	switch what {
	case "panic":
		panic(failure{3})
	case "nil":
		var p *int
		*p = 1
	case "again":
		defer func() { panic(recover()) }()
		panic("out of tea")
	case "throw":
		m := map[int]int{}
		delete(m, 1)
		fmt.Fprint(os.Stderr, "fatal error: concurrent map writes\n\ngoroutine 7 [running]:\nmain.main()\n")
		os.Exit(2)
	}
	if s, ok := strings.CutPrefix(what, "exit:"); ok {
		n, _ := strconv.Atoi(s)
		os.Exit(n)
	}
}

//go:noinline
func spinForGood() {
	for {
		time.Sleep(time.Second)
	}
}
