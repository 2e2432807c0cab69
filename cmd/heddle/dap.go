package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/heddle-dev/heddle/internal/dapserver"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/trace"
)

type dapCommand struct {
	Listen string `placeholder:"ADDRESS" help:"Serve one client after another on a TCP address of this machine, such as 127.0.0.1:4711, instead of standard input and output."`
}

func (c *dapCommand) Help() string {
	return `Serves the Debug Adapter Protocol on standard input and output, with which editors step through a trace,
forwards and backwards. The launch request names the trace: {"trace": "bug.min.hdl"}. Stepping executes
nothing; expressions that the trace cannot answer are evaluated by gdb in a replay, for C and C++.`
}

// evaluateTime bounds one expression.
const evaluateTime = 30 * time.Second

func (c *dapCommand) Run(a *app) error {
	if a.JSON {
		return usage.Errorf("heddle dap speaks the Debug Adapter Protocol: --json has no meaning")
	}
	flags, err := a.passed()
	if err != nil {
		return err
	}
	known := map[string]string{} // values by event and expression
	s := &dapserver.Server{
		Open: func(file string, sources []string) (*trace.Trace, *report.View, error) {
			tr, err := tracefile.Read(file)
			if err != nil {
				return nil, nil, errors.New(sentence(err))
			}
			return tr, result.View(tr, sources), nil
		},
		Evaluate: func(ctx context.Context, file string, event int, expression string) (string, error) {
			key := fmt.Sprint(file, "\x00", event, "\x00", expression)
			if v, ok := known[key]; ok {
				return v, nil
			}
			v, err := evaluate(ctx, flags, file, event, expression)
			if err == nil {
				known[key] = v
			}
			return v, err
		},
	}
	if c.Listen != "" {
		return c.listen(a, s)
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		a.note("this is the Debug Adapter Protocol, for editors: see heddle dap --help")
	}
	return s.Serve(a.ctx, os.Stdin, os.Stdout)
}

// listen serves one connection after the other until Ctrl-C. Others than this machine's clients are not served: a
// client may have the program of a trace executed.
func (c *dapCommand) listen(a *app, s *dapserver.Server) error {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return usage.Errorf("invalid --listen %q: want HOST:PORT, such as 127.0.0.1:4711", c.Listen)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return usage.Errorf("invalid --listen %q: want an address of this machine only, such as 127.0.0.1:4711", c.Listen)
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", c.Listen, err)
	}
	stop := context.AfterFunc(a.ctx, func() { l.Close() })
	defer stop()
	fmt.Fprintf(a.stdout, "listening on %s\n", l.Addr())
	for {
		conn, err := l.Accept()
		if a.ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot accept a connection on %s: %w", c.Listen, err)
		}
		closed := context.AfterFunc(a.ctx, func() { conn.Close() })
		if err := s.Serve(a.ctx, conn, conn); err != nil && a.ctx.Err() == nil {
			a.say(sentence(err))
		}
		closed()
		conn.Close()
	}
}

// evaluate has gdb evaluate an expression after an event, in a replay of the trace.
func evaluate(ctx context.Context, flags []string, file string, event int, expression string) (string, error) {
	if strings.ContainsAny(expression, "\n\r") {
		return "", errors.New("an expression is one line")
	}
	if _, err := exec.LookPath("gdb"); err != nil {
		return "", errors.New("gdb, which evaluates expressions, is not in PATH: install it, or ask for what the trace shows")
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find heddle's own executable: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, evaluateTime)
	defer cancel()
	const mark = "heddle-value:"
	cmd := exec.CommandContext(ctx, self, append(flags, "replay", "--gdb", fmt.Sprint("--at=", event), file)...)
	cmd.Stdin = strings.NewReader("set width 0\necho " + mark + "\nprint " + expression + "\necho " + mark + "\nkill\nquit\n")
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, io.Writer(&out)
	err = cmd.Run()
	if ctx.Err() != nil {
		return "", fmt.Errorf("gdb did not answer within %v", evaluateTime)
	}
	parts := strings.Split(out.String(), mark)
	if len(parts) != 3 {
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		return "", fmt.Errorf("gdb did not get to event %d: %s", event, strings.TrimPrefix(lines[len(lines)-1], "heddle: "))
	}
	text := strings.TrimSpace(strings.ReplaceAll(parts[1], "(gdb) ", ""))
	if _, value, ok := strings.Cut(text, " = "); ok && strings.HasPrefix(text, "$") {
		return value, nil
	}
	return "", errors.New(text)
}
