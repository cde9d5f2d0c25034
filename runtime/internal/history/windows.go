package history

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// owner folds that a process has taken the journal over. Of the windows of former owners it keeps those that hold back what the one
// of the new owner does not: the longer ones that are open. A window that is not recorded stands until an owner
// records one (SEMANTICS 6.14).
func (s *Single) owner(r *journal.Record) {
	if r.Kind != journal.KindOwner {
		return
	}
	if r.Settings == nil || r.Settings.Window == nil {
		s.Windows = nil
		return
	}
	own := *r.Settings.Window
	if n := len(s.Windows); n > 0 && s.Windows[n-1].Until.IsZero() {
		s.Windows[n-1].Until = r.At
	}
	s.Windows = slices.DeleteFunc(s.Windows, func(w journal.Window) bool {
		return w.Longest <= own.Longest || !r.At.Before(w.Until.Add(w.Longest))
	})
	s.Windows = append(s.Windows, own)
}
