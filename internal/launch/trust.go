package launch

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"syscall"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// A trace contains a command, a directory and an input to run it with. A trace from another user
// could make heddle run anything. Each user therefore has a key, in the cache directory, with which
// heddle signs its recordings. A trace with another signature, or none, runs only if the user
// agrees, as with workspace settings in editors.

const keyFile, keySize = "trust.key", 32

// sign signs a header. Without a key it leaves the signature empty.
func (l *Launcher) sign(h *trace.Header) { h.Signature, _ = l.signature(h) }

// signed reports whether this user's heddle recorded the header's command, directory and input.
func (l *Launcher) signed(h *trace.Header) bool { return l.foreign(h) == "" }

// foreign says why the header's command, directory and input do not count as recorded by this
// user's heddle. It is empty if they do.
func (l *Launcher) foreign(h *trace.Header) string {
	s, err := l.signature(h)
	switch {
	case err != nil:
		return fmt.Sprintf("whether you recorded the trace is not known (%v), and it", err)
	case hmac.Equal([]byte(s), []byte(h.Signature)):
		return ""
	case h.Signature == "":
		return "the trace was not recorded by you on this machine (it has no signature), and"
	}
	return "the trace was not recorded by you on this machine, and"
}

func (l *Launcher) signature(h *trace.Header) (string, error) {
	key, err := l.key()
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	// The environment is heddle's own: a trace cannot set it.
	encode(mac, reflect.ValueOf(h.Run()))
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// encode writes a value such that any two that differ are written differently, and one type's fields are all written.
func encode(w io.Writer, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		fmt.Fprintf(w, "%d:%s", v.Len(), v.String())
	case reflect.Bool, reflect.Int:
		fmt.Fprintf(w, "%v;", v.Interface())
	case reflect.Uint8:
		w.Write([]byte{byte(v.Uint())})
	case reflect.Pointer:
		fmt.Fprintf(w, "%t;", v.IsNil())
		if !v.IsNil() {
			encode(w, v.Elem())
		}
	case reflect.Slice:
		fmt.Fprintf(w, "%t,%d;", v.IsNil() && v.Type().Elem().Kind() == reflect.Uint8, v.Len()) // no input is not an empty one
		for i := range v.Len() {
			encode(w, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			encode(w, v.Field(i))
		}
	default:
		panic("a field of a trace's Run has a type that signatures do not know: " + v.Type().String())
	}
}

// key returns the user's key, creating it if needed.
func (l *Launcher) key() ([]byte, error) {
	dir, err := toolchain.CacheDir(l.Cache)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, keyFile)
	if key, err := readKey(name); !errors.Is(err, os.ErrNotExist) {
		return key, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, keyFile+".*") // with mode 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	key := make([]byte, keySize)
	rand.Read(key)
	_, err = f.Write(key)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		// Another heddle process may have created a key meanwhile: the first one is kept.
		if err = os.Link(f.Name(), name); errors.Is(err, os.ErrExist) {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	return readKey(name)
}

func readKey(name string) ([]byte, error) {
	f, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	key := make([]byte, keySize)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return nil, fmt.Errorf("%s belongs to another user, who knows what is in it: remove it, or set HEDDLE_CACHE to a directory of yours", name)
	}
	if n, err := f.Read(key); err != nil || n != keySize || info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s is damaged, or others may read it: remove it", name)
	}
	return key, nil
}

// trust returns an error unless the trace is trusted, signed by this user, or approved by the user.
func (l *Launcher) trust(ctx context.Context, tr *trace.Trace) error {
	h := &tr.Header
	if l.Trusted {
		return nil
	}
	foreign := l.foreign(h)
	if foreign == "" {
		return nil
	}
	what := "run"
	if h.Target == "go" {
		what = "build and run what is named by"
	}
	command := wording.QuotedWords(report.CommandLine(h))
	if h.Dir != "" {
		command += ", in " + wording.Quoted(h.Dir)
	}
	if r := h.Recipe; r != nil && len(r.Env) > 0 {
		command += ", with " + wording.QuotedWords(r.Env)
	}
	if len(h.Stdin) > 0 {
		command += fmt.Sprintf(", with %s bytes of input", wording.Thousands(len(h.Stdin)))
	}
	if h.Oracle != "" {
		command += ", and judge its output with " + wording.Quoted(h.Oracle)
	}
	if l.Confirm == nil {
		return fmt.Errorf("%s would %s %s: if you want that, give --trust", foreign, what, command)
	}
	yes, err := l.Confirm(ctx, fmt.Sprintf("%s would %s\n  %s", foreign, what, command))
	switch {
	case err != nil:
		return err
	case !yes:
		return errors.New("not run")
	}
	l.Trusted = true // do not ask twice
	return nil
}
