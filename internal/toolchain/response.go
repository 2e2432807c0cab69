package toolchain

import (
	"os"
	"strings"
)

// maxResponseDepth stops response files that include themselves.
const maxResponseDepth = 32

// expandResponses replaces each @file by the arguments in it, as gcc and clang do: white space
// separates words, quotes and backslashes work, files may name files, and a file that cannot be
// read leaves its argument unchanged.
func expandResponses(args []string, readFile func(string) ([]byte, error)) []string {
	return expand(args, readFile, 0)
}

func expand(args []string, readFile func(string) ([]byte, error), depth int) []string {
	out := make([]string, 0, len(args))
	for _, arg := range args {
		if name, ok := strings.CutPrefix(arg, "@"); ok && depth < maxResponseDepth {
			if text, err := readFile(name); err == nil {
				out = append(out, expand(splitResponse(string(text)), readFile, depth+1)...)
				continue
			}
		}
		out = append(out, arg)
	}
	return out
}

// splitResponse splits the text of a response file into words.
func splitResponse(text string) []string {
	var (
		args   []string
		word   strings.Builder
		inWord bool
		quote  byte
	)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			if i++; i < len(text) {
				word.WriteByte(text[i])
			}
			inWord = true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case strings.IndexByte(" \t\n\r\v\f", c) >= 0:
			if inWord {
				args = append(args, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if inWord {
		args = append(args, word.String())
	}
	return args
}

// readResponse reads a response file. It leaves devices and pipes to the compiler, because they can
// be read only once.
func readResponse(name string) ([]byte, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &os.PathError{Op: "read", Path: name, Err: os.ErrInvalid}
	}
	return os.ReadFile(name)
}
