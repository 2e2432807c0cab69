package mcpserver

import (
	"encoding/json"
	"strings"
)

// OutputSchemas returns the schemas of the tools' structured content, by tool. Whole is the schema of
// heddle's commands, whose definitions of commands are named `heddle COMMAND` (docs/json.schema.json).
func OutputSchemas(whole []byte) (map[string]json.RawMessage, error) {
	var w struct {
		Schema string                     `json:"$schema"`
		Defs   map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(whole, &w); err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	for _, tool := range []string{"find", "test", "replay", "explain", "show"} {
		var command map[string]any
		if err := json.Unmarshal(w.Defs["heddle "+tool], &command); err != nil {
			return nil, err
		}
		if tool == "test" { // its lines, as lists
			command = map[string]any{
				"properties": map[string]any{
					"tests":    map[string]any{"type": "array", "items": reference("result.Test"), "description": "The line of each test."},
					"packages": map[string]any{"type": "array", "items": reference("result.Package"), "description": "The line of each package."},
				},
				"required": []string{"tests", "packages"},
			}
		}
		command["$schema"], command["type"] = w.Schema, "object"
		text, err := json.Marshal(command)
		if err != nil {
			return nil, err
		}
		used := map[string]json.RawMessage{}
		reached(string(text), w.Defs, used)
		command["$defs"] = used
		if out[tool], err = json.Marshal(command); err != nil {
			return nil, err
		}
	}
	return out, nil
}

const definitions = "#/$defs/"

func reference(name string) map[string]any { return map[string]any{"$ref": definitions + name} }

// reached adds the definitions that a schema refers to, and those that they refer to.
func reached(schema string, defs, used map[string]json.RawMessage) {
	for _, part := range strings.Split(schema, `"`+definitions)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		if _, seen := used[name]; seen {
			continue
		}
		used[name] = defs[name]
		reached(string(defs[name]), defs, used)
	}
}
