package view_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/view"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// secret is the value of a member that is marked x-sensitive and that approvers may see.
const secret = "hunter2-hunter2"

// A login is the input and the output of the tool.
type login struct{ Password string }

var (
	loginRule    = wire.ObjectRule{Names: []string{"password"}, Required: 1}
	passwordRule = wire.StringRule{Sensitive: true}
)

func (l *login) Walk(w wire.Visitor) {
	wire.BeginObject(w, &loginRule)
	wire.Member(w, "password", &l.Password, wire.WalkString, &passwordRule)
	wire.End(w)
}

func (l *login) ReadMember(r *wire.Reader, name string) {
	if name == "password" {
		wire.ReadString(r, &l.Password, &passwordRule)
	}
}

// open returns an executor with a call of the principal agent that waits for consent, and its request.
func open(t *testing.T, options ...engine.Option) (exec *engine.Executor, id string) {
	t.Helper()
	spec := &runtime.Spec{Name: "login", Title: "Log in", Description: "Logs in.", Consent: &runtime.Consent{
		Ask: runtime.ConsentAskAlways, Reveal: []string{"password"}, Approvers: []string{"alice", "group:finance"},
	}}
	registry, err := runtime.NewRegistry(runtime.NewTool(spec, &loginRule, func(_ context.Context, in *login) (*login, error) { return in, nil }))
	require.NoError(t, err)
	allow := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	exec, err = engine.NewExecutor(registry, allow, append(options, engine.WithPendingRequests())...)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = exec.Shutdown(ctx)
	})
	run, err := exec.Session(engine.SessionConfig{ID: "s", Principal: "pat"}).StartRun(t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(t, err)
	out := run.WithPrincipal("agent").Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: "c1", Tool: "login", Input: []byte(`{"password":"` + secret + `"}`)})
	require.Equal(t, runtime.Pending, out.Kind)
	return exec, out.RequestID
}

// text returns the JSON form of a value.
func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// TestShownIsForThoseWhoMayDecide: a value that the declaration reveals to approvers is in the view of a
// viewer whose answer would be taken, and in no other.
// SEMANTICS 5.10.6
func TestShownIsForThoseWhoMayDecide(t *testing.T) {
	everyone := operatorFunc(func(*runtime.ActRequest) bool { return true })
	nobodyDecides := operatorFunc(func(r *runtime.ActRequest) bool { return r.Act != runtime.ActDecide })
	for name, c := range map[string]struct {
		policy          runtime.OperatorPolicy
		viewer          runtime.Actor
		sees, mayDecide bool
	}{
		"approver":                        {runtime.OperatorDefaults{}, runtime.Actor{ID: "alice", Method: "token"}, true, true},
		"member of a group":               {runtime.OperatorDefaults{}, runtime.Actor{ID: "bob", Groups: []string{"finance"}, Method: "token"}, true, true},
		"agent":                           {runtime.OperatorDefaults{}, runtime.Actor{ID: "agent", Groups: []string{"finance"}, Method: "token"}, false, false},
		"principal of the session":        {runtime.OperatorDefaults{}, runtime.Actor{ID: "pat", Method: "token"}, false, false},
		"other person":                    {runtime.OperatorDefaults{}, runtime.Actor{ID: "mallory", Method: "token"}, false, false},
		"nobody":                          {runtime.OperatorDefaults{}, runtime.Actor{}, false, false},
		"code":                            {runtime.OperatorDefaults{}, runtime.ProgramActor("job"), true, false},
		"owner of the store":              {runtime.OperatorDefaults{}, runtime.Actor{ID: "root", Method: runtime.MethodOwner}, true, false},
		"allowed, and not an approver":    {everyone, runtime.Actor{ID: "mallory", Method: "token"}, true, false},
		"approver whom the policy denies": {nobodyDecides, runtime.Actor{ID: "alice", Method: "token"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			exec, id := open(t, engine.WithOperators(c.policy))
			r, err := view.Of(t.Context(), exec, id, c.viewer)
			list, next, failed := view.Open(t.Context(), exec, consent.RequestFilter{Limit: 1}, false, c.viewer)
			require.NoError(t, failed)
			assert.Empty(t, next.ID)
			if !c.sees {
				require.ErrorContains(t, err, "not_permitted")
				assert.Nil(t, r)
				assert.Empty(t, list)
				return
			}
			require.NoError(t, err)
			require.Len(t, list, 1)
			for _, form := range []string{text(t, r), text(t, list[0])} {
				if c.mayDecide {
					assert.Contains(t, form, `"shown":{"password":"`+secret+`"}`)
				} else {
					assert.NotContains(t, form, secret)
					assert.NotContains(t, form, `"shown"`)
				}
			}
			assert.Equal(t, c.mayDecide, r.MayDecide)
		})
	}
}

// TestView holds the JSON form of a request, before and after its end.
func TestView(t *testing.T) {
	exec, id := open(t)
	alice := runtime.Actor{ID: "alice", Method: "token"}
	r, err := view.Of(t.Context(), exec, id, alice)
	require.NoError(t, err)
	var form map[string]any
	require.NoError(t, json.Unmarshal([]byte(text(t, r)), &form))
	for member, want := range map[string]any{
		"id": id, "call": "c1", "tool": "login", "title": "Log in", "description": "Logs in.", "status": "open",
		"missing": 1.0, "may_decide": true, "covers": []any{"exact"},
	} {
		assert.Equal(t, want, form[member], member)
	}
	assert.Regexp(t, `\(sensitive: 15 characters, [0-9a-f]{16}\)`, form["args"].(map[string]any)["password"])

	require.Equal(t, runtime.ResolutionAccepted, exec.Decide(t.Context(), id, action.Answer{By: alice, Approve: true}).Kind)
	r, err = view.Of(t.Context(), exec, id, alice)
	require.NoError(t, err)
	assert.NotContains(t, text(t, r), secret, "the call is over")
	list, _, err := view.Open(t.Context(), exec, consent.RequestFilter{Limit: 1}, false, alice)
	require.NoError(t, err)
	assert.Empty(t, list)

	_, err = view.Of(t.Context(), exec, "nonsense", runtime.ProgramActor("job"))
	var why *action.Error
	require.True(t, errors.As(err, &why))
	assert.Equal(t, action.CodeUnknownRequest, why.Code)
	_, err = view.Of(t.Context(), exec, "nonsense", alice)
	require.ErrorContains(t, err, "not_permitted", "it is not told whether there is such a request")
}

// TestARequestOfTheEngineHoldsNoSecretAsJSON: a program that writes it by mistake shows nothing.
func TestARequestOfTheEngineHoldsNoSecretAsJSON(t *testing.T) {
	exec, id := open(t)
	r, ok := exec.Request(id)
	require.True(t, ok)
	require.Contains(t, string(r.Shown), secret)
	assert.NotContains(t, text(t, r), secret)
}

// An operatorFunc is an operator policy that says yes or no.
type operatorFunc func(*runtime.ActRequest) bool

func (f operatorFunc) Authorize(_ context.Context, r *runtime.ActRequest) (runtime.ActDecision, error) {
	return runtime.ActDecision{Allow: f(r)}, nil
}

// TestEnded: pages of the requests that have ended hold what a viewer may see, and no revealed value.
func TestEnded(t *testing.T) {
	odd := map[string]bool{}
	exec, id := open(t, engine.WithOperators(operatorFunc(func(r *runtime.ActRequest) bool {
		return r.Act == runtime.ActDecide || r.Act == runtime.ActSee && (r.Actor.ID == "alice" || odd[r.Request])
	})))
	run, err := exec.Session(engine.SessionConfig{ID: "s2", Principal: "pat"}).StartRun(t.Context(), engine.RunConfig{ID: "r2"})
	require.NoError(t, err)
	turn := run.WithPrincipal("agent").Turn(engine.TurnConfig{})
	ids := []string{id}
	for range 6 {
		ids = append(ids, turn.Execute(t.Context(), runtime.Call{Tool: "login", Input: []byte(`{"password":"` + secret + `"}`)}).RequestID)
	}
	alice, eve := runtime.Actor{ID: "alice", Method: "token"}, runtime.Actor{ID: "eve", Method: "token"}
	none, err := view.Ended(t.Context(), exec, "", 3, alice)
	require.NoError(t, err)
	assert.Empty(t, none)
	for i, id := range ids {
		require.Equal(t, runtime.ResolutionAccepted, exec.Decide(t.Context(), id, action.Answer{By: alice}).Kind)
		odd[id] = i%2 == 1
	}
	pages := func(viewer runtime.Actor) (got []string) {
		for before := ""; ; {
			list, err := view.Ended(t.Context(), exec, before, 3, viewer)
			require.NoError(t, err)
			for _, r := range list {
				assert.NotContains(t, text(t, r), secret)
				assert.Equal(t, consent.StatusDenied, r.Status)
				got, before = append(got, r.ID), r.ID
			}
			if len(list) < 3 {
				return got
			}
		}
	}
	assert.Equal(t, []string{ids[6], ids[5], ids[4], ids[3], ids[2], ids[1], ids[0]}, pages(alice))
	assert.Equal(t, []string{ids[5], ids[3], ids[1]}, pages(eve))
	assert.Empty(t, pages(runtime.Actor{ID: "group:finance", Method: "token"}))
}

// TestOpenPages: the pages of what waits hold what a viewer may see, those that expire first at the beginning, each
// once; with mine those alone that the viewer may answer. A page that has looked at too many ends before it is full.
func TestOpenPages(t *testing.T) {
	visible, locked := map[string]bool{}, map[string]bool{}
	exec, id := open(t, engine.WithMaxOpenRequests(2_000), engine.WithOperators(operatorFunc(func(r *runtime.ActRequest) bool {
		return r.Act == runtime.ActDecide && !locked[r.Request] || r.Act == runtime.ActSee && (r.Actor.ID == "alice" || visible[r.Request])
	})))
	run, err := exec.Session(engine.SessionConfig{ID: "s2", Principal: "pat"}).StartRun(t.Context(), engine.RunConfig{ID: "r2"})
	require.NoError(t, err)
	turn := run.WithPrincipal("agent").Turn(engine.TurnConfig{})
	ids := []string{id}
	ask := func(n int) {
		for len(ids) < n {
			ids = append(ids, turn.Execute(t.Context(), runtime.Call{Tool: "login", Input: []byte(`{"password":"` + secret + `"}`)}).RequestID)
		}
		slices.SortFunc(ids, func(a, b string) int { // a coarse clock gives several the same expiry
			x, _ := exec.Request(a)
			y, _ := exec.Request(b)
			return x.Place().Compare(y.Place())
		})
	}
	pages := func(f consent.RequestFilter, mine bool, viewer runtime.Actor) (got []string, n int) {
		for {
			list, next, err := view.Open(t.Context(), exec, f, mine, viewer)
			require.NoError(t, err)
			require.LessOrEqual(t, len(list), f.Limit)
			for _, r := range list {
				assert.Equal(t, r.MayDecide, r.Shown != nil)
				got = append(got, r.ID)
			}
			if n++; next == (consent.Place{}) {
				return got, n
			}
			f.After = next
		}
	}
	ask(7)
	visible[ids[1]], visible[ids[4]], locked[ids[2]] = true, true, true
	alice, eve := runtime.Actor{ID: "alice", Method: "token"}, runtime.Actor{ID: "eve", Method: "token"}
	got, n := pages(consent.RequestFilter{Limit: 3}, false, alice)
	assert.Equal(t, ids, got)
	assert.Equal(t, 3, n)
	got, n = pages(consent.RequestFilter{Limit: 7}, false, alice)
	assert.Equal(t, ids, got)
	assert.Equal(t, 1, n, "no page is offered that would be empty")
	got, _ = pages(consent.RequestFilter{Limit: 2}, true, alice)
	assert.Equal(t, append(ids[:2:2], ids[3:]...), got)
	got, _ = pages(consent.RequestFilter{Limit: 1}, false, eve)
	assert.Equal(t, []string{ids[1], ids[4]}, got)
	got, _ = pages(consent.RequestFilter{Limit: 1, Session: "s"}, false, alice)
	assert.Equal(t, ids[:1], got)
	for _, viewer := range []runtime.Actor{eve, {ID: "group:finance", Method: "token"}} {
		got, _ = pages(consent.RequestFilter{Limit: 3}, true, viewer)
		assert.Empty(t, got)
	}

	ask(1_008)
	visible[ids[1_007]] = true
	got, n = pages(consent.RequestFilter{Limit: 3}, false, eve)
	assert.Equal(t, []string{ids[1], ids[4], ids[1_007]}, got)
	assert.Equal(t, 2, n)
}

// TestUndecidedIsNoPage: where the operator policy cannot say what a viewer may see there is an error, and no page on which a
// request is missing.
func TestUndecidedIsNoPage(t *testing.T) {
	fails := false
	policy := failing(func(*runtime.ActRequest) error {
		if fails {
			return errors.New("the directory does not answer")
		}
		return nil
	})
	exec, id := open(t, engine.WithOperators(policy))
	alice := runtime.Actor{ID: "alice", Method: "token"}
	list, _, err := view.Open(t.Context(), exec, consent.RequestFilter{Limit: 9}, false, alice)
	require.NoError(t, err)
	require.Len(t, list, 1)
	fails = true
	_, _, err = view.Open(t.Context(), exec, consent.RequestFilter{Limit: 9}, false, alice)
	assert.True(t, action.Undecided(err), "%v", err)
	_, err = view.Of(t.Context(), exec, id, alice)
	assert.True(t, action.Undecided(err), "%v", err)
	fails = false
	require.NotEqual(t, runtime.ResolutionRejected, exec.Decide(t.Context(), id, action.Answer{By: alice}).Kind)
	fails = true
	_, err = view.Ended(t.Context(), exec, "", 9, alice)
	assert.True(t, action.Undecided(err), "%v", err)
}

// failing allows everything unless it returns an error.
type failing func(*runtime.ActRequest) error

func (f failing) Authorize(_ context.Context, r *runtime.ActRequest) (runtime.ActDecision, error) {
	return runtime.ActDecision{Allow: true}, f(r)
}
