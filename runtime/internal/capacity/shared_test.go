package capacity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// TestSharedSlots: a call takes a slot of its tool first, then one that tools share, and gives both
// back once, whether it has them or waits.
// SEMANTICS 6.3.9
func TestSharedSlots(t *testing.T) {
	for _, own := range []int{0, 1} {
		shared := new(sched.Slots)
		shared.Open(1, 0)
		r := openShared(shared, runtime.Limits{Concurrency: own})
		first, second, third := r.enter(t), r.enter(t), r.enter(t)
		require.True(t, first.Limited(), "it does not start at once")
		first.RequestSlot(func() {})
		require.Nil(t, first.Granted())
		second.RequestSlot(func() {})
		wait := second.Granted()
		require.NotNil(t, wait)
		third.RequestSlot(func() {})
		release(first)
		require.True(t, wait.Fired())
		second.Take()
		require.Nil(t, second.Granted(), "it has both")
		require.False(t, third.Granted().Fired())
		assert.Equal(t, runtime.ReasonAtCapacity, third.Overdue("file_read").Reason)
		release(third) // while it waits
		release(second)
		require.Nil(t, shared.Acquire(), "the slot is free")
		assert.NotNil(t, shared.Acquire(), "it was given back once")
	}
}

// TestWaitForTheSharedSlot: a call with the slot of its tool may have to wait for the other.
// SEMANTICS 6.3.9
func TestWaitForTheSharedSlot(t *testing.T) {
	shared := new(sched.Slots)
	shared.Open(1, 0)
	require.Nil(t, shared.Acquire()) // by another tool
	r := openShared(shared, runtime.Limits{Concurrency: 1})
	p, q := r.enter(t), r.enter(t)
	p.RequestSlot(func() {})
	wait := p.Granted()
	require.NotNil(t, wait)
	assert.Contains(t, p.Overdue("file_read").Message, "other commands ran")
	q.RequestSlot(func() {})
	assert.Contains(t, q.Overdue("file_read").Message, "slot", "of its tool")
	release(p)
	assert.True(t, q.Granted().Fired(), "the slot of the tool was given back")
	q.Take()
	require.NotNil(t, q.Granted(), "now it waits for the other")
	shared.Release(&r.sched)
	require.True(t, q.Granted().Fired())
	q.Take()
	require.Nil(t, q.Granted())
	q.Release(time.Now, time.Now())
	require.Nil(t, shared.Acquire())
}

func openShared(shared *sched.Slots, limits runtime.Limits) *rig {
	r := open(10, limits)
	r.Open(&r.sched, 10, r.tools, &r.queued, func(int) *sched.Slots { return shared })
	return r
}
