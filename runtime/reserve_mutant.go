//go:build mutant_admission

package runtime

import (
	"time"

	"github.com/ambit-tools/ambit/runtime/rules"
)

// This is admission as it must not be: it judges a call and then reserves what
// it uses, in two steps. It exists to prove that the tests notice.

func (s *Session) admitByRules(at rules.Instant, rc *rules.Call) (rules.Verdict, rules.Event) {
	if !s.exec.desk.mu.TryLock() { // perhaps the caller holds it: two steps would be a deadlock
		return s.state.Admit(at, rc)
	}
	s.exec.desk.mu.Unlock()
	return s.inTwoSteps(rules.EventAdmitted, at, rc)
}

func (s *Session) askByRules(at rules.Instant, rc *rules.Call) (rules.Verdict, rules.Event) {
	return s.state.Ask(at, rc)
}

func (s *Session) inTwoSteps(kind rules.EventKind, at rules.Instant, rc *rules.Call) (rules.Verdict, rules.Event) {
	v := s.state.Check(at, rc)
	if !v.Admitted() {
		return v, rules.Event{}
	}
	s.mu.Unlock()
	time.Sleep(50 * time.Microsecond)
	s.mu.Lock()
	ev := rules.Event{
		Kind: kind, At: at, Run: rc.Run, Call: rc.ID, Agent: rc.Agent, Principal: rc.Principal, Tool: rc.Tool, Args: rc.Args, Key: rc.Key,
	}
	if err := s.state.Apply(&ev); err != nil {
		return rules.Verdict{}, ev
	}
	return v, ev
}
