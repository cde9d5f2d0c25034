package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A purged is a journal without the private part of some entries.
type purged struct {
	journal.Memory
	kind string
	left []byte // replaces the private part
}

func (p *purged) Call(ctx context.Context, key journal.CallKey) ([]journal.Entry, error) {
	entries, err := p.Memory.Call(ctx, key)
	for i := range entries {
		if entries[i].Kind == p.kind {
			entries[i].Private = p.left
		}
	}
	return entries, err
}

func (p *purged) Back(ctx context.Context, session string, before uint64, f func(*journal.Entry) bool) error {
	return p.Memory.Back(ctx, session, before, func(e *journal.Entry) bool {
		if e.Kind == p.kind {
			e.Private = p.left
		}
		return f(e)
	})
}

func TestUndoOfErasedValues(t *testing.T) {
	all := adaUndo("c1")
	all.Input.User, all.State.User, all.Output.User = "eve", "eve", "eve"
	silent := *all
	silent.Output = nil
	rewrite := decide(runtime.Decision{
		Effect: runtime.EffectAllow, Rewrites: []runtime.Rewrite{{Pointer: "/user", Value: wire.Raw(`"eve"`)}},
	})
	for _, tc := range []struct {
		kind  string
		want  *undid
		fault string
	}{
		{"tool.validated", all, ""}, // the handler was given other arguments
		{"tool.authorized", nil, "needs the arguments"},
		{"undo.prepared", nil, "needs the state"},
		{"tool.completed", &silent, ""},
	} {
		for name, left := range map[string][]byte{"all": nil, "some": []byte("[]")} {
			t.Run(tc.kind+" "+name, func(t *testing.T) {
				var j purged
				var l loginTool
				restart := func() *rig { return recoveredWith(t, &j, rewrite, l.tool()) }
				restart().turn().Execute(t.Context(), callOf("c1", "login", adaLogsIn))
				j.kind, j.left = tc.kind, left
				r := restart()
				res := r.undoOf("c1")
				if tc.want != nil {
					assert.Equal(t, undoing{Kind: undoOK}, res)
					assert.Equal(t, []*undid{tc.want}, l.undone)
					return
				}
				assert.Equal(t, lostUndo, res)
				assert.Empty(t, l.undone)
				faults := r.allFaults()
				require.Len(t, faults, 1)
				assert.ErrorContains(t, faults[0], tc.fault)
				assert.ErrorContains(t, faults[0], "erased")
				assert.Equal(t, "c1", faults[0].CallID)
				res = undoingOf(r.sessionAgain().Undo(t.Context(), action.UndoRequest{RunID: "r", By: runtime.ProgramActor("ops")}))
				assert.Equal(t, undoing{Kind: undoOK, NotUndoable: []string{"c1"}, Calls: []undoneCall{
					{CallID: "c1", Tool: "login", Kind: undoRejected, Reason: action.CodeNotUndoable, Err: lostUndo.Err},
				}}, res)
			})
		}
	}
}

// lostUndo is the result of an undo whose state is no longer known.
var lostUndo = undoing{
	Kind: undoRejected, Reason: action.CodeNotUndoable, Err: "what the undo needs cannot be had any more: the error handler was told why",
}

func TestUndoAfterTheDeclarationChanged(t *testing.T) {
	none := func(s *runtime.Spec) { s.Undo = nil }
	wide := loginInputRule
	wide.Names, wide.Required = []string{"user", "password", "realm"}, 3
	var l loginTool
	l.prepare = func(context.Context, *loginInput) (*loginInput, error) { panic("nothing is prepared again") }
	state := loginTool{state: &wide}
	run := func(context.Context, *loginInput) (*loginInput, error) { return nil, nil }
	spec := func() *runtime.Spec { return &runtime.Spec{Name: "login", Undo: &runtime.UndoSpec{}} }
	input := runtime.NewTool(spec(), &wide, run, runtime.WithUndo(&loginInputRule, &loginInputRule, l.prepare,
		func(context.Context, *undid) error { panic("undone") }))
	bare := runtime.NewTool(spec(), &loginInputRule, run)
	for name, tc := range map[string]struct {
		tool  *runtime.Tool
		fault string
	}{
		"state":   {state.tool(), `needs the state that was prepared for it, which cannot be had any more: it does not fit the declaration of now: /realm: required`},
		"input":   {input, `needs the arguments, which cannot be had any more: it does not fit the declaration of now: /realm: required`},
		"no undo": {l.tool(none), "is not registered, or declares no undo"},
		"no hook": {bare, "nothing that decodes it"},
		"no tool": {readTool(okRead), "is not registered, or declares no undo"},
	} {
		t.Run(name, func(t *testing.T) {
			var j journal.Memory
			aforetime(t, &j, new(loginTool).tool())
			r := recovered(t, &j, tc.tool)
			assert.Equal(t, lostUndo, r.undoOf("c1"))
			faults := r.allFaults()
			require.Len(t, faults, 1)
			assert.ErrorContains(t, faults[0], tc.fault)

			var again loginTool // the original declaration
			r = recovered(t, &j, again.tool())
			assert.Equal(t, undoOK, r.undoOf("c1").Kind)
			assert.Equal(t, []*undid{adaUndo("c1")}, again.undone)
		})
	}
}

// TestUndoWithARedactedOutput: what the handler returned is not in the journal.
func TestUndoWithARedactedOutput(t *testing.T) {
	for _, place := range []string{"/user", "/password", ""} {
		t.Run(place, func(t *testing.T) {
			var j journal.Memory
			policy := decide(runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{
				{Code: "redact_output", Args: wire.Raw(`{"pointers":["` + place + `"]}`)},
			}})
			var l loginTool
			restart := func() *rig { return recoveredWith(t, &j, policy, l.tool()) }
			out := restart().turn().Execute(t.Context(), callOf("c1", "login", adaLogsIn))
			require.Equal(t, runtime.Completed, out.Kind, out.Message)
			r := restart()
			assert.Equal(t, string(out.Output), string(r.sessionAgain().Await(t.Context(), "c1").Output))
			assert.Equal(t, undoOK, r.undoOf("c1").Kind)
			want := adaUndo("c1")
			want.Output = nil
			assert.Equal(t, []*undid{want}, l.undone)
		})
	}
}

func TestNothingPreparedForUndo(t *testing.T) {
	var j journal.Memory
	l := loginTool{prepare: func(context.Context, *loginInput) (*loginInput, error) { return nil, nil }}
	r := recovered(t, &j, l.tool())
	turn := r.turn()
	turn.Execute(t.Context(), callOf("c1", "login", adaLogsIn))
	turn.Execute(t.Context(), callOf("c2", "login", adaLogsIn))
	assert.Equal(t, undoOK, r.undoOf("c1").Kind)
	assert.Equal(t, undoOK, recovered(t, &j, l.tool()).undoOf("c2").Kind)
	require.Len(t, l.undone, 2)
	assert.Nil(t, l.undone[0].State)
	assert.Nil(t, l.undone[1].State)
}

// TestInvalidPreparationStartsNothing: a state that could not be decoded again starts
// no handler.
func TestInvalidPreparationStartsNothing(t *testing.T) {
	long := make([]byte, 65)
	for i := range long {
		long[i] = 'x'
	}
	l := loginTool{
		run: func(context.Context, *loginInput) (*loginInput, error) { panic("it ran") },
		prepare: func(context.Context, *loginInput) (*loginInput, error) {
			return &loginInput{Password: string(long)}, nil
		},
	}
	r := recovered(t, new(journal.Memory), l.tool())
	out := r.turn().Execute(t.Context(), callOf("c1", "login", adaLogsIn))
	assert.Equal(t, runtime.Failed, out.Kind)
	faults := r.allFaults()
	require.Len(t, faults, 1)
	assert.ErrorContains(t, faults[0], "what was prepared for undo is invalid: /password: maxLength")
	assert.NotContains(t, faults[0].Error(), string(long))
	assert.Equal(t, action.CodeNotSuccessful, r.undoOf("c1").Reason)
}
