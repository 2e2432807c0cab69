package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// go test's flags have one dash or two, and follow or precede the packages. goTestWords
// turns the words of a command line of heddle test into those that the parser of all
// commands knows: two dashes, name and value in one word, what follows -args as values of
// a flag. Other command lines, and unknown flags, are left unchanged: the
// parser has the sentence for them.
func goTestWords(app *kong.Application, words []string) []string {
	var test *kong.Node
	at := -1
	for i := 0; i < len(words) && at < 0; i++ {
		switch f, _, joined := flagOf(app.Flags, words[i]); {
		case f != nil && !f.IsBool() && !joined:
			i++
		case !strings.HasPrefix(words[i], "-"):
			at = i
		}
	}
	for _, n := range app.Children {
		if at >= 0 && words[at] == "test" && n.Name == "test" {
			test = n
		}
	}
	if test == nil {
		return words
	}
	flags := append(append([]*kong.Flag{}, app.Flags...), test.Flags...)
	out := append([]string{}, words[:at+1]...)
	for i := at + 1; i < len(words); i++ {
		w := words[i]
		if w == "-args" || w == "--args" {
			for _, arg := range words[i+1:] {
				out = append(out, "--args="+arg)
			}
			break
		}
		f, value, joined := flagOf(flags, w)
		switch {
		case f == nil && len(w) > 2 && w[0] == '-' && w[1] != '-':
			out = append(out, "-"+w)
		case f == nil:
			out = append(out, w)
		case f.IsBool() && !joined:
			out = append(out, "--"+f.Name)
		case !joined && i+1 < len(words):
			i++
			out = append(out, "--"+f.Name+"="+words[i])
		case !joined:
			out = append(out, "--"+f.Name)
		default:
			out = append(out, "--"+f.Name+"="+value)
		}
	}
	return out
}

// flagOf returns the flag that a word names, nil if it names none, and the value joined to it. Like
// go test, it accepts "test." before a name.
func flagOf(flags []*kong.Flag, word string) (f *kong.Flag, value string, joined bool) {
	name, ok := strings.CutPrefix(word, "-")
	if !ok || name == "" || name == "-" {
		return nil, "", false
	}
	name = strings.TrimPrefix(name, "-")
	name, value, joined = strings.Cut(name, "=")
	name = strings.TrimPrefix(name, "test.")
	for _, f := range flags {
		if f.Name == name || len(name) == 1 && f.Short == rune(name[0]) {
			return f, value, joined
		}
	}
	// -j2, as other programs have it
	if number := name[1:]; !joined && word[1] != '-' && number != "" && strings.Trim(number, "0123456789") == "" {
		for _, f := range flags {
			if f.Short == rune(name[0]) && !f.IsBool() {
				return f, number, true
			}
		}
	}
	return nil, "", false
}
