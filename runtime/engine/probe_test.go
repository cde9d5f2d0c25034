package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A probed is an executor with a journal and a call that waits, whose policy and preview can be changed.
type probed struct {
	*rig
	journal  *journal.Memory
	id       string
	decision atomic.Pointer[runtime.Decision]
	preview  atomic.Pointer[string]
	failing  atomic.Bool
	asked    atomic.Int32 // how often the policy was
}

func probe(t *testing.T, change func(*runtime.Consent)) *probed {
	t.Helper()
	p := &probed{journal: &journal.Memory{}}
	p.decision.Store(&runtime.Decision{Effect: runtime.EffectAllow, Revision: "r1"})
	text := "as it is"
	p.preview.Store(&text)
	spec := &runtime.Spec{Name: "pay", Effect: runtime.SideEffectWrite}
	asking(func(c *runtime.Consent) {
		c.Preview, c.MaxCover = true, runtime.CoverTool
		if change != nil {
			change(c)
		}
	})(spec)
	tool := runtime.NewTool(spec, &readInputRule, okRead, runtime.WithPreview(func(context.Context, *readInput) (runtime.Preview, error) {
		if p.failing.Load() {
			return runtime.Preview{}, errors.New("hidden-4711")
		}
		return runtime.Preview{Text: *p.preview.Load()}, nil
	}))
	p.rig = recoveredWith(t, p.journal, runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		p.asked.Add(1)
		return *p.decision.Load(), nil
	}), tool)
	out := p.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "pay", goodInput))
	require.Equal(t, runtime.Pending, out.Kind)
	p.id = out.RequestID
	return p
}

// entries returns how many entries the journal has.
func (p *probed) entries() int {
	list, err := p.journal.Read(context.Background(), 0, 1000)
	require.NoError(p.t, err)
	return len(list)
}

// TestProbeForesees: before an answer is given it is known what would become of it and of the call, and Decide
// then finds the same.
// SEMANTICS 5.2.11
func TestProbeForesees(t *testing.T) {
	approve := yes("alice")
	denied := &runtime.Decision{Denials: []runtime.Denial{{Code: "frozen", Message: "the account is frozen", At: "pay.rego:3"}}, Revision: "r2"}
	for name, tc := range map[string]struct {
		change func(*probed)
		want   consent.Prospect
		reason runtime.Reason
	}{
		"as it was":        {func(*probed) {}, consent.Prospect{}, runtime.ReasonNone},
		"another revision": {func(p *probed) { p.decision.Store(&runtime.Decision{Effect: runtime.EffectAllow, Revision: "r2"}) }, consent.Prospect{}, runtime.ReasonNone},
		"another preview": {
			func(p *probed) { text := "as it is now"; p.preview.Store(&text) },
			consent.Prospect{Changed: []consent.Change{consent.ChangedPreview}}, runtime.ReasonBindingMismatch,
		},
		"another question": {
			func(p *probed) {
				p.decision.Store(&runtime.Decision{Effect: runtime.EffectAllow, Asks: []runtime.Ask{{ID: "large", Message: "Large?"}}})
			},
			consent.Prospect{Changed: []consent.Change{consent.ChangedQuestion}}, runtime.ReasonBindingMismatch,
		},
		"a denial": {
			func(p *probed) { p.decision.Store(denied) },
			consent.Prospect{Denials: []consent.Reason{{Code: "frozen", Message: "the account is frozen", At: "pay.rego:3"}}}, runtime.ReasonPolicyDenied,
		},
		"no allow": {
			func(p *probed) { p.decision.Store(&runtime.Decision{}) },
			consent.Prospect{Denials: []consent.Reason{{Code: "policy_denied", Message: "no policy allows the call"}}}, runtime.ReasonPolicyDenied,
		},
		"a preview that fails": {
			func(p *probed) { p.failing.Store(true) },
			consent.Prospect{Unknown: "the tool could not show what the call would do"}, runtime.ReasonPreviewFailed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := probe(t, nil)
			tc.change(p)
			before, head := p.asked.Load(), p.entries()
			assert.Equal(t, tc.want, p.exec.Probe(t.Context(), p.id, approve))
			assert.Equal(t, before+1, p.asked.Load(), "the policy is asked")
			assert.Equal(t, head, p.entries(), "nothing is recorded")
			r, _ := p.exec.Request(p.id)
			assert.Equal(t, consent.StatusOpen, r.Status)
			assert.Empty(t, r.Votes)
			res := p.exec.Decide(t.Context(), p.id, approve)
			require.Equal(t, runtime.ResolutionAccepted, res.Kind)
			assert.Equal(t, tc.reason, res.Outcome.Reason)
		})
	}
}

// TestProbeSaysWhatIsStored: the grant of a dry answer is the grant of the answer.
// SEMANTICS 5.2.11
func TestProbeSaysWhatIsStored(t *testing.T) {
	p := probe(t, nil)
	a := yes("alice")
	a.Grant, a.Cover = consent.ForSession, runtime.CoverTool
	would := p.exec.Probe(t.Context(), p.id, a).Granted
	require.NotNil(t, would)
	assert.Empty(t, p.exec.Grants(action.GrantFilter{}))
	got := p.exec.Decide(t.Context(), p.id, a).Granted
	would.Created = got.Created // another instant
	assert.Equal(t, got, would)
}

// TestProbeRejects: an answer that Decide would reject is told so, and the policy is not asked for it.
// SEMANTICS 5.2.11
func TestProbeRejects(t *testing.T) {
	p := probe(t, func(c *runtime.Consent) { c.Approvers, c.Quorum = []string{"alice", "bob"}, 2 })
	before := p.asked.Load()
	wide := yes("alice")
	wide.Grant, wide.Cover = consent.ForSession, 77
	other := yes("alice")
	other.Binding = consent.Digest{1}
	for want, a := range map[consent.Rejection]action.Answer{consent.NotPermitted: yes("mallory"), consent.GrantTooWide: wide, consent.TermsChanged: other} {
		assert.Equal(t, consent.Prospect{Rejection: want}, p.exec.Probe(t.Context(), p.id, a))
	}
	assert.Equal(t, consent.Prospect{Rejection: consent.UnknownRequest}, p.exec.Probe(t.Context(), "nonsense", yes("alice")))
	assert.Equal(t, consent.Prospect{}, p.exec.Probe(t.Context(), p.id, action.Answer{By: yes("alice").By}), "a denial")
	assert.Equal(t, before, p.asked.Load())
	assert.Equal(t, 1, p.exec.Probe(t.Context(), p.id, yes("alice")).Missing)
	require.Equal(t, runtime.ResolutionRecorded, p.exec.Decide(t.Context(), p.id, yes("alice")).Kind)
	require.Equal(t, runtime.ResolutionAccepted, p.exec.Decide(t.Context(), p.id, yes("bob")).Kind)
	assert.Equal(t, consent.Prospect{Rejection: consent.AlreadyResolved}, p.exec.Probe(t.Context(), p.id, yes("alice")))
	assert.Equal(t, consent.UnknownRequest, (*engine.Executor)(nil).Probe(t.Context(), p.id, yes("alice")).Rejection)
}

// TestProbeJudgesAnEdit: the arguments of an edit are checked and judged before it is given.
// SEMANTICS 5.2.11
func TestProbeJudgesAnEdit(t *testing.T) {
	p := probe(t, nil)
	a := yes("alice")
	a.Edit = []byte(`{"path":7}`)
	got := p.exec.Probe(t.Context(), p.id, a)
	assert.Equal(t, consent.InvalidInput, got.Rejection)
	assert.Contains(t, got.Invalid, "/path")
	a.Edit = []byte(`{"path":"other.md","limit":3}`)
	got = p.exec.Probe(t.Context(), p.id, a)
	assert.Equal(t, consent.NotRejected, got.Rejection)
	assert.JSONEq(t, `{"path":"other.md","limit":3}`, string(got.Shown))
	require.NotNil(t, got.Terms)
	assert.Equal(t, "as it is", got.Terms.Preview.Text)
	p.decision.Store(&runtime.Decision{Denials: []runtime.Denial{{Code: "frozen"}}})
	assert.Equal(t, []consent.Reason{{Code: "frozen"}}, p.exec.Probe(t.Context(), p.id, a).Denials)
	r, _ := p.exec.Request(p.id)
	assert.NotContains(t, string(r.Args), "other.md", "nothing is changed")
}

// TestProbeDoesNotWaitForUserCode: a preview hook that hangs delays no page for more than two seconds, and occupies
// a bounded number of goroutines.
func TestProbeDoesNotWaitForUserCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		release := make(chan struct{})
		spec := &runtime.Spec{Name: "pay", Effect: runtime.SideEffectWrite}
		asking(func(c *runtime.Consent) { c.Preview = true })(spec)
		r := newInbox(t, runtime.NewTool(spec, &readInputRule, okRead, runtime.WithPreview(func(context.Context, *readInput) (runtime.Preview, error) {
			if calls.Add(1) > 1 {
				<-release
			}
			return runtime.Preview{}, nil
		})))
		out := r.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "pay", goodInput))
		for range 10 {
			start := time.Now()
			got := r.exec.Probe(t.Context(), out.RequestID, yes("alice"))
			assert.Equal(t, consent.Prospect{Unknown: "the policy and the tool did not answer in time"}, got)
			assert.Equal(t, 2*time.Second, time.Since(start))
		}
		assert.Equal(t, int32(1+4), calls.Load())
		close(release)
		synctest.Wait()
	})
}

// TestProbeAsksTheOperatorPolicy: without a trace in the journal.
func TestProbeAsksTheOperatorPolicy(t *testing.T) {
	var dry []bool
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead, asking())}, engine.WithPendingRequests(), engine.WithOperators(policyFunc(
		func(_ context.Context, q *runtime.ActRequest) (runtime.ActDecision, error) {
			dry = append(dry, q.DryRun)
			return runtime.ActDecision{Allow: q.Act != runtime.ActGrant}, nil
		})))
	out := r.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
	a := yes("alice")
	assert.Equal(t, consent.NotRejected, r.exec.Probe(t.Context(), out.RequestID, a).Rejection)
	a.Grant = consent.ForSession
	assert.Equal(t, consent.NotPermitted, r.exec.Probe(t.Context(), out.RequestID, a).Rejection)
	assert.Equal(t, []bool{true, true, true}, dry)
}
