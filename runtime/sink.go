package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// A MemorySink stores events in memory. The zero value is ready for use.
type MemorySink struct {
	mu     sync.Mutex
	events []Event
}

// Emit stores a copy of e.
func (s *MemorySink) Emit(e *Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, *e)
	return nil
}

// Events returns the events so far.
func (s *MemorySink) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// A JSONSink writes events as JSON lines.
type JSONSink struct{ enc *json.Encoder }

// NewJSONSink returns a sink that writes one line per event to w.
func NewJSONSink(w io.Writer) *JSONSink {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &JSONSink{enc: enc}
}

// Emit writes e.
func (s *JSONSink) Emit(e *Event) error { return s.enc.Encode(e) }

// eventJSON is the JSON form of an Event.
type eventJSON struct {
	Seq         uint64      `json:"seq"`
	Time        time.Time   `json:"time"`
	Kind        EventKind   `json:"event"`
	From        State       `json:"from"`
	To          State       `json:"to"`
	Tool        string      `json:"tool"`
	ToolVersion string      `json:"tool_version,omitempty"`
	CallID      string      `json:"call"`
	SessionID   string      `json:"session"`
	RunID       string      `json:"run"`
	Turn        int         `json:"turn,omitempty"`
	Client      string      `json:"request_id,omitempty"`
	Agent       string      `json:"agent,omitempty"`
	Principal   string      `json:"principal,omitempty"`
	RequestID   string      `json:"request,omitempty"`
	By          string      `json:"by,omitempty"`
	Resolution  string      `json:"resolution,omitempty"`
	Rejection   string      `json:"rejection,omitempty"`
	Attempt     int         `json:"attempt,omitempty"`
	Outcome     string      `json:"outcome,omitempty"`
	Reason      Reason      `json:"reason,omitzero"`
	AllReasons  []Reason    `json:"all_reasons,omitempty"`
	Revision    string      `json:"policy_revision,omitempty"`
	Duration    float64     `json:"duration_ms"`
	Times       timesJSON   `json:"times_ms,omitzero"`
	InputBytes  int         `json:"input_bytes"`
	OutputBytes int         `json:"output_bytes,omitempty"`
	Dropped     uint64      `json:"dropped,omitempty"`
	Live        *LiveCounts `json:"live,omitempty"`
	Err         string      `json:"error,omitempty"`
	Stack       string      `json:"stack,omitempty"`
}

// MarshalJSON returns e as a JSON object; empty members are omitted.
func (e Event) MarshalJSON() ([]byte, error) {
	outcome := ""
	if e.To.Ended() && e.Kind != EventLateResult && e.Kind != EventLingering || e.Kind == EventUnknown {
		outcome = e.Outcome.String()
	}
	return json.Marshal(eventJSON{
		e.Seq, e.Time, e.Kind, e.From, e.To, e.Tool, e.ToolVersion, e.CallID, e.SessionID, e.RunID, e.Turn, e.ClientRequest, e.Agent, e.Principal,
		e.RequestID, e.By, e.Resolution, e.Rejection,
		e.Attempt, outcome, e.Reason, e.AllReasons, e.Revision, float64(e.Duration) / float64(time.Millisecond), jsonOf(e.Times),
		e.InputBytes, e.OutputBytes, e.Dropped, e.Live, e.Err, e.Stack,
	})
}

// A LogSink writes events to a structured log. Refusals and failures, also of undos, and what a
// restart finds of calls whose process died (tool.stale, tool.unknown) are warnings; all other
// events are at debug level, also that of a call that repeats an earlier one, which is no error.
type LogSink struct{ log *slog.Logger }

// NewLogSink returns a sink that writes to log.
func NewLogSink(log *slog.Logger) *LogSink { return &LogSink{log: log} }

// Emit logs e.
func (s *LogSink) Emit(e *Event) error {
	level := slog.LevelDebug
	switch e.Kind {
	case EventDenied, EventFailed, EventAborted, EventLateResult, EventUndoFailed, EventLingering, EventSinkDropped,
		EventUnknown, EventStale:
		level = slog.LevelWarn
	}
	duplicate := ""
	if e.Kind == EventDenied && e.Outcome == Duplicate { // SEMANTICS 4.8.10
		level, duplicate = slog.LevelDebug, e.Outcome.String()
	}
	ctx := context.Background()
	if !s.log.Enabled(ctx, level) {
		return nil
	}
	r := slog.NewRecord(e.Time, level, e.Kind.String(), 0)
	r.AddAttrs(
		slog.Uint64("seq", e.Seq), slog.String("tool", e.Tool), slog.String("call", e.CallID),
		slog.String("session", e.SessionID), slog.String("run", e.RunID), slog.String("state", e.To.String()),
		slog.Duration("duration", e.Duration))
	if e.Turn > 0 {
		r.AddAttrs(slog.Int("turn", e.Turn))
	}
	if e.Dropped > 0 {
		r.AddAttrs(slog.Uint64("dropped", e.Dropped))
	}
	for _, a := range []slog.Attr{
		slog.String("request_id", e.ClientRequest), slog.String("outcome", duplicate),
		slog.String("reason", cmp.Or(e.Reason.String(), e.Rejection)), slog.String("error", e.Err), slog.String("stack", e.Stack),
	} {
		if a.Value.String() != "" {
			r.AddAttrs(a)
		}
	}
	return s.log.Handler().Handle(ctx, r)
}
