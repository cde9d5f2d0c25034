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
	return f.admits(e.Session, e.Run, e.Call, e.Kind)
}

// matchesLive reports whether the filter lets a piece of live output pass.
func (f *Filter) matchesLive(p *journal.Live) bool {
	return f.admits(p.Session, p.Run, p.Call, kindLive)
}

func (f *Filter) admits(session, run, call, kind string) bool {
	return (f.Session == "" || f.Session == session) && (f.Run == "" || f.Run == run) && (f.Call == "" || f.Call == call) &&
		(len(f.Kinds) == 0 || slices.Contains(f.Kinds, kind))
}
