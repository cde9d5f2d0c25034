package rules_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A session drives the engine and the reference side by side.
type session struct {
	t      testing.TB
	pick   chooser
	engine *rules.Engine
	state  *rules.State
	ref    *reference
	now    rules.Instant
	ids    []string
	calls  map[string]rules.Call
	asks   int  // percent of calls
	quiet  bool // the run goes on, for one agent
	fresh  bool // no id of a call is used again
}

func newSession(t testing.TB, pick chooser) *session { return sessionOf(t, pick, pick.config(), 30) }

// sessionOf asks for consent for some percent of its calls.
func sessionOf(t testing.TB, pick chooser, cfg rules.Config, asks int) *session {
	engine, err := rules.Compile(cfg)
	require.NoError(t, err)
	s := &session{t: t, pick: pick, engine: engine, state: engine.NewState(), ref: &reference{cfg: cfg}, calls: map[string]rules.Call{}, asks: asks}
	s.run("r")
	if pick.chance(20) {
		s.run("q")
	}
	return s
}

func (s *session) run(id string) {
	ev, err := s.state.StartRun(s.now, id)
	s.took(ev, err, !s.ref.open(id))
}

// took notes an event that the engine made, and that it was right to make it.
func (s *session) took(ev rules.Event, err error, legal bool) {
	require.Equal(s.t, legal, err == nil, "%v", err)
	if err == nil {
		if ev.Kind != rules.EventUndone {
			require.Equal(s.t, s.ref.becomes(ev), ev.State)
		}
		s.ref.events = append(s.ref.events, ev)
	}
}

func digest(i int) rules.Digest { return rules.Digest{byte(i)} }

// known returns the id of some call, most often of a recent one.
func (s *session) known() string {
	if len(s.ids) == 0 || s.pick.chance(3) {
		return "none"
	}
	return s.ids[max(0, len(s.ids)-1-s.pick(5))]
}

func (s *session) call(id string) rules.Call {
	tools := s.ref.cfg.Tools
	of := tools[s.pick(len(tools))]
	c := rules.Call{ID: id, Run: "r", Principal: "agent", Tool: of.Name}
	if len(of.Former) > 0 && s.pick.chance(30) {
		c.Tool = of.Former[s.pick(len(of.Former))]
	}
	if s.quiet {
		c.Args, c.Key, c.HasOperation = digest(s.pick(3)), digest(s.pick(2)), true
		return c
	}
	if s.pick.chance(10) {
		c.Principal = "other"
	}
	if s.pick.chance(10) {
		c.Agent = "child"
	}
	if s.pick.chance(10) {
		c.Run = "q"
	}
	if s.pick.chance(1) {
		c.Tool = "nothing"
	}
	c.Args, c.Key = digest(s.pick(3)), digest(s.pick(2))
	if s.pick.chance(10) {
		c.Earlier = []rules.Digests{{Args: digest(s.pick(3)), Key: digest(s.pick(2))}}
	}
	c.HasOperation = s.pick.chance(80)
	if c.HasOperation && s.pick.chance(70) {
		c.Operation = "put"
	}
	return c
}

// enter admits or asks a new call.
func (s *session) enter() {
	id := strconv.Itoa(len(s.ref.events))
	if s.pick.chance(2) && !s.fresh {
		id = s.known()
	}
	c := s.call(id)
	want := s.ref.check(s.now, &c, "")
	require.Equal(s.t, want, s.state.Check(s.now, &c))
	enter := s.state.Admit
	if s.pick.chance(s.asks) {
		enter = s.state.Ask
	}
	v, ev := enter(s.now, &c)
	require.Equal(s.t, want, v)
	if v.Admitted() {
		s.ref.events = append(s.ref.events, ev)
		s.ids = append(s.ids, id)
		s.calls[id] = c
	}
}

// again resumes or rebinds a call that may wait.
func (s *session) again() {
	c := s.calls[s.known()]
	if s.pick.chance(20) {
		c.Args = digest(s.pick(3))
	}
	want := rules.Verdict{Violations: []rules.Violation{{Reason: rules.ReasonRunFinished}}}
	for _, o := range s.ref.calls() {
		if o.id == c.ID && o.asked && !o.ended() {
			want = s.ref.check(s.now, &c, c.ID)
		}
	}
	require.Equal(s.t, want, s.state.Recheck(s.now, &c))
	again := s.state.Resume
	if s.pick.chance(20) {
		again = s.state.Rebind
	}
	v, ev := again(s.now, &c)
	require.Equal(s.t, want, v)
	if v.Admitted() {
		s.ref.events = append(s.ref.events, ev)
		s.calls[c.ID] = c
	}
}

// step does one thing and compares what can be asked afterwards.
func (s *session) step() {
	id := s.known()
	status := rules.Status(1 + s.pick(4))
	if s.pick.chance(60) {
		status = rules.StatusOK
	}
	switch n := s.pick(100); {
	case n < 35, n >= 93 && s.quiet:
		s.enter()
	case n < 50:
		legal := s.ref.legal(rules.EventStarted, id, 0)
		ev, err := s.state.Commit(s.now, id)
		s.took(ev, err, legal)
	case n < 68:
		legal := s.ref.legal(rules.EventFinished, id, status)
		ev, err := s.state.Finish(s.now, id, status)
		s.took(ev, err, legal)
	case n < 73:
		legal := s.ref.legal(rules.EventReleased, id, 0)
		ev, err := s.state.Release(s.now, id)
		s.took(ev, err, legal)
	case n < 78:
		legal := s.ref.legal(rules.EventUndone, id, 0)
		ev, err := s.state.Undo(s.now, id)
		s.took(ev, err, legal)
	case n < 85:
		s.again()
	case n < 93:
		s.now += rules.Instant(s.pick(4))
	default:
		s.aboutRuns(n)
	}
	s.compare()
}

func (s *session) aboutRuns(n int) {
	run := "r"
	if s.pick.chance(30) {
		run = "q"
	}
	switch {
	case n < 96:
		legal := s.ref.open(run)
		ev, err := s.state.Stop(s.now, run)
		s.took(ev, err, legal)
	case n < 98:
		legal := s.ref.open(run)
		var want []string
		for _, c := range s.ref.calls() {
			if legal && c.run == run && !c.closed && !c.ended() && !c.started {
				want = append(want, c.id)
			}
		}
		dropped, ev, err := s.state.CloseRun(s.now, run)
		require.Equal(s.t, want, dropped)
		s.took(ev, err, legal)
	case n < 99:
		s.run(run)
	default:
		s.state.Prune(s.now)
	}
}

// compare asks the engine for all that it knows.
func (s *session) compare() {
	calls := s.ref.calls()
	for _, run := range []string{"r", "q"} {
		state, reminders := s.ref.runState(run)
		want := rules.RunStatus{State: state, PendingExit: []string{}, Reminders: reminders}
		if state != rules.RunClosed {
			want.PendingExit = s.ref.pendingExit(run, calls)
		}
		for _, c := range calls {
			switch {
			case c.run != run || c.closed || c.ended():
			case c.asked:
				want.Waiting = append(want.Waiting, c.id)
			default:
				want.Running = append(want.Running, c.id)
			}
		}
		require.Equal(s.t, want, s.state.Status(run))
		moot, _ := s.state.Moot(run)
		require.Equal(s.t, s.ref.moot(run, calls), moot)
		s.compareFacts(s.state, run, calls)
	}
}

func (s *session) compareFacts(state *rules.State, run string, calls []*refCall) {
	for _, principal := range []string{"agent", "other"} {
		for _, agent := range []string{"", "child"} {
			used, successes := state.Counts(run, agent, principal)
			for i, t := range s.ref.cfg.Tools {
				var f rules.ToolFacts
				for _, c := range calls {
					if c.run != run || c.principal != principal || c.tool.Name != t.Name {
						continue
					}
					if c.agent == agent && c.usesSlot() {
						f.Used++
					}
					if c.succeeded() {
						f.Successes++
					}
				}
				require.Equal(s.t, f, state.Facts(run, agent, principal, t.Name))
				require.Equal(s.t, f, rules.ToolFacts{Used: at(used, i), Successes: at(successes, i)})
			}
		}
	}
}

// at returns a count of a list that is nil when all are 0.
func at(counts []int32, i int) int {
	if counts == nil {
		return 0
	}
	return int(counts[i])
}

// describe names a failing sequence.
func (s *session) describe() string {
	out := fmt.Sprintf("%+v\n", s.ref.cfg)
	for _, t := range s.ref.cfg.Tools {
		out += fmt.Sprintf("%+v\n", t)
	}
	for e := range slices.Values(s.ref.events) {
		out += fmt.Sprintf("%d at %d: %s %s %s %s %s\n", e.Kind, e.At, e.Run, e.Call, e.Tool, e.Principal, e.Status)
	}
	return out
}

func drive(t *testing.T, pick chooser, cfg rules.Config, steps int) *session {
	s := sessionOf(t, pick, cfg, 30)
	defer func() {
		if t.Failed() {
			t.Log(s.describe())
		}
	}()
	for range steps {
		s.step()
	}
	return s
}

// TestEngineAgreesWithReference compares every answer of the engine with that of
// the reference, over random rule sets and sequences.
func TestEngineAgreesWithReference(t *testing.T) {
	seen := map[rules.RunState]int{}
	for seed := range uint64(battery.Count(t, 800, 8000)) {
		pick := randomly(seed)
		cfg, steps := pick.config(), 30
		if seed%8 == 0 {
			cfg, steps = pick.leaving(), 70
		}
		for _, ev := range drive(t, pick, cfg, steps).ref.events {
			seen[ev.State]++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	require.Greater(t, seen[rules.RunCleanup], 3, "clean-up is hardly met")
	require.Greater(t, seen[rules.RunFinished], 10, "ends of runs are hardly met")
}

// TestRebuiltFromEvents stops at a random point, rebuilds the state from the
// events so far, and goes on with the rebuilt one.
func TestRebuiltFromEvents(t *testing.T) {
	for seed := range uint64(battery.Count(t, 300, 2000)) {
		pick := randomly(seed)
		s := newSession(t, pick)
		for range 3 {
			for range pick(20) {
				s.step()
			}
			rebuilt, err := s.engine.Replay(s.ref.events)
			require.NoError(t, err)
			require.Equal(t, uint64(len(s.ref.events)), rebuilt.Version())
			s.state = rebuilt
			s.compare()
		}
		for range 10 {
			s.step()
		}
	}
}

// become goes on with another configuration, as after a start.
func (s *session) become(cfg rules.Config) {
	var err error
	s.engine, err = rules.Compile(cfg)
	require.NoError(s.t, err)
	s.state, err = s.engine.Replay(s.ref.events)
	require.NoError(s.t, err)
	s.ref.cfg = cfg
	s.compare()
}

// change changes some of the tools: rules that a tool has, and those that it has not.
func (pick chooser) change(cfg rules.Config) rules.Config {
	other := pick.config()
	for other.Tools == nil || len(other.Tools) < len(cfg.Tools) { // rules name tools that stay
		other.Tools = append(other.Tools, rules.Tool{Name: cfg.Tools[len(other.Tools)].Name})
	}
	if pick.chance(50) {
		other.Tools = other.Tools[:len(cfg.Tools)]
		for i := range other.Tools {
			known := func(name string) bool { return name[0] >= byte('a'+len(cfg.Tools)) }
			other.Tools[i].Rules.RequiresPreceding = slices.DeleteFunc(other.Tools[i].Rules.RequiresPreceding, known)
			other.Tools[i].Rules.MustPrecede = slices.DeleteFunc(other.Tools[i].Rules.MustPrecede, known)
			if pick.chance(50) {
				other.Tools[i].Undo, other.Tools[i].Dedupe = cfg.Tools[i].Undo, cfg.Tools[i].Dedupe
			}
		}
	}
	return other
}

// TestRebuiltUnderAnotherConfig stops at random points, rebuilds the state from the
// events under a configuration with other rules, and fewer or more tools, and goes
// on: what has happened has happened, and is judged by the rules of now.
// SEMANTICS 6.5.1
func TestRebuiltUnderAnotherConfig(t *testing.T) {
	for seed := range uint64(battery.Count(t, 300, 4000)) {
		rebuild(t, seed)
	}
}

// rebuild is one session of TestRebuiltUnderAnotherConfig.
func rebuild(t *testing.T, seed uint64) {
	pick := randomly(seed)
	s := newSession(t, pick)
	defer s.tell(seed)
	first := s.ref.cfg
	for _, next := range []func() rules.Config{
		pick.config, func() rules.Config { return pick.change(s.ref.cfg) }, func() rules.Config { return first },
		func() rules.Config { return pick.renamed(s.ref.cfg) }, func() rules.Config { return pick.renamed(s.ref.cfg) },
		func() rules.Config { return pick.change(first) }, // names are free again, or of other tools
	} {
		for range pick(25) {
			s.step()
		}
		s.become(next())
	}
	for range 10 {
		s.step()
	}
}

// tell names the seed of a session that has failed, and what happened in it.
func (s *session) tell(seed uint64) {
	if s.t.Failed() {
		s.t.Logf("seed %d\n%s", seed, s.describe())
	}
}

// FuzzEngine is TestEngineAgreesWithReference over data that a fuzzer chooses.
func FuzzEngine(f *testing.F) {
	for seed := range byte(8) {
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(i)*31 + seed*7
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		pick := bytewise(data)
		drive(t, pick, pick.config(), 2+len(data)/12)
	})
}
