package main

import (
	"fmt"
	"syscall"

	"github.com/heddle-dev/heddle/internal/toolchain"
)

type ccCommand struct {
	Args []string `arg:"" optional:"" help:"The compiler's arguments. The compiler is $$HEDDLE_CC, else cc, gcc or clang."`
}

func (ccCommand) Help() string { return compilerHelp("HEDDLE_CC", "cc, gcc or clang") }

func (c *ccCommand) Run(a *app) error { return a.compile(toolchain.C, c.Args) }

type cxxCommand struct {
	Args []string `arg:"" optional:"" help:"The compiler's arguments. The compiler is $$HEDDLE_CXX, else c++, g++ or clang++."`
}

func (cxxCommand) Help() string { return compilerHelp("HEDDLE_CXX", "c++, g++ or clang++") }

func (c *cxxCommand) Run(a *app) error { return a.compile(toolchain.CXX, c.Args) }

// compilerUsage is what --help prints before the compiler's own help.
func compilerUsage(lang toolchain.Language) string {
	if lang == toolchain.CXX {
		return "Usage: heddle c++ [<args> ...]\n\n" + cxxCommand{}.Help()
	}
	return "Usage: heddle cc [<args> ...]\n\n" + ccCommand{}.Help()
}

// compilerHelp is the help of a command that stands in for a compiler.
func compilerHelp(variable, candidates string) string {
	return fmt.Sprintf(`Runs the compiler with the same arguments, and adds what heddle needs: access hooks when it
compiles, heddle's runtime when it links. The compiler is $%s, otherwise the first of
%s. The exit status is the compiler's.

Refused, with status 2: -static when linking and -m32, because the runtime is a shared
library for 64-bit x86 Linux, and -fsanitize=address and similar, because they and heddle
cannot share a program (-fsanitize=undefined is fine).

heddle's own options go before the command, as in heddle --cache=DIR COMMAND ARGUMENTS;
with --help alone, the compiler's help follows this text.`, variable, candidates)
}

// compile replaces this process with the compiler, which so keeps its exit status, signals and
// output.
func (a *app) compile(lang toolchain.Language, args []string) error {
	asked := len(args) == 1 && args[0] == "--help"
	if asked {
		fmt.Fprintf(a.stdout, "%s\n\n", compilerUsage(lang))
	}
	compiler, err := toolchain.Find(a.ctx, lang)
	if err != nil {
		return err
	}
	if asked { // build scripts look for options in it
		fmt.Fprintf(a.stdout, "The help of %s:\n\n", compiler.Path())
	}
	environ := compiler.Environ()
	if cache, err := toolchain.CacheDir(a.Cache); err == nil {
		if with, err := compiler.PrepareAssembler(cache); err == nil { // where nothing can be written, inline assembly has no hooks
			environ = with
		}
	}
	argv, err := toolchain.Wrap(compiler, args, func() (toolchain.Runtime, error) { return a.launcher().Runtime(a.ctx) })
	if err != nil {
		return err
	}
	return fmt.Errorf("%s cannot be started: %w", argv[0], syscall.Exec(argv[0], argv, environ))
}
