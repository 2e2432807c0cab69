package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/internal/mcpserver"
)

type mcpCommand struct{}

func (c *mcpCommand) Help() string {
	return `Serves the Model Context Protocol on standard input and output, so that agents and editors can
call find, test, replay and show as tools. A client starts it; it ends when its standard input does.
--go, --memory, --trust and --cache apply to every call. It runs only the programs that calls name;
without --trust, traces that were recorded elsewhere are not replayed.`
}

func (c *mcpCommand) Run(a *app) error {
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find heddle's own executable: %w", err)
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		a.note("this is the Model Context Protocol, for programs: see heddle mcp --help")
	}
	flags, err := a.passed()
	if err != nil {
		return err
	}
	outputs, err := mcpserver.OutputSchemas(heddle.JSONSchema())
	if err != nil {
		return err
	}
	s := &mcpserver.Server{Heddle: executable, Name: os.Args[0], Flags: flags, Version: currentVersion().Version, Outputs: outputs}
	return s.Serve(a.ctx, os.Stdin, os.Stdout)
}

// passed returns the flags of all commands as they apply to a heddle that this one starts in another
// directory.
func (a *app) passed() (flags []string, err error) {
	cache, tool := a.Cache, a.Go
	if cache != "" {
		if cache, err = filepath.Abs(cache); err != nil {
			return nil, err
		}
		flags = append(flags, "--cache="+cache)
	}
	if tool != "" {
		if strings.Contains(tool, string(filepath.Separator)) { // otherwise PATH has it
			if tool, err = filepath.Abs(tool); err != nil {
				return nil, err
			}
		}
		flags = append(flags, "--go="+tool)
	}
	if a.Memory != 0 {
		flags = append(flags, "--memory="+a.Memory.String())
	}
	if a.Trust {
		flags = append(flags, "--trust")
	}
	return flags, nil
}
