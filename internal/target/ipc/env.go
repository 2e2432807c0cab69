package ipc

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// EnvDigest is what a trace's header holds of an environment, whatever its order.
func EnvDigest(env []string) string {
	env = slices.Sorted(slices.Values(env))
	sum := sha256.Sum256([]byte(strings.Join(env, "\x00")))
	return hex.EncodeToString(sum[:8])
}
