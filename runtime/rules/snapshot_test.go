package rules_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

func TestMain(m *testing.M) { battery.Main(m) }

// A kept session is what a caller keeps of a session beside its events.
type kept struct {
	state *rules.State
	past  []rules.PastCall
}

// apply applies an event, and keeps the call that it ends.
func (k *kept) apply(t *testing.T, ev *rules.Event) {
	require.NoError(t, k.state.Apply(ev))
	if p, ok := k.state.Ended(); ok {
		k.past = append(k.past, p)
	}
	if ev.Kind == rules.EventUndone {
		k.past = slices.DeleteFunc(k.past, func(p rules.PastCall) bool { return p.Call == ev.Call })
	}
}

// snapshot returns a snapshot of the state, as a journal gives it back.
func (k *kept) snapshot(t *testing.T) *rules.Snapshot {
	text, err := json.Marshal(k.state.Snapshot())
	require.NoError(t, err)
	var of rules.Snapshot
	require.NoError(t, json.Unmarshal(text, &of))
	require.Equal(t, k.state.Snapshot(), &of)
	return &of
}

// later makes a configuration under which a recorded session may go on: with other rules, and other tools.
func (pick chooser) later(cfg rules.Config) rules.Config {
	other := pick.config()
	switch {
	case pick.chance(30):
	case cfg.Tools[0].Name == "exit":
		other = pick.leaving()
	default:
		other = pick.change(cfg)
	}
	if pick.chance(40) {
		other = pick.renamed(other)
	}
	for i := range other.Tools {
		if other.Tools[i].Undo > 0 && pick.chance(50) {
			other.Tools[i].Undo = time.Duration(1 + pick(6))
		}
	}
	return other
}

// same wants two states to give the same answers.
func same(t *testing.T, s *session, cfg rules.Config, want, got *rules.State) {
	want.Prune(s.now)
	got.Prune(s.now)
	require.Equal(t, want.Snapshot(), got.Snapshot())
	require.Equal(t, want.Version(), got.Version())
	require.Equal(t, want.Size(), got.Size())
	for _, run := range []string{"r", "q"} {
		require.Equal(t, want.Status(run), got.Status(run))
		wantMoot, why := want.Moot(run)
		gotMoot, as := got.Moot(run)
		require.Equal(t, wantMoot, gotMoot)
		require.Equal(t, why, as)
		for _, principal := range []string{"agent", "other"} {
			require.Equal(t, want.OpenStarts(run, principal), got.OpenStarts(run, principal))
			for i := range cfg.Tools {
				sameOfTool(t, want, got, rules.Call{ID: "new", Run: run, Principal: principal, Tool: cfg.Tools[i].Name, HasOperation: true}, s.now)
			}
		}
	}
	for _, id := range s.ids {
		wantEvent, wantErr := want.Undoing(s.now, id)
		gotEvent, gotErr := got.Undoing(s.now, id)
		require.Equal(t, wantEvent, gotEvent)
		require.Equal(t, wantErr, gotErr)
		call := s.calls[id]
		require.Equal(t, want.Recheck(s.now, &call), got.Recheck(s.now, &call))
	}
}

// sameOfTool compares the answers to calls of one tool by one principal.
func sameOfTool(t *testing.T, want, got *rules.State, c rules.Call, now rules.Instant) {
	for _, agent := range []string{"", "child"} {
		require.Equal(t, want.Facts(c.Run, agent, c.Principal, c.Tool), got.Facts(c.Run, agent, c.Principal, c.Tool))
	}
	for args := range 3 {
		for key := range 2 {
			c.Args, c.Key = digest(args), digest(key)
			require.Equal(t, want.Check(now, &c), got.Check(now, &c))
			require.Equal(t, want.Check(now+3, &c), got.Check(now+3, &c))
		}
	}
}

// TestRestoredAgreesWithReplayed takes a snapshot at a random point of a session, restores it under other
// configurations, applies the rest, and compares that with the replay of all events.
func TestRestoredAgreesWithReplayed(t *testing.T) {
	met := map[string]int{}
	seeds := battery.Count(t, 120, 400)
	for seed := range uint64(seeds) {
		pick := randomly(seed + 9000)
		cfg := pick.config()
		if seed%5 == 0 {
			cfg = pick.leaving()
		}
		s := sessionOf(t, pick, cfg, 30)
		s.fresh = true
		for range 10 + pick(80) {
			if s.step(); pick.chance(3) {
				s.aboutRuns(97) // closes a run
				s.run("r")
				s.run("q")
			}
		}
		for range 4 {
			restoreUnderOthers(t, s, cfg, pick(len(s.ref.events)+1), met)
		}
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, s.describe())
		}
	}
	if seeds < 80 {
		return
	}
	for _, what := range []string{"runs", "asked", "reserved", "started", "unknown", "stray"} {
		assert.Positive(t, met[what], "%s is never met in a snapshot", what)
	}
}

// TestCallsAreHeldInTheOrderOfTheirArguments: of two equal calls, which a configuration let run that held nothing against
// them, the later one answers equal calls. A call that an edit has made equal to an earlier one is the later one.
func TestCallsAreHeldInTheOrderOfTheirArguments(t *testing.T) {
	plain := tool("pay", runtime.Rules{})
	once := plain
	once.Dedupe.Mode = runtime.DedupeAlways
	for _, restored := range []bool{false, true} {
		p := begin(t, runtime.Rules{}, plain)
		edited := p.ask("pay", 1)
		p.ask("pay", 2)
		edited.Args = digest(2)
		v, ev := p.s.Resume(p.now, &edited)
		require.True(t, v.Admitted())
		p.took(ev, nil)
		p.become(restored, once)
		p.duplicate(edited.ID, "pay", 2)
	}
}

// restoreUnderOthers takes a snapshot of a session after so many events, restores it under five other
// configurations, and wants each to give the answers of the replay from there on.
func restoreUnderOthers(t *testing.T, s *session, cfg rules.Config, at int, met map[string]int) {
	events, end, pick := s.ref.events, s.now, s.pick
	defer func() { s.now = end }()
	k := kept{state: s.engine.NewState()}
	for i := range events[:at] {
		k.apply(t, &events[i])
	}
	of := k.snapshot(t)
	met["runs"] += len(of.Runs)
	for _, c := range of.Live {
		met[c.Progress.String()]++
		if c.Run == "" {
			met["stray"]++
		}
	}
	for range 5 {
		other := pick.later(cfg)
		engine, err := rules.Compile(other)
		require.NoError(t, err)
		want, err := engine.Replay(events[:at])
		require.NoError(t, err)
		pick.shuffle(k.past)
		got, err := engine.Restore(of, slices.Values(k.past))
		require.NoError(t, err)
		require.Equal(t, of, got.Snapshot(), "a restored state has the same snapshot")
		s.now = of.Now
		same(t, s, other, want, got)
		for i, ev := range events[at:] {
			require.NoError(t, want.Apply(&ev))
			require.NoError(t, got.Apply(&ev))
			if s.now = max(s.now, ev.At); i%7 == 3 {
				same(t, s, other, want, got)
			}
		}
		s.now = end
		same(t, s, other, want, got)
	}
}

func (pick chooser) shuffle(list []rules.PastCall) {
	for i := len(list) - 1; i > 0; i-- {
		j := pick(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}

// TestRetiredToolsAreToldApart: what happened with tools that a Config does not name has their names in a
// snapshot, and holds again once they are declared again.
func TestRetiredToolsAreToldApart(t *testing.T) {
	p := begin(t, runtime.Rules{}, tool("a", runtime.Rules{MaxCalls: 1}), tool("b", runtime.Rules{MaxCalls: 2}))
	var events []rules.Event
	first, err := p.s.StartRun(0, "q")
	require.NoError(t, err)
	events = append(events, first)
	for i, name := range []string{"a", "b", "b"} {
		c := rules.Call{ID: string(rune('0' + i)), Run: "q", Principal: "agent", Tool: name}
		_, ev := p.s.Admit(0, &c)
		events = append(events, ev)
		ev, err = p.s.Commit(0, c.ID)
		require.NoError(t, err)
		events = append(events, ev)
	}
	nothing, err := rules.Compile(rules.Config{Tools: []rules.Tool{tool("c", runtime.Rules{})}})
	require.NoError(t, err)
	s, err := nothing.Replay(events)
	require.NoError(t, err)
	want := []rules.Slots{{Principal: "agent", Tool: "a", Used: 1}, {Principal: "agent", Tool: "b", Used: 2}}
	require.Equal(t, want, s.Snapshot().Runs[0].Slots)
	require.Zero(t, s.Facts("q", "", "agent", "b"))
	require.Equal(t, rules.ReasonUnknownTool, s.Check(0, &rules.Call{ID: "x", Run: "q", Principal: "agent", Tool: "b"}).Violations[0].Reason)
	s, err = p.engine.Restore(s.Snapshot(), nil)
	require.NoError(t, err)
	require.Equal(t, 2, s.Facts("q", "", "agent", "b").Used)
	require.Equal(t, 1, s.Facts("q", "", "agent", "a").Used)
}

// TestSnapshotsThatContradictThemselves: a snapshot that no session has is refused.
func TestSnapshotsThatContradictThemselves(t *testing.T) {
	engine, err := rules.Compile(rules.Config{Tools: []rules.Tool{tool("a", runtime.Rules{})}})
	require.NoError(t, err)
	run := []rules.RunFacts{{Run: "r"}}
	for want, of := range map[string]rules.Snapshot{
		`run "r" is in the snapshot twice`:                          {Runs: slices.Concat(run, run)},
		`call "c" is in run "q", which is not in the snapshot`:      {Runs: run, Live: []rules.LiveCall{{Call: "c", Run: "q", Tool: "a"}}},
		`call "c" has not started, and its run is closed`:           {Live: []rules.LiveCall{{Call: "c", Tool: "a"}}},
		`call "c" is in the snapshot twice`:                         {Runs: run, Live: []rules.LiveCall{{Call: "c", Run: "r", Tool: "a"}, {Call: "c", Run: "r", Tool: "a"}}},
		`call "c": progress(7) is not how far a live call has come`: {Runs: run, Live: []rules.LiveCall{{Call: "c", Run: "r", Tool: "a", Progress: 7}}},
	} {
		_, err := engine.Restore(&of, nil)
		assert.EqualError(t, err, want)
	}
}
