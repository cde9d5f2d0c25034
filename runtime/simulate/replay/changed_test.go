package replay_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/simulate/replay"
)

// A fact is one decision about a call that a journal has: that consent was requested,
// that the call was let run, how it ended.
type fact struct {
	seq  uint64
	run  string
	call string
	what string
}

// facts reads them out of a journal, without any help of the product.
func facts(t *testing.T, j *store) (list []fact, byCall map[string][]fact) {
	t.Helper()
	entries, err := j.Read(t.Context(), 0, 1<<20)
	require.NoError(t, err)
	byCall = map[string][]fact{}
	for _, e := range entries {
		r, err := journal.Decode(e.Leaf)
		require.NoError(t, err)
		f := fact{e.Seq, e.Run, e.Call, ""}
		switch {
		case e.Kind == runtime.EventApprovalRequested.String():
			f.what = "asked"
			for _, ev := range r.Consent {
				if ev.Asked != nil && ev.Asked.CallID == e.Call {
					f.what += fmt.Sprint(ev.Asked.Rules())
				}
			}
		case e.Kind == runtime.EventAuthorized.String():
			f.what = "runs"
		case e.Mark == journal.MarkEnded:
			f.what = ending(t, r)
		case e.Kind == runtime.EventUndone.String():
			f.what = "undone"
		}
		if f.what == "" {
			continue
		}
		if of := byCall[e.Call]; strings.HasPrefix(f.what, "{denied ") && len(of) > 0 && of[len(of)-1].what == "runs" {
			admitted := of[len(of)-1] // and refused where it starts: it does not run
			byCall[e.Call] = of[:len(of)-1]
			list = slices.DeleteFunc(list, func(f fact) bool { return f == admitted })
		}
		list = append(list, f)
		byCall[e.Call] = append(byCall[e.Call], f)
	}
	return list, byCall
}

func ending(t *testing.T, r *journal.Record) string {
	t.Helper()
	var out struct {
		Outcome    string                  `json:"outcome"`
		AllReasons []string                `json:"all_reasons"`
		Denials    []struct{ Code string } `json:"denials"`
	}
	require.NoError(t, json.Unmarshal(r.Outcome, &out))
	switch out.Outcome {
	case "failed", "cancelled", "unknown":
		return "vain"
	}
	return fmt.Sprint(out)
}

// alike says that two facts do not end a comparison: a refusal for other reasons, a question by other rules.
func alike(x, y string) bool {
	for _, kind := range []string{"{denied ", "asked["} {
		if strings.HasPrefix(x, kind) && strings.HasPrefix(y, kind) {
			return true
		}
	}
	return x == y
}

// endedByRun reports whether a call that waited for consent ended because its run did. Where the run goes on, the call goes
// on waiting, however it is refused later.
func endedByRun(f fact) bool { return strings.HasPrefix(f.what, "{denied [run_finished]") }

// first returns the first fact of a recording that is none of another one.
func first(was []fact, is map[string][]fact) *fact {
	nth := map[string]int{}
	for i, f := range was {
		n := nth[f.call]
		nth[f.call]++
		if n >= len(is[f.call]) || !alike(is[f.call][n].what, f.what) || n > 0 && endedByRun(f) != endedByRun(is[f.call][n]) {
			return &was[i]
		}
	}
	return nil
}

// TestChangedRulesDivergeWhereTheyWould changes the rules of one tool. The same
// operations on an executor of the changed rules say what a replay must find.
func TestChangedRulesDivergeWhereTheyWould(t *testing.T) {
	diverged := map[replay.Class]int{}
	for range battery.Count(t, 40, 150) {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			extra := declared(rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2)), false)
			was := tools(extra)
			tool := int(seed % uint64(len(toolNames)))
			bounds := declared(rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 4)), false)
			extra[toolNames[tool]] = bounds[toolNames[tool]]
			is := tools(extra)

			j := played(t, seed, parse(t, was), runtime.PolicyFunc(judge), true)
			report, err := replay.Run(t.Context(), j, candidate(is, t))
			require.NoError(t, err)
			alone := eachByItself(t, j, candidate(is, t))
			list, _ := facts(t, j)
			_, direct := facts(t, played(t, seed, parse(t, is), runtime.PolicyFunc(judge), true))
			want := first(list, direct)
			i := slices.IndexFunc(report.Runs, func(r *replay.RunReport) bool { return r.Divergence != nil })
			if i >= 0 && blocked(direct[report.Runs[i].Divergence.Call]) && (want == nil || report.Runs[i].Divergence.Seq < want.seq) {
				return // as in says
			}
			if want == nil {
				require.Equal(t, -1, i, "%+v", report.Runs[max(i, 0)].Divergence)
				return
			}
			require.GreaterOrEqual(t, i, 0, "%+v", want)
			d := report.Runs[i].Divergence
			diverged[d.Class]++
			require.Equal(t, []any{want.run, want.call, want.seq}, []any{report.Runs[i].Run, d.Call, d.Seq}, "%+v is %v", want, direct[want.call])
			says(t, d, direct[want.call])
			if !judgedAgain(list, d) && d.Recorded.Reason != "blocked_after_timeout" { // Each asks nothing about such a call
				require.NotNil(t, alone.Runs[i].Divergence)
				require.GreaterOrEqual(t, alone.Runs[i].Divergence.Seq, d.Seq, "up to there the state is the recorded one")
			}
		})
	}
	t.Log(diverged)
}

// eachByItself replays a recording and judges each call by itself: all of them are judged but those that
// found no room, which no rule decides.
func eachByItself(t *testing.T, j *store, c *replay.Candidate) *replay.Report {
	t.Helper()
	c.Each = true
	report, err := replay.Run(t.Context(), j, c)
	require.NoError(t, err)
	for _, r := range report.Runs {
		for _, n := range r.NotReplayable { // an equal call that waited in vain for another one (SEMANTICS 4.8.11)
			require.Contains(t, n.Why, "at_capacity")
		}
		require.Zero(t, r.After)
		require.Empty(t, r.AfterRun)
	}
	return report
}

// judgedAgain reports whether a divergence is that of a call which had been asked about before.
func judgedAgain(list []fact, d *replay.Divergence) bool {
	return slices.ContainsFunc(list, func(f fact) bool { return f.call == d.Call && f.seq < d.Seq && strings.HasPrefix(f.what, "asked") })
}

// blocked reports whether a call was refused because of an earlier timeout of its turn.
func blocked(of []fact) bool {
	return slices.ContainsFunc(of, func(f fact) bool { return f.what == "{denied [blocked_after_timeout] []}" })
}

// says requires that a candidate's verdict is among what came of the call directly.
func says(t *testing.T, d *replay.Divergence, direct []fact) {
	t.Helper()
	var whats []string
	for _, f := range direct {
		whats = append(whats, f.what)
	}
	if d.Undo {
		require.NotContains(t, whats, "undone")
		return
	}
	if blocked(direct) {
		return // a turn without a budget is not recorded: see the package's manual
	}
	switch v := d.Candidate; v.Decision {
	case replay.Asked:
		require.Contains(t, whats, "asked"+fmt.Sprint(v.Rules))
	case replay.Runs:
		require.Contains(t, whats, "runs")
	case replay.Refused:
		require.Contains(t, fmt.Sprint(whats), fmt.Sprint("{denied ", v.AllReasons))
	case replay.Duplicate:
		require.Contains(t, fmt.Sprint(whats), "{duplicate ")
	}
}
