package journal

import "time"

// A Live is a piece of what a handler reports, or a process writes, while it runs. It is in no journal: an
// entry of tool.output holds the counts alone. Sensitive values are not in its text.
type Live struct {
	At time.Time

	Session, Run, Call, Tool string
	Agent, Principal         string
	Turn                     int
	RequestID                string // of the caller
	Attempt                  int
	Undo                     bool // the undo of the call reports it

	Number  int64  // of the piece in its call, or undo, from 1
	After   uint64 // position of the latest entry of the call, which comes before the piece; 0: there is no journal
	Stream  string // stdout or stderr of the process of the attempt; empty: the handler reports it
	Offset  int64  // of Text in all texts of the call, or of the undo; in bytes of Stream where that is set
	End     int64  // in bytes of Stream: Offset of the next piece of it, unless bytes are missing between
	Text    string
	Kept    int   // place among what is kept for those who come later, from 1; 0: it is told for the first time
	Done    int64 // as the handler says, of Total
	Total   int64 // 0: not known
	Dropped int64 // bytes that were not told, so far
}
