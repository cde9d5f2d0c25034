package redact

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Payloads makes the payloads of one record, and collects the sensitive values, which
// are kept apart from its leaf. The zero value has none.
type Payloads struct{ secrets []journal.Secret }

// Payload returns v as it is recorded, in the member of the record that is
// called name. The walk of v is a tool's own code and may be broken.
func (p *Payloads) Payload(name string, v wire.Value) (out *journal.Payload, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("the value of %s cannot be walked: panic: %v", name, r)
		}
	}()
	mask := walk.Mask{Hide: func(pointer string, value walk.Tokens) (string, error) {
		bare, violations := wire.Append(nil, walk.Unruled{Of: value})
		if violations != nil {
			return "", fmt.Errorf("the value at %q cannot be written: %s", pointer, violations[0])
		}
		salt := make([]byte, journal.SaltSize)
		_, _ = rand.Read(salt) // never fails
		p.secrets = append(p.secrets, journal.Secret{Pointer: "/" + name + "/value" + pointer, Salt: salt, Value: bare})
		return journal.Commit(salt, bare), nil
	}}
	before := len(p.secrets)
	text, err := mask.Append(nil, walk.Unruled{Of: v})
	if err != nil {
		return nil, err
	}
	out = Plain(text)
	out.Secrets = len(p.secrets) - before
	return out, nil
}

// Private returns the collected values as a journal keeps them apart from the leaf.
func (p *Payloads) Private() ([]byte, error) { return journal.EncodePrivate(p.secrets) }

// KeepIn keeps the secrets that a text is still committed to, and returns how many
// they are: what is masked is not to be put back.
func (p *Payloads) KeepIn(text []byte) int {
	p.secrets = slices.DeleteFunc(p.secrets, func(s journal.Secret) bool {
		return !bytes.Contains(text, []byte(journal.Commit(s.Salt, s.Value)))
	})
	return len(p.secrets)
}

// Plain returns a JSON text as it is recorded.
func Plain(text []byte) *journal.Payload {
	sum := sha256.Sum256(text)
	return &journal.Payload{Bytes: len(text), SHA256: hex.EncodeToString(sum[:]), Value: text}
}
