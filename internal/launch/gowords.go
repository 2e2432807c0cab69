package launch

import (
	"os"
	"path/filepath"
	"strings"
)

// goWords splits the words of a Go program into the package or .go files, as for go run, and its
// arguments. what is empty if the words do not name Go source: a directory, .go files, or an import
// path. Files are relative to dir.
func goWords(dir string, words []string) (what, args []string) {
	stat := func(name string) (os.FileInfo, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return os.Stat(name)
	}
	for i, w := range words {
		if !strings.HasSuffix(w, ".go") {
			break
		}
		if info, err := stat(w); err != nil || !info.Mode().IsRegular() {
			break
		}
		what, args = words[:i+1], words[i+1:]
	}
	if len(what) > 0 || len(words) == 0 {
		return what, args
	}
	first := words[0]
	info, err := stat(first)
	switch {
	case err == nil && info.IsDir():
		if !filepath.IsAbs(first) && !strings.HasPrefix(first, ".") {
			first = "./" + first // the go command would treat it as an import path
		}
		return []string{first}, words[1:]
	case err != nil && strings.Contains(first, "/") && !strings.HasPrefix(first, "/") && !strings.HasPrefix(first, "."):
		return []string{first}, words[1:]
	}
	return nil, words
}
