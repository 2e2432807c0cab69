package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// canAsk reports whether a user can be asked.
func (a *app) canAsk() bool {
	_, terminal := a.terminal()
	return terminal && !a.JSON && term.IsTerminal(int(os.Stdin.Fd()))
}

// ask asks the user whether heddle should do what the text describes.
func (a *app) ask(ctx context.Context, text string) (bool, error) {
	fmt.Fprintf(a.stderr, "heddle: %s\nGo on? [y/N] ", text)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case line := <-answer:
		return line == "y" || line == "yes", nil
	}
}
