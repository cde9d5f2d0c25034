package entry_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/bind"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func TestMain(m *testing.M) { battery.Main(m) }

// text returns a value that is a text.
func text(s string) wire.Value { return walk.Tokens{{Kind: wire.KindString, Str: s}} }

// secret returns an object of two texts, the second of which is sensitive.
func secret(open, hidden string) wire.Value {
	return walk.Tokens{
		{Kind: wire.KindObject, Int: 2}, {Kind: wire.KindName, Str: "open"}, {Kind: wire.KindString, Str: open},
		{Kind: wire.KindName, Str: "hidden"}, {Kind: wire.KindString, Str: hidden, Sensitive: true}, {Kind: wire.KindEnd},
	}
}

// A broken value panics when it is walked.
type broken struct{}

func (broken) Walk(wire.Visitor) { panic("oops") }

// TestSensitiveValuesAreKeptApart: the record commits to them, and its private part holds them.
func TestSensitiveValuesAreKeptApart(t *testing.T) {
	at := time.Now()
	d := entry.OfEvent(&runtime.Event{
		Time: at, Kind: runtime.EventValidated, From: runtime.StateDeclared, To: runtime.StateValidated, CallID: "c", SessionID: "s", RunID: "r", Tool: "t", Attempt: 2,
	})
	d.AddArgs(secret("shown", "hunter2"))
	d.AddFinal(secret("shown too", "hunter3"))
	d.AddPrepared(text("state"))
	r, private := d.Entry()
	leaf, err := json.Marshal(r)
	require.NoError(t, err)
	assert.NotContains(t, string(leaf), "hunter")
	assert.Contains(t, string(leaf), "shown too")
	assert.Equal(t, 1, r.Args.Secrets)
	assert.Equal(t, 1, r.Final.Secrets)
	assert.Contains(t, string(private), "hunter2")
	assert.Contains(t, string(private), "hunter3")
	assert.Contains(t, string(private), "/final_args/value/hidden")
	assert.Equal(t, journal.Record{
		Kind: "tool.validated", At: at.Round(0).UTC(), Session: "s", Run: "r", Call: "c", Tool: "t", From: "DECLARED", To: "VALIDATED", Attempt: 2,
		Args: r.Args, Final: r.Final, Prepared: redact.Plain([]byte(`"state"`)),
	}, *r)
}

// TestBrokenValues: an entry with a value that cannot be written has none, keeps no secret, and says why.
func TestBrokenValues(t *testing.T) {
	for name, add := range map[string]func(d *entry.Draft, v wire.Value){
		"args":     (*entry.Draft).AddArgs,
		"final":    (*entry.Draft).AddFinal,
		"prepared": (*entry.Draft).AddPrepared,
		"output": func(d *entry.Draft, v wire.Value) {
			d.AddOutcome(&runtime.Outcome{Kind: runtime.Completed, Output: wire.Raw(`1`)}, v, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var d entry.Draft
			d.AddArgs(secret("shown", "hunter2"))
			add(&d, broken{})
			d.AddFinal(text("later"))
			d.AddDecision(&runtime.Decision{Effect: runtime.EffectAllow})
			r, private := d.Entry()
			assert.Nil(t, r.Args)
			assert.Nil(t, r.Final)
			assert.Nil(t, r.Output)
			assert.Nil(t, r.Decision)
			assert.Nil(t, r.Prepared)
			assert.Nil(t, private)
			assert.Contains(t, r.Lost, "panic: oops")
		})
	}
}

// TestOutputs: an output without secrets is recorded as it was answered. One with secrets is masked as
// the answer was, and the secrets that are masked are not kept.
func TestOutputs(t *testing.T) {
	out := &runtime.Outcome{Kind: runtime.Completed, Output: wire.Raw(`{"open":"o","hidden":"hunter2"}`)}
	record := func(out *runtime.Outcome, v wire.Value, mask func(wire.Raw) (wire.Raw, error)) (*journal.Record, string) {
		var d entry.Draft
		d.AddOutcome(out, v, mask)
		r, private := d.Entry()
		return r, string(private)
	}
	r, private := record(out, text("plain"), nil)
	assert.Equal(t, redact.Plain(out.Output), r.Output)
	assert.Empty(t, private)

	r, private = record(out, secret("o", "hunter2"), nil)
	assert.Equal(t, 1, r.Output.Secrets)
	assert.NotContains(t, string(r.Output.Value), "hunter2")
	assert.Contains(t, private, "hunter2")

	r, private = record(out, secret("o", "hunter2"), func(wire.Raw) (wire.Raw, error) { return wire.Raw(`{"open":"o"}`), nil })
	assert.Equal(t, redact.Plain([]byte(`{"open":"o"}`)), r.Output)
	assert.Empty(t, private, "a masked secret is kept")

	r, _ = record(out, secret("o", "hunter2"), func(wire.Raw) (wire.Raw, error) { return nil, errors.New("it cannot be masked") })
	assert.Nil(t, r.Output)
	assert.Equal(t, "it cannot be masked", r.Lost)

	r, _ = record(out, nil, nil)
	assert.Nil(t, r.Output, "a duplicate has the output of the earlier call")
	assert.NotNil(t, r.Outcome)

	stored := &runtime.StoredOutput{ArtifactRef: runtime.ArtifactRef{SHA256: "abc", Bytes: 1 << 20}, Preview: wire.Raw(`"…"`)}
	r, _ = record(&runtime.Outcome{Kind: runtime.Completed, Artifact: stored}, text("long"), nil)
	assert.Equal(t, &stored.ArtifactRef, r.Artifact)
	assert.Equal(t, redact.Plain(stored.Preview), r.Output)

	r, _ = record(&runtime.Outcome{Kind: runtime.Denied, Denials: []runtime.Denial{{Code: "no"}}}, nil, nil)
	assert.Contains(t, string(r.Decision), `"no"`)
}

func TestEffects(t *testing.T) {
	assert.Equal(t, journal.EffectsNone, entry.Effects(&runtime.Spec{Effect: runtime.SideEffectRead, Transactional: true}))
	assert.Equal(t, journal.EffectsInParts, entry.Effects(&runtime.Spec{Effect: runtime.SideEffectWrite, Transactional: true}))
	assert.Empty(t, entry.Effects(&runtime.Spec{Effect: runtime.SideEffectWrite}))
}

// TestMayLast: an interrupted call has no lasting effect only if it is rolled back and does not run again.
func TestMayLast(t *testing.T) {
	again := &runtime.Retry{}
	assert.True(t, entry.MayLast(&runtime.Spec{Effect: runtime.SideEffectWrite}))
	assert.False(t, entry.MayLast(&runtime.Spec{Effect: runtime.SideEffectRead}))
	assert.False(t, entry.MayLast(&runtime.Spec{Effect: runtime.SideEffectWrite, Transactional: true, Idempotent: true}))
	assert.False(t, entry.MayLast(&runtime.Spec{Effect: runtime.SideEffectWrite, Transactional: true, Retry: again}))
	assert.True(t, entry.MayLast(&runtime.Spec{Effect: runtime.SideEffectWrite, Transactional: true, Idempotent: true, Retry: again}))
}

// decode decodes texts that begin with ok. It panics when they say so.
func decode(in []byte, limits wire.Limits) (wire.Value, []wire.Violation) {
	switch s := string(in); {
	case s == `"panic"`:
		panic("oops")
	case !strings.HasPrefix(s, `"ok`):
		return nil, []wire.Violation{{Pointer: "", Keyword: "pattern", Expected: "ok", Actual: s}}
	case limits.Size < len(in) || !limits.AnyNumber:
		return nil, []wire.Violation{{Keyword: "size"}}
	}
	return text(string(in)), nil
}

var (
	ended     = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	hooks     = bind.Hooks{Decode: decode, DecodeState: decode, DecodeOutput: decode}
	prepares  = bind.Hooks{Decode: decode, DecodeState: decode, Prepare: func(context.Context, wire.Value) (wire.Value, error) { return nil, nil }}
	completed = &runtime.Outcome{Kind: runtime.Completed, Output: wire.Raw(`"ok out"`)}
	masked    = &runtime.Outcome{Kind: runtime.Completed, Output: completed.Output, Obligations: []runtime.Obligation{{Code: redact.Obligation}}}
)

// A restoring is a case of Restore: what differs from a call that completed and can be undone.
type restoring struct {
	change func(*history.Call)
	hooks  *bind.Hooks
	noUndo bool // the tool declares none
	after  time.Duration
	want   func(*entry.Values)
	lost   string
}

// run compares what Restore returns with all values, as the case changes them.
func (c *restoring) run(t *testing.T) {
	r := history.Call{
		Attempts: 1, Pin: "p", Ended: ended, Args: []byte(`"ok args"`), Prepared: true, Stored: true, PreparedState: []byte(`"ok state"`), Outcome: completed,
	}
	args := text(string(r.Args))
	want := entry.Values{Args: args, Final: args, ArgsText: r.Args, FinalText: r.Args, State: text(`"ok state"`), Output: text(`"ok out"`)}
	if c.want != nil {
		c.want(&want)
	}
	spec, h := runtime.Spec{Pin: "p", Undo: &runtime.UndoSpec{}}, &hooks
	if c.change != nil {
		c.change(&r)
	}
	if c.noUndo {
		spec.Undo = nil
	}
	if c.hooks != nil {
		h = c.hooks
	}
	got := entry.Restore(&r, &spec, h, nil, ended.Add(c.after))
	if c.lost == "" {
		require.NoError(t, got.Lost)
	} else {
		require.ErrorContains(t, got.Lost, c.lost)
	}
	got.Lost = nil
	assert.Equal(t, want, got)
}

func noUndo(v *entry.Values) { v.State, v.Output = nil, nil }

func noArgs(v *entry.Values) { *v = entry.Values{} }

func TestRestore(t *testing.T) {
	for name, row := range map[string]restoring{
		"all":            {},
		"of a later pin": {change: func(c *history.Call) { c.Pin = "q" }},
		"no output":      {change: func(c *history.Call) { c.Outcome = &runtime.Outcome{Kind: runtime.TimedOut} }, want: func(v *entry.Values) { v.Output = nil }},
		"decided":        {change: func(c *history.Call) { c.Outcome, c.Decided = nil, completed }},
		"not started":    {change: func(c *history.Call) { c.Attempts = 0 }, want: noUndo},
		"undone":         {change: func(c *history.Call) { c.Undone = true }, want: noUndo},
		"failed":         {change: func(c *history.Call) { c.Outcome = &runtime.Outcome{Kind: runtime.Failed} }, want: noUndo},
		"too late":       {after: time.Hour, want: noUndo},
		"just in time":   {after: time.Hour - 1},
		"nothing stored": {change: func(c *history.Call) { c.Stored = false }, want: func(v *entry.Values) { v.State = nil }},
		"never released": {change: func(c *history.Call) { c.Prepared, c.Outcome = false, nil }, hooks: &prepares, want: noUndo},
		"no undo then":   {noUndo: true, change: func(c *history.Call) { c.Stored = false }, want: noUndo},
		"redacted":       {change: func(c *history.Call) { c.Outcome = masked }, want: func(v *entry.Values) { v.Output = nil }},
		"rewritten": {change: func(c *history.Call) { c.Rewritten, c.Final = true, []byte(`"ok final"`) }, want: func(v *entry.Values) {
			v.Final, v.FinalText = text(`"ok final"`), []byte(`"ok final"`)
		}},
	} {
		t.Run(name, row.run)
	}
}

// TestLost: the reason why a call cannot be undone any more names what its undo would need.
func TestLost(t *testing.T) {
	for name, row := range map[string]restoring{
		"erased":       {change: func(c *history.Call) { c.Args = nil }, want: noArgs, lost: "it was erased"},
		"erased state": {change: func(c *history.Call) { c.PreparedState = nil }, want: noUndo, lost: "needs the state that was prepared for it, which cannot be had any more: it was erased"},
		"not recorded": {change: func(c *history.Call) { c.Lost = "panic: oops" }, want: noUndo, lost: "could not be recorded: panic: oops"},
		"invalid now":  {change: func(c *history.Call) { c.Args = []byte(`1`) }, want: noArgs, lost: "does not fit the declaration of now"},
		"panics now":   {change: func(c *history.Call) { c.Args = []byte(`"panic"`) }, want: noArgs, lost: "panic: oops"},
		"prepares now": {change: func(c *history.Call) { c.Prepared, c.Pin = false, "q" }, hooks: &prepares, want: noUndo, lost: "nothing was prepared"},
		"no decoder":   {hooks: &bind.Hooks{Decode: decode, DecodeOutput: decode}, want: noUndo, lost: "give it WithUndo"},
		"no undo":      {noUndo: true, want: noUndo, lost: "declares no undo"},
		"erased rewrite": {change: func(c *history.Call) { c.Rewritten = true }, want: func(v *entry.Values) {
			v.Final, v.FinalText, v.State, v.Output = nil, nil, nil, nil
		}, lost: "needs the arguments"},
	} {
		t.Run(name, row.run)
	}
	gone := entry.Restore(&history.Call{Attempts: 1, Stored: true, Args: []byte(`"ok"`)}, nil, nil, nil, ended)
	require.ErrorContains(t, gone.Lost, "not registered")
	gone.Lost = nil
	assert.Zero(t, gone)
}

func TestCheckPrepared(t *testing.T) {
	require.NoError(t, entry.CheckPrepared(nil))
	require.NoError(t, entry.CheckPrepared(text("state")))
	deep := walk.Tokens{}
	for range entry.MaxDepth + 1 {
		deep = append(deep, wire.Token{Kind: wire.KindArray, Int: 1})
	}
	for range entry.MaxDepth + 1 {
		deep = append(deep, wire.Token{Kind: wire.KindEnd})
	}
	require.ErrorContains(t, entry.CheckPrepared(deep), "cannot be stored")
	err := entry.CheckPrepared(text("\xff hunter2"))
	require.ErrorContains(t, err, "is invalid")
	assert.NotContains(t, err.Error(), "hunter2")
}

// TestMarksOfUndos: the last entry of an undo says that it is over, and no other event has a mark by itself.
func TestMarksOfUndos(t *testing.T) {
	for kind := runtime.EventInvoked; kind <= runtime.EventSinkDropped; kind++ {
		want := journal.MarkNone
		if kind == runtime.EventUndone || kind == runtime.EventUndoFailed {
			want = journal.MarkUndone
		}
		assert.Equal(t, want, entry.OfEvent(&runtime.Event{Kind: kind}).Mark, kind)
	}
}

// TestRun: only the start of a run repeats its metadata, and only the beginning of a session has its setup.
func TestRun(t *testing.T) {
	of := map[string]string{"request_id": "q", "team": "a"}
	started := entry.Run(journal.KindRunStarted, ended, "r", "q", of)
	assert.Equal(t, &journal.Record{Kind: journal.KindRunStarted, At: entry.At(ended), Run: "r", RequestID: "q", Metadata: of}, started)
	closed := entry.Run(journal.KindRunClosed, ended, "r", "q", of)
	assert.Equal(t, &journal.Record{Kind: journal.KindRunClosed, At: entry.At(ended), Run: "r", RequestID: "q"}, closed)
	setup := journal.Setup{Behavior: "b"}
	opened := entry.Session(journal.KindSessionOpened, ended, "s", "alice", setup)
	assert.Equal(t, &journal.Record{Kind: journal.KindSessionOpened, At: entry.At(ended), Session: "s", Principal: "alice", Setup: &setup}, opened)
	over := entry.Session(journal.KindSessionEnded, ended, "s", "alice", setup)
	assert.Equal(t, &journal.Record{Kind: journal.KindSessionEnded, At: entry.At(ended), Session: "s", Principal: "alice"}, over)
	owner := entry.Owner(ended, 3, &journal.Setup{}, &journal.Settings{Reminders: 2})
	assert.EqualValues(t, 3, owner.Epoch)
	assert.Equal(t, 2, owner.Settings.Reminders)
}
