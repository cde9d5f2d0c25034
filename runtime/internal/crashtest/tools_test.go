package crashtest

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/wire"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// A kind is a kind of tools.
type kind struct {
	name   string
	effect bool // it does something outside, which cannot be taken back
	runs   bool // it is a command: a process does it
	files  bool // it writes files
	spec   func(*runtime.Spec)
}

const (
	maxCalls = 3 // of limited
	maxRetry = 2 // of again
	deadline = 5 * time.Second
)

var kinds = []*kind{
	{name: "put", files: true, spec: func(s *runtime.Spec) { s.Undo = &runtime.UndoSpec{TTL: 1000 * time.Hour} }},
	{name: "ask", effect: true, files: true, spec: func(s *runtime.Spec) {
		s.Consent = &runtime.Consent{Ask: runtime.ConsentAskAlways, Approvers: []string{"alice"}, Timeout: 1000 * time.Hour, MaxCover: runtime.CoverTool}
	}},
	{name: "send", effect: true},
	{name: "both", effect: true, files: true, spec: func(s *runtime.Spec) { s.Artifact = &runtime.Artifact{Over: 60} }},
	{name: "again", effect: true, files: true, spec: func(s *runtime.Spec) {
		s.Idempotent, s.Retry = true, &runtime.Retry{Max: maxRetry, Initial: time.Second, OnTimeout: true}
	}},
	{name: "limited", effect: true, spec: func(s *runtime.Spec) { s.Rules.MaxCalls = maxCalls }},
	{name: "claim", effect: true, spec: func(s *runtime.Spec) { s.Rules.ExclusiveGroups = []string{"g"} }},
	{name: "rival", effect: true, spec: func(s *runtime.Spec) { s.Rules.ExclusiveGroups = []string{"g"} }},
	{name: "needs", effect: true, spec: func(s *runtime.Spec) { s.Rules.RequiresPreceding = []string{"put"} }},
	{name: "check", effect: true, spec: func(s *runtime.Spec) { s.Reconcile = true }},
	{name: "once", effect: true, spec: func(s *runtime.Spec) { s.Dedupe = runtime.Dedupe{Mode: runtime.DedupeAlways} }},
	{name: "run", effect: true, runs: true},
}

// How a handler goes.
const (
	works     = ""
	fails     = "fails"
	panics    = "panics"
	oversleep = "oversleeps" // its deadline
	exhausted = "exhausted"  // of a resource, at its first attempt
	drags     = "drags"      // under the fence, past its deadline
)

// A plan is the arguments of a call: what its handler does.
type plan struct {
	Paths []string `json:"paths,omitempty"`
	Text  string   `json:"text"`
	How   string   `json:"how,omitempty"`
	Late  bool     `json:"late,omitempty"` // the effect comes after the files
}

// anything is the codec of all these tools.
type anything struct{}

func (anything) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	v, bad := wire.ParseRaw(b, l)
	return v, bad
}

// registry makes the tools, which work on the present state of w.
func (w *world) registry() (*runtime.Registry, error) {
	var tools []*runtime.Tool
	for _, k := range kinds {
		spec := &runtime.Spec{Name: k.name, Version: "1", Pin: k.name, Effect: runtime.SideEffectWrite, Deadline: deadline}
		if k.spec != nil {
			k.spec(spec)
		}
		if k.runs {
			tools = append(tools, command(spec))
			continue
		}
		var opts []runtime.DynamicOption
		if spec.Undo != nil {
			opts = append(opts, runtime.WithDynamicUndo(anything{}, anything{}, w.prepare, w.undo))
		}
		if spec.Reconcile {
			opts = append(opts, runtime.WithDynamicReconcile(w.reconcile))
		}
		tools = append(tools, runtime.NewDynamicTool(spec, anything{}, func(ctx context.Context, in wire.Value) (wire.Value, error) {
			return w.handle(ctx, k, in.(wire.Raw))
		}, opts...))
	}
	return runtime.NewRegistry(tools...)
}

// artifacts stores the outputs of calls in a content store.
type artifacts struct{ *content.Store }

func (a artifacts) Put(ctx context.Context, _ runtime.ArtifactRef, data []byte) error {
	_, err := a.Store.Put(ctx, data)
	return err
}

func (a artifacts) Get(ctx context.Context, ref runtime.ArtifactRef) ([]byte, error) {
	return a.Store.Get(ctx, content.Ref{SHA256: ref.SHA256, Size: ref.Bytes})
}

var (
	errPlanned = errors.New("as planned")
	errEmpty   = errors.New("nothing is left")
)

// An output is what a handler returns.
type output struct {
	Text  string             `json:"text"`
	After workspace.Snapshot `json:"after,omitempty"`
}

// handle is the handler of all tools.
func (w *world) handle(ctx context.Context, k *kind, in wire.Raw) (wire.Value, error) {
	var p plan
	if err := json.Unmarshal(in, &p); err != nil {
		return nil, err
	}
	info, _ := runtime.FromContext(ctx)
	if k.effect && !p.Late {
		if err := w.commit(ctx, info.ID, p.How == drags); err != nil {
			return nil, err
		}
	}
	for _, path := range p.Paths {
		if dir, _, below := strings.Cut(path, "/"); below {
			if err := w.ws.Mkdir(ctx, dir, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
		}
		if err := w.ws.WriteFile(ctx, path, []byte(p.Text), 0o640); err != nil {
			return nil, err
		}
	}
	if k.effect && p.Late {
		if err := w.commit(ctx, info.ID, p.How == drags); err != nil {
			return nil, err
		}
	}
	out := output{Text: p.Text}
	if k.name == "both" { // whose output is stored aside
		out.Text = strings.Repeat(p.Text+" ", 12)
	}
	switch p.How {
	case fails:
		return nil, errPlanned
	case panics:
		panic("as planned")
	case oversleep:
		w.clock.Sleep(2 * deadline)
	case exhausted:
		if info.Attempt == 1 {
			return nil, runtime.Transient(errEmpty)
		}
	}
	if k.name == "put" {
		var err error
		if out.After, err = w.ws.Snapshot(ctx, p.Paths...); err != nil {
			return nil, err
		}
	}
	return raw(out)
}

// commit is an effect on the world outside, under the fence of the call.
func (w *world) commit(ctx context.Context, id string, drags bool) error {
	return runtime.Commit(ctx, func() error {
		if drags {
			w.clock.Sleep(deadline + time.Second)
		}
		w.m.touch(func(m *model) {
			if k := m.call(id); k != nil {
				k.effects++
				m.late = m.late || k.outcome != nil
			}
		})
		return nil
	})
}

// reconcile looks whether the effect has happened.
func (w *world) reconcile(_ context.Context, info *runtime.CallInfo, _ wire.Value) (wire.Value, error) {
	happened := false
	w.m.note(func(m *model) {
		k := m.call(info.ID)
		happened = k != nil && k.effects > 0
	})
	if !happened {
		return nil, engine.ErrNothingHappened
	}
	return raw(output{Text: "found"})
}

func raw(v any) (wire.Value, error) {
	text, err := json.Marshal(v)
	return wire.Raw(text), err
}

// prepare keeps what undo will need.
func (w *world) prepare(ctx context.Context, in wire.Value) (wire.Value, error) {
	var p plan
	if err := json.Unmarshal(in.(wire.Raw), &p); err != nil {
		return nil, err
	}
	before, err := w.ws.Snapshot(ctx, p.Paths...)
	if err != nil {
		return nil, err
	}
	return raw(before)
}

// undo puts back what was there.
func (w *world) undo(ctx context.Context, _ string, _, state, out wire.Value) error {
	var before workspace.Snapshot
	var left output
	if err := errors.Join(json.Unmarshal(state.(wire.Raw), &before), json.Unmarshal(out.(wire.Raw), &left)); err != nil {
		return err
	}
	return w.ws.Restore(ctx, before, left.After)
}
