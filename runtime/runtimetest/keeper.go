package runtimetest

import (
	"bytes"
	"sync"
	"testing"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestKeeper tests a journal against the contract of [journal.Keeper].
func TestKeeper(t *testing.T, open Opener) {
	j, reopen := open(t)
	one, other := keyOf(t, j, "one"), keyOf(t, j, "other")
	if bytes.Equal(one, other) {
		t.Fatal("two names have one key")
	}
	keyOf(t, j, "one")[0]++ // what it returns is the caller's
	for range 2 {
		if !bytes.Equal(keyOf(t, j, "one"), one) || !bytes.Equal(keyOf(t, j, "other"), other) {
			t.Fatal("a key has changed")
		}
		j = reopen()
	}
	var made sync.WaitGroup
	keys := make([][]byte, 8)
	for i := range keys {
		made.Go(func() { keys[i] = keyOf(t, j, "at once") })
	}
	made.Wait()
	for _, key := range keys {
		if !bytes.Equal(key, keys[0]) {
			t.Fatal("goroutines that ask for a key for the first time get several")
		}
	}
	if list, err := j.Read(t.Context(), 0, 1); len(list) != 0 || err != nil {
		t.Fatalf("keys are apart from the entries, of which there are now %v, %v", list, err)
	}
}

// keyOf returns the key of a name. Several goroutines may call it.
func keyOf(t *testing.T, j journal.Journal, name string) []byte {
	keeper, ok := j.(journal.Keeper)
	if !ok {
		t.Errorf("%T is no journal.Keeper", j)
		return nil
	}
	key, err := keeper.Key(t.Context(), name)
	if err != nil || len(key) != 32 {
		t.Errorf("Key: %v, %d bytes", err, len(key))
	}
	return key
}
