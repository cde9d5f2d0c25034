package rules_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// everyRule declares all rule types on the tool "work", in a set with limits of
// its own. It is admissible once init, read and nothing else have succeeded.
func everyRule() rules.Config {
	return rules.Config{
		Set: runtime.Rules{MaxCalls: 1 << 30, Cooldown: time.Nanosecond},
		Tools: []rules.Tool{
			{Name: "init", Rules: runtime.Rules{StartConstraint: true}},
			{Name: "read", Rules: runtime.Rules{MaxCalls: 1 << 30}},
			{Name: "publish", Rules: runtime.Rules{ExitLoop: true}},
			{Name: "rival", Rules: runtime.Rules{ExclusiveGroups: []string{"g", "h"}}},
			{
				Name: "work", Dedupe: runtime.Dedupe{Mode: runtime.DedupeWindow, Window: time.Minute},
				Idempotency: &rules.Idempotency{Window: time.Minute},
				Rules: runtime.Rules{
					RequiresPreceding: []string{"init", "read"}, MustPrecede: []string{"publish"},
					ExclusiveGroups: []string{"g", "h"}, RequiredBeforeExit: true, MaxCalls: 1 << 30,
					Cooldown: time.Nanosecond, ContinueLoop: true,
					AllowedOperations: &runtime.AllowedOperations{Arg: "op", Values: []string{"get", "put"}},
				},
			},
		},
	}
}

// ready returns a state in which init and read have succeeded and work was
// called n times, and the time.
func ready(tb testing.TB, n int) (*rules.State, rules.Instant) {
	engine, err := rules.Compile(everyRule())
	if err != nil {
		tb.Fatal(err)
	}
	s := engine.NewState()
	now := rules.Instant(0)
	if _, err := s.StartRun(now, "r"); err != nil {
		tb.Fatal(err)
	}
	for i := range n + 2 {
		c := rules.Call{ID: strconv.Itoa(i), Run: "r", Principal: "agent", Tool: "work", Operation: "put", HasOperation: true}
		if i < 2 {
			c.Tool = [2]string{"init", "read"}[i]
		}
		c.Args, c.Key = rules.DigestOf([]byte(c.ID)), rules.DigestOf([]byte(c.ID))
		if err := runOnce(s, now, &c); err != nil {
			tb.Fatal(err)
		}
		now += 10
	}
	return s, now
}

// runOnce takes c from its admission to its success.
func runOnce(s *rules.State, now rules.Instant, c *rules.Call) error {
	if v, _ := s.Admit(now, c); !v.Admitted() {
		return fmt.Errorf("call %s: %v", c.ID, v.Violations)
	}
	if _, err := s.Commit(now, c.ID); err != nil {
		return err
	}
	_, err := s.Finish(now, c.ID, rules.StatusOK)
	return err
}

var earlier = []int{10, 100, 1000, 10000}

// BenchmarkCheck judges a call and reserves nothing.
func BenchmarkCheck(b *testing.B) {
	for _, n := range earlier {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s, now := ready(b, n)
			c := rules.Call{ID: "next", Run: "r", Principal: "agent", Tool: "work", Operation: "put", HasOperation: true}
			b.ReportAllocs()
			for b.Loop() {
				if v := s.Check(now, &c); !v.Admitted() {
					b.Fatal(v.Violations)
				}
			}
		})
	}
}

// BenchmarkAdmit admits a call and gives it back, so that the number of earlier
// calls stays what it is.
func BenchmarkAdmit(b *testing.B) {
	for _, n := range earlier {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s, now := ready(b, n)
			c := rules.Call{ID: "next", Run: "r", Principal: "agent", Tool: "work", Operation: "put", HasOperation: true}
			b.ReportAllocs()
			for b.Loop() {
				if v, _ := s.Admit(now, &c); !v.Admitted() {
					b.Fatal(v.Violations)
				}
				if _, err := s.Release(now, c.ID); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCall takes a call through its whole life: admitted, started, ended.
func BenchmarkCall(b *testing.B) {
	for _, n := range earlier {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s, now := ready(b, n)
			c := rules.Call{ID: "next", Run: "r", Principal: "agent", Tool: "work", Operation: "put", HasOperation: true}
			b.ReportAllocs()
			for b.Loop() {
				now += rules.Instant(2 * time.Minute)
				if err := runOnce(s, now, &c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUnblock names the steps to a call with two prerequisites.
func BenchmarkUnblock(b *testing.B) {
	for _, n := range earlier {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s, now := ready(b, n)
			c := rules.Call{ID: "next", Run: "r", Agent: "child", Principal: "other", Tool: "work", Operation: "put", HasOperation: true}
			b.ReportAllocs()
			for b.Loop() {
				if way := s.Unblock(now, &c); len(way.Steps) != 2 {
					b.Fatal(way)
				}
			}
		})
	}
}
