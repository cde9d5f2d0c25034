package archive

import "fmt"

// An Error says what is wrong with a segment.
type Error struct {
	Path        string
	First, Last uint64 // the entries that it is about; 0: no entries
	What        string
	Err         error // the cause; nil: What says all
}

// Error names the segment and the entries.
func (e *Error) Error() string {
	where := ""
	switch {
	case e.First == 0:
	case e.First == e.Last:
		where = fmt.Sprintf(" at entry %d", e.First)
	default:
		where = fmt.Sprintf(" within entries %d to %d", e.First, e.Last)
	}
	text := fmt.Sprintf("the segment %q is not what was archived%s: %s", e.Path, where, e.What)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// DamagedAt returns the position of the first entry that it is about; 0: of none. A verifier of the
// journal asks for it.
func (e *Error) DamagedAt() uint64 { return e.First }
