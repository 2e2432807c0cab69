// Command heddle finds, replays, simplifies and explains concurrency bugs. Each command
// is a file of this package; what they have in common is here and in app.go.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if completes(os.Stdout) {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an end in good order. A second one finds the default action:
	// it ends heddle whatever it is doing.
	context.AfterFunc(ctx, stop)
	status := run(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
