package crashtest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/holdings"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// checkHoldings compares what a start reads of a journal with what all entries say: what sessions have, by the
// checkpoint and by all entries, and the sessions that are loaded.
func (w *world) checkHoldings(entries journal.Journal, e *rules.Engine, whole *history.History) error {
	ctx, j := w.ctx, w.shop
	common, err := history.ReadSession(ctx, j, e, bookKey, "")
	if err != nil {
		return err
	}
	held, all := holdings.New(), holdings.New()
	if err := held.Read(ctx, j, common.Others); err != nil {
		return err
	}
	if err := all.Read(ctx, entries, nil); err != nil {
		return err
	}
	if got, want := held.Checkpoint(time.Time{}), all.Checkpoint(time.Time{}); !reflect.DeepEqual(got, want) {
		return fmt.Errorf("from the checkpoint sessions hold %+v, and not %+v", got, want)
	}
	if last, at := held.Last(); last != whole.Last || !at.Equal(whole.LastAt) {
		return fmt.Errorf("the last entry is %d of %s, and not %d of %s", last, at, whole.Last, whole.LastAt)
	}
	var unsettled []string
	for _, c := range whole.Calls {
		if len(c.Processes) > 0 || c.Outcome != nil && c.Outcome.Kind == runtime.Unknown && !c.Undone {
			unsettled = append(unsettled, c.Session)
		}
	}
	slices.Sort(unsettled)
	if got := held.Unsettled(); !slices.Equal(got, slices.Compact(unsettled)) {
		return fmt.Errorf("the sessions with something unsettled are %q, and not %q", got, unsettled)
	}
	for _, r := range whole.Books.Requests() {
		if got := held.SessionOf(r.ID); got != r.Session {
			return fmt.Errorf("request %s is of session %q, and not of %q", r.ID, got, r.Session)
		}
	}
	return w.checkSessions(e, common, whole)
}

// checkSessions compares all sessions, as a start reads them, with what all entries say.
func (w *world) checkSessions(e *rules.Engine, common *history.Single, whole *history.History) error {
	var ids []string
	for id := range whole.Sessions {
		ids = append(ids, id)
	}
	some, err := history.ReadSessions(w.ctx, w.shop, e, bookKey, common, append(ids, "no such session"))
	if err != nil {
		return err
	}
	calls, refs := apart(kept(w.remembered(whole, seenInAll(some)), w.low()), w.low())
	if len(some.Sessions) != len(ids) || !reflect.DeepEqual(unnumbered(some.Calls), calls) || !reflect.DeepEqual(some.Commands, whole.Commands) {
		return fmt.Errorf("read by session the calls are %+v, and not %+v", some.Calls, calls)
	}
	for id, of := range whole.Sessions {
		got, want := *some.Sessions[id], *of
		if got.Over && got.Principal == "" && want.Over { // all of it is archived
			continue
		}
		if !reflect.DeepEqual(got.State.Snapshot(), want.State.Snapshot()) {
			return fmt.Errorf("the rules of session %q are not as the entries say", id)
		}
		if err := checkNumbers(&got, some.Calls); err != nil {
			return err
		}
		var past []journal.EndedCall
		for _, c := range got.ByReference {
			past = append(past, plain(c.EndedCall))
		}
		if !reflect.DeepEqual(past, refs[id]) {
			return fmt.Errorf("session %q has by reference the calls %+v, and not %+v", id, past, refs[id])
		}
		got.ByReference = nil
		if got.State, want.State = nil, nil; !reflect.DeepEqual(got, want) {
			return fmt.Errorf("session %q is %+v, and not %+v", id, got, want)
		}
		if !reflect.DeepEqual(some.Books.Of(id).Snapshot(), whole.Books.Of(id).Snapshot()) {
			return fmt.Errorf("the book of session %q is not as the entries say", id)
		}
	}
	return nil
}

// apart returns the calls that outlive their sessions, and by session references to its other calls, and to calls whose entries are archived: an
// undo that began since is not gone on with.
func apart(all []*history.Call, low uint64) (list []*history.Call, refs map[string][]journal.EndedCall) {
	refs = map[string][]journal.EndedCall{}
	for _, c := range all {
		if c.OutlivesSession() && c.Opened > low {
			list = append(list, c)
		} else {
			refs[c.Session] = append(refs[c.Session], referred(c))
		}
	}
	return list, refs
}

// checkNumbers requires that the calls of a session have consecutive numbers, in the order in which they were opened.
func checkNumbers(of *history.Session, calls []*history.Call) error {
	var list []history.Reference
	for _, c := range calls {
		if c.Session == of.ID {
			list = append(list, history.Reference{EndedCall: journal.EndedCall{Call: c.ID, Opened: c.Opened}, Number: c.Number})
		}
	}
	list = append(list, of.ByReference...)
	slices.SortFunc(list, func(a, b history.Reference) int { return cmp.Compare(a.Opened, b.Opened) })
	for i, c := range list {
		if c.Number != i+1 {
			return fmt.Errorf("call %s of session %q has the number %d, and not %d", c.Call, of.ID, c.Number, i+1)
		}
	}
	return nil
}

// unnumbered returns calls without their numbers, which the fold of all entries does not have.
func unnumbered(calls []*history.Call) (list []*history.Call) {
	for _, c := range calls {
		bare := *c
		bare.Number = 0
		list = append(list, &bare)
	}
	return list
}

// kept returns the calls of a history without those that their sessions forgot when they ended, and without the outputs
// of archived calls that a later call repeats.
func kept(whole *history.History, low uint64) (list []*history.Call) {
	archived, latest := map[journal.CallKey]bool{}, map[journal.CallKey]*history.Call{}
	for _, c := range whole.Calls {
		latest[journal.CallKey{Session: c.Session, Call: c.ID}] = c
	}
	for _, c := range whole.Calls {
		if o := c.Outcome; o != nil && o.Kind == runtime.Denied && outcomes.Passes(o.Reason) && latest[journal.CallKey{Session: c.Session, Call: c.ID}] != c {
			continue // the later call with the id is judged anew, in its place (SEMANTICS 1.4.10)
		}
		archived[journal.CallKey{Session: c.Session, Call: c.ID}] = c.Opened <= low
		if o := c.Outcome; o != nil && c.Opened > low && archived[journal.CallKey{Session: c.Session, Call: o.Of}] {
			bare, out := *c, *o
			out.Output, out.Artifact = nil, nil
			bare.Outcome = &out
			c = &bare
		}
		if !whole.Sessions[c.Session].Over || c.OutlivesSession() {
			list = append(list, c)
		}
	}
	return list
}
