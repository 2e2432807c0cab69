package cprog

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

const changesFile = `
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv) {
  if (argc < 2) return 0;
  if (!strcmp(argv[1], "read")) { char b[8]; int fd = open("f", O_RDONLY); return read(fd, b, 8) != 3; }
  if (!strcmp(argv[1], "write")) return write(open("f", O_WRONLY), "abc", 3) != 3;
  if (!strcmp(argv[1], "append")) return !fopen("f", "a");
  if (!strcmp(argv[1], "create")) return open("g", O_CREAT | O_RDONLY, 0600) < 0;
  if (!strcmp(argv[1], "unlink")) return unlink("f");
  if (!strcmp(argv[1], "chmod")) return chmod("f", 0);
  if (!strcmp(argv[1], "mkdir")) return mkdir("d", 0700);
  return system("rm f");
}
`

// TestReplica: a replica gives the executions of its original, and changes no file.
func TestReplica(t *testing.T) {
	prog := compile(t, changesFile)
	for what, want := range map[string]trace.Kind{
		"": trace.Clean, "read": trace.Clean, "write": trace.Unsupported, "append": trace.Unsupported, "create": trace.Unsupported,
		"unlink": trace.Unsupported, "chmod": trace.Unsupported, "mkdir": trace.Unsupported, "system": trace.Unsupported,
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "f")
		if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		var args []string
		if what != "" {
			args = []string{what}
		}
		tg := startIn(t, dir, prog, args...)
		r, err := tg.Replica()(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o, err := r.Run(t.Context(), schedule.Plan{Record: true})
		if err != nil || o.Ending.Kind != want || o.Ending.Status != 0 {
			t.Errorf("%q: %v, %v %d %s; want %v", what, err, o.Ending.Kind, o.Ending.Status, o.Ending.Message, want)
		}
		files, _ := os.ReadDir(dir)
		b, _ := os.ReadFile(file)
		if info, err := os.Stat(file); err != nil || len(files) != 1 || string(b) != "old" || info.Mode() != 0o600 {
			t.Errorf("%q: %v, %d files, %q", what, err, len(files), b)
		}
		r.Close()
		if o := run(t, tg, schedule.Plan{}); o.Ending.Kind != trace.Clean {
			t.Errorf("%q: the original: %v %s", what, o.Ending.Kind, o.Ending.Message)
		}
	}
}

// TestReplicaSigns: a trace of a replica is signed like one of its original, or a replay would ask for trust.
func TestReplicaSigns(t *testing.T) {
	prog := compile(t, changesFile)
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog}, Runtime: lib, Sign: func(h *trace.Header) { h.Signature = "signed " + h.Isolation }})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	r, err := tg.Replica()(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	o, err := r.Run(t.Context(), schedule.Plan{Record: true})
	if err != nil || o.Trace == nil {
		t.Fatal(err)
	}
	if h := r.Header(); h.Signature != "signed " || !reflect.DeepEqual(h, tg.Header()) || o.Trace.Header.Signature != h.Signature {
		t.Errorf("%+v, want %+v", h, tg.Header())
	}
}
