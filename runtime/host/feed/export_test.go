package feed

// WindowEntries and WindowBytes are the most that the window of a feed holds.
const (
	WindowEntries = windowEntries
	WindowBytes   = windowBytes
)

// Window returns how many entries the window of f holds, and their size in bytes.
func (f *Feed) Window() (entries, bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.recent.entries), f.recent.bytes
}

// Waiting returns how many subscribers wait for an entry.
func (f *Feed) Waiting() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, set := range f.waiting.bySession {
		n += len(set)
	}
	return n + len(f.waiting.others)
}

// Following returns how many subscribers get live output, or are remembered for it.
func (f *Feed) Following() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, set := range f.following.bySession {
		n += len(set)
	}
	return max(n+len(f.following.others), len(f.early))
}
