package gotool

import (
	"debug/buildinfo"

	"github.com/heddle-dev/heddle/internal/regular"
)

// Built reports whether Go built an executable.
func Built(path string) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = buildinfo.Read(f)
	return err == nil
}
