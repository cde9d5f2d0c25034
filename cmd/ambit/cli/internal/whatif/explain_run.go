package whatif

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/opa"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// judge asks an executor of the declared tools what would happen to a call.
func judge(ctx context.Context, d *project.Declaration, q *question, input []byte) (*answer, error) {
	st := new(stage)
	reg, err := registry(d.File, st)
	if err != nil {
		return nil, err
	}
	if err := q.check(d.File, reg); err != nil {
		return nil, err
	}
	fsys, err := d.Policies(q.policies)
	if err != nil {
		return nil, err
	}
	if st.policy, err = opa.Load(fsys, reg, opa.OnFailedTests(nil)); err != nil {
		return nil, err
	}
	clock, err := newPastClock(d.File, q.counts, q.at)
	if err != nil {
		return nil, err
	}
	exec, err := engine.NewExecutor(reg, st, engine.WithPolicyTimeout(policyTimeout), engine.WithClock(clock), engine.WithPendingRequests(),
		engine.WithArtifacts(new(runtime.MemoryArtifacts)))
	if err != nil {
		return nil, cmdutil.Problem(err.Error(), "")
	}
	defer exec.Shutdown(ctx) //nolint:errcheck // nothing runs that could be waited for
	ses := exec.Session(engine.SessionConfig{
		Principal: q.principal, Capabilities: q.capabilities, Behavior: q.behavior, Modes: q.modes,
	})
	run, err := ses.StartRun(ctx, engine.RunConfig{})
	if err != nil {
		return nil, err
	}
	turn := run.Turn(engine.TurnConfig{})
	st.rehearsing.Store(true)
	if err := (&rehearsal{file: d.File, exec: exec, ses: ses, turn: turn, clock: clock}).play(ctx, q.counts); err != nil {
		return nil, err
	}
	st.rehearsing.Store(false)
	a := &answer{tool: q.tool, given: input}
	a.verdict = turn.WhatIf(ctx, runtime.Call{Tool: q.tool, Input: input})
	st.explained(a)
	a.consent = termsOf(d.File, q.tool, a.verdict.Decision.Asks)
	if tool, _, ok := reg.Lookup(q.tool); ok {
		a.fillAsks(tool)
	}
	return a, nil
}

// maskDigest is what tells one masked value from another.
var maskDigest = regexp.MustCompile(`, [0-9a-f]{16}\)`)

// fillAsks puts the arguments of the call into the messages that approvers read,
// which see them so: what is sensitive is masked, unless the tool reveals it.
func (a *answer) fillAsks(tool *runtime.Tool) {
	args, bad := tool.Decode(a.verdict.Input)
	if bad != nil {
		return // no request is made for such a call
	}
	var reveal []string
	if c := tool.Spec().Consent; c != nil {
		reveal = c.Reveal
	}
	text, err := consent.Show([]byte(a.tool), args, reveal...)
	if err != nil {
		return
	}
	text = maskDigest.ReplaceAll(text, []byte(")")) // a reader that has the key could try which secret it is
	asks := slices.Clone(a.verdict.Decision.Asks)
	for i := range asks {
		asks[i].Message = terminal.Fill(asks[i].Message, text)
	}
	a.verdict.Decision.Asks = asks
}

// termsOf merges the asks of a policy with the declared consent; nil without
// an ask.
func termsOf(file *dsl.File, tool string, asks []runtime.Ask) *consentTerms {
	if len(asks) == 0 {
		return nil
	}
	all := make([]runtime.Ask, len(asks))
	for i, a := range asks {
		all[i] = runtime.Ask(a)
	}
	var declared *consent.Requirement
	for _, t := range file.Tools {
		if t.Name == tool && t.Consent != nil {
			declared = &consent.Requirement{
				Approvers: t.Consent.Approvers, Quorum: t.Consent.Quorum, Timeout: t.Consent.Timeout,
				MaxFor: t.Consent.MaxFor, AllowEdit: t.Consent.AllowEdit, AllowSelf: t.Consent.AllowSelf,
			}
			_ = declared.MaxCover.UnmarshalText([]byte(t.Consent.MaxCover)) // dsl knows the same covers
		}
	}
	m, err := consent.Merge(declared, all...)
	if err != nil {
		return nil // the call is denied, and the answer says why
	}
	return &consentTerms{m.Approvers, m.Quorum, m.Timeout.String(), m.MaxCover.String()}
}

// policyTimeout is longer than that of a server: no other call waits for the answer.
const policyTimeout = 10 * time.Second

// registry holds the declared tools with handlers that do nothing.
func registry(file *dsl.File, st *stage) (*runtime.Registry, error) {
	loaded, err := dynamic.Load(file)
	if err != nil {
		return nil, err
	}
	tools := make([]*runtime.Tool, len(loaded))
	for i, t := range loaded {
		tools[i] = runtime.NewDynamicTool(t.Spec, stageCodec{st, t.Input}, func(context.Context, wire.Value) (wire.Value, error) {
			return wire.Raw("{}"), nil
		}, t.StandIn()...)
	}
	return runtime.NewRegistry(tools...)
}

// A stage is where earlier calls are rehearsed: while it is set, every call is
// valid and allowed, so that the facts of the run become those asked for. After
// that it decides as its policy does and keeps what the policy said.
type stage struct {
	rehearsing atomic.Bool
	policy     *opa.Policy

	mu      sync.Mutex
	said    []opa.Explanation // a call whose arguments are rewritten is judged again
	failure error
}

// explained adds what allows the call in the last judgment and which evaluator made it,
// what changed the arguments in any of them, and why the policy could not judge the call.
func (s *stage) explained(a *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.said {
		a.allows, a.by = e.Allows, e.Evaluator
		for _, r := range e.Rewrites {
			same := func(o runtime.Rewrite) bool {
				return o.At == r.At && o.Pointer == r.Pointer && bytes.Equal(o.Value, r.Value)
			}
			if !slices.ContainsFunc(a.rewrites, same) {
				a.rewrites = append(a.rewrites, r)
			}
		}
	}
	a.failure = s.failure
}

// Decide implements runtime.Policy.
func (s *stage) Decide(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
	if s.rehearsing.Load() {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}
	e, err := s.policy.Explain(ctx, in)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said, s.failure = append(s.said, e), err
	return e.Decision, err
}

// stageCodec decodes as its tool does, once the rehearsal is over.
type stageCodec struct {
	stage *stage
	codec runtime.Codec
}

// Decode implements runtime.Codec.
func (c stageCodec) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	if c.stage.rehearsing.Load() {
		return wire.Raw(b), nil
	}
	return c.codec.Decode(b, l)
}
