package runtime

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

// A payloadBuilder makes payloads of a record: it collects what must not be in the leaf.
type payloadBuilder struct{ secrets []journal.Secret }

// payload returns v as it is recorded, in the member of the record that is
// called name. The walk of v is a tool's own code and may be broken.
func (p *payloadBuilder) payload(name string, v wire.Value) (out *journal.Payload, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("the value of %s cannot be walked: panic: %v", name, r)
		}
	}()
	veil := walk.Veil{Hide: func(pointer string, value walk.Tokens) (string, error) {
		bare, violations := wire.Append(nil, unruled{value})
		if violations != nil {
			return "", fmt.Errorf("the value at %q cannot be written: %s", pointer, violations[0])
		}
		salt := make([]byte, journal.SaltSize)
		_, _ = rand.Read(salt) // never fails
		p.secrets = append(p.secrets, journal.Secret{Pointer: "/" + name + "/value" + pointer, Salt: salt, Value: bare})
		return journal.Commit(salt, bare), nil
	}}
	before := len(p.secrets)
	text, err := veil.Append(nil, unruled{v})
	if err != nil {
		return nil, err
	}
	out = plainPayload(text)
	out.Secrets = len(p.secrets) - before
	return out, nil
}

// keepIn keeps the secrets that a text is still committed to, and returns how many
// they are: what is masked is not to be put back.
func (p *payloadBuilder) keepIn(text []byte) int {
	p.secrets = slices.DeleteFunc(p.secrets, func(s journal.Secret) bool {
		return !bytes.Contains(text, []byte(journal.Commit(s.Salt, s.Value)))
	})
	return len(p.secrets)
}

// plainPayload returns a JSON text as it is recorded.
func plainPayload(text []byte) *journal.Payload {
	sum := sha256.Sum256(text)
	return &journal.Payload{Bytes: len(text), SHA256: hex.EncodeToString(sum[:]), Value: text}
}

// draft returns the entry of a record of which p made the payloads. An error
// says that one of them could not be made: then the record does without and
// says so. A tool whose own code is broken must not spoil the journal of all.
func (p *payloadBuilder) draft(r *journal.Record, err error) draft {
	d := draft{record: r}
	if err == nil {
		d.private, err = journal.EncodePrivate(p.secrets)
	}
	if err != nil {
		r.Args, r.Final, r.Prepared, r.Output = nil, nil, nil, nil
		r.Lost = err.Error()
	}
	return d
}
