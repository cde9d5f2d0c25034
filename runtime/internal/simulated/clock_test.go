package simulated_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/simulated"
)

func passed(c *simulated.Clock) time.Duration { return c.Now().Sub(simulated.Epoch()) }

// TestTimePassesWhenSomebodyWaits shows that a step takes the time that it
// sleeps, and that what is due on the way happens in its order.
func TestTimePassesWhenSomebodyWaits(t *testing.T) {
	c := simulated.NewClock()
	var order []string
	note := func(s string) func() { return func() { order = append(order, s) } }
	c.AfterFunc(3*time.Second, note("third"))
	c.AfterFunc(time.Second, note("first"))
	c.AfterFunc(time.Second, note("second"))
	stopped := c.AfterFunc(time.Second, note("stopped"))
	moved := c.AfterFunc(time.Second, note("moved"))
	assert.True(t, stopped.Stop())
	assert.False(t, stopped.Stop())
	assert.True(t, moved.Reset(9*time.Second))
	require.NoError(t, c.Perform(func() { c.Sleep(2 * time.Second) }))
	assert.Equal(t, 2*time.Second, passed(c))
	assert.Equal(t, []string{"first", "second"}, order)
	require.NoError(t, c.Advance(7*time.Second))
	assert.Equal(t, []string{"first", "second", "third", "moved"}, order)
	assert.Equal(t, 9*time.Second, passed(c))
	assert.False(t, moved.Stop())
}

// TestWhatIsDueAtTheEndHappens shows that a step does not leave behind what is
// due at the instant of its end.
func TestWhatIsDueAtTheEndHappens(t *testing.T) {
	c := simulated.NewClock()
	fired := false
	require.NoError(t, c.Perform(func() {
		c.Sleep(time.Second)
		c.AfterFunc(0, func() { fired = true })
	}))
	assert.True(t, fired)
	assert.Equal(t, time.Second, passed(c))
}

func TestStuck(t *testing.T) {
	c := simulated.NewClock()
	block := make(chan struct{})
	defer close(block)
	err := c.Perform(func() { c.Busy(-1); <-block })
	require.EqualError(t, err, "0s after the beginning nothing can happen any more and the step has not ended")
}

func TestPatience(t *testing.T) {
	c := simulated.NewClock()
	c.Patience = time.Millisecond
	block := make(chan struct{})
	defer close(block)
	require.EqualError(t, c.Perform(func() { <-block }), "after 1ms nothing has come to rest")
}

// TestWhatIsDueComesOneByOne shows that Reach stops before what is due at its
// instant, that Rest calls none of it and Next one after the other.
func TestWhatIsDueComesOneByOne(t *testing.T) {
	c := simulated.ClockAt(simulated.Epoch().Add(time.Hour))
	assert.Equal(t, time.Hour, passed(c))
	var order []int
	for i, at := range []time.Duration{1, 2, 2, 3} {
		c.AfterFunc(at*time.Second, func() { order = append(order, i) })
	}
	require.NoError(t, c.Reach(simulated.Epoch().Add(time.Hour+2*time.Second)))
	require.NoError(t, c.Rest())
	require.NoError(t, c.Reach(simulated.Epoch())) // time stands still
	assert.Equal(t, time.Hour+2*time.Second, passed(c))
	assert.Equal(t, []int{0}, order)
	assert.True(t, c.Next())
	assert.Equal(t, []int{0, 1}, order)
	assert.True(t, c.Next())
	assert.False(t, c.Next())
	assert.Equal(t, []int{0, 1, 2}, order)
	require.NoError(t, c.Reach(simulated.Epoch().Add(2*time.Hour)))
	assert.Equal(t, []int{0, 1, 2, 3}, order)
	c.Busy(1) // for ever
	c.GiveUp()
	require.Error(t, c.Rest())
	require.Error(t, c.Reach(simulated.Epoch().Add(3*time.Hour)))
}
