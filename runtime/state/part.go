package state

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// An ending is how a part has ended, which is once.
type ending string

const (
	committed  ending = "committed"
	rolledBack ending = "rolled back"
)

// A part is what one attempt of a call does.
type part struct {
	state *State
	key   runtime.CallKey

	mu     sync.Mutex
	sealed bool // nothing is set any more
	ended  ending
	seen   map[string][]byte // what stood when the call looked, or set, first
	set    map[string][]byte // nil: the key is deleted
}

// A staged part is what a sealed one is in the store.
type staged struct {
	runtime.CallKey
	Writes []journal.Write
}

// Begin begins what a call does here.
func (s *State) Begin(_ context.Context, key runtime.CallKey) (runtime.Part, error) {
	return &part{state: s, key: key, seen: map[string][]byte{}, set: map[string][]byte{}}, nil
}

// get returns the value of a key as the call sees it.
func (p *part) get(ctx context.Context, key string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if value, ok := p.set[key]; ok {
		return value, nil
	}
	return p.look(ctx, key)
}

// look returns what stood when the call looked first. p.mu is held.
func (p *part) look(ctx context.Context, key string) ([]byte, error) {
	if value, ok := p.seen[key]; ok {
		return value, nil
	}
	value, err := p.state.store.Get(ctx, valuePrefix+key)
	if err == nil {
		p.seen[key] = value
	}
	return value, err
}

// change keeps a value until the call commits.
func (p *part) change(ctx context.Context, key string, value []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sealed {
		return runtime.ErrFenced
	}
	if _, err := p.look(ctx, key); err != nil {
		return err
	}
	p.set[key] = value
	return nil
}

// Seal verifies that the values that the call has seen are unchanged, keeps other calls
// from changing the keys that it has set, and stores what it has set.
func (p *part) Seal(ctx context.Context) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended != "" {
		return nil, p.over()
	}
	p.sealed = true
	if len(p.set) == 0 {
		return nil, nil
	}
	s := p.state
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, was := range p.seen {
		if of, busy := s.held[key]; busy && of != p.key {
			return nil, fmt.Errorf("%q: %w", key, ErrConflict)
		}
		now, err := s.store.Get(ctx, valuePrefix+key)
		if err != nil {
			return nil, err
		}
		if (now == nil) != (was == nil) || string(now) != string(was) {
			return nil, fmt.Errorf("%q: %w", key, ErrConflict)
		}
	}
	st := staged{CallKey: p.key}
	for _, key := range slices.Sorted(maps.Keys(p.set)) {
		st.Writes = append(st.Writes, journal.Write{Key: key, Value: p.set[key]})
	}
	text, err := json.Marshal(st)
	if err != nil {
		return nil, err
	}
	if err := s.store.Apply(ctx, []journal.Write{{Key: stagedName(p.key), Value: text}}); err != nil {
		return nil, err
	}
	for key := range p.set {
		s.held[key] = p.key
	}
	sum := sha256.Sum256(text)
	return sum[:], nil
}

// Commit makes what was sealed stand.
func (p *part) Commit(ctx context.Context) error { return p.end(ctx, committed) }

// Rollback forgets what was set.
func (p *part) Rollback(ctx context.Context) error { return p.end(ctx, rolledBack) }

// end settles the part. It may be called again; one that has ended in the other way is an error.
func (p *part) end(ctx context.Context, how ending) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended != "" && p.ended != how {
		return p.over()
	}
	p.sealed = true
	err := p.state.Settle(ctx, p.key, how == committed)
	if err == nil {
		p.ended = how
	}
	return err
}

// over is the error of a part that has ended. p.mu is held.
func (p *part) over() error {
	return fmt.Errorf("what call %q did was %s already: the executor ends it", p.key.Call, p.ended)
}

// Settle commits what a call has sealed, or forgets it. A call that has sealed
// nothing is settled.
func (s *State) Settle(ctx context.Context, key runtime.CallKey, commit bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := stagedName(key)
	st, err := s.staged(ctx, name)
	if err != nil || st == nil {
		return err
	}
	writes := []journal.Write{{Key: name}}
	if commit {
		for _, w := range st.Writes {
			writes = append(writes, journal.Write{Key: valuePrefix + w.Key, Value: w.Value})
		}
	}
	if err := s.store.Apply(ctx, writes); err != nil {
		return err
	}
	maps.DeleteFunc(s.held, func(_ string, of runtime.CallKey) bool { return of == key })
	return nil
}

// Unsettled returns the calls that have sealed something and have not ended.
func (s *State) Unsettled(ctx context.Context) ([]runtime.CallKey, error) {
	names, err := s.store.Keys(ctx, stagedPrefix)
	if err != nil {
		return nil, err
	}
	var keys []runtime.CallKey
	for _, name := range names {
		st, err := s.staged(ctx, name)
		if err != nil {
			return nil, err
		}
		if st != nil {
			keys = append(keys, st.CallKey)
		}
	}
	return keys, nil
}

// staged returns what is stored under the name of a sealed part, nil when there
// is nothing.
func (s *State) staged(ctx context.Context, name string) (*staged, error) {
	text, err := s.store.Get(ctx, name)
	if err != nil || text == nil {
		return nil, err
	}
	var st staged
	if err := json.Unmarshal(text, &st); err != nil {
		return nil, fmt.Errorf("the state of a call that has not ended cannot be read (%s): %w", name, err)
	}
	return &st, nil
}

// stagedName is under what the sealed part of a call is stored.
func stagedName(key runtime.CallKey) string {
	name := stagedPrefix + hex.EncodeToString([]byte(key.Session)) + "/" + hex.EncodeToString([]byte(key.Call))
	if key.Undo {
		name += "/undo"
	}
	return name
}
