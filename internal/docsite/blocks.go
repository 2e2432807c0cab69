package docsite

import (
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// blockRenderer draws headings with a link to themselves, and blocks of code with colours.
type blockRenderer struct{}

func (blockRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, drawHeading)
	r.Register(ast.KindFencedCodeBlock, drawCode)
}

func drawHeading(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	tag := "h" + string(rune('0'+h.Level))
	id, ok := h.AttributeString("id")
	if !ok { // in a list or a quotation
		id = []byte(nil)
	}
	switch name := html.EscapeString(string(id.([]byte))); {
	case entering && name != "":
		w.WriteString("<" + tag + ` id="` + name + `">`)
	case entering:
		w.WriteString("<" + tag + ">")
	case name != "" && h.Level > 1:
		w.WriteString(` <a class="anchor" href="#` + name + `" aria-label="Link to this section">#</a></` + tag + ">\n")
	default:
		w.WriteString("</" + tag + ">\n")
	}
	return ast.WalkContinue, nil
}

// drawCode draws a fenced block. Its first word is the language; a word file=NAME names the file.
func drawCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.FencedCodeBlock)
	language, file := "", ""
	if block.Info != nil {
		for i, word := range strings.Fields(string(block.Info.Segment.Value(source))) {
			if i == 0 {
				language = word
			} else if name, ok := strings.CutPrefix(word, "file="); ok {
				file = name
			}
		}
	}
	var code bytes.Buffer
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		code.Write(line.Value(source))
	}
	class := language
	if language == "text" && !strings.ContainsAny(code.String(), "│─┌├") {
		class += " wrapped" // text, not a drawing
	}
	if language == "text" && isTranscript(code.String()) {
		class += " output"
	}
	w.WriteString(`<figure class="code ` + html.EscapeString(class) + `">`)
	if file != "" {
		w.WriteString("<figcaption>" + html.EscapeString(file) + "</figcaption>")
	}
	w.WriteString(`<pre tabindex="0"><code>` + highlight(language, code.String()) + "</code></pre></figure>\n")
	return ast.WalkSkipChildren, nil
}

// isTranscript reports whether a block of text is heddle's output, which ends with an outcome or has steps.
func isTranscript(s string) bool {
	return strings.ContainsAny(s, "│✗") || strings.Contains(s, " executions")
}
