package archive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// choose finds where the segment begins and the checkpoints at which it may end (SEMANTICS 6.14.1).
func (a *archiving) choose(ctx context.Context) error {
	list, err := audit.NewSource(a.Store, a.Store).Checkpoints(ctx)
	if err != nil {
		return err
	}
	segments, err := a.Store.Segments(ctx)
	if err != nil {
		return err
	}
	if a.header.Store, err = a.Store.ID(ctx); err != nil {
		return err
	}
	a.header.Origin = a.Verifier.Name()
	proofs, anchored := audit.Proofs(list, a.Notes, a.Verifier)
	if err := a.begin(proofs, segments); err != nil {
		return err
	}
	a.fit = proofs[:sort.Search(len(proofs), func(i int) bool { return proofs[i].Size > anchored })]
	if a.none() {
		return &Refusal{
			What:       fmt.Sprintf("an anchored checkpoint proves the entries up to %d, and those from %d on are to be archived", anchored, a.header.First),
			Remedy:     "add newer anchored checkpoints: what they do not prove stays in the store",
			Unanchored: true,
		}
	}
	if err := a.before(ctx); err != nil {
		return err
	}
	if a.none() {
		return &Refusal{What: fmt.Sprintf("no checkpoint of entries from %d on is older than %s", a.header.First, a.Before.UTC().Format(time.RFC3339)), Remedy: "name a later time"}
	}
	head, err := a.Store.Head(ctx)
	if err != nil {
		return err
	}
	a.fit = a.fit[:sort.Search(len(a.fit), func(i int) bool { return a.fit[i].Size >= head })]
	if a.none() {
		return &Refusal{What: "the last entry stays in the store", Remedy: "archive when there are later ones"}
	}
	first, err := a.firstOpen(ctx)
	if err != nil {
		return err
	}
	return a.below(first, "a call that has not ended")
}

// none reports whether no checkpoint is left that ends a segment.
func (a *archiving) none() bool { return len(a.fit) == 0 || a.fit[len(a.fit)-1].Size < a.header.First }

// before leaves out the checkpoints whose last entry is not old enough. Clocks may go back: what counts is that entry.
func (a *archiving) before(ctx context.Context) (fault error) {
	a.fit = a.fit[:sort.Search(len(a.fit), func(i int) bool {
		if a.fit[i].Size < a.header.First {
			return false
		}
		list, err := a.Store.Read(ctx, a.fit[i].Size-1, 1)
		fault = errors.Join(fault, err)
		return err != nil || len(list) == 0 || !list[0].At.Before(a.Before)
	})]
	return fault
}

// below leaves out the checkpoints that have an entry which something open needs.
func (a *archiving) below(first uint64, what string) error {
	n := sort.Search(len(a.fit), func(i int) bool { return a.fit[i].Size >= first })
	if n == len(a.fit) {
		return nil
	}
	a.held = fmt.Sprintf("%s begins at entry %d", what, first)
	if a.fit = a.fit[:n]; a.none() {
		return &Refusal{What: a.held, Remedy: "archive when it has ended: \"ambit calls list --unresolved\" shows it"}
	}
	return nil
}

// firstOpen returns the first entry of the calls that have not ended, by their index.
func (a *archiving) firstOpen(ctx context.Context) (uint64, error) {
	first := uint64(math.MaxUint64)
	open, err := a.Store.Unfinished(ctx)
	if err != nil {
		return 0, err
	}
	for _, key := range open {
		list, err := a.Store.Call(ctx, key)
		if err != nil {
			return 0, err
		}
		if len(list) > 0 {
			first = min(first, list[0].Seq)
		}
	}
	return first, nil
}
