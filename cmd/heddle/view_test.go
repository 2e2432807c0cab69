package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// terminal is a pseudo-terminal with a program on it.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File

	mu  sync.Mutex
	out bytes.Buffer // what the program has written
}

// onTerminal starts a program on a terminal of 100 by 30.
func onTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(n)), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, cmd: cmd, master: master}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			x.mu.Lock()
			x.out.Write(b[:n])
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return x
}

// escapes are the sequences that move the cursor or set the style. Only cells that change are written, so
// spaces do not tell anything either.
var escapes = regexp.MustCompile(`\x1b\[[0-9;?>]*[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b[=>]|\s`)

// shows waits for a text, and forgets what was written up to now.
func (x *terminal) shows(want string) {
	x.t.Helper()
	want = strings.ReplaceAll(want, " ", "")
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		x.mu.Lock()
		got := escapes.ReplaceAllString(x.out.String(), "")
		found := strings.Contains(got, want)
		if found {
			x.out.Reset()
		}
		x.mu.Unlock()
		if found {
			return
		}
		if time.Now().After(end) {
			x.t.Fatalf("the terminal does not show %q: %q", want, got)
		}
	}
}

func (x *terminal) press(keys string) {
	x.t.Helper()
	if _, err := x.master.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// On a terminal, heddle view steps through a trace, and leaves the terminal as it was.
func TestView(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := filepath.Join(repository(t), "testdata/programs/fail/lost_update.c")
	if out, err := heddleCommand(t, dir, nil, "cc", "-O1", "-g", e, "-o", "prog").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := heddleCommand(t, dir, nil, "find", "./prog").CombinedOutput(); err == nil {
		t.Fatalf("no bug found\n%s", out)
	}
	x := onTerminal(t, heddleCommand(t, dir, nil, "view", "prog.min.hdl"))
	x.shows("create T1")
	x.press("p")
	x.shows("no earlier context switch")
	x.press("/balance\rf")
	x.shows("following account.balance")
	x.press("\x1b[F") // the key End
	x.shows("assertion")
	x.press("g")
	x.shows("event 0 of")
	x.press("d")
	x.shows("heddle replay --gdb --at 0 prog.min.hdl")
	x.press("jd") // the next event of the object that is followed
	x.shows("heddle replay --gdb --at 5 prog.min.hdl")
	x.press("?")
	x.shows("follow the event's object")
	x.press("?q")
	ended := make(chan error, 1)
	go func() { ended <- x.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("heddle view: %v", err)
		}
	case <-time.After(time.Minute):
		_ = x.cmd.Process.Kill()
		t.Fatal("q does not end it")
	}
	var out string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) { // what it wrote may still be on its way
		x.mu.Lock()
		out = x.out.String()
		x.mu.Unlock()
		if strings.Contains(out, "\x1b[?1049l") && strings.HasSuffix(out, "heddle replay --gdb --at 5 prog.min.hdl\r\n") {
			return
		}
	}
	t.Errorf("the terminal is left with another screen, or the command is not printed: %q", out)
}

// Whatever bytes are typed, whole or cut, heddle view goes on, and ends as it is told to; it leaves the terminal's screen.
func TestViewAnyBytes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.hdl")
	site := trace.MakeSite(0, 16)
	err := trace.WriteFile(file, &trace.Trace{
		Header:  trace.Header{Target: "c", Command: []string{"/bin/true"}, PointsVersion: schedule.PointsVersion},
		Modules: []trace.Module{{Path: "/bin/true", Program: true}},
		Threads: []trace.Thread{{ID: 0, Parent: -1}},
		Stacks:  [][]trace.Site{nil},
		Events:  []trace.Event{{Op: trace.OpAbort, Site: site, Enabled: trace.ThreadSet{Low: 1}}},
		Ending:  trace.Ending{Kind: trace.Assertion, Site: site, Message: "m"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for b := range 256 {
		if b != 'q' && b != 3 {
			all = append(all, byte(b))
		}
	}
	typed := [][]byte{all, []byte("\xff"), []byte("caf\xe9"), []byte("/caf\xe9\r")}
	for _, sequence := range []string{"\x1b[A", "\x1b[1;5C", "\x1bOP", "\x1b[<0;10;10M", "\x1b[200~a\xffb\x1b[201~", "\x1b]52;c;eA==\x07", "\x1bP+r\x1b\\", "€\U0001f600"} {
		for n := range len(sequence) {
			typed = append(typed, []byte(sequence[:n+1]))
		}
	}
	for how, end := range map[string]func(x *terminal){
		"Ctrl-C":  func(x *terminal) { x.press("\x03") },
		"SIGINT":  func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGINT) },
		"SIGTERM": func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":  func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGHUP) },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			x := onTerminal(t, heddleCommand(t, filepath.Dir(file), nil, "view", file))
			x.shows("abort")
			for _, b := range typed {
				x.press(string(b))
			}
			x.press("\x1b")
			time.Sleep(100 * time.Millisecond) // an escape with something behind it is another key
			x.press("gg")
			ended := make(chan error, 1)
			go func() { ended <- x.cmd.Wait() }()
			over := time.After(time.Minute)
			again := time.NewTicker(time.Second)
			defer again.Stop()
			end(x)
			for {
				select {
				case <-ended:
					if status := x.cmd.ProcessState.ExitCode(); status < 0 {
						t.Errorf("a signal ended it: %v", x.cmd.ProcessState)
					}
					return
				case <-again.C:
					if how == "Ctrl-C" { // what was typed may have opened a search, which Escape ends
						x.press("\x1b")
						x.press("\x03")
					}
				case <-over:
					_ = x.cmd.Process.Kill()
					t.Fatal("it does not end")
				}
			}
		})
	}
}
