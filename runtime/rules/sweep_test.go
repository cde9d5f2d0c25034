package rules_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A history makes calls in one session that can be undone for a minute, each of which
// is held against equal ones, and ones with its key, for as long.
type history struct {
	t    *testing.T
	s    *rules.State
	now  rules.Instant
	made int
}

// heldPerCall is how much of a call counts in the size of a state: the call, its
// arguments and its key.
const heldPerCall = 3

func newHistory(t *testing.T) *history {
	engine, err := rules.Compile(rules.Config{Tools: []rules.Tool{{
		Name: "work", Undo: time.Minute, Dedupe: runtime.Dedupe{Mode: runtime.DedupeWindow, Window: time.Minute},
		Idempotency: &rules.Idempotency{Window: time.Minute},
	}}})
	require.NoError(t, err)
	return &history{t: t, s: engine.NewState()}
}

// start starts a run with n calls.
func (h *history) start(run string, n int) {
	_, err := h.s.StartRun(h.now, run)
	require.NoError(h.t, err)
	h.calls(run, n)
}

// calls makes n calls that succeed.
func (h *history) calls(run string, n int) {
	for range n {
		h.made++
		c := rules.Call{ID: strconv.Itoa(h.made), Run: run, Principal: "agent", Tool: "work"}
		c.Args = rules.DigestOf([]byte(c.ID))
		c.Key = c.Args
		require.NoError(h.t, runOnce(h.s, h.now, &c))
	}
}

func (h *history) close(run string) {
	_, _, err := h.s.CloseRun(h.now, run)
	require.NoError(h.t, err)
}

// expire lets a minute pass.
func (h *history) expire() { h.now += rules.Instant(time.Minute) }

// TestAdmissionForgetsABoundedNumber of expired calls each time, however many have
// expired, and in the end all of them.
func TestAdmissionForgetsABoundedNumber(t *testing.T) {
	h := newHistory(t)
	h.start("old", 1000)
	h.close("old")
	require.Equal(t, 1000*heldPerCall, h.s.Size())
	h.expire()
	h.start("new", 0)
	for h.s.Size() > 400*heldPerCall {
		before := h.s.Size()
		h.calls("new", 1)
		require.Equal(t, before-3*heldPerCall, h.s.Size(), "each is one more, and four of the old are forgotten")
	}
	h.calls("new", 100)
	require.Less(t, h.made, 1350, "three calls less each time")
	h.expire()
	h.s.Prune(h.now)
	require.Equal(t, h.made-1000, h.s.Size(), "the calls of the run that is open")
	h.close("new")
	require.Zero(t, h.s.Size())
}

// TestSweepLooksAtWhatExpiresAlone takes the queues of a session away: nothing of it is
// forgotten then, unless by what walks all of it.
func TestSweepLooksAtWhatExpiresAlone(t *testing.T) {
	h := newHistory(t)
	h.start("old", 1000)
	h.close("old")
	h.s.DropQueues()
	h.expire()
	h.start("new", 3000) // enough for a sweep each time that the size has doubled
	h.close("new")
	require.Equal(t, 4000*heldPerCall, h.s.Size())
	h.expire()
	h.s.Prune(h.now)
	require.Equal(t, 1000*heldPerCall, h.s.Size())
}

// TestCloseLooksAtItsCallsAlone closes a run while the state finds no calls by their ids,
// so that the calls of the run are to be had from the run alone.
func TestCloseLooksAtItsCallsAlone(t *testing.T) {
	h := newHistory(t)
	h.start("old", 1000)
	h.close("old")
	h.start("open", 10)
	h.start("new", 10)
	h.s.WithoutLedger(func() { h.close("new") })
	h.expire()
	h.s.Prune(h.now)
	require.Equal(t, 10, h.s.Size(), "of the run that is open")
	h.close("open")
	require.Zero(t, h.s.Size())
}

// TestExpiryOfDifferentLifetimes forgets each call after its own lifetime, in any order
// of the calls.
func TestExpiryOfDifferentLifetimes(t *testing.T) {
	var tools []rules.Tool
	for i := range 50 {
		tools = append(tools, rules.Tool{Name: strconv.Itoa(i), Undo: time.Duration(50-i) * time.Second})
	}
	engine, err := rules.Compile(rules.Config{Tools: tools})
	require.NoError(t, err)
	s := engine.NewState()
	_, err = s.StartRun(0, "r")
	require.NoError(t, err)
	for i := range 50 {
		require.NoError(t, runOnce(s, 0, &rules.Call{ID: strconv.Itoa(i), Run: "r", Tool: strconv.Itoa(i)}))
	}
	_, _, err = s.CloseRun(0, "r")
	require.NoError(t, err)
	for i := range 50 {
		at := rules.Instant(i+1) * rules.Instant(time.Second)
		s.Prune(at - 1)
		require.Equal(t, 50-i, s.Size())
		s.Prune(at)
		require.Equal(t, 49-i, s.Size())
	}
}
