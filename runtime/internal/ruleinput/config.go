// Package ruleinput makes what the rule engine reads: the rules of the tools, from their declarations,
// and a call, from its arguments. Digests of arguments are keyed where they are recorded.
package ruleinput

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// DefaultUndoTTL is for how long a call can be undone when its tool does not declare a time (SEMANTICS 4.20).
const DefaultUndoTTL = time.Hour

// Config returns the configuration of the rule engine for the tools of some declarations. reminders is
// how often a model that stops is reminded of required tools; 0: the default (SEMANTICS 4.15).
func Config(specs []*runtime.Spec, reminders int) rules.Config {
	cfg := rules.Config{Reminders: reminders}
	for _, s := range specs {
		cfg.Tools = append(cfg.Tools, ruleTool(s))
		set := s.Set
		if set == nil {
			continue
		}
		// Of several sets the strictest limit and the longest cooldown of all tools together hold for all.
		if n := set.MaxCalls; n > 0 && !set.MaxCallsEach && (cfg.Set.MaxCalls == 0 || n < cfg.Set.MaxCalls) {
			cfg.Set.MaxCalls = n
		}
		if !set.CooldownEach {
			cfg.Set.Cooldown = max(cfg.Set.Cooldown, set.Cooldown)
		}
	}
	return cfg
}

// ruleTool returns the rules of the tool, merged with those rules of its set that apply to each
// tool separately (SEMANTICS 4.2, 4.7, 4.8 and 4.9).
func ruleTool(s *runtime.Spec) rules.Tool {
	t := rules.Tool{
		Name: s.Name, Former: s.RenamedFrom, Rules: s.Rules, Dedupe: s.Dedupe, Idempotent: s.Idempotent,
		Consent: s.Consent != nil && s.Consent.Ask == runtime.ConsentAskAlways,
	}
	if set := s.Set; set != nil {
		if set.CooldownEach {
			t.Rules.Cooldown = max(t.Rules.Cooldown, set.Cooldown)
		}
		if n := set.MaxCalls; set.MaxCallsEach && n > 0 && (t.Rules.MaxCalls == 0 || n < t.Rules.MaxCalls) {
			t.Rules.MaxCalls = n
		}
	}
	if s.Idempotency != nil {
		t.Idempotency = &rules.Idempotency{Window: s.Idempotency.Window}
	}
	if s.Undo != nil {
		t.Undo = UndoTTL(s)
	}
	return t
}

// UndoTTL returns for how long a call of a tool can be undone, 0 when its declaration has no undo (SEMANTICS 4.20).
func UndoTTL(s *runtime.Spec) time.Duration {
	if s.Undo == nil {
		return 0
	}
	return cmp.Or(s.Undo.TTL, DefaultUndoTTL)
}

// Rules is the compiled rule engine, and what it needs to know of calls.
type Rules struct {
	Engine   *rules.Engine
	Wants    []rules.Wants // of each tool, in the order of the declarations
	Requires bool          // some tool is required before the end of a run
}

// Compile compiles the rules of the tools of some declarations. reminders is as in [Config]. The error names
// tools and rules.
func Compile(specs []*runtime.Spec, reminders int) (r Rules, err error) {
	if r.Engine, err = rules.Compile(Config(specs, reminders)); err != nil {
		return Rules{}, fmt.Errorf("the rules of the tools: %w", err)
	}
	r.Wants = make([]rules.Wants, len(specs))
	for i, s := range specs {
		r.Wants[i] = r.Engine.Wants(s.Name)
		r.Requires = r.Requires || s.Rules.RequiredBeforeExit
	}
	return r, nil
}
