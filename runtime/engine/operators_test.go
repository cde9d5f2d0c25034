package engine_test

import (
	"context"
	"errors"
	goruntime "runtime"
	"slices"
	"strings"
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

// operators is an operator policy that a test writes as a function, and that keeps what it was asked.
type operators struct {
	asked  []runtime.ActRequest
	answer func(*runtime.ActRequest) (runtime.ActDecision, error)
}

func (o *operators) Authorize(_ context.Context, r *runtime.ActRequest) (runtime.ActDecision, error) {
	o.asked = append(o.asked, *r)
	return o.answer(r)
}

// anOffice is an executor with one call of each kind that an operator can act on: the call "asks"
// waits for consent, "runs" runs, "done" can be undone, "lost" is unknown; a grant exists. Its calls
// are those of the principal agent, in a session of pat.
type anOffice struct {
	*rig
	ses            *engine.Session
	j              journal.Journal
	request, grant string
}

// open returns an office in which an operator policy decides.
func openOffice(t *testing.T, policy runtime.OperatorPolicy) *anOffice {
	t.Helper()
	var s shared
	interrupted(t, &s, "lost")
	o := &anOffice{j: s.take()}
	ask := readTool(okRead, named("ask"), asking(func(c *runtime.Consent) { c.Approvers = []string{"alice", "group:finance"} }))
	started := make(chan struct{})
	hang := readTool(func(ctx context.Context, _ *readInput) (*readOutput, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	}, named("hang"), func(s *runtime.Spec) { s.Deadline = time.Hour })
	ledger := new(ledgerOfWrites)
	undoable := restoreTool(ledger, nil)
	lost := transfer(never, func(context.Context, *runtime.Reconcile[readInput]) (*readOutput, error) {
		return nil, errors.New("unknown")
	})
	admit := runtime.OperatorPolicy(&operators{answer: allowActs})
	o.rig = newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{ask, hang, undoable, lost}, engine.WithPendingRequests(),
		engine.WithJournal(o.j), engine.WithParticipant("ledger", ledger),
		engine.WithOperators(policyFunc(func(ctx context.Context, r *runtime.ActRequest) (runtime.ActDecision, error) {
			return admit.Authorize(ctx, r)
		})))
	o.recover()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = o.exec.Shutdown(ctx)
	})
	o.ses = o.exec.Session(engine.SessionConfig{ID: "s", Principal: "pat", Rebind: true})
	run, err := o.ses.StartRun(t.Context(), engine.RunConfig{ID: "office"})
	require.NoError(t, err)
	turn := run.WithPrincipal("agent").Turn(engine.TurnConfig{})
	granted := turn.Execute(t.Context(), callOf("granted", "ask", goodInput))
	res := o.exec.Decide(t.Context(), granted.RequestID, action.Answer{
		By: runtime.Actor{ID: "alice", Method: "token"}, Approve: true, Grant: consent.ForSession, Cover: runtime.CoverExact,
	})
	require.NotNil(t, res.Granted, res.Reason)
	o.grant = res.Granted.ID
	o.request = turn.Execute(t.Context(), callOf("asks", "ask", `{"path":"b.md","limit":2}`)).RequestID
	require.NotEmpty(t, o.request)
	require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("done", "put", goodInput)).Kind)
	_, err = turn.StartCall(callOf("runs", "hang", goodInput))
	require.NoError(t, err)
	<-started
	admit = policy
	return o
}

func allowActs(*runtime.ActRequest) (runtime.ActDecision, error) {
	return runtime.ActDecision{Allow: true, Revision: "rev-7"}, nil
}

// A policyFunc is a function that is an operator policy.
type policyFunc func(context.Context, *runtime.ActRequest) (runtime.ActDecision, error)

func (f policyFunc) Authorize(ctx context.Context, r *runtime.ActRequest) (runtime.ActDecision, error) {
	return f(ctx, r)
}

// do does an act as an actor and reports whether it was allowed.
func (o *anOffice) do(ctx context.Context, act runtime.Act, by runtime.Actor) bool {
	switch act {
	case runtime.ActSee:
		return o.exec.May(ctx, act, by, runtime.ActTarget{Request: o.request}) == nil
	case runtime.ActDecide:
		return o.exec.Decide(ctx, o.request, action.Answer{By: by, Approve: true, NoWait: true}).Kind != runtime.ResolutionRejected
	case runtime.ActGrant:
		a := action.Answer{By: by, Approve: true, NoWait: true, Grant: consent.ForSession}
		return o.exec.Decide(ctx, o.request, a).Kind != runtime.ResolutionRejected
	case runtime.ActRevoke:
		return o.exec.Revoke(ctx, o.grant, by, "enough") == nil
	case runtime.ActUndo:
		_, err := o.ses.Undo(ctx, action.UndoRequest{CallID: "done", By: by})
		return err == nil
	case runtime.ActCancel:
		return o.ses.Cancel(ctx, "runs", by, "enough") == nil
	case runtime.ActResolve:
		return o.ses.Resolve(ctx, "lost", action.ResolveRequest{By: by}) == nil
	case runtime.ActConsentOff:
		return o.exec.SuspendConsent(ctx, time.Now().Add(time.Minute), by, "migration") == nil
	}
	return o.exec.May(ctx, runtime.ActAudit, by, runtime.ActTarget{}) == nil
}

var allActs = []runtime.Act{
	runtime.ActSee, runtime.ActDecide, runtime.ActGrant, runtime.ActRevoke, runtime.ActUndo, runtime.ActCancel, runtime.ActResolve, runtime.ActConsentOff, runtime.ActAudit,
}

// TestWhoMayAct does every act as every kind of actor, under the policy of an executor that is given
// none.
// SEMANTICS 5.5.3, 5.10.2
func TestWhoMayAct(t *testing.T) {
	for name, c := range map[string]struct {
		by  runtime.Actor
		may []runtime.Act
	}{
		"approver":            {runtime.Actor{ID: "alice", Method: "token"}, allActs[:3]},
		"member of a group":   {runtime.Actor{ID: "bob", Groups: []string{"finance"}, Method: "token"}, allActs[:3]},
		"agent":               {runtime.Actor{ID: "agent", Groups: []string{"finance"}, Method: "token"}, nil},
		"principal":           {runtime.Actor{ID: "pat", Method: "token"}, []runtime.Act{runtime.ActUndo, runtime.ActCancel}},
		"other person":        {runtime.Actor{ID: "mallory", Groups: []string{"sales"}, Method: "token"}, nil},
		"not authenticated":   {runtime.Actor{ID: "alice"}, allActs[:3]},
		"nothing":             {runtime.Actor{}, nil},
		"a group's name":      {runtime.Actor{ID: "group:finance", Groups: []string{"finance"}, Method: runtime.MethodOwner}, nil},
		"code":                {runtime.ProgramActor("job"), slices.Concat(allActs[:1], allActs[3:])},
		"owner of the store":  {runtime.Actor{ID: "root", Method: runtime.MethodOwner}, slices.Concat(allActs[:1], allActs[3:])},
		"owner who may agree": {runtime.Actor{ID: "alice", Method: runtime.MethodOwner}, allActs},
	} {
		t.Run(name, func(t *testing.T) {
			var may []runtime.Act
			for _, act := range allActs {
				o := openOffice(t, runtime.OperatorDefaults{})
				if o.do(t.Context(), act, c.by) {
					may = append(may, act)
				}
			}
			assert.Equal(t, c.may, may)
		})
	}
}

// TestOperatorPolicyKnowsTheTarget: the executor tells the policy what it knows of the call.
// SEMANTICS 5.10.1
func TestOperatorPolicyKnowsTheTarget(t *testing.T) {
	var policy operators
	policy.answer = func(*runtime.ActRequest) (runtime.ActDecision, error) {
		return runtime.ActDecision{Reason: "not today"}, nil
	}
	o := openOffice(t, &policy)
	by := runtime.Actor{ID: "alice", Groups: []string{"board"}, Method: "token"}
	for _, act := range allActs {
		assert.False(t, o.do(t.Context(), act, by), act)
	}
	about := func(act runtime.Act, target runtime.ActTarget, tool, effect, principal string, approver bool) runtime.ActRequest {
		r := runtime.ActRequest{Act: act, Actor: by, ActTarget: target, Tool: tool, Effect: effect, Principal: principal, Approver: approver}
		if target.Session != "" {
			r.SessionPrincipal = "pat"
		}
		return r
	}
	asks := runtime.ActTarget{Session: "s", Run: "office", Call: "asks", Request: o.request}
	of := func(call string) runtime.ActTarget { return runtime.ActTarget{Session: "s", Run: "office", Call: call} }
	assert.Equal(t, []runtime.ActRequest{
		about(runtime.ActSee, asks, "ask", "read", "agent", true),
		about(runtime.ActDecide, asks, "ask", "read", "agent", true),
		about(runtime.ActDecide, asks, "ask", "read", "agent", true),
		about(runtime.ActRevoke, runtime.ActTarget{Session: "s", Run: "office", Call: "granted", Grant: o.grant}, "ask", "read", "agent", false),
		about(runtime.ActUndo, of("done"), "put", "write", "agent", false),
		about(runtime.ActCancel, of("runs"), "hang", "read", "agent", false),
		about(runtime.ActResolve, runtime.ActTarget{Session: "s", Run: "r", Call: "lost"}, "transfer", "write", "agent", false),
		about(runtime.ActConsentOff, runtime.ActTarget{}, "", "", "", false),
		about(runtime.ActAudit, runtime.ActTarget{}, "", "", "", false),
	}, policy.asked)
	err := o.ses.Cancel(t.Context(), "runs", by, "")
	require.EqualError(t, err, "not_permitted: not today")
	assert.Equal(t, action.CodeNotPermitted, codeOf(o.ses.Cancel(t.Context(), "nonsense", by, "")), "nothing is told of calls")
	assert.Len(t, o.exec.Grants(action.GrantFilter{Live: true}), 1)
	r, _ := o.exec.Request(o.request)
	assert.Equal(t, "open", r.Status.String())
}

// TestGrantIsAnActOfItsOwn: who may answer may not thereby give grants.
// SEMANTICS 5.10.5
func TestGrantIsAnActOfItsOwn(t *testing.T) {
	policy := &operators{answer: func(r *runtime.ActRequest) (runtime.ActDecision, error) {
		return runtime.ActDecision{Allow: r.Act == runtime.ActDecide}, nil
	}}
	o := openOffice(t, policy)
	by := runtime.Actor{ID: "alice", Method: "token"}
	assert.False(t, o.do(t.Context(), runtime.ActGrant, by))
	assert.True(t, o.do(t.Context(), runtime.ActDecide, by))
}

// TestOperatorPolicyThatFails denies.
// SEMANTICS 5.10.1
func TestOperatorPolicyThatFails(t *testing.T) {
	for name, fail := range map[string]policyFunc{
		"error": func(context.Context, *runtime.ActRequest) (runtime.ActDecision, error) {
			return runtime.ActDecision{Allow: true}, errors.New("no answer")
		},
		"panic": func(context.Context, *runtime.ActRequest) (runtime.ActDecision, error) { panic("oops") },
		"exit": func(context.Context, *runtime.ActRequest) (runtime.ActDecision, error) {
			goruntime.Goexit()
			return runtime.ActDecision{Allow: true}, nil
		},
		"hang": func(ctx context.Context, _ *runtime.ActRequest) (runtime.ActDecision, error) {
			<-ctx.Done()
			return runtime.ActDecision{Allow: true}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := openOffice(t, fail)
				for _, act := range allActs {
					assert.False(t, o.do(t.Context(), act, runtime.Actor{ID: "alice", Method: runtime.MethodOwner}), act)
				}
				synctest.Wait()
				var said int
				for _, f := range o.allFaults() {
					if strings.Contains(f.Error(), "the operator policy about ") {
						said++
					}
				}
				assert.Equal(t, len(allActs), said)
			})
		})
	}
}

// TestActsAreRecorded: the journal has every act that changes something, before what it changed.
// SEMANTICS 5.10.1
func TestActsAreRecorded(t *testing.T) {
	denies := &operators{answer: func(r *runtime.ActRequest) (runtime.ActDecision, error) {
		return runtime.ActDecision{Allow: r.Act != runtime.ActCancel, Reason: "not today", Revision: "rev-7"}, nil
	}}
	o := openOffice(t, denies)
	by := runtime.Actor{ID: "alice", Groups: []string{"board"}, Method: "token"}
	before, err := o.j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	for _, act := range []runtime.Act{runtime.ActSee, runtime.ActAudit, runtime.ActCancel, runtime.ActUndo} {
		o.do(t.Context(), act, by)
	}
	entries, err := o.j.Read(t.Context(), before[len(before)-1].Seq, 1000)
	require.NoError(t, err)
	var kinds []string
	var acts []journal.OperatorAct
	for _, e := range entries {
		r, err := journal.Decode(e.Leaf)
		require.NoError(t, err)
		kinds = append(kinds, r.Kind)
		if r.Operator != nil {
			acts = append(acts, *r.Operator)
			assert.Equal(t, []string{"alice", "s"}, []string{r.By, r.Session})
		}
	}
	assert.Equal(t, []string{
		journal.KindOperator, journal.KindOperator, journal.KindUndoStarted, journal.KindUndoDecided, runtime.EventUndone.String(),
	}, kinds)
	of := journal.OperatorAct{Act: "cancel", Method: "token", Groups: by.Groups, Session: "s", Run: "office", Call: "runs", Reason: "not today", Revision: "rev-7"}
	undo := journal.OperatorAct{Act: "undo", Method: "token", Groups: by.Groups, Session: "s", Run: "office", Call: "done", Allowed: true, Revision: "rev-7"}
	assert.Equal(t, []journal.OperatorAct{of, undo}, acts)
}

// TestUndoIsAllowedByBothPolicies: the operator policy is asked first, and the policy of calls is told
// who undoes.
// SEMANTICS 5.10.3
func TestUndoIsAllowedByBothPolicies(t *testing.T) {
	by := runtime.Actor{ID: "alice", Groups: []string{"board"}, Method: "token"}
	for name, c := range map[string]struct {
		operators, calls bool
		why              action.Code
	}{
		"both":           {true, true, ""},
		"operators deny": {false, true, action.CodeNotPermitted},
		"calls deny":     {true, false, action.CodeDenied},
		"neither":        {false, false, action.CodeNotPermitted},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []runtime.PolicyInput
			policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
				if in.Undo {
					asked = append(asked, *in)
				}
				if in.Undo && !c.calls {
					return runtime.Decision{}, nil
				}
				return runtime.Decision{Effect: runtime.EffectAllow}, nil
			})
			ledger := new(ledgerOfWrites)
			r := newRigWith(t, policy, []*runtime.Tool{restoreTool(ledger, nil)}, engine.WithParticipant("ledger", ledger),
				engine.WithOperators(policyFunc(func(context.Context, *runtime.ActRequest) (runtime.ActDecision, error) {
					return runtime.ActDecision{Allow: c.operators}, nil
				})))
			ses := r.exec.Session(engine.SessionConfig{ID: "s9", Principal: "agent"})
			run, err := ses.StartRun(t.Context(), engine.RunConfig{})
			require.NoError(t, err)
			require.Equal(t, runtime.Completed, run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "put", goodInput)).Kind)
			for _, dry := range []bool{true, false} {
				_, err := ses.Undo(t.Context(), action.UndoRequest{CallID: "c1", By: by, DryRun: dry})
				assert.Equal(t, c.why, codeOf(err))
			}
			for _, in := range asked {
				assert.Equal(t, by, in.UndoneBy)
			}
			assert.Equal(t, c.operators, len(asked) == 2)
		})
	}
}

// TestHandlerKnowsWhoApproved: CallInfo has the request or the grant, who approved, and the capabilities.
func TestHandlerKnowsWhoApproved(t *testing.T) {
	var got []runtime.CallInfo
	tool := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		info, _ := runtime.FromContext(ctx)
		got = append(got, info)
		return okRead(ctx, in)
	}, asking(func(c *runtime.Consent) { c.Quorum = 2 }), func(s *runtime.Spec) { s.Capabilities = []string{"fs.read"} })
	r := newInbox(t, tool)
	turn := r.turn()
	out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
	for _, who := range []string{"alice", "bob"} {
		a := yes(who)
		a.Grant = consent.ForSession
		r.exec.Decide(t.Context(), out.RequestID, a)
	}
	require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c2", "file_read", goodInput)).Kind)
	require.Len(t, got, 2)
	both := []string{"alice", "bob"}
	assert.Equal(t, []any{out.RequestID, "", both, []string{"fs.read"}}, []any{got[0].Request, got[0].Grant, got[0].ApprovedBy, got[0].Capabilities})
	assert.Equal(t, []any{"", out.RequestID, both, []string{"fs.read"}}, []any{got[1].Request, got[1].Grant, got[1].ApprovedBy, got[1].Capabilities})
}
