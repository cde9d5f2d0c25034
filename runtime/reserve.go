//go:build !mutant_admission

package runtime

import "github.com/ambit-tools/ambit/runtime/rules"

// admitByRules judges a call and reserves what it uses, in one step. s.mu is held.
func (s *Session) admitByRules(at rules.Instant, rc *rules.Call) (rules.Verdict, rules.Event) {
	return s.state.Admit(at, rc)
}

// askByRules is admitByRules for a call that waits for consent.
func (s *Session) askByRules(at rules.Instant, rc *rules.Call) (rules.Verdict, rules.Event) {
	return s.state.Ask(at, rc)
}
