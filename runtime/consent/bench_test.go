package consent_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
)

const transfer = `{"to":"DE02120300000000202051","sum":12550,"currency":"EUR","text":"Invoice 2026-0113, second half"}`

// approved returns a desk with an approved request about a transfer.
func approved(b *testing.B) (*desk, string, *consent.Question) {
	d := newDesk(b)
	q := question(transfer, widest())
	id := d.ask(0, q)
	d.approve(1, id, "alice")
	return d, id, q
}

// BenchmarkVerify compares a call with its approval, digest and all.
func BenchmarkVerify(b *testing.B) {
	d, id, q := approved(b)
	now := after(2)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.book.Use(now, id, q, false); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMatch looks for the grant that answers a call, among n of its tool.
func BenchmarkMatch(b *testing.B) {
	equal := where("to", consent.OpEqual, `"DE02120300000000202051"`)
	for name, offer := range map[string]consent.Offer{
		"exact": session(runtime.CoverExact), "tool": session(runtime.CoverTool),
		"args": session(runtime.CoverArgs, equal, where("sum", consent.OpGreater, `100`)),
	} {
		for _, n := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				d := newDesk(b)
				for i := range n - 1 {
					other := question(fmt.Sprintf(`{"to":"%d"}`, i), widest())
					d.decide(1, d.ask(0, other), consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverExact)})
				}
				q := question(transfer, widest())
				d.decide(1, d.ask(0, q), consent.Answer{By: "alice", Approve: true, Offer: offer})
				now := after(2)
				b.ReportAllocs()
				for b.Loop() {
					if _, ok := d.book.Match(now, q); !ok {
						b.Fatal("no grant")
					}
				}
			})
		}
	}
}

// BenchmarkMatchNothing is what a call costs whose tool has no grants.
func BenchmarkMatchNothing(b *testing.B) {
	d := newDesk(b)
	q := question(transfer, widest())
	now := after(2)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := d.book.Match(now, q); ok {
			b.Fatal("a grant")
		}
	}
}

// BenchmarkAnswer asks and approves.
func BenchmarkAnswer(b *testing.B) {
	q := question(transfer, widest())
	now := after(1)
	a := consent.Answer{By: "alice", Approve: true}
	b.ReportAllocs()
	for b.Loop() {
		book := consent.NewBook(key)
		e, err := book.Ask(start, "q1", "n", q)
		require.NoError(b, err)
		require.NoError(b, book.Apply(&e))
		e = book.Decide(now, "q1", &a)
		require.NoError(b, book.Apply(&e))
	}
}
