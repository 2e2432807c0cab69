package docsite

import (
	"html"
	"regexp"
	"strings"
)

// A syntax finds the tokens of a language: each group of the expression that matches is of the class with
// the group's number.
type syntax struct {
	tokens  *regexp.Regexp
	classes []string
}

const (
	stringToken = `("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')`
	numberToken = `(\b(?:0[xX][0-9a-fA-F]+|[0-9][0-9_.]*)\b)`
	cWords      = `alignas|auto|bool|break|case|catch|char|class|const|constexpr|continue|default|delete|do|double|else|enum|explicit|extern|false|float|for|if|inline|int|long|namespace|new|noexcept|nullptr|operator|private|public|return|short|signed|sizeof|static|struct|switch|template|this|throw|true|try|typedef|typename|union|unsigned|using|void|volatile|while`
	goWords     = `break|case|chan|const|continue|default|defer|else|error|fallthrough|for|func|go|if|import|int|interface|map|nil|package|range|return|select|string|struct|switch|true|false|type|var`
)

var (
	cSyntax = syntax{
		regexp.MustCompile(`(//[^\n]*|/\*(?s:.*?)\*/)|` + stringToken + `|(?m:^(#\s*\w+))|(\b(?:` + cWords + `)\b)|` + numberToken),
		[]string{"", "comment", "string", "directive", "keyword", "number"},
	}
	goSyntax = syntax{
		regexp.MustCompile("(//[^\n]*|/\\*(?s:.*?)\\*/)|(\"(?:[^\"\\\\\n]|\\\\.)*\"|`[^`]*`|'(?:[^'\\\\\n]|\\\\.)*')|(\\b(?:" + goWords + `)\b)|` + numberToken),
		[]string{"", "comment", "string", "keyword", "number"},
	}
	shellSyntax = syntax{
		regexp.MustCompile(`(?m:(?:^|\s)(#[^\n]*))|` + stringToken + `|(?m:(?:^|&& |\| )\s*(heddle(?:-cc|-c\+\+)?(?: (?:cc|c\+\+|[a-z]+))?|make|go|patch|cd|cp|printf)\b)|(\s--?[a-zA-Z][\w-]*)`),
		[]string{"", "comment", "string", "keyword", "flag"},
	}
	jsonSyntax = syntax{
		regexp.MustCompile(`("(?:[^"\\\n]|\\.)*"\s*:)|("(?:[^"\\\n]|\\.)*")|` + numberToken + `|(\b(?:true|false|null)\b)`),
		[]string{"", "directive", "string", "number", "keyword"},
	}
	syntaxes = map[string]syntax{
		"c": cSyntax, "cpp": cSyntax, "go": goSyntax, "sh": shellSyntax, "json": jsonSyntax,
	}
)

// highlight returns code as HTML, with tokens in elements of a class.
func highlight(language, code string) string {
	switch language {
	case "diff":
		return eachLine(code, diffClass)
	case "text":
		return eachLine(code, outputClass)
	}
	s, ok := syntaxes[language]
	if !ok {
		return html.EscapeString(code)
	}
	var b strings.Builder
	at := 0
	for _, m := range s.tokens.FindAllStringSubmatchIndex(code, -1) {
		for group := 1; group < len(s.classes); group++ {
			if from, to := m[2*group], m[2*group+1]; from >= 0 {
				b.WriteString(html.EscapeString(code[at:from]))
				b.WriteString(`<span class="` + s.classes[group] + `">` + html.EscapeString(code[from:to]) + "</span>")
				at = to
			}
		}
	}
	b.WriteString(html.EscapeString(code[at:]))
	return b.String()
}

// eachLine returns text as HTML, with each line that has a class in an element.
func eachLine(text string, class func(string) string) string {
	var b strings.Builder
	for _, line := range strings.SplitAfter(text, "\n") {
		body, end := strings.CutSuffix(line, "\n")
		if c := class(body); c != "" {
			b.WriteString(`<span class="` + c + `">` + html.EscapeString(body) + "</span>")
		} else {
			b.WriteString(html.EscapeString(body))
		}
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func diffClass(line string) string {
	switch {
	case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "@@"):
		return "comment"
	case strings.HasPrefix(line, "+"):
		return "added"
	case strings.HasPrefix(line, "-"):
		return "removed"
	}
	return ""
}

var (
	failed    = regexp.MustCompile(`^(✗|--- FAIL|(uncaught )?(assertion|signal|misuse|exception|panic|fatal error|deadlock|hang|test failure|exit|wrong output|data race|goroutine leak): )`)
	passed    = regexp.MustCompile(`^(no failure|complete:|--- PASS|ok |replayed )`)
	switched  = regexp.MustCompile(`^\s*── .*──$`)
	preempted = regexp.MustCompile(`\bPREEMPTED\b`)
)

// outputClass returns the class of a line that heddle prints.
func outputClass(line string) string {
	switch {
	case failed.MatchString(line):
		return "bad"
	case passed.MatchString(line):
		return "good"
	case preempted.MatchString(line):
		return "preempted"
	case switched.MatchString(line), line == "…":
		return "comment"
	}
	return ""
}
