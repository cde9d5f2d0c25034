package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// ErrConflict says that another call has changed what this one has read or set.
var ErrConflict = errors.New("another call has changed it meanwhile: make the call again")

// A Store keeps values durably. A *sqlite.Store is one.
type Store interface {
	// Get returns the value of a key, nil when it has none.
	Get(ctx context.Context, key string) ([]byte, error)

	// Apply makes all the writes or none of them, and returns when they would
	// outlive a crash.
	Apply(ctx context.Context, writes []journal.Write) error

	// Keys returns the keys that begin with a prefix.
	Keys(ctx context.Context, prefix string) ([]string, error)
}

// What the keys of the store begin with.
const (
	valuePrefix  = "value/"
	stagedPrefix = "staged/"
)

// A State keeps keys and values. It is safe for concurrent use.
type State struct {
	store Store

	place string // of the store; empty: it has no id

	mu   sync.Mutex
	held map[string]runtime.CallKey // keys of calls that are sealed and have not ended
}

// Open returns the state in a store. What a process that died has sealed keeps
// its keys until it is settled, by the recovery of an executor.
func Open(ctx context.Context, store Store) (*State, error) {
	s := &State{store: store, held: map[string]runtime.CallKey{}}
	if named, ok := store.(interface {
		ID(ctx context.Context) (string, error)
	}); ok {
		var err error
		if s.place, err = named.ID(ctx); err != nil {
			return nil, err
		}
	}
	staged, err := store.Keys(ctx, stagedPrefix)
	if err != nil {
		return nil, err
	}
	for _, name := range staged {
		st, err := s.staged(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, w := range st.Writes {
			s.held[w.Key] = st.CallKey
		}
	}
	return s, nil
}

// Place is the id of the store, where it has one (runtime.Placed).
func (s *State) Place() string { return s.place }

// Get returns the value of a key as the call that ctx was made for sees it, or
// what stands when there is no call; nil when there is none.
func (s *State) Get(ctx context.Context, key string) ([]byte, error) {
	if err := check(key); err != nil {
		return nil, err
	}
	at, err := runtime.PartOf(ctx, s)
	if errors.Is(err, runtime.ErrNoCall) {
		return s.store.Get(ctx, valuePrefix+key)
	}
	if err != nil {
		return nil, err
	}
	return at.(*part).get(ctx, key)
}

// Set gives a key a value, when the call that ctx was made for completes. In a
// call of a tool of effect read the error of Set, Delete and Restore is
// runtime.ErrReadOnly.
func (s *State) Set(ctx context.Context, key string, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	return s.change(ctx, key, value)
}

// Delete deletes the value of a key, when the call that ctx was made for completes.
func (s *State) Delete(ctx context.Context, key string) error { return s.change(ctx, key, nil) }

func (s *State) change(ctx context.Context, key string, value []byte) error {
	if err := check(key); err != nil {
		return err
	}
	at, err := runtime.WritePartOf(ctx, s)
	if err != nil {
		return err
	}
	return at.(*part).change(ctx, key, bytes.Clone(value))
}

// check refuses keys that are empty, too long or no UTF-8.
func check(key string) error {
	if key == "" || len(key) > 1024 || strings.ToValidUTF8(key, "") != key {
		return fmt.Errorf("the key %.64q is empty, longer than 1,024 bytes or no UTF-8", key)
	}
	return nil
}

// A Snapshot is what some keys held at a moment. It can be stored as JSON.
type Snapshot map[string]*[]byte

// Snapshot returns what keys hold, as [State.Get] does.
func (s *State) Snapshot(ctx context.Context, keys ...string) (Snapshot, error) {
	snap := Snapshot{}
	for _, key := range keys {
		value, err := s.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		if snap[key] = nil; value != nil {
			snap[key] = &value
		}
	}
	return snap, nil
}

// Restore makes the keys hold what they held before, in the transaction of the
// call or the undo handler that ctx was made for; without one, as in a test, at
// once. When a key holds neither that nor what the call has left the error is
// runtime.ErrDrift and nothing is changed.
func (s *State) Restore(ctx context.Context, before, after Snapshot) error {
	at, err := runtime.WritePartOf(ctx, s)
	switch {
	case errors.Is(err, runtime.ErrNoCall):
		return s.restoreNow(ctx, before, after)
	case err != nil:
		return err
	}
	writes, err := restoring(before, after, func(key string) ([]byte, error) { return at.(*part).get(ctx, key) })
	if err != nil {
		return err
	}
	for _, w := range writes {
		if err := at.(*part).change(ctx, w.Key, w.Value); err != nil {
			return err
		}
	}
	return nil
}

// restoring returns the writes by which the keys hold what they held before.
func restoring(before, after Snapshot, get func(key string) ([]byte, error)) (writes []journal.Write, err error) {
	for key, was := range before {
		now, err := get(key)
		if err != nil {
			return nil, err
		}
		switch {
		case same(now, was):
		case same(now, after[key]):
			w := journal.Write{Key: key}
			if was != nil {
				w.Value = *was
			}
			writes = append(writes, w)
		default:
			return nil, fmt.Errorf("%q: %w", key, runtime.ErrDrift)
		}
	}
	return writes, nil
}

// restoreNow restores without a transaction.
func (s *State) restoreNow(ctx context.Context, before, after Snapshot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	writes, err := restoring(before, after, func(key string) ([]byte, error) {
		if _, busy := s.held[key]; busy {
			return nil, fmt.Errorf("%q: %w", key, ErrConflict)
		}
		return s.store.Get(ctx, valuePrefix+key)
	})
	if err != nil || len(writes) == 0 {
		return err
	}
	for i := range writes {
		writes[i].Key = valuePrefix + writes[i].Key
	}
	return s.store.Apply(ctx, writes)
}

// same reports whether a value is that of a snapshot.
func same(now []byte, was *[]byte) bool {
	if was == nil || now == nil {
		return was == nil && now == nil
	}
	return bytes.Equal(now, *was)
}
