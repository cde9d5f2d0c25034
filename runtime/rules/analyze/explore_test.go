package analyze_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/rules/analyze"
)

var names = []string{"a", "b", "c", "d"}

// random makes a small rule set in which tools are in each other's way.
func random(seed uint64) rules.Config {
	pick := rand.New(rand.NewPCG(seed, 2))
	chance := func(percent int) bool { return pick.IntN(100) < percent }
	cfg := rules.Config{}
	if chance(30) {
		cfg.Set.MaxCalls, cfg.Set.MaxCallsEach = 1+pick.IntN(4), chance(20)
	}
	for i, name := range names {
		var r runtime.Rules
		for j, other := range names {
			if i > j && chance(35) || i <= j && chance(8) {
				r.RequiresPreceding = append(r.RequiresPreceding, other)
			}
			if chance(10) {
				r.MustPrecede = append(r.MustPrecede, other)
			}
		}
		r.AnyPreceding = chance(35)
		r.StartConstraint, r.RequiredBeforeExit, r.ExitLoop = chance(15), chance(25), chance(15)
		for _, g := range []string{"g", "h"} {
			if chance(20) {
				r.ExclusiveGroups = append(r.ExclusiveGroups, g)
			}
		}
		if chance(30) {
			r.MaxCalls = 1 + pick.IntN(4)
		}
		t := rules.Tool{Name: name, Rules: r}
		if seed%2 == 0 && chance(60) {
			t.Undo = time.Hour
		}
		cfg.Tools = append(cfg.Tools, t)
	}
	return cfg
}

// reached is what an exploration found out.
type reached struct {
	admitted  map[string]bool // tools
	succeeded [][]string      // sets of tools that have succeeded in one run
}

// explore tries all sequences of up to depth calls that succeed or fail and of
// undos, and remembers where it was.
func explore(t *testing.T, cfg rules.Config, depth int) reached {
	engine, err := rules.Compile(cfg)
	require.NoError(t, err)
	out := reached{admitted: map[string]bool{}}
	seen := map[string]bool{}
	start := engine.NewState()
	ev, err := start.StartRun(0, "r")
	require.NoError(t, err)
	level := [][]rules.Event{{ev}}
	for range depth + 1 {
		var next [][]rules.Event
		for _, events := range level {
			s, err := engine.Replay(events)
			require.NoError(t, err)
			if mark := fingerprint(s); seen[mark] {
				continue
			} else {
				seen[mark] = true
			}
			out.succeeded = append(out.succeeded, successes(s))
			next = append(next, out.after(t, engine, events)...)
		}
		level = next
	}
	return out
}

// after returns what can come after events.
func (out *reached) after(t *testing.T, engine *rules.Engine, events []rules.Event) [][]rules.Event {
	var next [][]rules.Event
	id := fmt.Sprint(len(events))
	for _, name := range names {
		for _, status := range []rules.Status{rules.StatusOK, rules.StatusError} {
			s, err := engine.Replay(events)
			require.NoError(t, err)
			v, ev := s.Admit(0, &rules.Call{ID: id, Run: "r", Principal: "agent", Tool: name})
			if !v.Admitted() {
				continue
			}
			out.admitted[name] = true
			started, err := s.Commit(0, id)
			require.NoError(t, err)
			finished, err := s.Finish(0, id, status)
			require.NoError(t, err)
			next = append(next, append(slices.Clone(events), ev, started, finished))
		}
	}
	for _, ev := range events {
		s, err := engine.Replay(events)
		require.NoError(t, err)
		if ev.Kind != rules.EventFinished {
			continue
		}
		if undo, err := s.Undo(0, ev.Call); err == nil {
			next = append(next, append(slices.Clone(events), undo))
		}
	}
	return next
}

// fingerprint is equal for states from which the same can follow.
func fingerprint(s *rules.State) string {
	used, successes := s.Counts("r", "", "agent")
	mark := fmt.Sprint(s.RunState("r"), used, successes)
	for _, name := range names {
		v := s.Check(0, &rules.Call{Run: "r", Principal: "agent", Tool: name})
		mark += fmt.Sprint(v)
	}
	return mark
}

func successes(s *rules.State) []string {
	var out []string
	_, successes := s.Counts("r", "", "agent")
	for i, n := range successes {
		if n > 0 {
			out = append(out, names[i])
		}
	}
	return out
}

// TestAnalysisIsSound explores random rule sets: what the analysis says can
// never happen does not, and what does not happen in small sets it says.
func TestAnalysisIsSound(t *testing.T) {
	sets := battery.Count(t, 40, 400)
	seen := map[analyze.Code]int{}
	for seed := range uint64(sets) {
		cfg := random(seed)
		findings := analyze.Analyze(cfg)
		found := explore(t, cfg, 6)
		named, mended := map[string]bool{}, false // mended: more is possible than in cfg
		for _, o := range cfg.Tools {
			mended = mended || o.Undo > 0
		}
		for _, f := range findings {
			seen[f.Code]++
			switch f.Code {
			case analyze.Cycle, analyze.Unreachable:
				named[f.Tool] = true
				for _, n := range f.Related {
					named[n] = named[n] || f.Code == analyze.Cycle
				}
				mended = mended || slices.ContainsFunc(cfg.Tools, func(o rules.Tool) bool { return o.Name == f.Tool && o.Rules.StartConstraint })
				if f.Rule == "start_constraint" {
					delete(named, f.Tool) // the finding is about the remaining start tools
				}
			case analyze.StartNeeds:
				mended = true
			case analyze.ExitUnmet:
				unmet := append([]string{f.Tool}, f.Related...)
				for _, set := range found.succeeded {
					require.False(t, !slices.ContainsFunc(unmet, func(n string) bool { return !slices.Contains(set, n) }), "seed %d: %s, but %v", seed, f, set)
				}
			case analyze.ExitUnreachable:
				require.False(t, found.admitted[f.Tool], "seed %d: %s", seed, f)
			}
		}
		for _, name := range names {
			require.False(t, named[name] && found.admitted[name], "seed %d: %s is reached\n%v", seed, name, findings)
			require.True(t, mended || named[name] || found.admitted[name], "seed %d: %s is not reached\n%v\n%+v", seed, name, findings, cfg)
		}
	}
	t.Log(seen)
	if sets < 400 {
		return // too few to have met everything
	}
	for _, code := range []analyze.Code{analyze.Cycle, analyze.Unreachable, analyze.ExitUnmet, analyze.ExitUnreachable, analyze.StartNeeds} {
		require.NotZero(t, seen[code], code)
	}
}

// TestDeadRulesDecideNothing takes each dead rule away and looks for a sequence
// of calls in which something else is admitted.
func TestDeadRulesDecideNothing(t *testing.T) {
	tried := map[string]int{}
	sets := battery.Count(t, 400, 4000)
	for seed := range uint64(sets) {
		cfg := random(seed)
		for _, f := range analyze.Analyze(cfg) {
			if f.Code != analyze.DeadRule {
				continue
			}
			tried[f.Rule]++
			without := cfg
			without.Tools = slices.Clone(cfg.Tools)
			for i, name := range names {
				if name == f.Tool || f.Rule == "start_constraint" { // that finding is about all of them
					remove(&without.Tools[i].Rules, f)
				}
			}
			requireSame(t, cfg, without, seed, f)
		}
	}
	t.Log(tried)
	if sets < 4000 {
		return // too few to have met everything
	}
	for _, rule := range []string{"must_precede", "requires_preceding", "exclusive_group", "max_calls"} {
		require.NotZero(t, tried[rule], rule)
	}
}

// remove takes the rule of f away, or only the names that f speaks of.
func remove(r *runtime.Rules, f analyze.Finding) {
	named := func(n string) bool { return slices.Contains(f.Related, n) }
	switch f.Rule {
	case "must_precede":
		r.MustPrecede = slices.DeleteFunc(slices.Clone(r.MustPrecede), named)
	case "requires_preceding":
		r.RequiresPreceding = slices.DeleteFunc(slices.Clone(r.RequiresPreceding), named)
	case "exclusive_group":
		r.ExclusiveGroups = slices.DeleteFunc(slices.Clone(r.ExclusiveGroups), func(g string) bool {
			return f.Message == fmt.Sprintf("tool %q: no other tool is in group %q", f.Tool, g)
		})
	case "max_calls":
		r.MaxCalls = 0
	case "start_constraint":
		r.StartConstraint = false
	}
}

// requireSame drives two rule sets with the same calls.
func requireSame(t *testing.T, x, y rules.Config, seed uint64, f analyze.Finding) {
	pick := rand.New(rand.NewPCG(seed, 3))
	for range 20 {
		var states [2]*rules.State
		for i, cfg := range []rules.Config{x, y} {
			engine, err := rules.Compile(cfg)
			require.NoError(t, err)
			states[i] = engine.NewState()
			_, err = states[i].StartRun(0, "r")
			require.NoError(t, err)
		}
		for n := range 12 {
			c := rules.Call{ID: fmt.Sprint(n), Run: "r", Principal: "agent", Tool: names[pick.IntN(len(names))]}
			status, undo := rules.Status(1+pick.IntN(2)), fmt.Sprint(pick.IntN(n+1))
			var answers [2]rules.Answer
			for i, s := range states {
				v, _ := s.Admit(0, &c)
				if answers[i] = v.Answer; v.Admitted() {
					_, err := s.Commit(0, c.ID)
					require.NoError(t, err)
					_, err = s.Finish(0, c.ID, status)
					require.NoError(t, err)
				}
				if n%4 == 3 {
					_, _ = s.Undo(0, undo) // refused in both, or in neither
				}
			}
			require.Equal(t, answers[0], answers[1], "seed %d: %s\n%+v", seed, f, x)
		}
	}
}
