package symbol

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/heddle-dev/heddle/internal/regular"
)

// maxSource is the maximum size of a source file that is read, in bytes.
const maxSource = 32 << 20

// Sources reads lines of source files and caches the files. It may be used by several goroutines at
// once.
type Sources struct {
	dirs  []string
	mu    sync.Mutex
	files map[string][][]byte
}

// NewSources returns a Sources. It searches for a file that is not where the debug information says
// below dirs, first with its whole path, then with fewer and fewer of its leading directories.
func NewSources(dirs ...string) *Sources {
	return &Sources{dirs: dirs, files: map[string][][]byte{}}
}

// Line returns line n, from 1, of file, without its end-of-line characters. ok is false if the file
// or line does not exist, which is common.
func (s *Sources) Line(file string, n int) (line string, ok bool) {
	if file == "" || n < 1 {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lines, seen := s.files[file]
	if !seen {
		lines = s.read(file)
		s.files[file] = lines
	}
	if n > len(lines) {
		return "", false
	}
	return string(bytes.TrimRight(lines[n-1], "\r")), true
}

func (s *Sources) read(file string) [][]byte {
	if filepath.IsAbs(file) {
		if b := readSource(file); b != nil {
			return bytes.Split(b, []byte("\n"))
		}
	}
	parts := strings.Split(strings.TrimPrefix(filepath.ToSlash(filepath.Clean(file)), "/"), "/")
	for _, dir := range s.dirs {
		for i := range parts {
			if b := readSource(filepath.Join(append([]string{dir}, parts[i:]...)...)); b != nil {
				return bytes.Split(b, []byte("\n"))
			}
		}
	}
	return nil
}

// readSource returns the contents of a regular file of at most maxSource bytes, or nil. The path
// comes from a file that may be damaged, and reading from a device could block.
func readSource(path string) []byte {
	f, err := regular.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > maxSource {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSource))
	if err != nil {
		return nil
	}
	return b
}
