package feed

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Filter says which entries a subscriber gets: those that match all fields that are set. The zero
// value matches every entry.
type Filter struct {
	Session, Run, Call string
	Kinds              []string // any of these, such as tool.started
}

// matches reports whether the filter lets an entry pass.
func (f *Filter) matches(e *journal.Entry) bool {
	return (f.Session == "" || f.Session == e.Session) && (f.Run == "" || f.Run == e.Run) && (f.Call == "" || f.Call == e.Call) &&
		(len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind))
}
