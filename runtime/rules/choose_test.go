package rules_test

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A chooser returns a number below n: from a random source, or from fuzz data.
type chooser func(n int) int

func (pick chooser) chance(percent int) bool { return pick(100) < percent }

func randomly(seed uint64) chooser { return rand.New(rand.NewPCG(seed, 1)).IntN }

func bytewise(data []byte) chooser {
	return func(n int) int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b) % n
	}
}

// config makes a rule set of up to five tools.
func (pick chooser) config() rules.Config {
	n := 1 + pick(5)
	names := make([]string, n)
	for i := range names {
		names[i] = string(rune('a' + i))
	}
	some := func(skip int) []string {
		var out []string
		for i, name := range names {
			if i != skip && pick.chance(30) {
				out = append(out, name)
			}
		}
		return out
	}
	cfg := rules.Config{Reminders: pick(3) - 1}
	if pick.chance(25) {
		cfg.Set.MaxCalls, cfg.Set.MaxCallsEach = 1+pick(4), pick.chance(50)
	}
	if pick.chance(25) {
		cfg.Set.Cooldown, cfg.Set.CooldownEach = time.Duration(1+pick(4)), pick.chance(40)
	}
	for i, name := range names {
		cfg.Tools = append(cfg.Tools, rules.Tool{Name: name, Rules: pick.rules(func() []string { return some(i) })})
		pick.declare(&cfg.Tools[i])
	}
	return cfg
}

// renamed makes a rule set of the same rules in which some tools have other names.
func (pick chooser) renamed(cfg rules.Config) rules.Config {
	to := map[string]string{}
	for _, t := range cfg.Tools {
		if to[t.Name] = t.Name; pick.chance(50) {
			to[t.Name] = t.Name + "+"
		}
	}
	all := func(names []string) (out []string) {
		for _, name := range names {
			out = append(out, to[name])
		}
		return out
	}
	cfg.Tools = slices.Clone(cfg.Tools)
	for i := range cfg.Tools {
		t := &cfg.Tools[i]
		if was := t.Name; to[was] != was {
			t.Name, t.Former = to[was], append(slices.Clone(t.Former), was)
		}
		t.Rules.RequiresPreceding, t.Rules.MustPrecede = all(t.Rules.RequiresPreceding), all(t.Rules.MustPrecede)
	}
	return cfg
}

func (pick chooser) rules(some func() []string) runtime.Rules {
	var r runtime.Rules
	r.StartConstraint = pick.chance(15)
	if pick.chance(25) {
		r.RequiresPreceding, r.AnyPreceding = some(), pick.chance(30)
	}
	if pick.chance(20) {
		r.MustPrecede = some()
	}
	for _, g := range []string{"g", "h"} {
		if pick.chance(20) {
			r.ExclusiveGroups = append(r.ExclusiveGroups, g)
		}
	}
	r.RequiredBeforeExit = pick.chance(20)
	r.ExitLoop = pick.chance(15)
	if pick.chance(30) {
		r.MaxCalls = 1 + pick(3)
	}
	if pick.chance(25) {
		r.Cooldown = time.Duration(1 + pick(5))
	}
	if pick.chance(10) {
		r.AllowedOperations = &runtime.AllowedOperations{Arg: "op", Values: []string{"", "put"}}
	}
	return r
}

func (pick chooser) declare(t *rules.Tool) {
	t.Idempotent = pick.chance(30)
	if pick.chance(30) {
		t.Dedupe = runtime.Dedupe{Mode: runtime.DedupeMode(1 + pick(2)), Window: time.Duration(1 + pick(5))}
	}
	if pick.chance(20) {
		t.Idempotency = &rules.Idempotency{Window: time.Duration(1 + pick(5))}
	}
	if pick.chance(50) {
		t.Undo = time.Hour
	}
}

// leaving makes a rule set under which runs come into clean-up.
func (pick chooser) leaving() rules.Config {
	names := []string{"exit", "a", "b", "c", "d"}
	cfg := rules.Config{}
	if pick.chance(15) {
		cfg.Set.Cooldown = 1
	}
	for i, name := range names {
		var r runtime.Rules
		for j, other := range names[1:] {
			if i > 1 && j+1 != i && pick.chance(30) {
				r.RequiresPreceding = append(r.RequiresPreceding, other)
			}
		}
		r.AnyPreceding = pick.chance(40)
		r.StartConstraint = pick.chance(20)
		r.RequiredBeforeExit, r.ExitLoop = i > 0 && pick.chance(40), i == 0
		t := rules.Tool{Name: name, Rules: r}
		if pick.chance(50) {
			t.Undo = time.Hour
		}
		cfg.Tools = append(cfg.Tools, t)
	}
	return cfg
}

// knotty makes a rule set in which tools are in each other's way.
func (pick chooser) knotty() rules.Config {
	names := []string{"a", "b", "c", "d"}
	cfg := rules.Config{}
	if pick.chance(20) {
		cfg.Set.MaxCalls = 1 + pick(4)
	}
	if pick.chance(20) {
		cfg.Set.Cooldown, cfg.Set.CooldownEach = time.Duration(1+pick(3)), pick.chance(20)
	}
	for i, name := range names {
		var r runtime.Rules
		for j, other := range names {
			if i > j && pick.chance(45) || i < j && pick.chance(5) {
				r.RequiresPreceding = append(r.RequiresPreceding, other)
			}
			if i != j && pick.chance(8) {
				r.MustPrecede = append(r.MustPrecede, other)
			}
		}
		r.AnyPreceding = pick.chance(40)
		r.StartConstraint = pick.chance(15)
		r.RequiredBeforeExit, r.ExitLoop = pick.chance(20), pick.chance(12)
		if pick.chance(30) {
			r.ExclusiveGroups = []string{"g"}
		}
		if pick.chance(30) {
			r.MaxCalls = 1 + pick(2)
		}
		if pick.chance(40) {
			r.Cooldown = time.Duration(1 + pick(5))
		}
		t := rules.Tool{Name: name, Rules: r}
		if pick.chance(20) {
			t.Dedupe = runtime.Dedupe{Mode: runtime.DedupeMode(1 + pick(2)), Window: time.Duration(1 + pick(5))}
		}
		cfg.Tools = append(cfg.Tools, t)
	}
	return cfg
}
