package toolchain

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCacheDir(t *testing.T) {
	home := t.TempDir()
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, flag, heddle, xdg, home string
		want, wantErr                 string
	}{
		{name: "flag first", flag: "/f", heddle: "/h", xdg: "/x", home: home, want: "/f"},
		{name: "HEDDLE_CACHE", heddle: "/h", xdg: "/x", home: home, want: "/h"},
		{name: "XDG", xdg: "/x", home: home, want: "/x/heddle"},
		{name: "home", home: home, want: home + "/.cache/heddle"},
		{name: "relative", heddle: "c", want: filepath.Join(cwd, "c")},
		{name: "nowhere", wantErr: "set HEDDLE_CACHE"},
		{name: "blank", heddle: "/a b", wantErr: `' '`},
		{name: "colon", flag: "/a:b", wantErr: `':'`},
		{name: "dollar", flag: "/a$ORIGIN", wantErr: `'$'`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("HEDDLE_CACHE", test.heddle)
			t.Setenv("XDG_CACHE_HOME", test.xdg)
			t.Setenv("HOME", test.home)
			got, err := CacheDir(test.flag)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("%q, error %v, want %q", got, err, test.wantErr)
				}
			} else if err != nil || got != test.want {
				t.Errorf("%q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestLockExcludes(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := lock(short, name); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("second lock: %v, want to wait until the context ends", err)
	}
	unlock()
	again, err := lock(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
