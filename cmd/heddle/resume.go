package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/wholefile"
)

// savedFind is the file of a search that stopped before its end, as gzipped JSON.
type savedFind struct {
	// Program and Flags must be the same in a search that continues: the engine's state identifies the
	// build, but not its arguments or how it runs.
	Program [][]byte        `json:"program"` // words need not be UTF-8
	Flags   json.RawMessage `json:"flags"`
	State   []byte          `json:"state"` // engine.Options.Save
	// Found are the keys of what the parts of the search so far have reported.
	Found []string `json:"found,omitempty"`
}

// resumption keeps the state of a search in a file between two commands.
type resumption struct {
	name    string
	now     savedFind
	saved   bool
	earlier []string // savedFind.Found of the parts before this one
}

// resumeFrom returns the resumption of a search of a program, and the state to continue from: nil if there
// is no file, so that the search begins.
func resumeFrom(name string, program []string, flags map[string]string) (*resumption, []byte, error) {
	r := &resumption{name: name}
	for _, word := range program {
		r.now.Program = append(r.now.Program, []byte(word))
	}
	var err error
	if r.now.Flags, err = json.Marshal(flags); err != nil {
		return nil, nil, err
	}
	was, err := readFind(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("%s is not a saved search (%w): remove it to begin a new one", name, err)
	case !slices.EqualFunc(was.Program, r.now.Program, bytes.Equal):
		return nil, nil, fmt.Errorf("%s is a search of %q, and this is one of %q: give the same program and arguments, or remove the file", name, was.Program, program)
	case !bytes.Equal(was.Flags, r.now.Flags):
		changed, err := strategy.Changed(was.Flags, r.now.Flags)
		if err != nil || changed == "" {
			changed = "of another version of heddle"
		}
		return nil, nil, fmt.Errorf("%s is a search with other options (%s): give the same ones, or remove the file", name, changed)
	}
	r.earlier, r.now.Found = was.Found, slices.Clone(was.Found)
	return r, was.State, nil
}

func readFind(name string) (s savedFind, err error) {
	f, err := regular.Open(name)
	if err != nil {
		return s, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return s, err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(data, &s)
}

// save writes the state. A file of that name is replaced at once or not at all.
func (r *resumption) save(state []byte) error {
	r.now.State = state
	data, err := json.Marshal(&r.now)
	if err != nil {
		return err
	}
	err = wholefile.Write(r.name, 0o600, func(w io.Writer) error {
		z := gzip.NewWriter(w)
		_, err := z.Write(data)
		return errors.Join(err, z.Close())
	})
	if err != nil {
		return fmt.Errorf("the search cannot be saved: %w", err)
	}
	r.saved = true
	return nil
}

// reported adds a finding of this part to the saved search.
func (r *resumption) reported(key string) error {
	if slices.Contains(r.now.Found, key) {
		return nil
	}
	r.now.Found = append(r.now.Found, key)
	return r.save(r.now.State)
}

// ended removes the file of a search that has come to its end.
func (r *resumption) ended() {
	if !r.saved {
		os.Remove(r.name)
	}
}
