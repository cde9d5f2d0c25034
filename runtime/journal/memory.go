package journal

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// A Memory is a Journal in memory. The zero value is empty and ready for use.
// An executor that is given the Memory of an earlier one continues it.
type Memory struct {
	mu       sync.Mutex
	entries  []Entry
	calls    map[CallKey][]int // indexes of entries
	sessions map[string][]int  // likewise
	open     map[CallKey]int   // which entry opened a call that has not ended
	undoing  map[CallKey]bool
	requests map[requestKey]*Request
	keys     map[string][]byte
}

// A requestKey names a request.
type requestKey struct{ session, id string }

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
	for _, e := range entries {
		e.Leaf, e.Private = slices.Clone(e.Leaf), slices.Clone(e.Private)
		m.entries = append(m.entries, e)
		m.index(&e)
	}
	return nil
}

// index notes of what the last entry is.
func (m *Memory) index(e *Entry) {
	if m.sessions == nil {
		m.calls, m.sessions = map[CallKey][]int{}, map[string][]int{}
		m.open, m.undoing = map[CallKey]int{}, map[CallKey]bool{}
		m.requests = map[requestKey]*Request{}
	}
	i := len(m.entries) - 1
	m.sessions[e.Session] = append(m.sessions[e.Session], i)
	for _, c := range RequestChanges(e) {
		key := requestKey{e.Session, c.ID}
		if m.requests[key] == nil {
			m.requests[key] = &Request{Session: e.Session, ID: c.ID}
		}
		m.requests[key].Add(e.Seq, &c)
	}
	if e.Call == "" {
		return
	}
	key := CallKey{e.Session, e.Call}
	m.calls[key] = append(m.calls[key], i)
	switch e.Mark {
	case MarkOpened:
		m.open[key] = i
	case MarkEnded:
		delete(m.open, key)
	case MarkUndoing:
		m.undoing[key] = true
	case MarkUndone:
		delete(m.undoing, key)
	}
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
	return slices.SortedFunc(maps.Keys(m.open), func(a, b CallKey) int { return cmp.Compare(m.open[a], m.open[b]) }), nil
}

// Back calls f with the entries of a session, the last one first.
func (m *Memory) Back(_ context.Context, session string, before uint64, f func(*Entry) bool) error {
	m.mu.Lock()
	list, entries := m.sessions[session], m.entries
	m.mu.Unlock()
	for _, i := range slices.Backward(list) { // what is appended meanwhile is behind both
		if e := entries[i]; e.Seq < before && !f(&e) {
			break
		}
	}
	return nil
}

// Entries returns the entries at positions.
func (m *Memory) Entries(_ context.Context, seqs ...uint64) (list []Entry, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, seq := range seqs {
		if seq == 0 || seq > uint64(len(m.entries)) {
			return nil, fmt.Errorf("entry %d: %w", seq, ErrNoEntry)
		}
		list = append(list, m.entries[seq-1])
	}
	return list, nil
}

// Open returns the sessions in which a call or an undo has not ended.
func (m *Memory) Open(context.Context) (list []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.open {
		list = append(list, key.Session)
	}
	for key := range m.undoing {
		list = append(list, key.Session)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// Requests returns the requests that a filter matches.
func (m *Memory) Requests(_ context.Context, f RequestFilter) (list []Request, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.requests {
		if f.Matches(r) {
			of := *r
			of.Steps = slices.Clone(r.Steps)
			list = append(list, of)
		}
	}
	slices.SortFunc(list, func(a, b Request) int { return cmp.Or(cmp.Compare(b.Asked(), a.Asked()), cmp.Compare(b.ID, a.ID)) })
	if f.Limit > 0 && len(list) > f.Limit {
		list = list[:f.Limit]
	}
	return list, nil
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
