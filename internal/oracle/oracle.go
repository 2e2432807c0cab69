// Package oracle judges the output of executions that ended as they should.
//
// The output is what the program writes to standard output and standard error, in the order written:
// the two are one file, as with 2>&1.
package oracle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Oracle judges outputs by Header.ExpectOutput and Header.Oracle of a trace. Methods of a nil Oracle
// accept everything. Several goroutines may use one.
type Oracle struct {
	expected []byte // nil for any output
	command  string // of sh; empty for none
	dir      string // in which the command runs
	kept     int    // outputs longer than this many bytes are cut

	mu   sync.Mutex
	memo map[key]answer
}

// key identifies what a command was asked.
type key struct {
	output [sha256.Size]byte
	status int32
}

// answer is what a command says of an output.
type answer struct {
	status  int32 // exit status, 0 if the output is right
	message string
}

// maxMemo bounds the answers that are remembered. Past it, the oracle forgets all of them.
const maxMemo = 1 << 16

// timeLimit bounds a run of the command.
const timeLimit = time.Minute

// Of returns the oracle of a trace or target, or nil if the header has none. kept is how many bytes
// of an output the target keeps; it cuts longer ones.
func Of(h *trace.Header, kept int) *Oracle {
	if h.ExpectOutput == nil && h.Oracle == "" {
		return nil
	}
	return &Oracle{expected: h.ExpectOutput, command: h.Oracle, dir: h.Dir, kept: kept, memo: map[key]answer{}}
}

// Judge turns the ending of a clean execution into one of kind trace.WrongOutput if its output is not
// right. It runs the command once for each different output. The error says why the command could
// not decide.
func (o *Oracle) Judge(ctx context.Context, e *trace.Ending) error {
	if o == nil || e.Kind != trace.Clean {
		return nil
	}
	if o.expected != nil && !bytes.Equal(o.expected, e.Output) {
		e.Kind, e.Status, e.Message = trace.WrongOutput, 0, difference(o.expected, e.Output)
		return nil
	}
	if o.command == "" {
		return nil
	}
	if len(e.Output) > o.kept {
		return fmt.Errorf("the oracle cannot judge an execution that printed more than %d kB, because only the beginning and the end of its output are kept: let the program print less", o.kept>>10)
	}
	a, err := o.ask(ctx, e)
	if err == nil && a.status != 0 {
		e.Kind, e.Status, e.Message = trace.WrongOutput, a.status, a.message
	}
	return err
}

// ask returns the command's answer for the output of e.
func (o *Oracle) ask(ctx context.Context, e *trace.Ending) (answer, error) {
	k := key{sha256.Sum256(e.Output), e.Status}
	o.mu.Lock()
	defer o.mu.Unlock()
	if a, ok := o.memo[k]; ok {
		return a, nil
	}
	a, err := o.run(ctx, e)
	if err != nil {
		return a, err
	}
	if len(o.memo) >= maxMemo {
		clear(o.memo)
	}
	o.memo[k] = a
	return a, nil
}

// run runs the command. Statuses of 126 and more are the shell's: not found, not executable, killed.
func (o *Oracle) run(ctx context.Context, e *trace.Ending) (answer, error) {
	limited, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	cmd := exec.CommandContext(limited, "/bin/sh", "-c", o.command)
	cmd.Dir = o.dir
	cmd.Env = append(os.Environ(), fmt.Sprintf("HEDDLE_STATUS=%d", e.Status))
	cmd.Stdin = bytes.NewReader(e.Output)
	cmd.WaitDelay = time.Second // for its children that keep the pipe open
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return answer{}, ctx.Err()
	case limited.Err() != nil:
		return answer{}, fmt.Errorf("the oracle %s did not end within %v: let it end sooner", wording.Quoted(o.command), timeLimit)
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return answer{}, nil
	case errors.As(err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() < 126:
		message := fmt.Sprintf("the oracle %s ended with status %d%s", wording.Quoted(o.command), exit.ExitCode(), prefixed(": ", firstLine(said)))
		return answer{status: int32(exit.ExitCode()), message: message}, nil
	}
	return answer{}, fmt.Errorf("the oracle %s could not judge an output: %w%s", wording.Quoted(o.command), err, prefixed(": ", firstLine(said)))
}

// prefixed returns s behind a prefix, or nothing if s is empty.
func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// longest bounds the text of a line in a message, in bytes.
const longest = 80

// firstLine returns the first line of a text that is not empty.
func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if len(line) > longest {
		line = strings.ToValidUTF8(line[:longest], "") + "…"
	}
	return line
}

// difference describes the first line in which an output differs from the expected one.
func difference(want, got []byte) string {
	for n := 1; ; n++ {
		w, wantMore, wantLine := cut(want)
		g, gotMore, gotLine := cut(got)
		if bytes.Equal(w, g) && wantLine == gotLine {
			want, got = wantMore, gotMore
			continue
		}
		switch {
		case !gotLine:
			return fmt.Sprintf("the output ends before line %d, expected %s", n, quoted(w))
		case !wantLine:
			return fmt.Sprintf("line %d of the output is %s, expected the end", n, quoted(g))
		}
		// The difference may be far into a long line.
		at := 0
		for at < len(w) && at < len(g) && w[at] == g[at] {
			at++
		}
		place := ""
		if at > longest/2 {
			place, at = fmt.Sprintf(" from byte %d on", at-longest/4), at-longest/4
			w, g = w[at:], g[at:]
		}
		return fmt.Sprintf("line %d of the output%s is %s, expected %s", n, place, quoted(g), quoted(w))
	}
}

// cut returns the first line of a text, with its newline, the rest, and whether there is a line.
func cut(text []byte) (line, rest []byte, ok bool) {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1], text[i+1:], true
	}
	return text, nil, len(text) > 0
}

// quoted quotes a line. A newline shows only where its absence may be the difference.
func quoted(line []byte) string {
	text := strings.TrimSuffix(string(line), "\n")
	more := ""
	if len(text) > longest {
		text, more = text[:longest], "…"
	}
	s := fmt.Sprintf("%q", text) + more
	if !bytes.HasSuffix(line, []byte("\n")) {
		s += " without a newline"
	}
	return s
}
