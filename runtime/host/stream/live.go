package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A liveData is the data of a piece of live output. It has no position: nothing resumes at a piece.
type liveData struct {
	After     uint64 `json:"after"` // position of the latest entry of the call
	Session   string `json:"session,omitempty"`
	Run       string `json:"run,omitempty"`
	Turn      int    `json:"turn,omitempty"`
	RequestID string `json:"request_id,omitempty"` // of the caller
	Call      string `json:"call,omitempty"`
	Tool      string `json:"tool,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Principal string `json:"principal,omitempty"`
	Attempt   int    `json:"attempt,omitempty"`
	Undo      bool   `json:"undo,omitempty"`

	Stream  string `json:"stream,omitempty"` // of the process; none: the handler reports it
	Offset  int64  `json:"offset"`           // of text, in bytes
	End     int64  `json:"end,omitempty"`    // with stream: of what text stands for
	Kept    int    `json:"kept,omitempty"`   // place in what is kept for those who come later
	Text    string `json:"text,omitempty"`
	Done    int64  `json:"done,omitempty"`
	Total   int64  `json:"total,omitempty"`
	Dropped int64  `json:"dropped,omitempty"` // bytes that no reader gets
	Missed  uint64 `json:"missed,omitempty"`  // pieces that this reader has not got
}

// live returns a piece of live output; ok is false when the viewer may not know of it: only an auditor
// may.
func (v viewer) live(ctx context.Context, p *journal.Live, missed uint64) (f frame, ok bool, err error) {
	audits, err := v.may(ctx, runtime.ActAudit, runtime.ActTarget{Session: p.Session, Run: p.Run, Call: p.Call})
	if err != nil || !audits {
		return f, false, err
	}
	kind := runtime.EventOutput.String()
	id := fmt.Sprintf("%d.%d", p.After, p.Number)
	if p.Kept > 0 {
		id += fmt.Sprintf(".%d", p.Kept)
	}
	text, err := json.Marshal(cloudEvent{
		SpecVersion: "1.0", ID: id, Source: source, Type: kind, Subject: subject(p.Session, p.Call), Time: p.At.UTC(),
		DataContentType: "application/json", Data: &liveData{
			After: p.After, Session: p.Session, Run: p.Run, Turn: p.Turn, RequestID: p.RequestID, Call: p.Call, Tool: p.Tool, Agent: p.Agent,
			Principal: p.Principal, Attempt: p.Attempt, Undo: p.Undo, Offset: p.Offset, Text: p.Text, Done: p.Done, Total: p.Total,
			Dropped: p.Dropped, Missed: missed, Stream: p.Stream, End: p.End, Kept: p.Kept,
		},
	})
	return frame{kind: kind, text: text, live: true}, err == nil, err
}

// subject names a call.
func subject(session, call string) string {
	return "sessions/" + url.PathEscape(session) + "/calls/" + url.PathEscape(call)
}

// header returns the lines of a server-sent event before its data. A browser resumes after the last id:
// a piece has none, because it is no entry.
func (f *frame) header() string {
	if f.live {
		return "event: " + f.kind
	}
	return fmt.Sprintf("id: %d\nevent: %s", f.position, f.kind)
}
