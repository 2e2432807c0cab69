package main

import (
	"fmt"
	"syscall"

	"github.com/heddle-dev/heddle/internal/toolchain"
)

type ccCommand struct {
	Args []string `arg:"" optional:"" help:"The compiler's arguments. The compiler is $$HEDDLE_CC, else cc, gcc or clang."`
}

func (c *ccCommand) Run(a *app) error { return a.compile(toolchain.C, c.Args) }

type cxxCommand struct {
	Args []string `arg:"" optional:"" help:"The compiler's arguments. The compiler is $$HEDDLE_CXX, else c++, g++ or clang++."`
}

func (c *cxxCommand) Run(a *app) error { return a.compile(toolchain.CXX, c.Args) }

// compile replaces this process with the compiler, which so keeps its exit status, signals and
// output.
func (a *app) compile(lang toolchain.Language, args []string) error {
	compiler, err := toolchain.Find(a.ctx, lang)
	if err != nil {
		return err
	}
	argv, err := toolchain.Wrap(compiler, args, func() (toolchain.Runtime, error) { return a.launcher().Runtime(a.ctx) })
	if err != nil {
		return err
	}
	return fmt.Errorf("%s cannot be started: %w", argv[0], syscall.Exec(argv[0], argv, compiler.Environ()))
}
