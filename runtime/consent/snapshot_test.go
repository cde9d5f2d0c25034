package consent_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/consent"
)

func TestMain(m *testing.M) { battery.Main(m) }

// restored returns the book that a snapshot of b makes, once it was written and read.
func restored(t testing.TB, b *consent.Book) *consent.Book {
	var stored bytes.Buffer
	encoder := json.NewEncoder(&stored)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(b.Snapshot()))
	var of consent.Snapshot
	require.NoError(t, json.Unmarshal(stored.Bytes(), &of))
	require.Equal(t, b.Snapshot(), &of)
	again, err := consent.Restore(key, &of)
	require.NoError(t, err)
	require.Equal(t, &of, again.Snapshot())
	require.Equal(t, b.Held(), again.Held())
	return again
}

// TestARestoredBookGoesOn restores a book again and again while it is compared with the slow model, and
// compares what is left of both when all is over.
func TestARestoredBookGoesOn(t *testing.T) {
	for seed := range uint64(60) {
		d := play(t, seed, 100)
		for range 5 {
			d.book = restored(t, d.book)
			for range 40 {
				d.step()
			}
		}
		whole, err := consent.Replay(key, d.events)
		require.NoError(t, err)
		require.Equal(t, whole.Snapshot(), d.book.Snapshot(), "seed %d", seed)
		for _, seconds := range []float64{0, 20, 60, 120, 300} {
			before := after(float64(d.now) - 200 + seconds)
			gone, again := whole.Prune(before, 1000), d.book.Prune(before, 1000)
			slices.Sort(gone)
			slices.Sort(again)
			require.Equal(t, gone, again)
			require.Equal(t, whole.Snapshot(), d.book.Snapshot(), "seed %d", seed)
			d.book = restored(t, d.book)
		}
		next, due := whole.Next()
		nextAgain, dueAgain := d.book.Next()
		require.Equal(t, due, dueAgain)
		require.Equal(t, next, nextAgain)
	}
}

// TestAPauseIsRestored: consent is off in the restored book as long as in the other one.
func TestAPauseIsRestored(t *testing.T) {
	d := newDesk(t)
	e, err := d.book.Off(after(1), after(9), "alice", "a drill")
	require.NoError(t, err)
	d.apply(e)
	for seconds, off := range map[float64]bool{0: false, 1: true, 8: true, 9: false} {
		_, is := restored(t, d.book).IsOff(after(seconds))
		assert.Equal(t, off, is, seconds)
	}
}

// TestSnapshotsThatNoBookHas: they are refused, with the id of what is wrong.
func TestSnapshotsThatNoBookHas(t *testing.T) {
	request := consent.HeldRequest{Number: 1, Request: consent.Request{ID: "q"}}
	grant := consent.HeldGrant{Number: 1, Grant: consent.Grant{ID: "g"}}
	late, first := request, grant
	late.Number, first.Number = 3, 0
	bad := grant
	bad.Grant.Where = []consent.Predicate{{Member: "", Op: consent.OpGreater}}
	for name, of := range map[string]*consent.Snapshot{
		"q": {Seq: 2, Requests: []consent.HeldRequest{request, request}}, "late q": {Seq: 2, Requests: []consent.HeldRequest{late}},
		"g": {Seq: 2, Grants: []consent.HeldGrant{grant, grant}}, "first g": {Seq: 2, Grants: []consent.HeldGrant{first}},
		"bad g": {Seq: 2, Grants: []consent.HeldGrant{bad}},
	} {
		_, err := consent.Restore(key, of)
		assert.ErrorContains(t, err, `"`+name[len(name)-1:]+`"`, name)
	}
}

// TestAnEventOfAPrunedGrant changes nothing: the clock that the grant was pruned by was set back, and the grant was used. A book that
// was not pruned knows all of its grants.
// SEMANTICS 6.14.6
func TestAnEventOfAPrunedGrant(t *testing.T) {
	d := newDesk(t)
	d.decide(1, d.ask(0, question(`{}`, widest())), consent.Answer{By: "alice", Approve: true, Offer: lasting(50)})
	used := consent.Event{Seq: 100, Kind: consent.EventGrantUsed, Grant: "q1", At: after(20)}
	whole := restored(t, d.book)
	require.NoError(t, whole.Continue(&used))
	assert.Equal(t, 1, whole.Grants()[0].Uses)
	used.Grant, used.Seq = "q9", 101
	require.ErrorContains(t, whole.Continue(&used), `grant "q9" is not known`)

	d.book.Prune(after(60), 100)
	require.Empty(t, d.book.Grants())
	for _, kind := range []consent.EventKind{consent.EventGrantUsed, consent.EventRevoked} {
		again := restored(t, d.book)
		late := consent.Event{Seq: 100, Kind: kind, Grant: "q1", At: after(20), By: "alice"}
		require.NoError(t, again.Continue(&late))
		assert.Empty(t, again.Grants())
	}
}
