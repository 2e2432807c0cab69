package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/wording"
)

// severalTraces reports whether the arguments are further traces.
func (c *replayCommand) severalTraces() bool {
	if c.Schedule != "" || len(c.Args) == 0 {
		return false
	}
	for _, name := range append([]string{c.Trace}, c.Args...) {
		if strings.HasPrefix(name, "-") || filepath.Ext(name) != ".hdl" && !tracefile.Is(name) {
			return false
		}
	}
	return true
}

// replayEach replays several traces.
func (c *replayCommand) replayEach(a *app) error {
	l := a.launcher()
	failed, passed, left, broken := 0, 0, 0, 0
	for _, name := range append([]string{c.Trace}, c.Args...) {
		if tracefile.IsPassing(name) {
			left++
			continue
		}
		one := *c
		one.Trace, one.listed, one.Args = name, name, nil
		if !a.JSON {
			fmt.Fprintf(a.stdout, "%s:\n", name)
		}
		err := one.replay(a, l)
		switch {
		case err == nil:
			passed++
		case errors.Is(err, errFound):
			failed++
		case a.ctx.Err() != nil:
			return err
		default:
			broken++
			fmt.Fprintf(a.stderr, "heddle: %s: %s\n", name, sentence(err))
		}
	}
	if !a.JSON {
		var parts []string
		for _, p := range []struct {
			n    int
			what string
		}{{failed, "failed again"}, {passed, "did not fail"}, {broken, "could not be replayed"}} {
			if p.n > 0 {
				parts = append(parts, fmt.Sprintf("%s %s", wording.Thousands(p.n), p.what))
			}
		}
		line := wording.Count(failed+passed+broken, "trace") + ": " + strings.Join(parts, ", ")
		if left > 0 {
			line += fmt.Sprintf("; %s that heddle explain wrote left out", wording.Count(left, "execution"))
		}
		fmt.Fprintln(a.stdout, strings.TrimSuffix(line, ": "))
	}
	switch {
	case failed > 0:
		return errFound
	case broken > 0:
		return fmt.Errorf("%s could not be replayed, see above", wording.Count(broken, "trace"))
	}
	return nil
}
