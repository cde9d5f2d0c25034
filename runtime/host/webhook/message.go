package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A message is what is sent, however often.
type message struct {
	id   string
	body []byte
}

// bodyJSON is the body of a message.
type bodyJSON struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"` // of the event
	Data      dataJSON  `json:"data"`
}

type dataJSON struct {
	Position  uint64          `json:"position"` // in the journal
	Request   string          `json:"request,omitempty"`
	Call      string          `json:"call,omitempty"`
	Session   string          `json:"session,omitempty"`
	Run       string          `json:"run,omitempty"`
	Turn      int             `json:"turn,omitempty"`
	RequestID string          `json:"request_id,omitempty"` // of the caller
	Tool      string          `json:"tool,omitempty"`
	Principal string          `json:"principal,omitempty"`
	Effect    string          `json:"effect,omitempty"`
	Approvers []string        `json:"approvers,omitempty"`
	Expires   time.Time       `json:"expires,omitzero"`
	State     string          `json:"state,omitempty"` // of approval.ended: approved, denied, expired or cancelled
	By        string          `json:"by,omitempty"`
	Reason    string          `json:"reason,omitempty"` // of undo.failed
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Link      string          `json:"link,omitempty"`
}

// The kinds of entries that messages are made of, and a sign that an entry holds changes of requests.
const (
	kindUnknown    = "tool.unknown"
	kindUndoFailed = "tool.undo_failed"
)

var holdsConsent = []byte(`"consent":[`)

// messages returns what an entry tells the endpoint.
func (e *Endpoint) messages(entry *journal.Entry) ([]message, error) {
	if entry.Kind != kindUnknown && entry.Kind != kindUndoFailed && !bytes.Contains(entry.Leaf, holdsConsent) {
		return nil, nil
	}
	r, err := journal.Decode(entry.Leaf)
	if err != nil {
		return nil, err
	}
	var bodies []bodyJSON
	for i := range r.Consent {
		if b, ok := e.ofConsent(&r.Consent[i], r); ok {
			bodies = append(bodies, b)
		}
	}
	switch data := callData(r); entry.Kind {
	case kindUnknown:
		bodies = append(bodies, bodyJSON{CallUnknown, r.At, data})
	case kindUndoFailed:
		data.Reason, data.By = r.Rejection, r.By
		bodies = append(bodies, bodyJSON{UndoFailed, r.At, data})
	}
	var list []message
	for i, b := range bodies {
		if !e.wants(b.Type) {
			continue
		}
		b.Data.Position = entry.Seq
		b.Data.Link = e.link(&b.Data)
		text, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		list = append(list, message{idOf(entry, i), text})
	}
	return list, nil
}

func callData(r *journal.Record) dataJSON {
	return dataJSON{Request: r.Request, Call: r.Call, Session: r.Session, Run: r.Run, Turn: r.Turn, RequestID: r.RequestID, Tool: r.Tool, Principal: r.Principal}
}

// ofConsent returns what a change of a request tells. The change may be in the entry of another call.
func (e *Endpoint) ofConsent(ev *consent.Event, r *journal.Record) (b bodyJSON, ok bool) {
	b.Timestamp, b.Data.By = ev.At, ev.By
	if ev.Call == r.Call {
		b.Data = callData(r)
		b.Data.By = ev.By
	}
	b.Data.Request, b.Data.Call = ev.Request, ev.Call
	switch ev.Kind {
	case consent.EventAsked:
		if ev.Asked == nil {
			return b, false
		}
		q := ev.Asked
		b.Type = ApprovalRequested
		b.Data = dataJSON{
			Request: q.ID, Call: q.CallID, Session: q.Session, Run: q.Run, Turn: b.Data.Turn, RequestID: b.Data.RequestID, Tool: q.Tool, Principal: q.Principal, Effect: q.Effect,
			Approvers: q.Requirement.Approvers, Expires: q.Expires,
		}
		if e.Arguments {
			b.Data.Arguments = q.Args
		}
		return b, true
	case consent.EventReminded:
		b.Type = ApprovalExpiring
		return b, true
	}
	status, ok := ev.Ends()
	b.Type, b.Data.State = ApprovalEnded, status.String()
	return b, ok
}

// link returns the page about what the data tell; empty when there is none.
func (e *Endpoint) link(d *dataJSON) string {
	link := e.Link
	for name, value := range map[string]string{"{request}": d.Request, "{session}": d.Session, "{call}": d.Call} {
		if value == "" && strings.Contains(link, name) {
			return ""
		}
		link = strings.ReplaceAll(link, name, url.PathEscape(value))
	}
	return link
}

// idOf returns the id of a message, which is the same whenever it is sent.
func idOf(entry *journal.Entry, number int) string {
	h := sha256.New()
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, entry.Seq))
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(number)))
	_, _ = h.Write(entry.Leaf)
	return "msg_" + hex.EncodeToString(h.Sum(nil)[:16])
}

// sign returns the signatures of a message that is sent at an instant, one by each key, separated by
// spaces, as Standard Webhooks defines the header webhook-signature.
func (m *message) sign(keys [][]byte, at time.Time) string {
	list := make([]string, len(keys))
	for i, key := range keys {
		mac := hmac.New(sha256.New, key)
		_, _ = mac.Write([]byte(m.id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		_, _ = mac.Write(m.body)
		list[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(list, " ")
}
