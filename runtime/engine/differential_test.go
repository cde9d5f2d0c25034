package engine_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A handClock stops until the test advances it. Its timers never fire.
type handClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *handClock) AfterFunc(time.Duration, func()) runtime.Timer { return noTimer{} }

type noTimer struct{}

func (noTimer) Stop() bool               { return true }
func (noTimer) Reset(time.Duration) bool { return true }

// A duel makes the same calls through an executor and against the rule machine alone.
type duel struct {
	t       *testing.T
	rng     *rand.Rand
	clock   *handClock
	exec    *engine.Executor
	ses     *engine.Session
	run     *engine.Run
	tools   []*runtime.Tool
	state   *rules.State
	events  []rules.Event // of the executor's rule states
	asked   []rules.Call
	request map[string]string
	done    []string
	judged  []judged
	calls   int
}

// A judged is a verdict and the number of events before it.
type judged struct {
	after   int
	at      rules.Instant
	call    rules.Call
	verdict rules.Verdict
}

func (d *duel) at() rules.Instant { return rules.Instant(d.clock.Now().UnixNano()) }

// someRules returns random rules.
func someRules(rng *rand.Rand, names []string) func(*runtime.Spec) {
	some := func() []string { return []string{names[rng.IntN(len(names))]} }
	return func(s *runtime.Spec) {
		r := &s.Rules
		chance := func(n int) bool { return rng.IntN(n) == 0 }
		r.StartConstraint = chance(8)
		if chance(4) {
			r.RequiresPreceding = some()
		}
		if chance(5) {
			r.MustPrecede = some()
		}
		if chance(3) {
			r.ExclusiveGroups = []string{[]string{"g", "h"}[rng.IntN(2)]}
		}
		r.RequiredBeforeExit, r.ExitLoop = chance(6), chance(6)
		r.ContinueLoop = !r.ExitLoop && chance(6)
		if chance(2) {
			r.MaxCalls = 1 + rng.IntN(4)
		}
		if chance(3) {
			r.Cooldown = time.Duration(1+rng.IntN(4)) * time.Second
		}
		if chance(3) {
			s.Dedupe = runtime.Dedupe{Mode: runtime.DedupeWindow, Window: 3 * time.Second}
		}
		if chance(3) {
			asking()(s)
			s.Consent.Timeout = 1000 * time.Hour
		}
		if chance(3) {
			s.Undo = &runtime.UndoSpec{TTL: 1000 * time.Hour}
		}
		s.Idempotent = chance(2)
	}
}

func newDuel(t *testing.T, seed uint64) *duel {
	d := &duel{t: t, rng: rand.New(rand.NewPCG(seed, 7)), clock: &handClock{now: time.Unix(1e9, 0)}, request: map[string]string{}}
	handler := func(ctx context.Context, in *readInput) (*readOutput, error) {
		if in.Limit == 2 {
			return nil, errors.New("mischief")
		}
		return okRead(ctx, in)
	}
	names := []string{"a", "b", "c", "d", "e"}
	for _, name := range names {
		d.tools = append(d.tools, readTool(handler, named(name), someRules(d.rng, names)))
	}
	r := newRigWith(t, runtime.PolicyFunc(allowAll), d.tools, engine.WithPendingRequests(), engine.WithClock(d.clock))
	d.exec = r.exec
	d.exec.Note(func(_ string, ev rules.Event) { d.events = append(d.events, ev) })
	d.state = d.exec.Engine().NewState()
	_, err := d.state.StartRun(d.at(), "r")
	require.NoError(t, err)
	d.ses = d.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
	d.run, err = d.ses.StartRun(t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(t, err)
	return d
}

// call makes a call both ways.
func (d *duel) call() {
	tool := d.tools[d.rng.IntN(len(d.tools))]
	d.calls++
	limit := 1 + d.rng.IntN(3)
	rc := rules.Call{ID: fmt.Sprint("c", d.calls), Run: "r", Principal: "agent", Tool: tool.Name()}
	input := fmt.Sprintf(`{"path":"p","limit":%d}`, limit)
	before := len(d.events)
	out := d.run.Turn(engine.TurnConfig{}).Execute(d.t.Context(), callOf(rc.ID, rc.Tool, input))
	var err error
	rc.Args, err = d.digest(rc.Tool, input)
	require.NoError(d.t, err)
	asks := tool.Spec().Consent != nil
	verdict := d.state.Check(d.at(), &rc)
	if out.Kind != runtime.Denied && out.Kind != runtime.Duplicate || len(d.events) > before {
		require.True(d.t, verdict.Admitted(), "%s: %v, %v", rc.Tool, out.Kind, verdict.Reasons())
	}
	d.judged = append(d.judged, judged{before, d.at(), rc, verdict})
	switch {
	case verdict.Admitted() && asks:
		d.state.Ask(d.at(), &rc)
		require.Equal(d.t, runtime.Pending, out.Kind, out.Message)
		d.asked, d.request[rc.ID] = append(d.asked, rc), out.RequestID
	case verdict.Admitted():
		d.state.Admit(d.at(), &rc)
		d.ran(rc, out)
	default:
		d.refused(verdict, out)
	}
	d.same(out)
}

// digest returns the digest of the tool, the principal and the canonical arguments,
// each with its length.
func (d *duel) digest(tool, input string) (rules.Digest, error) {
	raw, violations := wire.ParseRaw([]byte(input), wire.Limits{})
	if violations != nil {
		return rules.Digest{}, errors.New(violations[0].String())
	}
	form, err := wire.AppendCanonical(nil, raw)
	var b []byte
	for _, field := range []string{tool, "agent", string(form)} {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(field))), field...)
	}
	return d.exec.Masked(rules.DigestOf(b)), err
}

// ran takes an admitted call to its end.
func (d *duel) ran(rc rules.Call, out runtime.Outcome) {
	_, err := d.state.Commit(d.at(), rc.ID)
	require.NoError(d.t, err)
	status := rules.StatusOK
	if out.Kind != runtime.Completed {
		require.Equal(d.t, runtime.Failed, out.Kind, out.Message)
		status = rules.StatusError
	}
	_, err = d.state.Finish(d.at(), rc.ID, status)
	require.NoError(d.t, err)
	d.done = append(d.done, rc.ID)
	if status == rules.StatusOK {
		d.moot()
	}
}

// moot takes the calls that wait and that the phase of the run lets start no more to their end.
func (d *duel) moot() {
	ids, why := d.state.Moot("r")
	for _, id := range ids {
		out := d.ses.Await(d.t.Context(), id)
		require.Equal(d.t, runtime.Denied, out.Kind, out.Message)
		require.Equal(d.t, fmt.Sprint(why.Reasons()), fmt.Sprint(out.AllReasons))
		_, err := d.state.Release(d.at(), id)
		require.NoError(d.t, err)
		d.asked = slices.DeleteFunc(d.asked, func(c rules.Call) bool { return c.ID == id })
	}
}

func (d *duel) refused(v rules.Verdict, out runtime.Outcome) {
	require.Equal(d.t, v.Of, out.Of)
	if v.Answer == rules.Duplicate {
		require.Equal(d.t, runtime.Duplicate, out.Kind)
		return
	}
	p := v.Primary()
	require.Equal(d.t, fmt.Sprint(v.Reasons()), fmt.Sprint(out.AllReasons))
	require.Equal(d.t, fmt.Sprint(p.Missing, p.Already, p.Group, p.HeldBy, p.Max, p.Used, p.RetryAfter, p.PendingExit),
		fmt.Sprint(out.Detail.Missing, out.Detail.Already, out.Detail.Group, out.Detail.HeldBy, out.Detail.Max, out.Detail.Used,
			out.Detail.RetryAfter, out.Detail.PendingExit))
}

// same compares the states of the run.
func (d *duel) same(out runtime.Outcome) {
	st := d.state.Status("r")
	require.Equal(d.t, st.State.String(), d.run.Status().State.String())
	require.Equal(d.t, st.State.String(), out.Run.String())
	if out.PendingExit != nil {
		require.Equal(d.t, st.PendingExit, out.PendingExit)
	}
}

// answer resolves a call that waits.
func (d *duel) answer() {
	if len(d.asked) == 0 {
		return
	}
	i := d.rng.IntN(len(d.asked))
	rc := d.asked[i]
	d.asked = append(d.asked[:i:i], d.asked[i+1:]...)
	approve := d.rng.IntN(4) > 0
	out := *d.exec.Decide(d.t.Context(), d.request[rc.ID], action.Answer{By: runtime.ProgramActor("alice"), Approve: approve}).Outcome
	if !approve {
		require.Equal(d.t, runtime.ReasonConsentDenied, out.Reason)
		_, err := d.state.Release(d.at(), rc.ID)
		require.NoError(d.t, err)
	} else if v, _ := d.state.Resume(d.at(), &rc); v.Admitted() {
		d.ran(rc, out)
	} else {
		d.refused(v, out)
		_, err := d.state.Release(d.at(), rc.ID)
		require.NoError(d.t, err)
	}
	d.same(out)
}

// undo undoes a call.
func (d *duel) undo() {
	if len(d.done) == 0 {
		return
	}
	id := d.done[d.rng.IntN(len(d.done))]
	if res := undoingOf(d.ses.Undo(d.t.Context(), action.UndoRequest{CallID: id, By: runtime.ProgramActor("alice")})); res.Kind == undoOK {
		_, err := d.state.Undo(d.at(), id)
		require.NoError(d.t, err)
	}
}

// TestExecutorEqualsMachine makes random calls under random rules through an executor
// and against the rule machine: the answers are equal. So are the answers of machines
// that are rebuilt from the events of a random prefix.
// SEMANTICS 2.1.2
func TestExecutorEqualsMachine(t *testing.T) {
	for range 300 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			d := newDuel(t, seed)
			for range 60 {
				switch n := d.rng.IntN(12); {
				case n < 7:
					d.call()
				case n < 9:
					d.answer()
				case n < 10:
					d.undo()
				case n < 11:
					d.clock.move(time.Duration(d.rng.IntN(4)) * time.Second)
				default:
					if d.rng.IntN(3) == 0 {
						_, _ = d.state.Stop(d.at(), "r")
						d.run.ModelStopped(t.Context())
					}
				}
			}
			for range 10 {
				j := d.judged[d.rng.IntN(len(d.judged))]
				s, err := d.exec.Engine().Replay(d.events[:j.after])
				require.NoError(t, err)
				require.Equal(t, fmt.Sprint(j.verdict), fmt.Sprint(s.Check(j.at, &j.call)))
			}
		})
	}
}
