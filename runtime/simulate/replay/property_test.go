package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/simulate/replay"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func number(v wire.Value, name string) int {
	var in map[string]json.RawMessage
	var n int
	text, _ := wire.Append(nil, v)
	_ = json.Unmarshal(text, &in)
	_ = json.Unmarshal(in[name], &n)
	return n
}

func word(v wire.Value, name string) string {
	var in map[string]json.RawMessage
	var s string
	text, _ := wire.Append(nil, v)
	_ = json.Unmarshal(text, &in)
	_ = json.Unmarshal(in[name], &s)
	return s
}

// declared returns random members of tools: what handlers are bound by is up to
// the one generator, what decides about calls up to the other.
func declared(bounds, rng *rand.Rand, retries bool) map[string]string {
	extra := map[string]string{}
	for i, name := range toolNames {
		extra[name] = bound(bounds, retries) + decided(rng, i)
	}
	return extra
}

func bound(rng *rand.Rand, retries bool) (text string) {
	if rng.IntN(2) == 0 {
		text += "    deadline: 3s\n"
	}
	if rng.IntN(3) == 0 {
		text += "    limits: {concurrency: 1}\n"
	}
	if rng.IntN(3) == 0 { // an undo that was rejected is not recorded
		text += "    undo: {state: {type: object}}\n"
	}
	if rng.IntN(3) == 0 && retries {
		text += "    idempotent: true\n    retry: {max: 2, initial: 1s, on_timeout: true}\n"
	}
	return text
}

func decided(rng *rand.Rand, tool int) (text string) {
	chance := func(n int) bool { return rng.IntN(n) == 0 }
	rules := ""
	rule := func(s string) { rules += s + ", " }
	if chance(3) {
		text += "    consent: {ask: always, timeout: 8s, max_cover: tool, allow_edit: true}\n"
	}
	if chance(3) {
		text += "    dedupe: 5s\n"
	} else if chance(3) {
		text += "    idempotency: {key: [n], window: 6s}\n"
	}
	if chance(3) {
		rule(fmt.Sprintf("max_calls: %d", 1+rng.IntN(3)))
	}
	if chance(3) {
		rule(fmt.Sprintf("cooldown: %ds", 1+rng.IntN(4)))
	}
	if tool > 0 && chance(4) {
		rule("requires_preceding: [" + toolNames[rng.IntN(tool)] + "]")
	}
	if chance(4) {
		rule("exclusive_group: g")
	}
	if chance(8) {
		rule("exit_loop: true")
	} else if chance(8) {
		rule("required_before_exit: true")
	}
	if rules != "" {
		text += "    rules: {" + rules[:len(rules)-2] + "}\n"
	}
	return text
}

// judge is a policy with an opinion on arguments and facts.
func judge(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
	d := runtime.Decision{Effect: runtime.EffectAllow}
	f := in.Facts().Tool(0)
	switch {
	case in.Tool.Name == "b" && f.Successes > 2:
		d = runtime.Decision{Effect: runtime.EffectDeny, Denials: []runtime.Denial{{Code: "enough"}}}
	case in.Tool.Name == "c" && f.Invocations == 1:
		d = runtime.Decision{Effect: runtime.EffectAsk, Asks: []runtime.Ask{{ID: "first", MaxCover: runtime.CoverTool}}}
	}
	return d, nil
}

func candidate(file string, t *testing.T) *replay.Candidate {
	return &replay.Candidate{Declaration: parse(t, file), Policy: func(*runtime.Registry) (runtime.Policy, error) {
		return runtime.PolicyFunc(judge), nil
	}}
}

// TestSameRulesNeverDiverge replays random recordings against the rules that they
// were made with. Their processes are killed at random, also in the middle of what
// they write.
// SEMANTICS 1.3.3
func TestSameRulesNeverDiverge(t *testing.T) {
	for range battery.Count(t, 40, 1500) {
		neverDiverges(t, rand.Uint64())
	}
}

// TestSeedsThatDiverged repeats recordings that were replayed wrongly once: a slot went to a call
// of the run that was being closed; a run was closed while a call waited to be run again after a
// restart; a process ended while it closed the calls of a sub-agent; an approved call waited for a
// slot while its caller still waited for the rest of its batch.
func TestSeedsThatDiverged(t *testing.T) {
	for _, seed := range []uint64{
		1176354563195443379, 1064345000307146399, 13256987243924386770, 2112569969986906445, 15711889823072894937, 1004768545792100470,
		2817525291151876004,
	} {
		neverDiverges(t, seed)
	}
}

// neverDiverges replays the recording of a seed against the rules that it was made with.
func neverDiverges(t *testing.T, seed uint64) {
	t.Run(fmt.Sprint(seed), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(seed, 1))
		text := tools(declared(rng, rng, true))
		replaysTheSame(t, text, played(t, seed, parse(t, text), runtime.PolicyFunc(judge), false))
	})
}

// replaysTheSame replays a recording against the rules that it was made with.
func replaysTheSame(t *testing.T, text string, j *store) {
	report, err := replay.Run(t.Context(), j, candidate(text, t))
	require.NoError(t, err)
	for _, r := range report.Runs {
		early := slices.ContainsFunc(r.NotReplayable, func(n replay.NotReplayable) bool {
			return n.Why != "its process ended before its input was recorded" && n.Why != "it was refused for at_capacity, which no rule decides"
		})
		if !assert.Nil(t, r.Divergence) || !assert.False(t, early) {
			dump(t, text, j, r)
		}
	}
	require.Equal(t, report.Summary.Calls, report.Summary.Unchanged+report.Summary.NotReplayable)

	each := candidate(text, t)
	each.Each = true
	alone, err := replay.Run(t.Context(), j, each)
	require.NoError(t, err)
	for i, r := range alone.Runs {
		if !assert.Equal(t, report.Runs[i], r, "each call by itself") {
			dump(t, text, j, r)
		}
	}
}

// TestEqualCallsNeverDiverge replays recordings of equal calls: each waits until the first has begun, which may end before the
// others are told.
// SEMANTICS 4.8.11, 4.8.12
func TestEqualCallsNeverDiverge(t *testing.T) {
	for range battery.Count(t, 20, 500) {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			extra := map[string]string{}
			for _, name := range toolNames {
				extra[name] = "    deadline: 3s\n    dedupe: 5s\n"
				if rng.IntN(3) > 0 {
					extra[name] += "    limits: {concurrency: 1}\n"
				}
				if rng.IntN(4) == 0 {
					extra[name] += "    consent: {ask: always, timeout: 8s, allow_edit: true}\n"
				}
			}
			text := tools(extra)
			file, policy := parse(t, text), runtime.PolicyFunc(judge)
			p := &play{recorder: newRecorderOf(t, file, policy, settings(rng)...), rng: rng, alike: true}
			replaysTheSame(t, text, playedBy(p, file, policy))
		})
	}
}

func dump(t *testing.T, text string, j *store, r *replay.RunReport) {
	t.Helper()
	t.Log(text)
	out, _ := json.MarshalIndent(r, "", " ")
	t.Logf("%s", out)
	entries, _ := j.Read(t.Context(), 0, 10000)
	for _, e := range entries {
		rec, _ := journal.Decode(e.Leaf)
		t.Log(e.Seq, e.At.Format("04:05.000"), e.Kind, e.Run, e.Call, e.Tool, string(rec.Outcome), rec.Resolution, rec.Rejection)
	}
	t.FailNow()
}
