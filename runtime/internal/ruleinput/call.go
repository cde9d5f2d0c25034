package ruleinput

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

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

// Digests sets the digests of the arguments of a call of the tool of spec that the rules want, masked by key.
// They are made of the tool's first name, which stays when it is renamed. It returns the digest that the
// idempotency key is derived from, which is independent of key, so that it is the same with another journal.
// The principal of rc is set (SEMANTICS 1.5.4 and 4.8).
func Digests(rc *rules.Call, spec *runtime.Spec, wants *rules.Wants, args wire.Value, key Key) (effect rules.Digest, err error) {
	if !wants.Args {
		return effect, nil
	}
	var room [512]byte
	form, err := wire.AppendCanonical(room[:0], args)
	if err != nil {
		return effect, err
	}
	var members []byte
	if wants.Key {
		if members, err = keyForm(spec, args); err != nil {
			return effect, err
		}
	}
	of := func(name string) (d rules.Digests, effect rules.Digest) {
		d.Args = digest(name, rc.Principal, form)
		if wants.Key {
			effect = digest(name, rc.Principal, members)
			d.Key = effect
		}
		key.Mask(&d.Args)
		key.Mask(&d.Key)
		return d, effect
	}
	d, effect := of(spec.FirstName())
	rc.Args, rc.Key = d.Args, d.Key
	for _, name := range laterNames(spec) {
		d, _ = of(name)
		rc.Earlier = append(rc.Earlier, d)
	}
	return effect, nil
}

// laterNames are the names of a tool other than its first one. Versions up to 89cfa63 made digests of the name
// that a tool had at the time of the call.
func laterNames(spec *runtime.Spec) []string {
	if len(spec.RenamedFrom) == 0 {
		return nil
	}
	return append(slices.Clone(spec.RenamedFrom[1:]), spec.Name)
}

// Effect returns the digest of the members of args that form the idempotency key (SEMANTICS 1.5.4 and 4.9).
// recorded is the one that was recorded of the call, masked by key: where it was made of another name of the
// tool, so is the digest, since the handler was told that one. Zero: none was recorded.
func Effect(principal string, spec *runtime.Spec, args wire.Value, recorded rules.Digest, key Key) (rules.Digest, error) {
	members, err := keyForm(spec, args)
	if err != nil {
		return rules.Digest{}, err
	}
	for _, name := range laterNames(spec) {
		effect := digest(name, principal, members)
		masked := effect
		if key.Mask(&masked); masked == recorded {
			return effect, nil
		}
	}
	return digest(spec.FirstName(), principal, members), nil
}

// keyForm returns the canonical form of the members of args that form the idempotency key (SEMANTICS 4.9).
func keyForm(spec *runtime.Spec, args wire.Value) ([]byte, error) {
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
			return nil, err
		}
	}
	return form, nil
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
