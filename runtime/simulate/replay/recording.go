package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A recording is what a source holds, with what is known of each call from its
// first record on: a stand-in handler must know how its call will end.
type recording struct {
	steps    []step
	process  int    // the number of the present process, as far as the recording was read
	runs     []*run // in the order in which they were started
	calls    map[journal.CallKey]*call
	again    map[journal.CallKey]*call // that have the ids of calls that had been forgotten: the last one
	latest   map[runKey]*run
	requests map[string]*call            // by the id that the request was recorded with
	asked    map[string]*consent.Request // likewise
	votes    map[string][]consent.Event  // likewise: the answers, in their order
}

// A step is one record.
type step struct {
	seq  uint64
	r    *journal.Record
	run  *run
	call *call
}

type runKey struct{ session, run string }

// A run is one recorded run.
type run struct {
	key    runKey
	calls  []*call // in the order in which they were made
	closed bool    // as far as it was played
	stop   string  // why no call of it can be compared any more
	began  time.Time
	found  *Divergence
	later  []*Divergence // of a replay that judges each call by itself

	otherwise []*Divergence      // that end no comparison
	closing   []*call            // ended by a close of it, or of a sub-agent, that is not recorded so far
	blocked   map[blockKey]*call // the latest timeout, as far as the recording was read
	after     string             // the run of the session that had diverged before this one did
}

type blockKey struct {
	agent, tool string
	ends        time.Time
}

// A call is one recorded call, and what came of it now.
type call struct {
	key              journal.CallKey
	run              *run
	tool             string
	agent, principal string
	made             time.Time
	turnEnds         time.Time
	turnCap          time.Duration
	patience         time.Duration
	metadata         map[string]string

	validated    bool
	args         []byte
	erased       bool   // values of args are not in the recording
	rewritten    []byte // args as the recorded policy made them; nil: as they are
	heartbeat    bool
	question     *consent.Request // that was put to people; nil: none was
	admitted     bool
	started      bool
	startedAt    time.Time
	retried      int      // after how many attempts another one was announced; 0: none was
	between      bool     // it ended between two attempts
	orphaned     bool     // its process ended while the handler ran
	sealed       bool     // its commit was decided
	triggered    bool     // no caller waited for it
	capabilities []string // that its principal was given for it
	touched      []int    // the processes that have recorded something of it, by their numbers
	cutClose     bool     // it was ended by a close of its run that its process did not survive
	outcome      *outcome // nil: it has none
	output       []byte
	ended        time.Time

	of      *call   // that it is a duplicate of; nil: it is none
	repeats []*call // its duplicates

	blockedBy *call // whose timeout kept its tool from being called in the turn; nil: none

	skip    string // why it is not made
	carried bool   // it is made, and decided as it was: its arguments are not known

	repeated bool // it is let do what it did, whatever the candidate decides
	early    bool // it was made before the calls that are judged
	judged   bool // of a repeated call: the candidate was asked

	fate fate
	play played
}

// An outcome is what a record says of one.
type outcome struct {
	Kind       runtime.OutcomeKind `json:"outcome"`
	Reason     runtime.Reason      `json:"reason"`
	AllReasons []runtime.Reason    `json:"all_reasons"`
	Denials    []struct {
		Code string `json:"code"`
	} `json:"denials"`
	Detail struct {
		Rule string `json:"rule"`
	} `json:"detail"`
	Of         string           `json:"of"`
	Retryable  bool             `json:"retryable"`
	RolledBack bool             `json:"rolled_back"`
	Run        runtime.RunState `json:"run_state"`
}

// read reads a source to its end.
func read(ctx context.Context, src Source) (*recording, error) {
	rec := &recording{
		calls: map[journal.CallKey]*call{}, again: map[journal.CallKey]*call{}, latest: map[runKey]*run{},
		requests: map[string]*call{}, asked: map[string]*consent.Request{}, votes: map[string][]consent.Event{},
	}
	for after := uint64(0); ; {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		entries, err := src.Read(ctx, after, page)
		if err != nil {
			return nil, fmt.Errorf("read the recording after entry %d: %w", after, err)
		}
		if len(entries) == 0 {
			break
		}
		for i := range entries {
			after = entries[i].Seq
			if err := rec.add(&entries[i]); err != nil {
				return nil, fmt.Errorf("entry %d of the recording: %w", after, err)
			}
		}
	}
	for _, c := range rec.calls {
		c.assess()
	}
	for _, r := range rec.runs {
		for _, c := range r.calls {
			if o := c.outcome; o != nil && o.Kind == runtime.Duplicate {
				if c.of = rec.calls[journal.CallKey{Session: c.key.Session, Call: o.Of}]; c.of != nil {
					c.of.repeats = append(c.of.repeats, c)
				}
			}
		}
	}
	return rec, nil
}

// add takes the next entry.
func (rec *recording) add(e *journal.Entry) error {
	leaf, err := journal.Restore(e.Leaf, e.Private)
	if err != nil {
		return err
	}
	r, err := journal.Decode(leaf)
	if err != nil {
		return err
	}
	if r.Kind == journal.KindSnapshot || r.Kind == journal.KindCalls { // they say again what earlier entries say
		return nil
	}
	s := step{seq: e.Seq, r: r}
	for i := range r.Consent {
		switch ev := &r.Consent[i]; ev.Kind {
		case consent.EventAsked:
			rec.asked[ev.Request] = ev.Asked
		case consent.EventAnswered:
			rec.votes[ev.Request] = append(rec.votes[ev.Request], *ev)
		}
	}
	at := runKey{r.Session, r.Run}
	switch r.Kind {
	case journal.KindOwner:
		rec.processEnded()
		rec.process++
	case journal.KindRunClosed:
		if in := rec.latest[at]; in != nil {
			in.closing = nil
		}
	}
	if r.Kind == journal.KindRunStarted {
		rec.latest[at] = &run{key: at, began: r.At}
		rec.runs = append(rec.runs, rec.latest[at])
	}
	s.run = rec.latest[at]
	if r.Call != "" {
		if s.call, err = rec.callOf(r, s.run, e.Private != nil); err != nil {
			return err
		}
	}
	rec.steps = append(rec.steps, s)
	return nil
}

// settings returns the settings of the executor that made the first record, nil when
// they are not recorded.
func (rec *recording) settings() *journal.Settings {
	if len(rec.steps) == 0 || rec.steps[0].r.Kind != journal.KindOwner {
		return nil
	}
	return rec.steps[0].r.Settings
}

// processEnded notes what the process has left unfinished that made the entries so far.
func (rec *recording) processEnded() {
	for _, c := range rec.calls {
		c.orphaned = c.orphaned || c.started && c.outcome == nil
	}
	for _, r := range rec.latest {
		for _, c := range r.closing {
			c.cutClose = true
		}
		r.closing, r.blocked = nil, nil
	}
}

// callOf returns the call of a record, with what that says of it; nil for one that
// was refused because its id was another one's.
func (rec *recording) callOf(r *journal.Record, in *run, private bool) (*call, error) {
	key := journal.CallKey{Session: r.Session, Call: r.Call}
	c := rec.calls[key]
	if again := rec.again[key]; again != nil {
		c = again
	}
	opened := r.Mark == journal.MarkOpened
	if c != nil && opened && c.outcome != nil && c.outcome.vain() && c.skip == "" { // SEMANTICS 1.4.10
		c.skip = fmt.Sprintf("it was refused for %s, and was made again under its id", c.outcome.Reason)
		c = nil
	}
	switch {
	case c != nil && c.outcome != nil && opened && in != nil:
		c = &call{key: key, run: in, tool: r.Tool, made: r.At, skip: "its id was that of a call that had been forgotten, and which a replay still knows"}
		rec.again[key] = c
		in.calls = append(in.calls, c)
		return c, nil
	case c == nil && opened:
		c = &call{
			key: key, run: in, tool: r.Tool, agent: r.Agent, principal: r.Principal, made: r.At, turnEnds: r.TurnEnds, turnCap: r.TurnCap, patience: r.Patience, metadata: r.Metadata,
			triggered: r.Triggered, capabilities: r.Granted,
		}
		if in == nil {
			in = &run{key: runKey{r.Session, r.Run}, began: r.At, stop: "the recording does not have its beginning"}
			c.run, rec.latest[in.key] = in, in
			rec.runs = append(rec.runs, in)
		}
		rec.calls[key] = c
		in.calls = append(in.calls, c)
		return c, nil
	case c == nil: // its beginning is not in the recording
		return nil, nil
	case r.Kind == runtime.EventInvoked.String():
		in.calls = append(in.calls, &call{key: key, run: in, tool: r.Tool, made: r.At, skip: "its id was that of another call, and its input is not recorded"})
		return nil, nil
	case r.Kind == runtime.EventDenied.String() && r.Mark == journal.MarkNone:
		return nil, nil
	}
	c.touch(r, rec.process)
	return c, c.add(rec, r, private)
}

// touch notes that a process has recorded something of the call that has changed it.
func (c *call) touch(r *journal.Record, process int) {
	switch r.Kind {
	case runtime.EventStale.String(), runtime.EventOrphaned.String():
		return
	}
	if n := len(c.touched); n == 0 || c.touched[n-1] != process {
		c.touched = append(c.touched, process)
	}
}

// add notes what a record says of the call.
func (c *call) add(rec *recording, r *journal.Record, private bool) error {
	switch r.Kind {
	case runtime.EventValidated.String():
		c.validated, c.heartbeat = true, r.Heartbeat
		if p := r.Args; p != nil {
			c.args, c.erased = p.Value, p.Secrets > 0 && !private
		}
	case runtime.EventApprovalRequested.String():
		c.admitted = true
		c.rewrite(r, private)
		rec.requests[r.Request] = c
		if c.question = rec.asked[r.Request]; c.question == nil {
			c.question = &consent.Request{}
		}
	case runtime.EventAuthorized.String():
		if !c.admitted {
			c.rewrite(r, private)
		}
		c.admitted = true
	case runtime.EventStarted.String():
		c.started = true
		if c.startedAt.IsZero() {
			c.startedAt = r.At
		}
	case runtime.EventRetrying.String():
		c.retried = r.Attempt
	case journal.KindCommitting:
		c.sealed = true
	}
	if r.Mark != journal.MarkEnded || r.Outcome == nil || c.outcome != nil {
		return nil
	}
	c.outcome, c.ended, c.between = &outcome{}, r.At, c.retried > 0 && c.retried == r.Attempt
	if err := json.Unmarshal(r.Outcome, c.outcome); err != nil {
		return fmt.Errorf("the outcome of call %q: %w", r.Call, err)
	}
	if r.Output != nil {
		c.output = r.Output.Value
	}
	c.noteBlock()
	if c.outcome.Reason == runtime.ReasonRunClosed {
		c.run.closing = append(c.run.closing, c)
	}
	return nil
}

// rewrite notes the arguments that the recorded policy has put in place of those that were given.
func (c *call) rewrite(r *journal.Record, private bool) {
	if p := r.Final; p != nil && (p.Secrets == 0 || private) {
		c.rewritten = p.Value
	}
}

// noteBlock notes which call has blocked the tool of another one. The call has
// its outcome.
func (c *call) noteBlock() {
	of := c.run.blocked
	switch key := (blockKey{c.agent, c.tool, c.turnEnds}); {
	case c.outcome.Kind == runtime.TimedOut && !c.outcome.Retryable:
		if of == nil {
			of = map[blockKey]*call{}
			c.run.blocked = of
		}
		of[key] = c
	case c.outcome.Reason == runtime.ReasonBlockedAfterTimeout,
		!c.admitted && !c.turnEnds.IsZero() && c.outcome.Reason != runtime.ReasonDeadline:
		c.blockedBy = of[key] // of its turn, or of one that is the same to the rules
	}
}

// assess decides whether the call can be made again.
func (c *call) assess() {
	refused := c.outcome != nil && !c.admitted
	switch {
	case c.skip != "":
	case !c.validated && refused && c.outcome.Reason == runtime.ReasonUnknownTool:
		c.args = []byte("{}")
	case !c.validated && c.outcome != nil && c.outcome.Reason == runtime.ReasonInterrupted:
		c.skip = "its process ended before its input was recorded"
	case !c.validated:
		c.skip = "its input is not recorded, since it was not valid"
	case refused && (c.outcome.environmental() || c.outcome.Reason == runtime.ReasonAtCapacity): // it waited for an equal call (SEMANTICS 4.8.11)
		c.skip = fmt.Sprintf("it was refused for %s, which no rule decides", c.outcome.Reason)
	case c.args == nil && c.admitted:
		c.skip = "its arguments could not be recorded"
		c.carried = true
	case c.erased && c.admitted:
		c.carried = true
	case c.erased || c.args == nil:
		c.skip = erased
	}
}

const erased = "sensitive values of its arguments are not in the recording"

// vain reports whether the same call may be made again under its id.
func (o *outcome) vain() bool {
	return o.Kind == runtime.Denied && outcomes.Passes(o.Reason)
}

// environmental reports whether a refusal has nothing to do with rules.
func (o *outcome) environmental() bool {
	switch o.Reason {
	case runtime.ReasonShuttingDown, runtime.ReasonJournalUnavailable, runtime.ReasonLeaseLost:
		return true
	case runtime.ReasonPolicyError:
		return o.Detail.Rule == "timeout" || o.Detail.Rule == "breaker_open"
	}
	return false
}
