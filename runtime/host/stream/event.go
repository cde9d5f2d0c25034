package stream

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/view"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// source is that of all events. With their id it names an event of a store; subjects name calls.
const source = "/ambit"

// A cloudEvent is an event in the JSON format of CloudEvents 1.0.
type cloudEvent struct {
	SpecVersion     string    `json:"specversion"`
	ID              string    `json:"id"`
	Source          string    `json:"source"`
	Type            string    `json:"type"`
	Subject         string    `json:"subject,omitempty"`
	Time            time.Time `json:"time"`
	DataContentType string    `json:"datacontenttype"`
	Data            any       `json:"data"`
}

// A callData is the data of an event about a call. It has no field for texts that are for the operator
// of the machine alone, such as raw errors and stacks.
type callData struct {
	Position  uint64            `json:"position"`
	Session   string            `json:"session,omitempty"`
	Run       string            `json:"run,omitempty"`
	Turn      int               `json:"turn,omitempty"`
	RequestID string            `json:"request_id,omitempty"` // of the caller
	Call      string            `json:"call,omitempty"`
	Tool      string            `json:"tool,omitempty"`
	Version   string            `json:"tool_version,omitempty"`
	Agent     string            `json:"agent,omitempty"`
	Principal string            `json:"principal,omitempty"`
	From      string            `json:"from,omitempty"`
	To        string            `json:"to,omitempty"`
	Attempt   int               `json:"attempt,omitempty"`
	Duration  float64           `json:"duration_ms,omitempty"`
	Outcome   string            `json:"outcome,omitempty"`
	Reason    string            `json:"reason,omitempty"`
	Message   string            `json:"message,omitempty"` // as the model reads it
	By        string            `json:"by,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	Times     *timesData        `json:"times,omitempty"` // of an outcome or an undo

	Request    string `json:"request,omitempty"` // for consent
	Resolution string `json:"resolution,omitempty"`
	Rejection  string `json:"rejection,omitempty"`

	Ended []endedData `json:"ended,omitempty"` // requests that the entry ends, as far as the reader may see them

	Arguments json.RawMessage      `json:"arguments,omitempty"`       // compacted
	Final     json.RawMessage      `json:"final_arguments,omitempty"` // with which the handler runs, when they are others; compacted
	Output    json.RawMessage      `json:"output,omitempty"`          // compacted
	Artifact  *runtime.ArtifactRef `json:"artifact,omitempty"`
	Live      *runtime.LiveCounts  `json:"live,omitempty"`      // of tool.output
	OutputIn  string               `json:"output_in,omitempty"` // of tool.output: the type of the event of this subject that has the output, which is kept
	Approval  *view.Request        `json:"approval,omitempty"`  // of approval.requested, as the reader may see it
}

// A timesData says what the parts of a call took. The duration has waits for durable entries beside.
type timesData struct {
	Policy  float64 `json:"policy_ms"`
	Consent float64 `json:"consent_ms"`
	Queue   float64 `json:"queue_ms"`
	Handler float64 `json:"handler_ms"`
}

// An endedData says how a request for consent has ended.
type endedData struct {
	Request string `json:"request"`
	Call    string `json:"call"`
	State   string `json:"state"` // approved, denied, expired or cancelled
	By      string `json:"by,omitempty"`
}

// A positionData is the data of an event about the stream itself.
type positionData struct {
	Position uint64 `json:"position"`         // where to resume
	Missed   uint64 `json:"missed,omitempty"` // entries of the journal after it, of all kinds
}

// Events about the stream itself.
const (
	opened = "stream.opened"
	lagged = "stream.lagged"
	// undecided says that the operator policy could not say what the reader may get: it fails, or takes too long.
	undecided = "stream.undecided"
)

// frameOf returns the frame of an entry.
func frameOf(e *journal.Entry, kind string, data *callData) (frame, error) {
	text, err := json.Marshal(cloudEvent{
		SpecVersion: "1.0", ID: strconv.FormatUint(e.Seq, 10), Source: source, Type: kind,
		Subject: subject(e.Session, e.Call), Time: e.At.UTC(),
		DataContentType: "application/json", Data: data,
	})
	return frame{position: e.Seq, kind: kind, text: text}, err
}

// frameAbout returns the frame of an event about the stream itself.
func frameAbout(kind string, now time.Time, data positionData) frame {
	text, err := json.Marshal(cloudEvent{
		SpecVersion: "1.0", ID: kind + "-" + strconv.FormatUint(data.Position, 10), Source: source, Type: kind, Time: now.UTC(),
		DataContentType: "application/json", Data: data,
	})
	if err != nil { // it has no value that JSON lacks
		panic(err)
	}
	return frame{position: data.Position, kind: kind, text: text}
}

// dataOf returns what an entry tells, without arguments and output.
func dataOf(e *journal.Entry, r *journal.Record) *callData {
	d := &callData{
		Position: e.Seq, Session: r.Session, Run: r.Run, Turn: r.Turn, RequestID: r.RequestID, Live: r.Live, Call: r.Call, Tool: r.Tool, Version: r.ToolVersion, Agent: r.Agent, Principal: r.Principal,
		From: r.From, To: r.To, Attempt: r.Attempt, Duration: milliseconds(r.Duration), By: r.By,
		Request: r.Request, Resolution: r.Resolution, Rejection: r.Rejection, Metadata: r.Metadata,
	}
	if t := r.Times; t != (runtime.Times{}) {
		d.Times = &timesData{milliseconds(t.Policy), milliseconds(t.Consent), milliseconds(t.Queue), milliseconds(t.Handler)}
	}
	if r.Live != nil {
		d.OutputIn = runtime.EventCompleted.String()
	}
	var out struct {
		Outcome, Reason, Message string
	}
	if len(r.Outcome) > 0 && json.Unmarshal(r.Outcome, &out) == nil {
		d.Outcome, d.Reason, d.Message = out.Outcome, out.Reason, out.Message
	}
	return d
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
