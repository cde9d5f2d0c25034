package runtimetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// An OwnerOpener makes an empty journal, which is a [journal.Owner], and closes it with t.Cleanup.
// Succeed takes the journal over as another process would that holds the owner for dead, and
// returns it as that process has it; it waits for what keeps a successor out.
type OwnerOpener func(t *testing.T) (j journal.Journal, succeed func() journal.Journal)

// TestOwner tests a journal against the contract of [journal.Owner].
func TestOwner(t *testing.T, open OwnerOpener) {
	t.Run("claim", func(t *testing.T) { testClaim(t, open) })
	t.Run("successor", func(t *testing.T) { testSuccessor(t, open) })
}

// TestFencer tests a journal against the contract of [journal.Fencer].
func TestFencer(t *testing.T, open OwnerOpener) {
	t.Run("effects at the same time", func(t *testing.T) { testEffects(t, open) })
	t.Run("effect of a former owner", func(t *testing.T) { testFormerEffect(t, open) })
	t.Run("successor waits", func(t *testing.T) { testSuccessorWaits(t, open) })
}

// ownerOf returns j as an owner.
func ownerOf(t *testing.T, j journal.Journal) journal.Owner {
	t.Helper()
	o, ok := j.(journal.Owner)
	if !ok {
		t.Fatalf("%T is no journal.Owner", j)
	}
	return o
}

// fencerOf returns j as a fencer.
func fencerOf(t *testing.T, j journal.Journal) journal.Fencer {
	t.Helper()
	f, ok := j.(journal.Fencer)
	if !ok {
		t.Fatalf("%T is no journal.Fencer", j)
	}
	return f
}

func testClaim(t *testing.T, open OwnerOpener) {
	j, _ := open(t)
	o := ownerOf(t, j)
	appendAll(t, j, entry(1, "s", "c", journal.MarkOpened))
	for range 2 {
		release, err := o.Claim(t.Context())
		if err != nil {
			t.Fatalf("Claim: %v", err)
		}
		if _, err := o.Claim(t.Context()); !errors.Is(err, journal.ErrClaimed) {
			t.Fatalf("a second Claim: %v", err)
		}
		if err := o.Renew(t.Context()); err != nil {
			t.Fatalf("Renew: %v", err)
		}
		release()
		release() // which does nothing
	}
}

func testSuccessor(t *testing.T, open OwnerOpener) {
	former, succeed := open(t)
	appendAll(t, former, entry(1, "s", "c", journal.MarkOpened))
	if err := ownerOf(t, former).Renew(t.Context()); err != nil {
		t.Fatalf("Renew: %v", err)
	}
	successor := succeed()
	if a, b := ownerOf(t, former).Epoch(), ownerOf(t, successor).Epoch(); b <= a {
		t.Fatalf("epoch %d after epoch %d", b, a)
	}
	for range 2 {
		if err := former.Append(t.Context(), []journal.Entry{entry(2, "s", "lost", journal.MarkOpened)}); !errors.Is(err, journal.ErrLost) {
			t.Fatalf("Append of the former owner: %v", err)
		}
		if err := ownerOf(t, former).Renew(t.Context()); !errors.Is(err, journal.ErrLost) {
			t.Fatalf("Renew of the former owner: %v", err)
		}
	}
	appendAll(t, successor, entry(2, "s", "c", journal.MarkEnded))
	want(t, successor, []journal.Entry{entry(1, "s", "c", journal.MarkOpened), entry(2, "s", "c", journal.MarkEnded)})
	if err := former.Append(t.Context(), []journal.Entry{entry(2, "s", "lost", journal.MarkOpened)}); !errors.Is(err, journal.ErrLost) {
		t.Fatalf("Append of the former owner: %v", err)
	}
}

func testEffects(t *testing.T, open OwnerOpener) {
	j, _ := open(t)
	f := fencerOf(t, j)
	var both, done sync.WaitGroup
	both.Add(2)
	for range 2 {
		done.Go(func() {
			calls := 0
			err := f.Fence(t.Context(), func() {
				calls++
				both.Done()
				both.Wait() // for the other effect
			})
			if err != nil || calls != 1 {
				t.Errorf("Fence: %v, %d calls of the effect", err, calls)
			}
		})
	}
	done.Wait()
}

func testFormerEffect(t *testing.T, open OwnerOpener) {
	former, succeed := open(t)
	successor := succeed()
	err := fencerOf(t, former).Fence(t.Context(), func() { t.Error("an effect of a former owner") })
	if !errors.Is(err, journal.ErrLost) {
		t.Fatalf("Fence of the former owner: %v", err)
	}
	calls := 0
	if err := fencerOf(t, successor).Fence(t.Context(), func() { calls++ }); err != nil || calls != 1 {
		t.Fatalf("Fence of the successor: %v, %d calls of the effect", err, calls)
	}
}

func testSuccessorWaits(t *testing.T, open OwnerOpener) {
	_, succeed := open(t)
	began := time.Now()
	succeed()
	took := time.Since(began) // of a takeover that nothing keeps out

	former, succeed := open(t)
	var over, early atomic.Bool
	var successor sync.WaitGroup
	err := fencerOf(t, former).Fence(t.Context(), func() {
		successor.Go(func() {
			succeed()
			early.Store(!over.Load())
		})
		appendAll(t, former, entry(1, "s", "c", journal.MarkOpened)) // the journal is still its own
		// A takeover that does not wait for the effect has time to end, however long it takes.
		for began := time.Now(); time.Since(began) < 10*took+50*time.Millisecond && !early.Load(); {
			time.Sleep(time.Millisecond)
		}
		over.Store(true)
	})
	if err != nil {
		t.Fatalf("Fence: %v", err)
	}
	successor.Wait()
	if early.Load() {
		t.Error("a successor has taken the journal over while an effect of the former owner was under way")
	}
}
