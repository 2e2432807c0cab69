package toolchain

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	type want struct{ sources, headers, objects int }
	for _, test := range []struct {
		line    string
		want    want
		asks    bool
		links   bool
		partial bool
	}{
		{line: "a.c", want: want{1, 0, 0}, links: true},
		{line: "-c a.c", want: want{1, 0, 0}},
		{line: "-S a.c -o a.s", want: want{1, 0, 0}},
		{line: "-E a.c", want: want{1, 0, 0}},
		{line: "-M a.c", want: want{1, 0, 0}},
		{line: "-MM -MF x a.c", want: want{1, 0, 0}},
		{line: "-MD -MF x.d -MT x.o a.c", want: want{1, 0, 0}, links: true},
		{line: "-fsyntax-only a.cc", want: want{1, 0, 0}},
		{line: "-o a.c b.o", want: want{0, 0, 1}, links: true},
		{line: "-oa.c b.o", want: want{0, 0, 1}, links: true},
		{line: "a.o b.o -lm", want: want{0, 0, 3}, links: true},
		{line: "a.o -l m", want: want{0, 0, 2}, links: true},
		{line: "a.c b.cc c.o d.s e.S libx.a", want: want{3, 0, 3}, links: true},
		{line: "-x c - -o p", want: want{1, 0, 0}, links: true},
		{line: "-xc++ weird -x none lib.weird", want: want{1, 0, 1}, links: true},
		{line: "-c -x assembler -", want: want{0, 0, 1}},
		{line: "-x assembler-with-cpp a -x assembler b", want: want{1, 0, 1}, links: true},
		{line: "-E -dM -", want: want{1, 0, 0}},
		{line: "--language=c --output p weird", want: want{1, 0, 0}, links: true},
		{line: "a.h", want: want{0, 1, 0}},
		{line: "-x c++-header a", want: want{0, 1, 0}},
		{line: "-Xlinker a.c b.o", want: want{0, 0, 1}, links: true},
		{line: "-r a.o b.o", want: want{0, 0, 2}, links: true, partial: true},
		{line: "-Wl,-r a.o", want: want{0, 0, 1}, links: true, partial: true},
		{line: "-Xlinker -r a.o", want: want{0, 0, 1}, links: true, partial: true},
		{line: "-nostdlib -Wl,-rpath,/x a.o", want: want{0, 0, 1}, links: true},
		{line: "-include a.c -isystem b.c --param c.c -T d.c e.o", want: want{0, 0, 1}, links: true},
		{line: "-mllvm -x -Xclang a.c -target x86_64-linux-gnu b.o", want: want{0, 0, 1}, links: true},
		{line: "-c -- -odd.c", want: want{1, 0, 0}},
		{line: "--version", asks: true},
		{line: "-v"},
		{line: "-print-search-dirs", asks: true},
		{line: "--print-prog-name=ld", asks: true},
		{line: "-dumpmachine", asks: true},
		{line: "--help=warnings", asks: true},
		{line: "-cc1 -triple x86_64 a.c", asks: true},
		{line: "-Wl,--version"},
		{line: ""},
	} {
		c := parse(strings.Fields(test.line))
		if got := (want{c.sources, c.headers, c.objects}); got != test.want || c.asks != test.asks || c.links != test.links || c.partial != test.partial {
			t.Errorf("%q: %+v", test.line, c)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ line, want string }{
		{"-static a.c", "-static: heddle's runtime is a shared library"},
		{"-static-pie a.o", "-static-pie: heddle's runtime is a shared library"},
		{"-static -c a.c", ""},
		{"-static -r a.o", ""},
		{"-static-libgcc -static-libstdc++ a.c", ""},
		{"-m32 -c a.c", "-m32: heddle's runtime exists for 64-bit x86 Linux only"},
		{"-m32 -m64 a.c", ""},
		{"-mx32 a.c", "-mx32: "},
		{"--target=aarch64-linux-gnu -c a.c", "--target=aarch64-linux-gnu: "},
		{"-target arm-none-eabi -c a.c", "-target arm-none-eabi: "},
		{"--target=x86_64-pc-linux-gnu a.c", ""},
		{"-fsanitize=address a.c", "-fsanitize=address: the address sanitizer and heddle"},
		{"-fsanitize=undefined,leak -c a.c", "-fsanitize=undefined,leak: the leak sanitizer and heddle"},
		{"-fsanitize=address -fno-sanitize=address a.c", ""},
		{"-fsanitize=address -fno-sanitize=all a.c", ""},
		{"-fsanitize=thread,undefined a.c", ""},
		{"-m32 --version", ""},
	} {
		_, err := Wrap(Compiler{Command: []string{"cc"}, Family: GCC, Major: 12}, strings.Fields(test.line), func() (Runtime, error) { return Runtime{Dir: "/r"}, nil })
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.line, err)
			}
			continue
		}
		if _, ok := err.(*Refusal); !ok || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.line, err, test.want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	for _, s := range []string{"-c\na.c", "-o\np\n@x\na.c", "-x\nc\n-", "-fsanitize=thread,undefined\na.c", "-Wl,-r,\n-Xlinker", "--\n-\n-l", "-target"} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, words string, gcc bool) {
		args := strings.Split(words, "\n")
		for _, a := range args {
			if strings.HasPrefix(a, "@") { // no files from the fuzzer's inventions
				return
			}
		}
		c := Compiler{Command: []string{"cc", "-m64"}, Family: Clang, Major: 14}
		if gcc {
			c.Family = GCC
		}
		argv, err := Wrap(c, args, func() (Runtime, error) { return Runtime{Dir: "/r", Library: "/r/libheddle.so"}, nil })
		if err != nil {
			if strings.Contains(strings.ReplaceAll(err.Error(), words, ""), "\n") && !strings.Contains(words, "\n") {
				t.Errorf("not one sentence: %q", err)
			}
			return
		}
		// The user's arguments come last and in order, but for what Wrap may take out.
		kept := withoutThread(args, true)
		have := withoutThread(argv, true)
		if len(have) < len(kept) || strings.Join(have[len(have)-len(kept):], "\n") != strings.Join(kept, "\n") {
			t.Errorf("%q became %q", args, argv)
		}
		if argv[0] != "cc" || argv[1] != "-m64" {
			t.Errorf("compiler lost: %q", argv)
		}
	})
}
