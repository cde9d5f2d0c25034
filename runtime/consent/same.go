package consent

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// The purposes of the digests of what rules ask, and of the values that they are bound to.
const (
	purposeQuestion = "ambit consent question 1"
	purposeBound    = "ambit consent bound 1"
)

// questionDigest returns the digest of what rules ask, with their messages, and what the policy obliges
// the call to. It is the same for all revisions of a policy that ask the same of
// it: the order of rules and the lines on which they are written are no part of it, nor
// is any rule that says nothing about the call (SEMANTICS section 5.7).
func questionDigest(reasons []Reason, obligations []Obligation) Digest {
	return digestOf(reasons, obligations, (*Reason).said)
}

// sameQuestion reports whether rules ask the same twice, whatever their messages say: a message tells an approver what a
// rule sees, such as the time, and asks that differ by it alone are one (SEMANTICS section 5.7).
func sameQuestion(reasons []Reason, obligations []Obligation, others []Reason, duties []Obligation) bool {
	said := func(*Reason) string { return "" }
	return digestOf(reasons, obligations, said) == digestOf(others, duties, said)
}

func (r *Reason) said() string { return r.Message }

// digestOf is questionDigest with what each rule says.
func digestOf(reasons []Reason, obligations []Obligation, said func(*Reason) string) Digest {
	asks := make([][]byte, len(reasons))
	for i := range reasons {
		asks[i] = reasons[i].form(said(&reasons[i]))
	}
	duties := make([][]byte, len(obligations))
	for i, o := range obligations {
		duties[i] = o.form()
	}
	dst := appendField(nil, purposeQuestion)
	return sha256.Sum256(appendSet(appendSet(dst, asks), duties))
}

// form returns all of r that is a part of the question, with a message.
func (r *Reason) form(message string) []byte {
	dst := appendField(appendField(nil, r.Code), message)
	ids := distinct(r.Approvers)
	dst = binary.BigEndian.AppendUint64(dst, uint64(len(ids)))
	for _, id := range ids {
		dst = appendField(dst, id)
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(max(r.Quorum, 1)))
	dst = append(dst, byte(r.MaxCover))
	if len(r.Bound) == 0 {
		return dst
	}
	return appendField(dst, canonical(r.Bound))
}

// binds returns the digest of the values that r is bound to, false when there are none.
func (r *Reason) binds() (Digest, bool) {
	if len(r.Bound) == 0 {
		return Digest{}, false
	}
	return sha256.Sum256(appendField(appendField(appendField(nil, purposeBound), r.Code), canonical(r.Bound))), true
}

// canonical returns the form that equal JSON values share.
func canonical(text []byte) string {
	form, err := wire.AppendCanonical(nil, wire.Raw(text))
	if err != nil {
		return string(text)
	}
	return string(form)
}

// form returns all of o that is a part of the question: equal args have one form.
func (o *Obligation) form() []byte {
	dst := appendField(nil, o.Code)
	if len(o.Args) == 0 {
		return dst
	}
	return appendField(dst, canonical(o.Args))
}

// appendSet appends the members of a set, sorted and each once: their order does not
// count.
func appendSet(dst []byte, members [][]byte) []byte {
	slices.SortFunc(members, bytes.Compare)
	members = slices.CompactFunc(members, bytes.Equal)
	dst = binary.BigEndian.AppendUint64(dst, uint64(len(members)))
	for _, m := range members {
		dst = appendField(dst, string(m))
	}
	return dst
}
