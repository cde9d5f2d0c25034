package consent

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// purposeQuestion is that of the digest of what rules ask.
const purposeQuestion = "ambit consent question 1"

// questionDigest returns the digest of what rules ask and what the policy obliges
// the call to. It is the same for all revisions of a policy that ask the same of
// it: the order of rules and the lines on which they are written are no part of it, nor
// is any rule that says nothing about the call (SEMANTICS section 5.7).
func questionDigest(reasons []Reason, obligations []Obligation) Digest {
	asks := make([][]byte, len(reasons))
	for i := range reasons {
		asks[i] = reasons[i].form()
	}
	duties := make([][]byte, len(obligations))
	for i, o := range obligations {
		duties[i] = o.form()
	}
	dst := appendField(nil, purposeQuestion)
	return sha256.Sum256(appendSet(appendSet(dst, asks), duties))
}

// form returns all of r that is a part of the question.
func (r *Reason) form() []byte {
	dst := appendField(appendField(nil, r.Code), r.Message)
	ids := distinct(r.Approvers)
	dst = binary.BigEndian.AppendUint64(dst, uint64(len(ids)))
	for _, id := range ids {
		dst = appendField(dst, id)
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(max(r.Quorum, 1)))
	return append(dst, byte(r.MaxCover))
}

// form returns all of o that is a part of the question: equal args have one form.
func (o *Obligation) form() []byte {
	dst := appendField(nil, o.Code)
	if len(o.Args) == 0 {
		return dst
	}
	args, err := wire.AppendCanonical(nil, wire.Raw(o.Args))
	if err != nil {
		args = o.Args
	}
	return appendField(dst, string(args))
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
