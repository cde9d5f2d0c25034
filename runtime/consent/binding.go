package consent

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Digest is a SHA-256.
type Digest [sha256.Size]byte

// String returns d in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns d in hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText sets d to what text says in hexadecimal.
func (d *Digest) UnmarshalText(text []byte) error {
	if n, err := hex.Decode(make([]byte, hex.DecodedLen(len(text))), text); err != nil || n != len(d) {
		return fmt.Errorf("%q is not a digest of %d hexadecimal digits", text, 2*len(d))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// The purposes of digests: one of arguments is never one of something else.
const (
	purposeArgs    = "ambit consent arguments 1"
	purposeMask    = "ambit consent mask 1"
	purposeBinding = "ambit consent binding 1"
)

// keyed returns the digest of a value under a key, so that a reader without the
// key cannot find a short secret in it by trying values.
func keyed(key []byte, purpose string, v wire.Value) (Digest, error) {
	var d Digest
	if v == nil {
		return d, fmt.Errorf("there are no arguments: an empty object is written as {}")
	}
	var room [512]byte
	form, err := wire.AppendCanonical(room[:0], v)
	if err != nil {
		return d, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(appendField(nil, purpose))
	mac.Write(form)
	mac.Sum(d[:0])
	return d, nil
}

// appendField appends a text with its length, so that fields cannot be split
// in another way (SEMANTICS 5.2).
func appendField(dst []byte, s string) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(len(s)))
	return append(dst, s...)
}

// A binding is all that an approval holds for.
type binding struct {
	tool, pin, principal, session, nonce string
	program                              string // empty: no part of the digest
	args                                 Digest
	preview                              *Preview
	question                             Digest
	expires                              time.Time
}

// bindingOf returns what an approval of r holds for.
func bindingOf(r *Request) binding {
	return binding{
		tool: r.Tool, pin: r.Pin, principal: r.Principal, session: r.Session, nonce: r.Nonce,
		program: r.Program, args: r.ArgsDigest, preview: r.Preview, question: questionDigest(r.Reasons, r.Obligations), expires: r.Expires,
	}
}

// digest returns the SHA-256 of the fields of b, each with its length (SEMANTICS 5.2).
func (b *binding) digest() Digest {
	var room [1024]byte
	dst := appendField(room[:0], purposeBinding)
	for _, s := range [...]string{b.tool, b.pin, b.principal, b.session, b.nonce} {
		dst = appendField(dst, s)
	}
	dst = append(dst, b.args[:]...)
	if b.preview == nil {
		dst = append(dst, 0)
	} else {
		dst = appendField(append(dst, 1), b.preview.MediaType)
		dst = appendField(dst, b.preview.Text)
	}
	dst = append(dst, b.question[:]...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(b.expires.UnixNano()))
	if b.program != "" {
		dst = appendField(dst, b.program)
	}
	return sha256.Sum256(dst)
}

// changes compares a call that is about to run, and what the policy asks about it
// now, with what was approved. The digest covers the request as it was shown, with the messages of its
// rules, which may be others by now: the question is compared without them.
// Unasked tells that the policy wants no consent any more: then there is no
// question that could be another one (SEMANTICS 5.2 and 5.7).
func (r *Request) changes(at time.Time, q *Question, args Digest, unasked bool) []Change {
	c := &q.Call
	was := bindingOf(r)
	now := was
	now.tool, now.pin, now.principal, now.session = c.Tool, c.Pin, c.Principal, c.Session
	now.args, now.program, now.preview = args, c.Program, c.Preview
	var list []Change
	for i, changed := range [...]bool{
		ChangedTool:        now.tool != was.tool,
		ChangedDeclaration: now.pin != was.pin,
		ChangedArgs:        now.args != was.args,
		ChangedProgram:     now.args == was.args && now.program != was.program,
		ChangedPreview:     !samePreview(now.preview, was.preview),
		ChangedPrincipal:   now.principal != was.principal,
		ChangedSession:     now.session != was.session,
		ChangedQuestion:    !unasked && !sameQuestion(q.Reasons, q.Obligations, r.Reasons, r.Obligations),
		ChangedExpired:     !at.Before(r.Expires),
	} {
		if changed {
			list = append(list, Change(i))
		}
	}
	if len(list) == 0 && now.digest() != r.Binding {
		list = append(list, ChangedRequest)
	}
	return list
}

func samePreview(a, b *Preview) bool {
	return a == b || a != nil && b != nil && *a == *b
}
