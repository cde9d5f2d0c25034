package consent

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A Snapshot is what a Book holds: what its events have made, without what Prune has
// removed. A Book that is restored from it goes on as the Book would. As in events there is
// no sensitive argument in it.
type Snapshot struct {
	Seq      uint64        `json:"seq"`
	Requests []HeldRequest `json:"requests,omitempty"` // in the order in which they were made
	Grants   []HeldGrant   `json:"grants,omitempty"`   // in the order in which they were given
	Pause    Pause         `json:"pause,omitzero"`
	Retired  []RetiredRule `json:"retired,omitempty"` // in the order of their events
	Pruned   bool          `json:"pruned,omitempty"`  // Prune has removed a grant
}

// A RetiredRule is a rule that was retired, in a Snapshot.
type RetiredRule struct {
	Number uint64    `json:"number"` // of the latest event that retired it
	At     time.Time `json:"at"`     // of that
	Rule   Rule      `json:"rule"`
}

// A HeldRequest is a request in a Snapshot.
type HeldRequest struct {
	Number   uint64  `json:"number"` // of the event that asked
	Reminded bool    `json:"reminded,omitempty"`
	Request  Request `json:"request"`
}

// A HeldGrant is a grant in a Snapshot.
type HeldGrant struct {
	Number  uint64    `json:"number"`           // of the event that gave it
	After   uint64    `json:"after,omitempty"`  // as that of the event
	Retired time.Time `json:"retired,omitzero"` // when the last of its rules was removed
	Grant   Grant     `json:"grant"`
}

// Snapshot returns what b holds. It must not be changed.
func (b *Book) Snapshot() *Snapshot {
	of := &Snapshot{Seq: b.seq, Pause: b.pause, Retired: b.retiredAfter(0), Pruned: b.pruned}
	for _, r := range sorted(slices.Collect(maps.Values(b.requests))) {
		of.Requests = append(of.Requests, HeldRequest{r.number, r.reminded, r.Request})
	}
	for _, g := range b.granted() {
		of.Grants = append(of.Grants, HeldGrant{g.number, g.after, g.retired, g.Grant})
	}
	return of
}

// retiredAfter returns the rules that were retired after an event, in the order of that.
func (b *Book) retiredAfter(number uint64) (list []RetiredRule) {
	if b.lastRetired <= number {
		return nil
	}
	for rule, r := range b.retired {
		if r.number > number {
			list = append(list, RetiredRule{r.number, r.at, rule})
		}
	}
	slices.SortFunc(list, func(x, y RetiredRule) int {
		return cmp.Or(cmp.Compare(x.Number, y.Number), cmp.Compare(x.Rule.Tool, y.Rule.Tool), cmp.Compare(x.Rule.Code, y.Rule.Code))
	})
	return list
}

// Restore returns the book that a snapshot was taken of; the events after it are applied to
// that. The key is that of NewBook. An error says what no book holds.
func Restore(key []byte, of *Snapshot) (*Book, error) {
	b := NewBook(key)
	b.seq, b.pause, b.pruned = of.Seq, of.Pause, of.Pruned
	for _, r := range of.Retired {
		b.retired[r.Rule], b.lastRetired = retirement{r.Number, r.At}, max(b.lastRetired, r.Number)
	}
	for i := range of.Requests {
		if err := b.restoreRequest(&of.Requests[i]); err != nil {
			return nil, err
		}
	}
	grants := slices.SortedFunc(slices.Values(of.Grants), func(x, y HeldGrant) int { return cmp.Compare(x.Number, y.Number) })
	for i := range grants {
		if err := b.restoreGrant(&grants[i]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// restoreRequest adds a request.
func (b *Book) restoreRequest(of *HeldRequest) error {
	id := of.Request.ID
	if b.requests[id] != nil || of.Number == 0 || of.Number > b.seq {
		return fmt.Errorf("request %q is in the snapshot twice, or of event %d of %d", id, of.Number, b.seq)
	}
	r := &request{Request: of.Request, number: of.Number, reminded: of.Reminded}
	if r.former() && r.Status == StatusOpen {
		r.Rewritten = true
		r.Votes = slices.DeleteFunc(slices.Clone(r.Votes), func(v Vote) bool { return v.By == r.EditedBy })
	}
	b.requests[id] = r
	switch {
	case r.Status == StatusOpen:
		heap.Push(&b.open, r)
		b.waiting[r.Session]++
	case r.Status > StatusApproved:
		b.age(id, r.Expires)
	}
	return nil
}

// restoreGrant adds a grant that was given after those before.
func (b *Book) restoreGrant(of *HeldGrant) error {
	id := of.Grant.ID
	if b.grants[id] != nil || of.Number == 0 || of.Number > b.seq {
		return fmt.Errorf("grant %q is in the snapshot twice, or of event %d of %d", id, of.Number, b.seq)
	}
	where, err := compileAll(of.Grant.Where)
	if err != nil {
		return fmt.Errorf("grant %q of the snapshot: %w", id, err)
	}
	g := &grant{Grant: of.Grant, where: where, number: of.Number, after: of.After, retired: of.Retired}
	b.grants[id] = g
	b.put(g)
	for _, over := range []time.Time{g.Expires, g.Revoked, g.retired} {
		if !over.IsZero() {
			b.age(id, over)
		}
	}
	return nil
}
