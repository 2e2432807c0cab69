package toolchain

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/heddle-dev/heddle/internal/toolchain/inlineasm"
)

// AssembleCommand is the first argument of a heddle that is run as an assembler.
const AssembleCommand = "run-assembler"

// assemblerVar holds the path of the heddle that the script below runs.
const assemblerVar = "HEDDLE_ASSEMBLER"

// assemblerVersion is a part of the script's path, and so of the compiler's command line: compiler caches tell
// objects that were assembled in another way from others by it. Raise it when package inlineasm writes other code.
const assemblerVersion = "1"

// assemblerScript is what compilers find under the name of the assembler. Without heddle cc, as on another machine to which a
// compilation is sent, it is the assembler that the system has.
const assemblerScript = `#!/bin/sh
if [ -n "$` + assemblerVar + `" ]; then exec "$` + assemblerVar + `" ` + AssembleCommand + ` "$0" "$@"; fi
exec as "$@"
`

// PrepareAssembler makes the compiler use an assembler that puts hooks into inline assembly, and returns the environment for
// the compiler.
func (c *Compiler) PrepareAssembler(cache string) (environ []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, "assembler-"+assemblerVersion)
	script := filepath.Join(dir, "as")
	if old, err := os.ReadFile(script); err != nil || string(old) != assemblerScript {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, cannotWrite(cache, err)
		}
		if err := writeScript(script, assemblerScript); err != nil {
			return nil, cannotWrite(cache, err)
		}
	}
	c.Assembler = dir
	return append(c.Environ(), assemblerVar+"="+self), nil
}

// writeScript writes an executable file, whole or not at all.
func writeScript(name, text string) error {
	f, err := os.CreateTemp(filepath.Dir(name), "as-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if e := f.Chmod(0o755); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// Assemble runs the compiler's assembler on what the compiler has written, with hooks in its inline assembly, and returns the exit
// status. script is the name under which the compiler has found heddle.
func Assemble(script string, args []string) int {
	as, err := realAssembler(filepath.Dir(script))
	if err != nil {
		fmt.Fprintf(os.Stderr, "heddle: %v\n", err)
		return 1
	}
	input := assemblerInput(args)
	var source []byte
	if input < 0 || args[input] == "-" {
		source, err = io.ReadAll(os.Stdin)
	} else {
		source, err = os.ReadFile(args[input])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "heddle: the assembler's input cannot be read: %v\n", err)
		return 1
	}
	if text, n := inlineasm.Rewrite(source); n > 0 {
		from := slices.Clone(args)
		if input >= 0 {
			from[input] = "-"
		}
		cmd := exec.Command(as, from...)
		var errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), os.Stdout, &errs
		if cmd.Run() == nil {
			os.Stderr.Write(errs.Bytes())
			return 0
		}
		// Whatever is wrong, the message is to be about what the compiler has written.
	}
	cmd := exec.Command(as, args...)
	if input < 0 || args[input] == "-" {
		cmd.Stdin = bytes.NewReader(source)
	} else if err := syscall.Exec(as, append([]string{as}, args...), os.Environ()); err != nil {
		fmt.Fprintf(os.Stderr, "heddle: %s cannot be started: %v\n", as, err)
		return 1
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		if code := cmd.ProcessState.ExitCode(); code > 0 {
			return code
		}
		fmt.Fprintf(os.Stderr, "heddle: %s: %v\n", as, err)
		return 1
	}
	return 0
}

// assemblerInput returns the index of the argument that names the source, -1 if standard input is read. Compilers write it last.
func assemblerInput(args []string) int {
	last := len(args) - 1
	if last < 0 || last > 0 && args[last-1] == "-o" || strings.HasPrefix(args[last], "-") && args[last] != "-" {
		return -1
	}
	return last
}

// realAssembler returns the assembler that the compiler would have run: gcc tells where it looks for programs.
func realAssembler(own string) (string, error) {
	dirs := slices.Concat(filepath.SplitList(os.Getenv("COMPILER_PATH")), filepath.SplitList(os.Getenv("PATH")))
	ours, _ := os.Stat(own)
	for _, dir := range dirs {
		if st, err := os.Stat(dir); err != nil || ours != nil && os.SameFile(st, ours) {
			continue
		}
		name := filepath.Join(dir, "as")
		if st, err := os.Stat(name); err == nil && !st.IsDir() && st.Mode()&0o111 != 0 {
			return filepath.Abs(name)
		}
	}
	return "", fmt.Errorf("there is no assembler: as is not in PATH; install binutils")
}
