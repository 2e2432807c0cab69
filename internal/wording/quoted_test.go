package wording

import (
	"os/exec"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// What is quoted reaches a program as it was, and plain names stay as they are.
func TestQuotedReachesPrograms(t *testing.T) {
	sh := need.Tool(t, "sh")
	words := []string{"plain", "./a-b_c.hdl", "/x/y+1=2:3,4@5%6", "", " ", "a b", "it's", `say "hi"`, "$HOME", "`id`", "a\\b", "*", "~", "~/x", "-n", "!x",
		"#no", "a#b", "x;y", "x&y", "(x)", "{a,b}", "[x]", "x=y", "if", "\n", "a\tb", "\x1b[1m", "ä ö", "\xff\xfe", "a\xff%d\\n'b", "\u202e", "�", "a\nb", "--\xff", "日本", "^", "a?b", "<x>", "x|y"}
	for _, w := range words {
		out, err := exec.Command(sh, "-c", "printf '%s.' "+QuotedWords([]string{w, w})).Output()
		if err != nil || string(out) != w+"."+w+"." {
			t.Errorf("%q, quoted %s, reaches the program as %q, %v", w, Quoted(w), out, err)
		}
	}
	for _, w := range words[:3] {
		if Quoted(w) != w {
			t.Errorf("%s is quoted: %s", w, Quoted(w))
		}
	}
	if got := QuotedWords([]string{"a b", "c"}); got != "'a b' c" {
		t.Errorf("words: %s", got)
	}
}
