// Package lossless writes JSON of values whose strings may be no UTF-8, as names of files and what programs print. JSON has
// no such strings, and encoding/json loses their bytes. Here such a string has U+FFFD for each byte that is not
// part of a character, as encoding/json has it, and the object that it is in has one more field, of the same name with _bytes
// behind it: the string in base64, or for a list a list with null for each other element. docs/json.md documents it for users.
package lossless

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Suffix is what is behind the name of a field with the bytes of another.
const Suffix = "_bytes"

// Marshal is json.Marshal but for strings that are not UTF-8. HTML's characters are escaped if html is set. What a MarshalJSON
// of the value's own returns is taken as it is.
func Marshal(v any, html bool) ([]byte, error) {
	marked, some := mark(reflect.ValueOf(v))
	if some {
		v = marked.Interface()
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if !some {
		return text, nil
	}
	w := writer{in: text}
	w.value()
	return w.out, nil
}

// MarshalIndent is Marshal with each element on a line of its own, indented, unless indent is empty.
func MarshalIndent(v any, html bool, indent string) ([]byte, error) {
	text, err := Marshal(v, html)
	if err != nil || indent == "" {
		return text, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, text, "", indent)
	return b.Bytes(), err
}

// A byte is marked as two of Unicode's noncharacters, which no text has in earnest: where one has them, its bytes
// are marked as well.
const (
	high = 0xfdd0
	low  = 0xfde0
	last = 0xfdef
)

func markedString(s string) (string, bool) {
	some := false
	for _, r := range s {
		some = some || r == utf8.RuneError || r >= high && r <= last
	}
	if !some {
		return s, false
	}
	var b strings.Builder
	some = false
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || r >= high && r <= last {
			some = true
			for _, c := range []byte(s[:n]) {
				b.WriteRune(rune(high + int(c>>4)))
				b.WriteRune(rune(low + int(c&15)))
			}
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String(), some
}

var (
	ownJSON = reflect.TypeFor[json.Marshaler]()
	ownText = reflect.TypeFor[encoding.TextMarshaler]()
)

// mark returns the value, or a copy of it with all strings marked, and whether there are any to mark.
func mark(v reflect.Value) (reflect.Value, bool) {
	if !v.IsValid() || v.Type().Implements(ownJSON) || v.Type().Implements(ownText) {
		return v, false
	}
	// within makes a copy when the first part of it changes.
	var out reflect.Value
	within := func(part reflect.Value, set func(to, part reflect.Value)) {
		marked, some := mark(part)
		if !some {
			return
		}
		if !out.IsValid() {
			out = reflect.New(v.Type()).Elem()
			out.Set(v)
			switch v.Kind() {
			case reflect.Slice:
				out.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
			case reflect.Map:
				out.Set(reflect.MakeMap(v.Type()))
				for k := range v.Seq() {
					out.SetMapIndex(k, v.MapIndex(k))
				}
			case reflect.Pointer:
				out.Set(reflect.New(v.Type().Elem()))
			}
		}
		set(out, marked)
	}
	switch v.Kind() {
	case reflect.String:
		s, some := markedString(v.String())
		if some {
			out = reflect.New(v.Type()).Elem()
			out.SetString(s)
		}
	case reflect.Pointer:
		within(v.Elem(), func(to, part reflect.Value) { to.Elem().Set(part) })
	case reflect.Interface:
		within(v.Elem(), func(to, part reflect.Value) { to.Set(part) })
	case reflect.Struct:
		whole, some := reflect.New(v.Type()).Elem(), false
		whole.Set(v)
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() && !f.Anonymous {
				continue
			}
			field := whole.Field(i)
			if !f.IsExported() { // the exported fields of an embedded struct count, and only so can they be set
				field = reflect.NewAt(f.Type, field.Addr().UnsafePointer()).Elem()
			}
			if marked, changed := mark(field); changed {
				field.Set(marked)
				some = true
			}
		}
		return whole, some
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			break // base64 already
		}
		for i := range v.Len() {
			within(v.Index(i), func(to, part reflect.Value) { to.Index(i).Set(part) })
		}
	case reflect.Map:
		for k := range v.Seq() {
			within(v.MapIndex(k), func(to, part reflect.Value) { to.SetMapIndex(k, part) })
			within(k, func(to, part reflect.Value) {
				to.SetMapIndex(part, to.MapIndex(k))
				to.SetMapIndex(k, reflect.Value{})
			})
		}
	}
	if out.IsValid() {
		return out, true
	}
	return v, false
}

// writer copies JSON, in which strings are marked.
type writer struct{ in, out []byte }

// value copies one value, and returns what is to be the value of the field with its bytes; empty for none.
func (w *writer) value() (more string) {
	switch w.in[0] {
	case '"':
		return w.text()
	case '[':
		return w.list()
	case '{':
		w.object()
	default:
		n := bytes.IndexAny(w.in, ",]}")
		if n < 0 {
			n = len(w.in)
		}
		w.copy(n)
	}
	return ""
}

func (w *writer) copy(n int) {
	w.out, w.in = append(w.out, w.in[:n]...), w.in[n:]
}

// text copies a string without its marks.
func (w *writer) text() (more string) {
	n := 1
	for ; w.in[n] != '"'; n++ {
		if w.in[n] == '\\' {
			n++
		}
	}
	text := string(w.in[:n+1])
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= high && r <= last }) {
		w.copy(n + 1)
		return ""
	}
	w.in = w.in[n+1:]
	var plain strings.Builder
	for r := []rune(text); len(r) > 0; {
		if r[0] >= high && r[0] < low && len(r) > 1 {
			plain.WriteString(`\ufffd`)
			r = r[2:]
		} else {
			plain.WriteRune(r[0])
			r = r[1:]
		}
	}
	w.out = append(w.out, plain.String()...)
	var s string
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err) // encoding/json has written it
	}
	var whole []byte
	for r := []rune(s); len(r) > 0; {
		if r[0] >= high && r[0] < low && len(r) > 1 {
			whole = append(whole, byte(r[0]-high)<<4|byte(r[1]-low))
			r = r[2:]
		} else {
			whole = utf8.AppendRune(whole, r[0])
			r = r[1:]
		}
	}
	return `"` + base64.StdEncoding.EncodeToString(whole) + `"`
}

func (w *writer) list() (more string) {
	var all []string
	some := false
	for w.in[0] != ']' {
		w.copy(1) // [ or ,
		if w.in[0] == ']' {
			break
		}
		m := w.value()
		some = some || m != ""
		if m == "" {
			m = "null"
		}
		all = append(all, m)
	}
	w.copy(1)
	if !some {
		return ""
	}
	return "[" + strings.Join(all, ",") + "]"
}

func (w *writer) object() {
	for w.in[0] != '}' {
		w.copy(1) // { or ,
		if w.in[0] == '}' {
			break
		}
		from := len(w.out)
		w.text()
		name := string(w.out[from+1 : len(w.out)-1])
		w.copy(1) // :
		if more := w.value(); more != "" {
			w.out = append(w.out, `,"`+name+Suffix+`":`+more...)
		}
	}
	w.copy(1)
}
