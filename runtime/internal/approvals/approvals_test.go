package approvals_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// An args is arguments of a call: an object with one member.
type args string

func (a args) Walk(v wire.Visitor) {
	if a == "panic" {
		panic("walk")
	}
	v.Visit(wire.Token{Kind: wire.KindObject})
	v.Visit(wire.Token{Kind: wire.KindName, Str: "path"})
	v.Visit(wire.Token{Kind: wire.KindString, Str: string(a)})
	v.Visit(wire.Token{Kind: wire.KindEnd})
}

// A witness has what Approvals of calls, which are strings here, have said.
type witness struct {
	approvals.Approvals[string]
	sched sched.Scheduler

	mu      sync.Mutex
	changes []consent.EventKind
	due     []approvals.Due[string]
	at      []time.Time // of due
}

// open returns Approvals of which a session may have two open requests.
func open(t *testing.T) *witness {
	t.Helper()
	w := &witness{}
	w.Open(approvals.Config[string]{
		Sched: &w.sched, MaxOpen: 2,
		Changed: func(_ string, ev *consent.Event) { w.changes = append(w.changes, ev.Kind) },
		Report:  func(call string, err error) { t.Errorf("call %s: %v", call, err) },
		Due: func(list []approvals.Due[string], now time.Time) {
			for _, d := range list {
				w.Find(func(string) bool { return false }) // the lock is not held
				w.mu.Lock()
				w.due, w.at = append(w.due, d), append(w.at, now)
				w.mu.Unlock()
			}
		},
	})
	return w
}

// question returns the question of a call that may be asked for a duration.
func question(call string, timeout time.Duration) *consent.Question {
	return &consent.Question{
		Call:        consent.Call{ID: call, Tool: "put", Session: "s", Run: "r", Principal: "alice", Args: args("a.md")},
		Requirement: consent.Requirement{Quorum: 1, Timeout: timeout, MaxCover: runtime.CoverTool, MaxFor: time.Hour},
		Reasons:     consent.Reasons([]runtime.Ask{{ID: "ask"}}),
	}
}

// ask adds the request of a call.
func (w *witness) ask(t *testing.T, q *consent.Question) (request string) {
	t.Helper()
	asking := w.Begin(time.Now(), q)
	defer asking.End()
	_, yes := asking.Answered()
	require.False(t, yes)
	require.NoError(t, asking.Prepare())
	return asking.Add(q.Call.ID)
}

func (w *witness) said() ([]approvals.Due[string], []time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.due, w.at
}

var yes = &consent.Answer{By: "bob", Approve: true}

// TestTimerEndsRequests: the timer reminds of a request and ends it, and stands still between.
func TestTimerEndsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		start := time.Now()
		late, soon := w.ask(t, question("late", 2*time.Hour)), w.ask(t, question("soon", time.Hour))
		time.Sleep(3 * time.Hour)
		due, at := w.said()
		assert.Equal(t, []approvals.Due[string]{{"soon", false}, {"soon", true}, {"late", false}, {"late", true}}, due)
		assert.True(t, at[0].Before(at[1]))
		assert.Equal(t, []time.Duration{time.Hour, 2 * time.Hour}, []time.Duration{at[1].Sub(start), at[3].Sub(start)})
		for _, id := range []string{late, soon} {
			r, _ := w.Request(id)
			assert.Equal(t, consent.StatusExpired, r.Status)
			assert.NotEmpty(t, w.Call(id), "a late answer finds the call")
		}
		assert.Empty(t, w.ProcessDue(), "the timer has done it")
	})
}

// A stillClock never calls back.
type stillClock struct{ now time.Time }

func (c *stillClock) Now() time.Time                                { return c.now }
func (c *stillClock) AfterFunc(time.Duration, func()) runtime.Timer { return c }
func (c *stillClock) Stop() bool                                    { return true }
func (c *stillClock) Reset(time.Duration) bool                      { return true }

// TestWhatIsDueCanBeAskedFor: without the timer, ProcessDue does what it would do, and ProcessDueOf
// for one request only.
func TestWhatIsDueCanBeAskedFor(t *testing.T) {
	w := open(t)
	clock := &stillClock{time.Now()}
	w.sched.Use(clock)
	first := w.ask(t, question("c1", time.Hour))
	w.ask(t, question("c2", time.Hour))
	w.ProcessDueOf(first)
	due, _ := w.said()
	assert.Empty(t, due)
	clock.now = clock.now.Add(time.Hour - time.Second)
	w.ProcessDueOf(first)
	assert.Empty(t, w.ProcessDue(), "they have not expired")
	due, _ = w.said()
	assert.Equal(t, []approvals.Due[string]{{"c1", false}, {"c2", false}}, due)
	clock.now = clock.now.Add(time.Minute)
	w.ProcessDueOf(first)
	assert.Equal(t, []string{"c2"}, w.ProcessDue())
	due, _ = w.said()
	assert.Equal(t, []approvals.Due[string]{{"c1", true}, {"c2", true}}, due[2:])
}

// TestManyDue: more requests than are handled at once.
func TestManyDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		var want []string
		for i := range 3 * consent.AtOnce {
			q := question(fmt.Sprint("c", i), time.Hour)
			q.Call.Session = q.Call.ID
			w.ask(t, q)
			want = append(want, q.Call.ID)
		}
		time.Sleep(2 * time.Hour)
		due, _ := w.said()
		var got []string
		for _, d := range due {
			if d.Expired {
				got = append(got, d.Call)
			}
		}
		assert.Equal(t, want, got)
	})
}

// TestSessionIsFull: a session has as many open requests as the configuration says.
func TestSessionIsFull(t *testing.T) {
	w := open(t)
	first := w.ask(t, question("c1", time.Hour))
	assert.False(t, w.Full("s"))
	w.ask(t, question("c2", time.Hour))
	assert.True(t, w.Full("s"))
	assert.False(t, w.Full("another"))
	asking := w.Begin(time.Now(), question("c3", time.Hour))
	assert.True(t, asking.Full())
	asking.End()
	w.Cancel(first)
	assert.False(t, w.Full("s"))
	w.Cancel(first)
	assert.Equal(t, []consent.EventKind{consent.EventAsked, consent.EventAsked, consent.EventCancelled}, w.changes, "a request ends once")
}

// TestApprovalIsUsedOnce: an approved call starts, as it was approved and once.
func TestApprovalIsUsedOnce(t *testing.T) {
	w := open(t)
	q := question("c1", time.Hour)
	id := w.ask(t, q)
	assert.NotNil(t, w.Use(time.Now(), id, q, false), "it is not approved yet")
	before, rejection := w.Probe(time.Now(), id, yes)
	assert.Equal(t, consent.StatusOpen, before.Status)
	assert.Equal(t, consent.NotRejected, rejection)
	_, rejection = w.Probe(time.Now(), id, &consent.Answer{By: "alice", Approve: true})
	assert.Equal(t, consent.SelfApproval, rejection)
	assert.Len(t, w.Requests(), 1, "a probe changes nothing")
	assert.Equal(t, runtime.ResolutionAccepted, w.Decide(time.Now(), id, yes).Result.Resolution)
	assert.Empty(t, w.Requests())
	assert.Nil(t, w.Use(time.Now(), id, q, false))
	assert.NotNil(t, w.Use(time.Now(), id, q, false))
}

// TestMismatch says what has changed since an approval.
func TestMismatch(t *testing.T) {
	for name, row := range map[string]struct {
		after time.Duration
		edit  func(*consent.Question)
		want  approvals.Mismatch
	}{
		"the arguments": {edit: func(q *consent.Question) { q.Call.Args = args("b.md") }, want: approvals.Mismatch{Changed: []string{consent.ChangedArgs.String()}}},
		"its age":       {after: time.Hour, edit: func(*consent.Question) {}, want: approvals.Mismatch{Expired: true, Changed: []string{consent.ChangedExpired.String()}}},
		"both": {
			after: time.Hour, edit: func(q *consent.Question) { q.Call.Args = args("b.md") },
			want: approvals.Mismatch{Changed: []string{consent.ChangedExpired.String(), consent.ChangedArgs.String()}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			q := question("c1", time.Hour)
			id := w.ask(t, q)
			now := time.Now()
			w.Decide(now, id, yes)
			row.edit(q)
			got := w.Use(now.Add(row.after), id, q, false)
			require.NotNil(t, got)
			assert.Equal(t, row.want.Expired, got.Expired)
			assert.ElementsMatch(t, row.want.Changed, got.Changed)
		})
	}
}

// TestGrants: a grant answers questions until it is revoked, or its rule is gone.
func TestGrants(t *testing.T) {
	w := open(t)
	q := question("c1", time.Hour)
	id := w.ask(t, q)
	ev := w.Decide(time.Now(), id, &consent.Answer{By: "bob", Approve: true, Offer: consent.Offer{Lasting: consent.ForSession, Cover: runtime.CoverTool}})
	require.NotNil(t, ev.Result.Granted)
	all := func(*consent.Grant) bool { return true }
	require.Len(t, w.Grants(all), 1)
	assert.Empty(t, w.Grants(func(*consent.Grant) bool { return false }))

	next := question("c2", time.Hour)
	assert.True(t, w.Answered(time.Now(), next))
	asking := w.Begin(time.Now(), next)
	grant, answered := asking.Answered()
	asking.End()
	assert.True(t, answered)
	assert.Equal(t, id, grant)
	assert.Nil(t, w.UseGrant(time.Now(), grant, next))

	_, some := w.Retire(time.Now(), func(consent.Rule) bool { return true })
	assert.False(t, some)
	assert.True(t, w.Answered(time.Now(), next))
	_, some = w.Retire(time.Now(), func(consent.Rule) bool { return false })
	assert.True(t, some)
	assert.False(t, w.Answered(time.Now(), next))
	assert.Equal(t, &approvals.Mismatch{Changed: []string{"grant"}}, w.UseGrant(time.Now(), grant, next))
	assert.Equal(t, consent.UnknownRequest, w.Revoke(time.Now(), "none", "bob", "").Result.Rejection)
}

// TestSuspend: while asking is suspended no question needs an answer, and no grant is named.
func TestSuspend(t *testing.T) {
	w := open(t)
	now := time.Now()
	_, err := w.Suspend(now, now.Add(time.Minute), "", "")
	require.Error(t, err)
	assert.Empty(t, w.changes)
	_, err = w.Suspend(now, now.Add(time.Minute), "bob", "a fire")
	require.NoError(t, err)
	asking := w.Begin(now, question("c1", time.Hour))
	grant, answered := asking.Answered()
	asking.End()
	assert.True(t, answered)
	assert.Empty(t, grant)
	assert.False(t, w.Answered(now.Add(time.Minute), question("c1", time.Hour)))
}

// TestClose leaves the requests open and returns their calls; nothing becomes due any more.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		id := w.ask(t, question("c1", time.Hour))
		w.ask(t, question("c2", time.Hour))
		assert.False(t, w.Closed().Fired())
		assert.ElementsMatch(t, []string{"c1", "c2"}, w.Close())
		assert.True(t, w.Closed().Fired())
		time.Sleep(2 * time.Hour)
		w.ProcessDueOf(id)
		assert.Empty(t, w.ProcessDue())
		due, _ := w.said()
		assert.Empty(t, due)
		assert.Len(t, w.Requests(), 2)
	})
}

// TestEndedRequestsAreForgotten a day after their end, when others are added.
func TestEndedRequestsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		id := w.ask(t, question("c1", time.Hour))
		w.Cancel(id)
		time.Sleep(23 * time.Hour)
		w.Cancel(w.ask(t, question("c2", time.Hour)))
		assert.Equal(t, "c1", w.Call(id))
		time.Sleep(3 * time.Hour)
		w.Cancel(w.ask(t, question("c3", time.Hour)))
		assert.Empty(t, w.Call(id))
		_, ok := w.Request(id)
		assert.False(t, ok)
		_, ok = w.Request("")
		assert.False(t, ok)
	})
}

// TestRestore: the requests of an earlier process become due once Resume is called.
func TestRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := make([]byte, 32)
		book := consent.NewBooks(key)
		ev, err := book.Ask(time.Now(), "r1", "n", question("c1", time.Hour))
		require.NoError(t, err)
		require.NoError(t, book.Continue("s", &ev))
		w := open(t)
		assert.NotEqual(t, key, w.Key())
		w.SetKey(key)
		w.Restore(book)
		w.Attach("r1", "c1")
		assert.Equal(t, key, w.Key())
		assert.Equal(t, "c1", w.Find(func(c string) bool { return c == "c1" }))
		time.Sleep(2 * time.Hour)
		due, _ := w.said()
		assert.Empty(t, due)
		w.Resume()
		time.Sleep(time.Second)
		due, _ = w.said()
		assert.Equal(t, []approvals.Due[string]{{"c1", false}, {"c1", true}}, due)
	})
}

// TestShow: sensitive members are hidden, and arguments whose code panics are not shown.
func TestShow(t *testing.T) {
	w := open(t)
	assert.JSONEq(t, `{"path":"a.md"}`, string(w.Show(args("a.md"), nil)))
	assert.Nil(t, w.Show(args("panic"), nil))
}
