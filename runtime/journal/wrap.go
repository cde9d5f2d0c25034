package journal

import "context"

// Wrap returns inner with another Append. The result is an Owner, a Fencer and a Keeper as far as
// inner is one, so that a package that stands in front of a journal loses neither leases nor keys.
// It has no other methods of inner.
func Wrap(inner Journal, appendTo func(ctx context.Context, entries []Entry) error) Journal {
	owner, owned := inner.(Owner)
	fencer, fences := inner.(Fencer)
	keeper, keeps := inner.(Keeper)
	w := wrapped{inner, appendTo}
	switch {
	case owned && fences && keeps:
		return struct {
			wrapped
			Owner
			Fencer
			Keeper
		}{w, owner, fencer, keeper}
	case owned && fences:
		return struct {
			wrapped
			Owner
			Fencer
		}{w, owner, fencer}
	case owned && keeps:
		return struct {
			wrapped
			Owner
			Keeper
		}{w, owner, keeper}
	case owned:
		return struct {
			wrapped
			Owner
		}{w, owner}
	case keeps:
		return struct {
			wrapped
			Keeper
		}{w, keeper}
	}
	return w
}

// A wrapped journal reads from the inner one.
type wrapped struct {
	inner    Journal
	appendTo func(ctx context.Context, entries []Entry) error
}

// Append stores entries in the way of the package that wrapped the journal.
func (w wrapped) Append(ctx context.Context, entries []Entry) error { return w.appendTo(ctx, entries) }

// Read returns the entries of the inner journal after a position.
func (w wrapped) Read(ctx context.Context, after uint64, limit int) ([]Entry, error) {
	return w.inner.Read(ctx, after, limit)
}

// Call returns the entries of one call of the inner journal.
func (w wrapped) Call(ctx context.Context, key CallKey) ([]Entry, error) {
	return w.inner.Call(ctx, key)
}

// Unfinished returns the calls of the inner journal that have not ended.
func (w wrapped) Unfinished(ctx context.Context) ([]CallKey, error) { return w.inner.Unfinished(ctx) }

// Back reads the entries of a session of the inner journal.
func (w wrapped) Back(ctx context.Context, session string, before uint64, f func(*Entry) bool) error {
	return w.inner.Back(ctx, session, before, f)
}

// Entries returns entries of the inner journal.
func (w wrapped) Entries(ctx context.Context, seqs ...uint64) ([]Entry, error) {
	return w.inner.Entries(ctx, seqs...)
}

// Open returns the open sessions of the inner journal.
func (w wrapped) Open(ctx context.Context) ([]string, error) { return w.inner.Open(ctx) }
