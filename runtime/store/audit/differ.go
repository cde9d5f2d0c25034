package audit

import (
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// differ returns the first position after from at which have is not what want is, and
// what seems to have happened; nil when have begins with want.
func differ(from uint64, have, want []tlog.Hash) *Fault {
	i := 0
	for i < len(have) && i < len(want) && have[i] == want[i] {
		i++
	}
	at := from + uint64(i) + 1
	if i == len(want) {
		return nil
	}
	f := &Fault{First: at, Last: at}
	if i == len(have) {
		f.Class, f.What = ClassDeleted, fmt.Sprintf("entry %d is missing", at)
		return f
	}
	now, was := slices.Index(have[i+1:], want[i]), slices.Index(want[i+1:], have[i])
	// An edit leaves what follows alone. Then a leaf that is there twice tells nothing.
	same := i+1 < len(have) && i+1 < len(want) && have[i+1] == want[i+1]
	switch {
	case same && (now < 0 || was < 0):
		f.Class, f.What = ClassEdited, fmt.Sprintf("entry %d is not what it was", at)
	case now >= 0 && was >= 0:
		f.Class, f.What = ClassMoved, fmt.Sprintf("entry %d is at %d now", at, at+uint64(now)+1)
	case now >= 0:
		f.Class, f.What = ClassInserted, fmt.Sprintf("an entry was put in at %d", at)
	case was >= 0:
		f.Class, f.What = ClassDeleted, fmt.Sprintf("entry %d was deleted, and what follows moved up", at)
	default:
		f.Class, f.What = ClassEdited, fmt.Sprintf("entry %d is not what it was", at)
	}
	return f
}
