package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ended is how long an interrupted heddle may take to end.
const ended = 20 * time.Second

// exitFound is heddle's exit status when it found a bug (docs/json.md).
const exitFound = 1

// run runs a command of heddle and returns its standard output. Its error is the sentence that heddle
// printed. Cancelling ctx interrupts the command; one that does not end in time is killed. The
// lines of its progress go to progress, if that is not nil.
func (s *Server) run(ctx context.Context, req *request, progress func(string)) ([]byte, error) {
	args := append([]string{req.command}, s.Flags...)
	if progress != nil {
		args = append(args, "--progress-fd=3")
	}
	cmd := exec.CommandContext(ctx, s.Heddle, append(args, req.args...)...)
	cmd.Args[0] = s.Name
	cmd.Dir = req.dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = ended
	// A heddle whose server was killed must not go on.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if progress != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		cmd.ExtraFiles = []*os.File{w}
		told := make(chan struct{})
		defer func() { <-told }()
		defer w.Close()
		go func() {
			defer close(told)
			for lines := bufio.NewScanner(r); lines.Scan(); {
				progress(lines.Text())
			}
		}()
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return stdout.Bytes(), errors.New("cancelled")
	case err == nil || errors.As(err, &exit) && exit.ExitCode() == exitFound:
		return stdout.Bytes(), nil
	case !errors.As(err, &exit):
		return nil, fmt.Errorf("cannot run heddle: %w", err)
	}
	return stdout.Bytes(), failure(stderr.String(), exit)
}

// failure returns the error of a command: heddle's last sentence, and then what else was printed, such as
// the messages of a compiler.
func failure(printed string, exit *exec.ExitError) error {
	var sentence string
	var more []string
	for line := range strings.Lines(printed) {
		line = strings.TrimSuffix(line, "\n")
		text, ours := strings.CutPrefix(line, "heddle: ")
		switch {
		case ours && strings.HasPrefix(text, "note: "):
			more = append(more, text)
		case ours:
			sentence = text
		default:
			more = append(more, line)
		}
	}
	if sentence == "" {
		sentence = fmt.Sprintf("heddle ended without a result: %v", exit)
	}
	return errors.New(strings.Join(append([]string{sentence}, more...), "\n"))
}

// notifier returns what sends progress to the client: the time that has passed, of the limit in
// seconds, and heddle's line. It is nil if the client did not ask for progress.
func notifier(ctx context.Context, r *mcp.CallToolRequest, limit float64) func(string) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	began := time.Now()
	return func(line string) {
		passed := time.Since(began).Seconds()
		total := limit
		if passed > total {
			total = 0 // the limit does not cover building and a slow first execution
		}
		// A notification that is lost changes nothing; the result says everything.
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: passed, Total: total, Message: line})
	}
}
