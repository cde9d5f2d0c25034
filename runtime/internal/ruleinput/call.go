package ruleinput

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Operation sets the operation of a call, if the rules want it. args are the arguments that the handler
// would get.
func Operation(rc *rules.Call, wants *rules.Wants, args wire.Value) {
	if wants.Operation != "" {
		l := memberFinder{name: wants.Operation}
		args.Walk(&l)
		rc.Operation, rc.HasOperation = l.text, l.found
	}
}

// Digests sets the digests of the arguments of a call that the rules want, masked by key. It returns
// the digest that the idempotency key is derived from, which is independent of key, so that it is the
// same with another journal. The tool and the principal of rc are set (SEMANTICS 4.8).
func Digests(rc *rules.Call, spec *runtime.Spec, wants *rules.Wants, args wire.Value, key Key) (effect rules.Digest, err error) {
	if !wants.Args {
		return effect, nil
	}
	var room [512]byte
	form, err := wire.AppendCanonical(room[:0], args)
	if err != nil {
		return effect, err
	}
	rc.Args = digest(rc.Tool, rc.Principal, form)
	if wants.Key {
		effect, err = Effect(rc.Tool, rc.Principal, spec, args)
		rc.Key = effect
	}
	key.Mask(&rc.Args)
	key.Mask(&rc.Key)
	return effect, err
}

// Effect returns the digest of the members of args that form the idempotency key (SEMANTICS 4.9).
func Effect(tool, principal string, spec *runtime.Spec, args wire.Value) (rules.Digest, error) {
	var form []byte
	for _, name := range spec.Idempotency.Key {
		form = append(binary.BigEndian.AppendUint64(form, uint64(len(name))), name...)
		l := memberFinder{name: name, keep: true}
		args.Walk(&l)
		if !l.seen {
			form = append(form, 0)
			continue
		}
		var err error
		if form, err = wire.AppendCanonical(append(form, 1), &l); err != nil {
			return rules.Digest{}, err
		}
	}
	return digest(tool, principal, form), nil
}

// digest returns the digest of canonical bytes, of a tool and a principal (SEMANTICS 4.8).
func digest(tool, principal string, form []byte) rules.Digest {
	var room [768]byte
	b := room[:0]
	for _, s := range [...]string{tool, principal} {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
	}
	b = append(binary.BigEndian.AppendUint64(b, uint64(len(form))), form...)
	return sha256.Sum256(b)
}

// A memberFinder is a visitor that finds a member of the top-level object.
type memberFinder struct {
	name   string
	keep   bool
	depth  int
	inside bool         // the visited tokens are those of the member
	tokens []wire.Token // of the member, if keep is set
	seen   bool         // the member exists
	text   string       // of the member, when it is a string
	found  bool         // the member is a string
}

// Visit takes the next token of the arguments.
func (l *memberFinder) Visit(t wire.Token) {
	if t.Kind == wire.KindName && l.depth == 1 {
		l.inside = t.Str == l.name
		return
	}
	if l.inside && l.depth >= 1 && (l.depth > 1 || t.Kind != wire.KindEnd) {
		l.seen = true
		if l.depth == 1 && t.Kind == wire.KindString {
			l.text, l.found = t.Str, true
		}
		if l.keep {
			l.tokens = append(l.tokens, t)
		}
	}
	switch t.Kind {
	case wire.KindObject, wire.KindArray:
		l.depth++
	case wire.KindEnd:
		l.depth--
	}
}

// Walk visits the tokens of the member.
func (l *memberFinder) Walk(w wire.Visitor) {
	for _, t := range l.tokens {
		w.Visit(t)
	}
}
