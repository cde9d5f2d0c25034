package ruleinput

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/ambit-tools/ambit/runtime/rules"
)

// A Key makes the digests of inputs and arguments that are recorded. They are keyed, because a
// reader without the key cannot find a short input by trial. It is nil without a journal.
type Key []byte

// MAC returns the digest of an input.
func (k Key) MAC(input []byte) string {
	m := hmac.New(sha256.New, k)
	m.Write(input)
	return hex.EncodeToString(m.Sum(nil))
}

// Matches reports whether mac is the digest of input.
func (k Key) Matches(mac string, input []byte) bool {
	return mac != "" && hmac.Equal([]byte(mac), []byte(k.MAC(input)))
}

// Mask replaces a digest of arguments by a keyed one, because the digest is a part of records and
// some of the arguments may be sensitive.
func (k Key) Mask(d *rules.Digest) {
	if k == nil || *d == (rules.Digest{}) {
		return
	}
	m := hmac.New(sha256.New, k)
	m.Write(d[:])
	m.Sum(d[:0])
}
