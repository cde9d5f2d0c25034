package journal

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// Encode returns the leaf that says r. It says the same as encoding/json does,
// in the same order of members, several times faster: five of these are on the
// way of every call. Raw values keep their bytes.
func Encode(r *Record) ([]byte, error) {
	w := object{buf: make([]byte, 0, 640)}
	w.begin()
	w.always("event", r.Kind)
	w.instant("at", r.At)
	w.text("session", r.Session)
	w.text("run", r.Run)
	w.number("turn", int64(r.Turn))
	w.text("request_id", r.RequestID)
	w.text("agent", r.Agent)
	w.text("principal", r.Principal)
	w.text("call", r.Call)
	w.text("tool", r.Tool)
	w.number("mark", int64(r.Mark))
	w.text("tool_version", r.ToolVersion)
	w.text("pin", r.Pin)
	w.text("from", r.From)
	w.text("to", r.To)
	w.number("attempt", int64(r.Attempt))
	if r.Epoch != 0 {
		w.name("epoch")
		w.buf = strconv.AppendUint(w.buf, r.Epoch, 10)
	}
	w.number("duration_ns", int64(r.Duration))
	if r.Times != (runtime.Times{}) {
		w.times(&r.Times)
	}
	w.text("policy_revision", r.Revision)
	w.text("request", r.Request)
	w.text("by", r.By)
	w.text("resolution", r.Resolution)
	w.text("rejection", r.Rejection)
	w.values(r)
	w.text("error", r.Err)
	w.text("lost", r.Lost)
	w.text("stack", r.Stack)
	if len(r.Rules) > 0 {
		w.name("rules")
		w.changes(r.Rules)
	}
	if len(r.Consent) > 0 {
		w.other("consent", r.Consent)
	}
	w.end()
	return w.buf, w.err
}

// values writes the members that hold values.
func (w *object) values(r *Record) {
	if r.Setup != nil {
		w.other("setup", r.Setup)
	}
	if r.Settings != nil {
		w.other("settings", r.Settings)
	}
	w.flag("heartbeat", r.Heartbeat)
	if len(r.Metadata) > 0 {
		w.other("metadata", r.Metadata)
	}
	if !r.TurnEnds.IsZero() {
		w.instant("turn_ends", r.TurnEnds)
	}
	w.number("turn_cap_ns", int64(r.TurnCap))
	w.flag("triggered", r.Triggered)
	w.text("effects", r.Effects)
	w.number("patience_ns", int64(r.Patience))
	w.text("input_mac", r.InputMAC)
	w.payload("args", r.Args)
	w.payload("final_args", r.Final)
	w.payload("prepared", r.Prepared)
	w.payload("output", r.Output)
	if r.Artifact != nil {
		w.other("artifact", r.Artifact)
	}
	if r.Live != nil {
		w.other("live", r.Live)
	}
	if r.Process != nil {
		w.other("process", r.Process)
	}
	w.raw("outcome", r.Outcome)
	w.raw("decision", r.Decision)
	if len(r.Sealed) > 0 {
		w.other("sealed", r.Sealed)
	}
	if r.Undoes != nil {
		w.name("undoes")
		w.change(r.Undoes)
	}
	if len(r.Places) > 0 {
		w.other("places", r.Places)
	}
	if len(r.Granted) > 0 {
		w.other("capabilities", r.Granted)
	}
	w.ofTheJournal(r)
}

// ofTheJournal writes the members of records that are about no call.
func (w *object) ofTheJournal(r *Record) {
	if r.Command != nil {
		w.other("command", r.Command)
	}
	if r.Restored != nil {
		w.other("restored", r.Restored)
	}
	if r.Deleted != nil {
		w.other("deleted", r.Deleted)
	}
	if r.Snapshot != nil {
		w.other("snapshot", r.Snapshot)
	}
	if r.Page != nil {
		w.other("calls", r.Page)
	}
	if r.Operator != nil {
		w.other("operator", r.Operator)
	}
}

// times writes what the parts of a call took.
func (w *object) times(t *runtime.Times) {
	w.name("times")
	w.begin()
	w.number("policy_ns", int64(t.Policy))
	w.number("consent_ns", int64(t.Consent))
	w.number("queue_ns", int64(t.Queue))
	w.number("handler_ns", int64(t.Handler))
	w.end()
}

// payload writes a payload.
func (w *object) payload(name string, p *Payload) {
	if p == nil {
		return
	}
	w.name(name)
	w.begin()
	w.name("bytes")
	w.buf = strconv.AppendInt(w.buf, int64(p.Bytes), 10)
	w.text("sha256", p.SHA256)
	w.raw("value", p.Value)
	w.number("secrets", int64(p.Secrets))
	w.end()
}

// changes writes changes of the rule state.
func (w *object) changes(list []rules.Event) {
	w.buf = append(w.buf, '[')
	for i := range list {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.change(&list[i])
	}
	w.buf = append(w.buf, ']')
}

// change writes one change of the rule state.
func (w *object) change(ev *rules.Event) {
	w.begin()
	w.always("kind", ev.Kind.String())
	w.name("at")
	w.buf = strconv.AppendInt(w.buf, int64(ev.At), 10)
	w.text("run", ev.Run)
	w.text("call", ev.Call)
	w.text("agent", ev.Agent)
	w.text("principal", ev.Principal)
	w.text("tool", ev.Tool)
	w.digest("args", &ev.Args)
	w.digest("key", &ev.Key)
	if ev.Status != 0 {
		w.always("status", ev.Status.String())
	}
	if ev.State != 0 {
		w.always("state", ev.State.String())
	}
	w.end()
}

// An object writes the members of objects, one inside of the other. Members that
// say nothing are left out, but for those of always and other.
type object struct {
	buf []byte
	err error // the first one
}

func (w *object) begin() { w.buf = append(w.buf, '{') }
func (w *object) end()   { w.buf = append(w.buf, '}') }

// name begins a member. Names are plain.
func (w *object) name(name string) {
	if w.buf[len(w.buf)-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(append(append(w.buf, '"'), name...), `":`...)
}

func (w *object) text(name, value string) {
	if value != "" {
		w.always(name, value)
	}
}

func (w *object) always(name, value string) {
	w.name(name)
	if !plainText(value) {
		w.marshal(value)
		return
	}
	w.buf = append(append(append(w.buf, '"'), value...), '"')
}

func (w *object) number(name string, value int64) {
	if value != 0 {
		w.name(name)
		w.buf = strconv.AppendInt(w.buf, value, 10)
	}
}

func (w *object) flag(name string, value bool) {
	if value {
		w.name(name)
		w.buf = append(w.buf, "true"...)
	}
}

func (w *object) instant(name string, at time.Time) {
	w.name(name)
	w.buf = append(at.AppendFormat(append(w.buf, '"'), time.RFC3339Nano), '"')
}

func (w *object) digest(name string, d *rules.Digest) {
	if *d == (rules.Digest{}) {
		return
	}
	w.name(name)
	w.buf = append(w.buf, '"')
	const digits = "0123456789abcdef"
	for _, b := range d {
		w.buf = append(w.buf, digits[b>>4], digits[b&15])
	}
	w.buf = append(w.buf, '"')
}

// raw writes a value that is JSON already.
func (w *object) raw(name string, value json.RawMessage) {
	if len(value) > 0 {
		w.name(name)
		w.buf = append(w.buf, value...)
	}
}

// other writes a value that is rare.
func (w *object) other(name string, value any) {
	w.name(name)
	w.marshal(value)
}

func (w *object) marshal(value any) {
	text, err := json.Marshal(value)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.buf = append(w.buf, text...)
}

// plainText reports whether a text stands in JSON as it is.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}
