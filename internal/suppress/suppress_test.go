package suppress

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"foo", "a_foo_b", true}, {"foo", "fo", false}, {"foo", "", false},
		{"^foo", "foobar", true}, {"^foo", "afoo", false},
		{"foo$", "afoo", true}, {"foo$", "food", false}, {"^foo$", "foo", true}, {"^foo$", "foofoo", false},
		{"a*b", "xxa--bxx", true}, {"a*b", "ba", false}, {"^a*b$", "a--b", true}, {"^a*b$", "a--bc", false},
		{"^a*a$", "a", false}, {"lib*.so$", "/usr/lib/libx.so", true}, {"lib*.so$", "/usr/lib/libx.so.1", false},
		{"*", "anything", true}, {"^*$", "anything", true}, {"ns::*::run", "ns::pool::run(int)", true},
	} {
		if got := match(c.pattern, c.text); got != c.want {
			t.Errorf("match(%q, %q) is %v", c.pattern, c.text, got)
		}
	}
}

func TestList(t *testing.T) {
	var l List
	text := "# known\n\n  race:^count$\r\nrace:third_party/\nrace_top:spin\nmutex:legacy\ndeadlock:libold.so\nthread:leak\ncalled_from_lib:libz.so\n"
	if err := l.add("s", text); err != nil {
		t.Fatal(err)
	}
	frame := func(fn, file, module string) Frame { return Frame{[]string{fn, ""}, file, module} }
	mine := []Frame{frame("count", "a.c", "/bin/a"), frame("main", "a.c", "/bin/a")}
	other := []Frame{frame("recount", "a.c", "/bin/a"), frame("main", "a.c", "/bin/a")}
	for _, c := range []struct {
		what string
		got  bool
		want bool
	}{
		{"function", l.Race("", other, mine), true},
		{"no frame", l.Race("", other, other), false},
		{"variable", l.Race("count", other), true},
		{"another variable", l.Race("counts", other), false},
		{"file of a caller", l.Race("", append(other[:1:1], frame("f", "third_party/x.c", ""))), true},
		{"top frame", l.Race("", []Frame{frame("spin", "", "")}), true},
		{"not the top frame", l.Race("", append(other[:1:1], frame("spin", "", ""))), false},
		{"mutex", l.Covers(Mutex, []Frame{frame("legacy_lock", "", "")}), true},
		{"mutex lines do not cover races", l.Race("", []Frame{frame("legacy_lock", "", "")}), false},
		{"module", l.Covers(Deadlock, []Frame{frame("f", "", "/lib/libold.so.3")}), true},
		{"another module", l.Covers(Deadlock, mine), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", c.what, c.got)
		}
	}
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"race:a\nracy:b\n": `:2: invalid line "racy:b": want TYPE:PATTERN with one of the types`,
		"count\n":          `:1: invalid line "count"`,
		"race:\n":          `:1: race: has no pattern`,
	} {
		name := filepath.Join(dir, "s")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read([]string{name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := Read([]string{filepath.Join(dir, "none")}); err == nil {
		t.Error("a file that does not exist was read")
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("^a*b$", "a--b")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		got := match(pattern, text)
		if !strings.ContainsAny(pattern, "*^$") && got != (text != "" && strings.Contains(text, pattern)) {
			t.Errorf("match(%q, %q) is %v", pattern, text, got)
		}
		var l List
		_ = l.add("fuzz", text)
	})
}
