package process

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// SpecOf returns what the processes of a command may do, as far as the declaration says it: with the
// defaults of limits, for a tool with so many bytes of output and that deadline.
func SpecOf(c *runtime.Command, output int64, deadline time.Duration) *Spec {
	s := &Spec{Tier: c.Tier, Network: c.Network, Limits: c.Limits, Accepts: map[runtime.LimitName]runtime.Level{}}
	s.Limits.Output = output
	s.Limits = s.Limits.Defaults(deadline)
	for _, a := range c.Accepts {
		s.Accepts[a.Limit] = a.Level
	}
	return s
}

// Digest returns the digest of a list of arguments. Lists that differ in how their text is divided into
// arguments have different digests.
func Digest(argv []string) [sha256.Size]byte {
	var all []byte
	for _, a := range argv {
		all = binary.BigEndian.AppendUint64(all, uint64(len(a)))
		all = append(all, a...)
	}
	return sha256.Sum256(all)
}
