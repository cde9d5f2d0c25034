package journal

// NewEntry returns the entry at a position that says r. Its index is taken from
// r, because the verification of a journal compares the two.
func NewEntry(seq uint64, r *Record, private []byte) (Entry, error) {
	leaf, err := Encode(r)
	if err != nil {
		return Entry{}, err
	}
	return Entry{
		Seq: seq, At: r.At.UTC(), Kind: r.Kind, Session: r.Session, Run: r.Run, Call: r.Call, Tool: r.Tool, Mark: r.Mark,
		Leaf: leaf, Private: private,
	}, nil
}

// Disagreement returns the name of the first field of the index, at, kind,
// session, run, call, tool or mark, that is not what r says; none: "".
func (e *Entry) Disagreement(r *Record) string {
	switch {
	case !e.At.Equal(r.At):
		return "at"
	case e.Kind != r.Kind:
		return "kind"
	case e.Session != r.Session:
		return "session"
	case e.Run != r.Run:
		return "run"
	case e.Call != r.Call:
		return "call"
	case e.Tool != r.Tool:
		return "tool"
	case e.Mark != r.Mark:
		return "mark"
	}
	return ""
}
