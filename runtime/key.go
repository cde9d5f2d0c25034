package runtime

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Key returns what identifies the effect of the call to systems that take an idempotency key: 64
// hexadecimal digits, the same for every attempt and after a restart. If the tool declares
// idempotency, the key is derived from the tool, the principal and the key members, so that a model
// that repeats the call gets the same key. For any other tool it is derived from the ids of the
// session and the call (SEMANTICS 6.11).
func (i CallInfo) Key() string {
	key := i.effect
	if key == ([sha256.Size]byte{}) {
		key = digestOf(i.Session, i.ID)
	}
	return hex.EncodeToString(key[:])
}

// digestOf returns the digest of texts, each prefixed with its length.
func digestOf(texts ...string) [sha256.Size]byte {
	var room [256]byte
	b := room[:0]
	for _, s := range texts {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
	}
	return sha256.Sum256(b)
}
