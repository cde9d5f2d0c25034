package journal

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
)

// A Memory is a Journal in memory. The zero value is empty and ready for use.
// An executor that is given the Memory of an earlier one continues it.
type Memory struct {
	mu      sync.Mutex
	entries []Entry
	calls   map[CallKey][]int // positions in entries
	open    []CallKey
	keys    map[string][]byte
}

// Append stores entries.
func (m *Memory) Append(ctx context.Context, entries []Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range entries {
		if want := uint64(len(m.entries) + i + 1); entries[i].Seq != want {
			return fmt.Errorf("entry %d where %d is next: %w", entries[i].Seq, want, ErrConflict)
		}
	}
	if m.calls == nil {
		m.calls = map[CallKey][]int{}
	}
	for _, e := range entries {
		e.Leaf, e.Private = slices.Clone(e.Leaf), slices.Clone(e.Private)
		m.entries = append(m.entries, e)
		if e.Call == "" {
			continue
		}
		key := CallKey{e.Session, e.Call}
		m.calls[key] = append(m.calls[key], len(m.entries)-1)
		switch e.Mark {
		case MarkOpened:
			m.open = append(m.open, key)
		case MarkEnded:
			m.open = slices.DeleteFunc(m.open, func(k CallKey) bool { return k == key })
		}
	}
	return nil
}

// Read returns the entries after a position.
func (m *Memory) Read(_ context.Context, after uint64, limit int) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := uint64(len(m.entries))
	if after >= n || limit <= 0 {
		return nil, nil
	}
	return slices.Clone(m.entries[after:min(n, after+uint64(limit))]), nil
}

// Call returns the entries of one call.
func (m *Memory) Call(_ context.Context, key CallKey) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Entry
	for _, i := range m.calls[key] {
		list = append(list, m.entries[i])
	}
	return list, nil
}

// Unfinished returns the calls that have not ended.
func (m *Memory) Unfinished(context.Context) ([]CallKey, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.open), nil
}

// Key returns the key of a name.
func (m *Memory) Key(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keys[name] == nil {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		if m.keys == nil {
			m.keys = map[string][]byte{}
		}
		m.keys[name] = key
	}
	return slices.Clone(m.keys[name]), nil
}
