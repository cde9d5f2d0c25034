package runtime

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/ambit-tools/ambit/runtime/rules"
)

// Key returns what identifies the effect of the call to systems that take an
// idempotency key: 64 hexadecimal digits, the same for every attempt and after a
// restart. Of a tool that declares idempotency it is made of tool, principal and
// the members of the key, so that a model that makes the call again has the same
// one; of others it is made of the ids of session and call.
func (i CallInfo) Key() string {
	key := i.effect
	if key == (rules.Digest{}) {
		key = digestOf(i.Session, i.ID)
	}
	return hex.EncodeToString(key[:])
}

// digestOf returns the digest of texts of which each has its length before it.
func digestOf(texts ...string) rules.Digest {
	var room [256]byte
	b := room[:0]
	for _, s := range texts {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
	}
	return sha256.Sum256(b)
}

// recallKey sets the key of a call of an earlier process. Its arguments are
// walked by the code of the tool.
func (c *call) recallKey() {
	defer func() { _ = recover() }() // then the session and the call's id make the key
	if c.final == nil || c.tool.spec.Idempotency == nil {
		return
	}
	if key, err := c.keyDigest(c.final); err == nil {
		c.effect = key
	}
}
