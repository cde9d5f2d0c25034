package capacity_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/capacity"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
)

func TestMain(m *testing.M) { battery.Main(m) }

// A rig is a capacity of one tool.
type rig struct {
	capacity.Capacity
	sched  sched.Scheduler
	tools  []tools.Tool
	queued atomic.Int64
}

func open(limit int, limits runtime.Limits) *rig {
	r := &rig{tools: []tools.Tool{{Spec: &runtime.Spec{Name: "file_read", Limits: limits}}}}
	r.Open(&r.sched, limit, r.tools, &r.queued, func(int) *sched.Slots { return nil })
	return r
}

// enter returns the place of a call that has entered.
func (r *rig) enter(t *testing.T) *capacity.Place {
	t.Helper()
	p := r.Place(&r.tools[0])
	require.Nil(t, p.Enter("file_read"))
	return &p
}

func release(p *capacity.Place) { p.Release(time.Now, time.Now()) }

func TestEnterExecutor(t *testing.T) {
	r := open(2, runtime.Limits{})
	first, second := r.enter(t), r.Place(nil)
	require.Nil(t, second.Enter("no_such_tool"), "a call of no tool counts too")
	third := r.Place(&r.tools[0])
	out := third.Enter("file_read")
	require.NotNil(t, out)
	assert.Equal(t, runtime.ReasonAtCapacity, out.Reason)
	assert.Equal(t, "file_read", out.Tool)
	assert.Equal(t, time.Second, out.Detail.RetryAfter)
	third.Leave()
	assert.Equal(t, 2, r.InFlight(), "a refused call holds nothing")
	assert.EqualValues(t, 1, r.Refused())

	first.Leave()
	first.Leave()
	assert.Equal(t, 1, r.InFlight(), "a call leaves once")
	release(&second)
	assert.Zero(t, r.InFlight())
	require.Nil(t, third.Enter("file_read"))
}

func TestEnterTool(t *testing.T) {
	for name, row := range map[string]struct {
		limits runtime.Limits
		most   int
	}{
		"queue by default":  {runtime.Limits{Concurrency: 2}, 2 + 2*capacity.QueueFactor},
		"queue as declared": {runtime.Limits{Concurrency: 2, Queue: 1}, 3},
		"no queue":          {runtime.Limits{Concurrency: 2, Queue: runtime.NoQueue}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := open(100, row.limits)
			for range row.most {
				r.enter(t)
			}
			p := r.Place(&r.tools[0])
			out := p.Enter("file_read")
			require.NotNil(t, out)
			assert.Contains(t, out.Message, "of its calls run or wait")
			assert.Equal(t, row.most, r.InFlight(), "the refused call is in flight no more")
			assert.EqualValues(t, 1, r.Refused())

			again := r.Place(&r.tools[0])
			again.Reenter()
			assert.Equal(t, row.most+1, r.InFlight(), "a call that was admitted before is not refused")
		})
	}
}

// TestSlots: calls get the slots in the order in which they ask, and one that leaves while it waits
// takes no slot with it.
func TestSlots(t *testing.T) {
	r := open(100, runtime.Limits{Concurrency: 1})
	var order []int
	places := make([]*capacity.Place, 4)
	for i := range places {
		places[i] = r.enter(t)
		places[i].RequestSlot(func() { order = append(order, i) })
	}
	assert.Equal(t, []int{0, 1, 2, 3}, order)
	assert.Nil(t, places[0].Granted(), "the first has its slot")
	assert.EqualValues(t, 3, r.queued.Load())

	release(places[1])
	assert.EqualValues(t, 2, r.queued.Load())
	release(places[0])
	require.True(t, places[2].Granted().Fired())
	require.False(t, places[3].Granted().Fired())
	places[2].Take()
	assert.Nil(t, places[2].Granted())
	release(places[2])
	release(places[2])
	require.True(t, places[3].Granted().Fired())

	release(places[3]) // it was given the slot, and has not taken it
	last := r.enter(t)
	last.RequestSlot(func() {})
	assert.Nil(t, last.Granted(), "the slot is free")
	assert.Equal(t, 1, r.InFlight())
	late := r.enter(t)
	late.RequestSlot(func() {})
	assert.NotNil(t, late.Granted(), "there is one slot, however often a call was released")
}

// TestRetryAfter: a tool learns for how long its slots are held.
func TestRetryAfter(t *testing.T) {
	r := open(100, runtime.Limits{Concurrency: 2})
	p, began := r.enter(t), time.Now()
	p.RequestSlot(func() {})
	p.Release(func() time.Time { return began.Add(20 * time.Second) }, began)
	next := r.enter(t)
	assert.True(t, next.Limited())
	assert.Equal(t, 10*time.Second, next.RetryAfter())
}

func TestNoLimit(t *testing.T) {
	r := open(100, runtime.Limits{})
	for range 20 {
		p, then := r.enter(t), false
		assert.False(t, p.Limited())
		p.RequestSlot(func() { then = true })
		assert.True(t, then)
		assert.Nil(t, p.Granted())
	}
	assert.Equal(t, 20, r.InFlight())
}

func TestGates(t *testing.T) {
	r := open(100, runtime.Limits{})
	var run, closed sched.Gate
	closed.Shut()
	p := r.enter(t)
	require.Equal(t, capacity.Run, p.EnterGates(&closed))
	release(p)
	p = r.enter(t)
	require.Equal(t, capacity.None, p.EnterGates(&run))
	other := r.enter(t)
	require.Equal(t, capacity.None, other.EnterGates(&run))
	late := sched.NewEvent()
	r.sched.Fire(late)
	run.Shut()
	r.Gate.Shut()
	assert.EqualValues(t, 2, run.Wait(&r.sched, late, nil))
	assert.EqualValues(t, 2, r.Gate.Wait(&r.sched, late, nil), "a call of a closed run is in no gate")
	release(p)
	release(p)
	assert.EqualValues(t, 1, run.Wait(&r.sched, late, nil), "a call leaves once")
	assert.EqualValues(t, 1, r.Gate.Wait(&r.sched, late, nil))
	release(other)
	assert.Zero(t, run.Wait(&r.sched, late, nil))
	assert.Zero(t, r.Gate.Wait(&r.sched, late, nil))
	p = r.enter(t)
	assert.Equal(t, capacity.Executor, p.EnterGates(&run))
	release(p)
}

// TestMeasure: calls that wait for a slot are counted by tool.
func TestMeasure(t *testing.T) {
	r := &rig{tools: []tools.Tool{
		{Spec: &runtime.Spec{Name: "a", Limits: runtime.Limits{Concurrency: 1}}}, {Spec: &runtime.Spec{Name: "b", Limits: runtime.Limits{Concurrency: 1}}, Index: 1},
		{Spec: &runtime.Spec{Name: "c"}, Index: 2},
	}}
	r.Open(&r.sched, 100, r.tools, &r.queued, func(int) *sched.Slots { return nil })
	figures := func() (s runtime.Stats) { r.Measure(&s); return s }
	assert.Zero(t, figures())
	var places []*capacity.Place
	for _, tool := range []int{0, 0, 0, 1, 1, 2, 2} {
		p := r.Place(&r.tools[tool])
		require.Nil(t, p.Enter("x"))
		p.RequestSlot(func() {})
		places = append(places, &p)
	}
	assert.Equal(t, runtime.Stats{InFlight: 7, Queued: 3, Queues: map[string]int{"a": 2, "b": 1}}, figures())
	release(places[4])
	release(places[0])
	assert.Equal(t, runtime.Stats{InFlight: 5, Queued: 1, Queues: map[string]int{"a": 1}}, figures())
	release(places[2])
	assert.Equal(t, runtime.Stats{InFlight: 4}, figures())
}

// TestEnterForUndo: after a shutdown no undo begins that would have to be recorded. An undo that is admitted is waited for.
func TestEnterForUndo(t *testing.T) {
	r := open(1, runtime.Limits{})
	require.True(t, r.EnterForUndo(true))
	r.Gate.Shut()
	assert.False(t, r.EnterForUndo(true))
	require.True(t, r.EnterForUndo(false))
	gone := make(chan struct{})
	close(gone)
	assert.EqualValues(t, 2, r.Gate.Wait(&r.sched, nil, gone))
}
