package ipc

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// EnvDigest returns a trace header's hash of an environment, which does not depend on its order.
func EnvDigest(env []string) string {
	env = slices.Sorted(slices.Values(env))
	sum := sha256.Sum256([]byte(strings.Join(env, "\x00")))
	return hex.EncodeToString(sum[:8])
}
