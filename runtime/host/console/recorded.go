package console

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/ambit-tools/ambit/internal/catalog"
	"github.com/ambit-tools/ambit/internal/replan"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A step is an entry of a call.
type step struct {
	Seq        uint64
	Kind, By   string
	At         moment
	After      string // since the first entry
	Attempt    int
	Resolution string // of an answer
}

// A recordedCall is a call as its entries tell of it. Sensitive values are commitments.
type recordedCall struct {
	journal.CallKey
	Run, Agent, Principal, Tool, Version, State, Request, Revision, Error, Took string
	Provider                                                                    string // the id that the provider of the model gave it
	Args, Final, Output                                                         json.RawMessage
	Artifact                                                                    *runtime.ArtifactRef
	Outcome                                                                     *runtime.Outcome
	Decision                                                                    json.RawMessage
	Steps                                                                       []step
	Answers                                                                     []answerItem
	processes                                                                   []journal.Process
	entries                                                                     []journal.Entry
	records                                                                     []*journal.Record // of the entries
	Ended, Undone, Unknown                                                      bool
	Times                                                                       []catalog.Fact
	began, ended                                                                time.Time
	periods                                                                     []period
}

// callOf reads a call. There is none without entries.
func (p *pages) callOf(q *request, key journal.CallKey) (*recordedCall, error) {
	entries, err := p.store.Call(q.Context(), key)
	if err != nil {
		return nil, err
	}
	return recorded(key, entries)
}

// recorded makes a call of its entries.
func recorded(key journal.CallKey, entries []journal.Entry) (*recordedCall, error) {
	if len(entries) == 0 {
		return nil, problem(httpguard.UnknownCall, "")
	}
	c := &recordedCall{CallKey: key, entries: entries}
	for i := range entries {
		r, err := journal.Decode(entries[i].Leaf) // a page shows nothing of its Private
		if err != nil {
			return nil, err
		}
		c.records = append(c.records, r)
		c.add(entries[i].Seq, r)
	}
	return c, nil
}

// replan returns what the entries say of what the call ran.
func (c *recordedCall) replan() *replan.Call {
	ran := &replan.Call{}
	for i := range c.entries {
		ran.Add(&c.entries[i], c.records[i])
	}
	return ran
}

// add adds what a record says.
func (c *recordedCall) add(seq uint64, r *journal.Record) {
	if len(c.Steps) == 0 {
		c.began = r.At
	}
	c.Steps = append(c.Steps, step{Seq: seq, Kind: r.Kind, By: r.By, At: momentOf(r.At), After: took(r.At.Sub(c.began)), Attempt: r.Attempt, Resolution: r.Resolution})
	c.periods = nextAfter(c.periods, r.At, r.Kind)
	for to, value := range map[*string]string{
		&c.Run: r.Run, &c.Agent: r.Agent, &c.Principal: r.Principal, &c.Tool: r.Tool, &c.Version: r.ToolVersion, &c.State: r.To, &c.Request: r.Request,
		&c.Revision: r.Revision, &c.Error: r.Err, &c.Provider: r.Metadata[runtime.ProviderCallID],
	} {
		if value != "" {
			*to = value
		}
	}
	for to, value := range map[*json.RawMessage]*journal.Payload{&c.Args: r.Args, &c.Final: r.Final, &c.Output: r.Output} {
		if value != nil {
			*to = value.Value
		}
	}
	if r.Artifact != nil {
		c.Artifact = r.Artifact
	}
	c.processes = journal.JoinProcess(c.processes, r)
	if len(r.Decision) > 0 {
		c.Decision = r.Decision
	}
	for i := range r.Consent {
		c.addAnswer(&r.Consent[i])
	}
	if r.Mark == journal.MarkEnded {
		c.Ended, c.ended = true, r.At
	}
	c.Undone = c.Undone || r.Kind == runtime.EventUndone.String()
	if len(r.Outcome) == 0 {
		return
	}
	if out, err := history.DecodeOutcome(r.Outcome); err == nil {
		c.Outcome = &out
		c.Unknown = out.Kind == runtime.Unknown
		if r.Duration > 0 {
			c.Took = took(r.Duration)
		}
		c.Times = catalog.Said(
			fact("policy", catalog.Yes(r.Times.Policy > 0, took(r.Times.Policy))), fact("consent", catalog.Yes(r.Times.Consent > 0, took(r.Times.Consent))),
			fact("queue", catalog.Yes(r.Times.Queue > 0, took(r.Times.Queue))), fact("handler", catalog.Yes(r.Times.Handler > 0, took(r.Times.Handler))),
		)
	}
}

// An answerItem is an answer that was taken.
type answerItem struct {
	By, Entry, Said, Message string
	At                       moment
}

// addAnswer adds an answer that was taken.
func (c *recordedCall) addAnswer(ev *consent.Event) {
	if ev.Kind != consent.EventAnswered || ev.Result == nil || ev.Result.Resolution == runtime.ResolutionRejected {
		return
	}
	said := "denied"
	switch {
	case ev.Result.Terms != nil:
		said = "approved other arguments"
	case ev.Result.Granted != nil:
		said = "approved this and later calls"
	case ev.Result.Approve:
		said = "approved"
	}
	c.Answers = append(c.Answers, answerItem{By: ev.By, Entry: ev.Result.Entry, Said: said, Message: ev.Message, At: momentOf(ev.At)})
}

// outcomeName is the outcome of a call; nothing when it has none.
func (c *recordedCall) outcomeName() string {
	if c.Outcome == nil {
		return ""
	}
	return c.Outcome.Kind.String()
}

// reasonName is the reason of the outcome, where it says more than the outcome.
func (c *recordedCall) reasonName() string {
	if c.Outcome == nil || c.Outcome.Reason == runtime.ReasonNone {
		return ""
	}
	return c.Outcome.Reason.String()
}

// took is a duration of a call.
func took(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return catalog.Span(d)
	case d >= time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d >= time.Millisecond:
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + " ms"
	}
	return strconv.FormatInt(d.Microseconds(), 10) + " µs"
}
