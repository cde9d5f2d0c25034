package audit

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// What is looked for in a leaf before it is decoded: the arguments of a call are
// recorded when they were validated, the decisions later.
const (
	memberDecision = `"decision":`
	memberArgs     = `"args":`
)

// DecisionPath is the path of every decision in an export for OPA.
const DecisionPath = "ambit/decision"

// Export writes entries as JSON lines, from after a position to the end, and
// returns the position of the last one:
//
//	{"seq":7,"leaf_hash":"<64 hexadecimal digits>","record":{"event":"tool.started", ... }}
//
// The record is the leaf, byte for byte, so that the reader of a line can hash it
// again. What is private is not exported. A record has no line breaks, or the
// export ends with an error.
func Export(ctx context.Context, w io.Writer, r Reader, after uint64) (uint64, error) {
	var h hasher
	var line []byte
	return each(ctx, r, after, func(e *journal.Entry) error {
		if err := oneLine(e.Leaf); err != nil {
			return err
		}
		sum := h.Leaf(e.Leaf)
		line = strconv.AppendUint(append(line[:0], `{"seq":`...), e.Seq, 10)
		line = hex.AppendEncode(append(line, `,"leaf_hash":"`...), sum[:])
		line = append(append(append(line, `","record":`...), e.Leaf...), '}', '\n')
		_, err := w.Write(line)
		return err
	})
}

// oneLine returns an error unless a leaf is JSON that JSON lines can hold.
func oneLine(leaf []byte) error {
	if !json.Valid(leaf) {
		return fmt.Errorf("its leaf is not JSON: run Verify to see whether it was changed")
	}
	for _, c := range leaf {
		if c == '\n' || c == '\r' {
			return fmt.Errorf("its leaf has line breaks, which no record has")
		}
	}
	return nil
}

// each calls f with the entries after a position.
func each(ctx context.Context, r Reader, after uint64, f func(*journal.Entry) error) (uint64, error) {
	for {
		list, err := read(ctx, r, after, pageSize)
		if err != nil {
			return after, err
		}
		if len(list) == 0 {
			return after, nil
		}
		for i := range list {
			if err := f(&list[i]); err != nil {
				return after, fmt.Errorf("entry %d: %w", list[i].Seq, err)
			}
			after = list[i].Seq
		}
	}
}

// A decision is a line of a decision log as OPA writes it.
type decision struct {
	Labels     map[string]string `json:"labels"`
	DecisionID string            `json:"decision_id"`
	Bundles    map[string]bundle `json:"bundles,omitempty"`
	Path       string            `json:"path"`
	Input      input             `json:"input"`
	Result     json.RawMessage   `json:"result,omitempty"`
	Timestamp  time.Time         `json:"timestamp"`
}

type bundle struct {
	Revision string `json:"revision"`
}

// An input is what the record says of the call.
type input struct {
	Event       string          `json:"event"`
	Session     string          `json:"session,omitempty"`
	Run         string          `json:"run,omitempty"`
	Call        string          `json:"call,omitempty"`
	Agent       string          `json:"agent,omitempty"`
	Principal   string          `json:"principal,omitempty"`
	Tool        string          `json:"tool,omitempty"`
	ToolVersion string          `json:"tool_version,omitempty"`
	Args        json.RawMessage `json:"args,omitempty"` // as recorded, sensitive values replaced
	Outcome     json.RawMessage `json:"outcome,omitempty"`
}

// ExportDecisions writes what the policy decided, as JSON lines in the form of
// OPA's decision logs, from after a position to the end, and returns the position
// of the last entry. They are the records, such as tool.authorized, tool.denied and
// approval.requested, that have a decision; a call that was denied before the policy
// was asked has none, and what a shadow policy of an earlier version said (policy.shadow) is left out. The result is the decision as it is recorded, with its
// effect. The id of a decision is the hash of its leaf, so it is the same in every
// export. The arguments are missing of a call whose tool.validated is not after
// the position.
//
// The labels name the emitter, as they do in OPA, and are written into each line;
// "seq", the position of the entry, is added to them.
func ExportDecisions(ctx context.Context, w io.Writer, r Reader, after uint64, labels map[string]string) (uint64, error) {
	x := decisions{w: w, labels: labels, args: map[journal.CallKey]json.RawMessage{}}
	return each(ctx, r, after, x.entry)
}

// decisions is an export of them. It remembers the arguments of calls that have
// not ended.
type decisions struct {
	w      io.Writer
	labels map[string]string
	hasher hasher
	args   map[journal.CallKey]json.RawMessage
}

// entry writes the decision of an entry, if it has one.
func (x *decisions) entry(e *journal.Entry) error {
	key := journal.CallKey{Session: e.Session, Call: e.Call}
	if e.Mark == journal.MarkEnded {
		defer delete(x.args, key)
	}
	decided := bytes.Contains(e.Leaf, []byte(memberDecision))
	if !decided && !bytes.Contains(e.Leaf, []byte(memberArgs)) {
		return nil
	}
	if err := oneLine(e.Leaf); err != nil {
		return err
	}
	r, err := journal.Decode(e.Leaf)
	if err != nil {
		return err
	}
	for _, p := range []*journal.Payload{r.Args, r.Final} {
		if p != nil && e.Call != "" {
			x.args[key] = p.Value
		}
	}
	if len(r.Decision) == 0 || r.Kind == journal.KindShadow { // which decided nothing
		return nil
	}
	line, err := json.Marshal(newDecision(e.Seq, x.hasher.Leaf(e.Leaf), r, x.args[key], x.labels))
	if err != nil {
		return err
	}
	_, err = x.w.Write(append(line, '\n'))
	return err
}

func newDecision(seq uint64, id tlog.Hash, r *journal.Record, args json.RawMessage, labels map[string]string) *decision {
	d := &decision{
		Labels: map[string]string{}, DecisionID: hex.EncodeToString(id[:]), Path: DecisionPath, Result: r.Decision, Timestamp: r.At,
		Input: input{
			Event: r.Kind, Session: r.Session, Run: r.Run, Call: r.Call, Agent: r.Agent, Principal: r.Principal,
			Tool: r.Tool, ToolVersion: r.ToolVersion, Args: args, Outcome: r.Outcome,
		},
	}
	for k, v := range labels {
		d.Labels[k] = v
	}
	d.Labels["seq"] = strconv.FormatUint(seq, 10)
	if r.Revision != "" {
		d.Bundles = map[string]bundle{"ambit": {r.Revision}}
	}
	return d
}
