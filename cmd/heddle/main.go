// Command heddle finds, replays, simplifies and explains concurrency bugs. Each command
// is a file of this package; what they have in common is here and in app.go.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/heddle-dev/heddle/internal/toolchain"
)

func main() {
	if completes(os.Stdout) {
		return
	}
	if len(os.Args) > 2 && os.Args[1] == toolchain.AssembleCommand {
		os.Exit(toolchain.Assemble(os.Args[2], os.Args[3:]))
	}
	ctx, stop := interruptible(context.Background())
	status := run(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// interruptible is a context that the first Ctrl-C, SIGTERM or SIGHUP ends: then heddle says what it
// has so far. The second one ends the process, whatever it is doing. Files are written under
// other names and renamed, so none is left half-written; programs under test end with heddle.
func interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	ended := make(chan struct{})
	go func() {
		var first time.Time
		for {
			select {
			case <-ended:
				return
			case <-signals:
			}
			// timeout(1) sends a signal to its child and to the group, so the same one may come twice.
			switch {
			case first.IsZero():
				first = time.Now()
			case time.Since(first) > 100*time.Millisecond:
				fmt.Fprintln(os.Stderr, "heddle: interrupted again: ended without a result")
				os.Exit(exitFailed)
			}
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(ended)
		cancel()
	}
}
