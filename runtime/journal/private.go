package journal

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ErrCommitment says that what is private in an entry is not what its leaf is
// committed to. It is found with errors.Is.
var ErrCommitment = errors.New("the private values do not fit the leaf")

// SaltSize is the number of random bytes that each committed value has for
// itself: with fewer a short value could be guessed from its commitment.
const SaltSize = 16

// A Secret is a value that a leaf is committed to. The Private of an entry is a
// list of them, in the form of EncodePrivate:
//
//	[{"pointer":"/args/value/token","salt":"<32 hexadecimal digits>","value":"hunter2"}]
//
// Pointer (RFC 6901) is where in the leaf the commitment stands, in place of Value.
type Secret struct {
	Pointer string
	Salt    []byte // SaltSize random bytes, used for nothing else
	Value   []byte // any JSON value; its exact bytes are what is committed to
}

// Commit returns the commitment that a leaf has in place of a value. It does not reveal
// the value without the salt, and no other value fits it.
func Commit(salt, value []byte) string {
	mac := hmac.New(sha256.New, salt)
	mac.Write(value)
	return "(committed: " + hex.EncodeToString(mac.Sum(nil)) + ")"
}

// secret is how a Secret is stored.
type secret struct {
	Pointer *string         `json:"pointer"`
	Salt    *string         `json:"salt"`
	Value   json.RawMessage `json:"value"`
}

// EncodePrivate returns the Private of an entry. The values keep their bytes,
// which json.Marshal would not promise. Without secrets it returns nil.
func EncodePrivate(secrets []Secret) ([]byte, error) {
	if len(secrets) == 0 {
		return nil, nil
	}
	out := []byte{'['}
	for i, s := range secrets {
		if len(s.Salt) != SaltSize {
			return nil, fmt.Errorf("the salt of %q has %d bytes, want %d", s.Pointer, len(s.Salt), SaltSize)
		}
		if !json.Valid(s.Value) {
			return nil, fmt.Errorf("the value of %q is not JSON", s.Pointer)
		}
		pointer, err := json.Marshal(s.Pointer)
		if err != nil {
			return nil, fmt.Errorf("the pointer %q: %w", s.Pointer, err)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, `{"pointer":`...), pointer...)
		out = append(append(out, `,"salt":"`...), hex.EncodeToString(s.Salt)...)
		// Space around a value is no part of it: a decoder would not give it back.
		out = append(append(append(out, `","value":`...), bytes.TrimSpace(s.Value)...), '}')
	}
	return append(out, ']'), nil
}

// DecodePrivate returns the secrets of a Private; none of one that is empty.
func DecodePrivate(private []byte) ([]Secret, error) {
	if len(private) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(private))
	dec.DisallowUnknownFields()
	var stored []secret
	if err := dec.Decode(&stored); err != nil {
		return nil, fmt.Errorf("the private part is no list of secrets: %w: %w", err, ErrCommitment)
	}
	if len(bytes.TrimSpace(private[dec.InputOffset():])) > 0 {
		return nil, fmt.Errorf("something follows the list of secrets: %w", ErrCommitment)
	}
	list := make([]Secret, len(stored))
	for i, s := range stored {
		if s.Pointer == nil || s.Salt == nil || s.Value == nil {
			return nil, fmt.Errorf("secret %d lacks its pointer, salt or value: %w", i, ErrCommitment)
		}
		salt, err := hex.DecodeString(*s.Salt)
		if err != nil || len(salt) != SaltSize {
			return nil, fmt.Errorf("the salt of %q is not %d bytes in hexadecimal: %w", *s.Pointer, SaltSize, ErrCommitment)
		}
		list[i] = Secret{Pointer: *s.Pointer, Salt: salt, Value: s.Value}
	}
	return list, nil
}

// CheckPrivate returns an error, ErrCommitment, unless each secret of private
// fits the commitment at its place in the leaf. A commitment whose secret was
// erased is no fault. Both arguments may be hostile.
func CheckPrivate(leaf, private []byte) error {
	_, err := fit(leaf, private)
	return err
}

// Restore returns the leaf with the secrets of private put back in the place of
// their commitments; everything else keeps its bytes. It returns an error,
// ErrCommitment, when CheckPrivate does. Both arguments may be hostile. What it
// returns shares no memory with them, and is for people who may see the values.
func Restore(leaf, private []byte) ([]byte, error) {
	fields, err := fit(leaf, private)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(leaf)+len(private))
	from := 0
	for _, p := range fields {
		out = append(append(out, leaf[from:p.from]...), p.value...)
		from = p.to
	}
	return append(out, leaf[from:]...), nil
}

// A field is where in a leaf a secret fits.
type field struct {
	from, to int // of the commitment, quotes included
	value    []byte
}

// fit finds the fields of all secrets, in the order of the leaf.
func fit(leaf, private []byte) ([]field, error) {
	secrets, err := DecodePrivate(private)
	if err != nil || len(secrets) == 0 {
		return nil, err
	}
	if !json.Valid(leaf) {
		return nil, fmt.Errorf("the leaf is not JSON: %w", ErrCommitment)
	}
	var root branch
	for i, s := range secrets {
		if err := root.grow(s.Pointer, i); err != nil {
			return nil, err
		}
	}
	s := seeker{text: leaf, found: make([]field, len(secrets))}
	s.value(&root)
	for i, sec := range secrets {
		p := &s.found[i]
		switch {
		case p.to == 0:
			return nil, fmt.Errorf("the leaf has nothing at %q: %w", sec.Pointer, ErrCommitment)
		case s.twice:
			return nil, fmt.Errorf("the leaf has a member twice: %w", ErrCommitment)
		case !hmac.Equal(leaf[p.from:p.to], []byte(`"`+Commit(sec.Salt, sec.Value)+`"`)):
			return nil, fmt.Errorf("the value of %q is not the committed one: %w", sec.Pointer, ErrCommitment)
		}
		p.value = sec.Value
	}
	slices.SortFunc(s.found, func(a, b field) int { return a.from - b.from })
	return s.found, nil
}
