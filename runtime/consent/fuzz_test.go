package consent_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// bindingOf returns the digest of an approval whose fields are those of parts.
func bindingOf(t testing.TB, parts [8]string) consent.Digest {
	q := question(`{}`, consent.Requirement{})
	c := &q.Call
	c.Tool, c.Pin, c.Principal, c.Session, q.Reasons[0].Message = parts[0], parts[1], parts[2], parts[3], parts[4]
	c.Preview = &consent.Preview{MediaType: parts[5], Text: parts[6]}
	e, err := consent.NewBook(nil).Ask(start, "id", "n"+parts[7], q)
	require.NoError(t, err)
	return e.Asked.Binding
}

// FuzzBinding cuts a text into fields in two ways: different fields must have
// different digests.
func FuzzBinding(f *testing.F) {
	f.Add("transferpin-1agents1v1", []byte{8, 5, 5, 2, 2, 0, 0}, []byte{8, 5, 5, 2, 1, 1, 0})
	f.Add("\x00\x00\x00\x00\x00\x00\x00\x01a", []byte{1, 8}, []byte{8, 1})
	f.Fuzz(func(t *testing.T, text string, cutsA, cutsB []byte) {
		a, b := cut(text, cutsA), cut(text, cutsB)
		if same := bindingOf(t, a) == bindingOf(t, b); same != (a == b) {
			t.Fatalf("%q and %q: one digest %v", a, b, same)
		}
	})
}

func cut(text string, at []byte) (parts [8]string) {
	for i := range parts {
		n := len(text)
		if i < len(parts)-1 {
			n = 0
			if i < len(at) {
				n = min(int(at[i]), len(text))
			}
		}
		parts[i], text = text[:n], text[n:]
	}
	return parts
}

// FuzzArguments approves one set of arguments and runs a second one: the call must
// run only if the two are equal, and what Show returns of them must equal them.
func FuzzArguments(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[2,{"c":null}]}`), []byte(`{"b":[2.0,{"c":null}],"a":1e0}`))
	f.Add([]byte(`{"a":1180591620717411303424}`), []byte(`{"a":1180591620717411303425}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, badX := wire.ParseRaw(a, wire.Limits{})
		y, badY := wire.ParseRaw(b, wire.Limits{})
		if badX != nil || badY != nil {
			return
		}
		d := newDesk(t)
		q := question(string(x), consent.Requirement{})
		id := d.ask(0, q)
		d.decide(1, id, consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverExact)})
		formX, _ := wire.AppendCanonical(nil, x)
		formY, _ := wire.AppendCanonical(nil, y)
		r, _ := d.book.Request(id)
		shown, err := wire.AppendCanonical(nil, wire.Raw(r.Args))
		if err != nil || !slices.Equal(shown, formX) {
			t.Fatalf("%q is shown as %q", x, r.Args)
		}
		c := q.Call
		c.Args = y
		same := slices.Equal(formX, formY)
		q.Call.Args = y
		if got := d.use(2, id, c).Kind == consent.EventUsed; got != same || d.matches(2, q) != same {
			t.Fatalf("%q was approved, %q ran: %v", x, y, got)
		}
	})
}

// FuzzPredicate must neither panic nor take long, and eq must agree with equality.
func FuzzPredicate(f *testing.F) {
	f.Add("/a/0", []byte(`1e999999`), []byte(`{"a":[1e-99999999]}`), byte(2))
	f.Add("a", []byte(`{"b":[]}`), []byte(`{"a":{"b":[]}}`), byte(0))
	f.Fuzz(func(t *testing.T, member string, value, args []byte, op byte) {
		raw, bad := wire.ParseRaw(args, wire.Limits{})
		if bad != nil {
			return
		}
		d := newDesk(t)
		p := consent.Predicate{Member: member, Op: consent.Op(op), Value: value}
		q := question(string(raw), widest())
		r := d.decide(1, d.ask(0, q), consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverArgs, p)})
		if r.Resolution == runtime.ResolutionAccepted && d.matches(2, q) && p.Op == consent.OpGreater {
			q.Call.Args = wire.Raw(fmt.Sprintf(`{"x":%s}`, raw))
			d.matches(2, q)
		}
	})
}
