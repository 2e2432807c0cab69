package term

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDetect(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		env  []string
		want Options
	}{
		{nil, Options{Width: 80}},
		{[]string{"TERM=xterm", "LANG=en_GB.UTF-8"}, Options{Width: 80, Unicode: true}},
		{[]string{"COLUMNS=100", "LANG=C.utf8"}, Options{Width: 100, Unicode: true}},
		{[]string{"COLUMNS=-3", "LC_ALL=C", "LANG=en_GB.UTF-8"}, Options{Width: 80}},
	} {
		if got := Detect(file, c.env); got != c.want {
			t.Errorf("a file, %v: got %+v, want %+v", c.env, got, c.want)
		}
	}
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminal is available")
	}
	defer tty.Close()
	for _, c := range []struct {
		env   []string
		color bool
	}{
		{[]string{"TERM=xterm"}, true},
		{[]string{"TERM=xterm", "NO_COLOR="}, true},
		{[]string{"TERM=xterm", "NO_COLOR=yes"}, false},
		{[]string{"TERM=dumb"}, false},
		{nil, false},
	} {
		if got := Detect(tty, c.env); got.Color != c.color || got.Width <= 0 {
			t.Errorf("a terminal, %v: got %+v, want colour %v", c.env, got, c.color)
		}
	}
}
