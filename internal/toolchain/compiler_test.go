package toolchain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMajorVersion(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		"gcc (Debian 12.2.0-14+deb12u1) 12.2.0":                         12,
		"cc (Ubuntu 9.4.0-1ubuntu1~20.04.2) 9.4.0":                      9,
		"gcc (GCC) 13.2.1 20230728 (Red Hat 13.2.1-1)":                  13,
		"g++-12 (SUSE Linux) 12.3.0":                                    12,
		"x86_64-linux-gnu-gcc-10 (Debian 10.2.1-6) 10.2.1 20210110":     10,
		"Debian clang version 14.0.6":                                   14,
		"clang version 17.0.6 (Fedora 17.0.6-2.fc39)":                   17,
		"Ubuntu clang version 18.1.3 (1ubuntu1)":                        18,
		"clang version 20.0.0git (https://github.com/llvm/llvm 1.2abc)": 20,
		"no number": 0,
	} {
		if got := major(line); got != want {
			t.Errorf("major(%q) = %d, want %d", line, got, want)
		}
	}
}

// fakes makes executables that print a text when asked for their version.
func fakes(t *testing.T, texts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho '"+text+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const gccText = "cc (Debian 12.2.0-14) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc."

func TestFind(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// heddle itself comes first in PATH under the name of a compiler.
	masquerade := t.TempDir()
	if err := os.Symlink(self, filepath.Join(masquerade, "cc")); err != nil {
		t.Fatal(err)
	}
	gcc := fakes(t, map[string]string{"cc": gccText, "c++": gccText})
	odd := fakes(t, map[string]string{"cc": "frobcc 1.0"})
	clang := fakes(t, map[string]string{"clang": "clang version 14.0.6\nTarget: x86_64", "clang++": "clang version 14.0.6"})
	noexec := t.TempDir()
	if err := os.WriteFile(filepath.Join(noexec, "cc"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		path    []string
		named   string // HEDDLE_CC or HEDDLE_CXX
		lang    Language
		want    string // executable and arguments, or
		wantErr string // in the error
		family  Family
	}{
		{name: "first in PATH", path: []string{gcc, clang}, want: gcc + "/cc", family: GCC},
		{name: "C++", path: []string{clang, gcc}, lang: CXX, want: gcc + "/c++", family: GCC},
		{name: "clang alone", path: []string{clang}, want: clang + "/clang", family: Clang},
		{name: "never itself", path: []string{masquerade, gcc}, want: gcc + "/cc", family: GCC},
		{name: "not executable", path: []string{noexec, clang}, want: clang + "/clang", family: Clang},
		{name: "unknown kinds are passed over", path: []string{odd, clang}, want: clang + "/clang", family: Clang},
		{name: "named", path: []string{gcc, clang}, named: "clang", want: clang + "/clang", family: Clang},
		{name: "named with arguments", path: []string{gcc, clang}, named: "clang -fuse-ld=lld", want: clang + "/clang -fuse-ld=lld", family: Clang},
		{name: "named by path", path: nil, named: gcc + "/cc", want: gcc + "/cc", family: GCC},
		{name: "none", path: []string{t.TempDir()}, wantErr: "there is no C compiler: none of cc, gcc, clang is in PATH"},
		{name: "no C++", path: []string{t.TempDir()}, lang: CXX, wantErr: "there is no C++ compiler: none of c++, g++, clang++ is in PATH"},
		{name: "only an unknown kind", path: []string{odd}, wantErr: odd + `/cc is neither gcc nor clang (it says "frobcc 1.0")`},
		{name: "named missing", path: []string{gcc}, named: "gcc-99", wantErr: `HEDDLE_CC names "gcc-99"`},
		{name: "named itself", path: []string{masquerade}, named: masquerade + "/cc", wantErr: "other than heddle"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("PATH", strings.Join(append(test.path, "/nowhere"), ":"))
			t.Setenv("HEDDLE_CC", "")
			t.Setenv("HEDDLE_CXX", "")
			t.Setenv(test.lang.env(), test.named)
			c, err := Find(t.Context(), test.lang)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("error %v, want %q", err, test.wantErr)
				}
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("not one sentence: %q", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(c.Command, " "); got != test.want || c.Family != test.family {
				t.Errorf("got %s (%v), want %s (%v)", got, c.Family, test.want, test.family)
			}
		})
	}
}

func TestFindRealCompilers(t *testing.T) {
	eachCompiler(t, func(t *testing.T, p pair) {
		for _, c := range []Compiler{p.c, p.cxx} {
			if c.Family.String() != p.name || c.Major < 5 || c.Version == "" {
				t.Errorf("%+v", c)
			}
		}
	})
}
