package lossless

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

type inner struct {
	Name string            `json:"name"`
	Tags map[string]string `json:"tags,omitempty"`
}

type value struct {
	inner
	*inner2
	Words  []string        `json:"words"`
	Pairs  [][]string      `json:"pairs,omitempty"`
	Parts  []*inner        `json:"parts,omitempty"`
	Any    any             `json:"any,omitempty"`
	Raw    json.RawMessage `json:"raw,omitempty"`
	Bytes  []byte          `json:"bytes,omitempty"`
	Hidden string          `json:"-"`
	own    string
}

type inner2 struct {
	Inner inner `json:"inner"`
}

func TestMarshal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    any
		want string
	}{
		{"a\xffb", `"a\ufffdb"`}, // no object has it
		{inner{Name: "plain � é <"}, `{"name":"plain � é <"}`},
		{inner{Name: "a\xff\"\\\n\xc3"}, `{"name":"a\ufffd\"\\\n\ufffd","name_bytes":"Yf8iXArD"}`},
		{value{Words: []string{"a", "\xfe", "{\"\xfd"}, own: "\xff", Hidden: "\xff"},
			`{"name":"","words":["a","\ufffd","{\"\ufffd"],"words_bytes":[null,"/g==","eyL9"]}`},
		{&value{Pairs: [][]string{{}, {"x", "\xff"}}, Words: []string{}},
			`{"name":"","words":[],"pairs":[[],["x","\ufffd"]],"pairs_bytes":[null,[null,"/w=="]]}`},
		{value{Parts: []*inner{nil, {Name: "\xff", Tags: map[string]string{"k\xfe": "v\xfd", "l": "m"}}}},
			`{"name":"","words":null,"parts":[null,{"name":"\ufffd","name_bytes":"/w==","tags":{"k\ufffd":"v\ufffd","k\ufffd_bytes":"dv0=","l":"m"}}]}`},
		{value{Any: []any{1.5, true, "\xff", map[string]any{"z": "\xff"}}, Raw: json.RawMessage(`{"a":"b"}`), Bytes: []byte{255}},
			`{"name":"","words":null,"any":[1.5,true,"\ufffd",{"z":"\ufffd","z_bytes":"/w=="}],"any_bytes":[null,null,"/w==",null],"raw":{"a":"b"},"bytes":"/w=="}`},
		{value{inner2: &inner2{inner{Name: "\xff"}}}, `{"name":"","inner":{"name":"\ufffd","name_bytes":"/w=="},"words":null}`},
		// Noncharacters are told from the marks.
		{inner{Name: "\ufdd0\ufde0"}, `{"name":"\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd","name_bytes":"77eQ77eg"}`},
		{map[string]int{"a": 1}, `{"a":1}`},
		{nil, "null"},
	} {
		got, err := Marshal(c.v, false)
		if err != nil || string(got) != c.want {
			t.Errorf("%q:\n%s, %v\nwant\n%s", c.v, got, err, c.want)
		}
	}
}

// Whatever strings there are, the result is JSON, that of encoding/json but for the fields with bytes, and gives the bytes back.
func TestMarshalRandom(t *testing.T) {
	t.Parallel()
	text := rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.SampledFrom([]byte("a\"\\{}[],:\n\xff\xc3\xa9\xef\xb7\x90\xa0\xbf\xbd")), 0, 12).Draw(t, "bytes"))
	})
	rapid.Check(t, func(t *rapid.T) {
		v := value{inner: inner{Name: text.Draw(t, "name")}, Words: rapid.SliceOfN(text, 0, 4).Draw(t, "words"), Any: map[string]any{"x": text.Draw(t, "any")}}
		got, err := Marshal(v, true)
		if err != nil {
			t.Fatal(err)
		}
		var back struct {
			Name  string
			Plain []byte    `json:"name_bytes"`
			Words []string  `json:"words"`
			Bytes []*string `json:"words_bytes"`
		}
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if back.Plain == nil {
			back.Plain = []byte(back.Name)
		}
		if string(back.Plain) != v.Name {
			t.Fatalf("%s: %q, want %q", got, back.Plain, v.Name)
		}
		for i, w := range back.Words {
			if back.Bytes != nil && back.Bytes[i] != nil {
				b, _ := base64.StdEncoding.DecodeString(*back.Bytes[i])
				w = string(b)
			}
			if w != v.Words[i] {
				t.Fatalf("%s: %q, want %q", got, w, v.Words[i])
			}
		}
		usual, _ := json.Marshal(v)
		if !bytes.Contains(got, []byte("_bytes")) && !bytes.Equal(got, usual) {
			t.Fatalf("%s, usually %s", got, usual)
		}
	})
}
