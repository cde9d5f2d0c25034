package scenario

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// A callResult is the result of a call.
type callResult struct {
	Outcome     string          `json:"outcome"`
	Status      string          `json:"status,omitempty"`
	Reason      string          `json:"reason,omitempty"`
	AllReasons  []string        `json:"all_reasons,omitempty"`
	Detail      *detail         `json:"detail,omitempty"`
	Loop        string          `json:"loop,omitempty"`
	Of          string          `json:"of,omitempty"`
	Args        json.RawMessage `json:"args,omitempty"`
	ShownArgs   json.RawMessage `json:"shown_args,omitempty"`
	Run         string          `json:"run"`
	PendingExit []string        `json:"pending_exit"`

	id, why string // of the call, and why it did not complete, in words
}

// A detail belongs to the primary reason.
type detail struct {
	Max         *int     `json:"max,omitempty"`
	Used        *int     `json:"used,omitempty"`
	RetryAfter  string   `json:"retry_after,omitempty"`
	Missing     []string `json:"missing,omitempty"`
	Waiting     []string `json:"waiting,omitempty"`
	Already     []string `json:"already,omitempty"`
	Group       string   `json:"group,omitempty"`
	HeldBy      string   `json:"held_by,omitempty"`
	PendingExit []string `json:"pending_exit,omitempty"`
	Allowed     []string `json:"allowed,omitempty"`
	Rule        string   `json:"rule,omitempty"`
	Message     string   `json:"message,omitempty"`
	ExpiresIn   string   `json:"expires_in,omitempty"`
	Changed     any      `json:"changed,omitempty"`
}

// A resolution is the result of an answer to a request.
type resolution struct {
	Resolution string      `json:"resolution"`
	Reason     string      `json:"reason,omitempty"`
	Detail     string      `json:"detail,omitempty"`
	Call       *callResult `json:"call,omitempty"`
}

type expired struct {
	Expired []string `json:"expired"`
}

type stopped struct {
	Run         string   `json:"run"`
	PendingExit []string `json:"pending_exit"`
}

type undone struct {
	Undo   string `json:"undo"`
	Reason string `json:"reason,omitempty"`
}

type runUndone struct {
	Undone      []string `json:"undone"`
	Failed      []string `json:"failed"`
	NotUndoable []string `json:"not_undoable"`
	Reads       []string `json:"reads,omitempty"`
	Complete    bool     `json:"complete"`
}

// A final is the state after the last step.
type final struct {
	Used        map[string]int `json:"used"`
	Invocations map[string]int `json:"invocations"`
	PendingExit []string       `json:"pending_exit"`
	Run         string         `json:"run"`
}

// nothing is the result of a step that answers nothing.
type nothing struct{}

// result says how a call ended.
func (sim *simulation) result(o runtime.Outcome) *callResult {
	res := &callResult{
		Outcome: o.Kind.String(), Loop: o.Loop.String(), Run: o.Run.String(), PendingExit: names(o.PendingExit), id: o.CallID,
	}
	if o.Kind != runtime.Completed {
		res.why = strings.TrimPrefix(o.Reason.String()+": "+o.Message, "none: ")
	}
	switch o.Kind {
	case runtime.Completed:
		res.executed("ok")
	case runtime.Failed:
		res.executed("error")
	case runtime.TimedOut:
		res.executed("timeout")
	case runtime.Duplicate:
		res.Of = o.Of
	default:
		res.Reason = o.Reason.String()
		for _, r := range o.AllReasons {
			res.AllReasons = append(res.AllReasons, r.String())
		}
		res.Detail = sim.detail(&o)
		res.Of = o.Of
	}
	sim.mu.Lock()
	defer sim.mu.Unlock()
	if res.Status != "" {
		res.Args = sim.got[o.CallID]
	}
	if o.RequestID != "" {
		res.ShownArgs = sim.shown[o.CallID]
	}
	return res
}

func (r *callResult) executed(status string) { r.Outcome, r.Status = "executed", status }

// detail selects what belongs to the primary reason; nil when that is nothing.
func (sim *simulation) detail(o *runtime.Outcome) *detail {
	in, d := &o.Detail, &detail{}
	switch o.Reason {
	case runtime.ReasonMaxCalls:
		d.Max, d.Used = &in.Max, &in.Used
	case runtime.ReasonCooldown:
		d.RetryAfter = seconds(in.RetryAfter)
	case runtime.ReasonStartConstraint, runtime.ReasonPrerequisiteMissing, runtime.ReasonDuplicatePending:
		d.Missing, d.Waiting = in.Missing, in.Waiting
	case runtime.ReasonOrderViolation:
		d.Already = in.Already
	case runtime.ReasonExclusiveGroup:
		d.Group, d.HeldBy = in.Group, in.HeldBy
	case runtime.ReasonExiting:
		d.PendingExit = in.PendingExit
	case runtime.ReasonOperationNotAllowed, runtime.ReasonBehaviorNotAllowed:
		d.Allowed = in.Allowed
	case runtime.ReasonPolicyDenied:
		d.Rule = in.Rule
	case runtime.ReasonPolicyError:
		d.Rule = cmp.Or(sim.policy.whyFailed(o.CallID), in.Rule)
	case runtime.ReasonConsentDenied:
		d.Message = in.Message
	case runtime.ReasonConsentRequired:
		d.ExpiresIn, d.Message = seconds(in.ExpiresIn), in.Message
		if !strings.HasPrefix(in.Rule, unnamed) && in.Rule != declaredAsk {
			d.Rule = in.Rule
		}
	case runtime.ReasonBindingMismatch:
		d.Changed = changed(in.Changed)
	}
	if text, err := json.Marshal(d); err != nil || string(text) == "{}" {
		return nil
	}
	return d
}

// changed is one name, or the list of several.
func changed(names []string) any {
	switch len(names) {
	case 0:
		return nil
	case 1:
		return names[0]
	}
	return names
}

// names is a list that is never null.
func names(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// seconds writes a duration in seconds: 60s, 0.5s.
func seconds(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	s := strconv.FormatInt(int64(d/time.Second), 10)
	if rest := d % time.Second; rest > 0 {
		digits := strconv.FormatInt(int64(time.Second+rest), 10)[1:]
		s += "." + strings.TrimRight(digits, "0")
	}
	return sign + s + "s"
}
