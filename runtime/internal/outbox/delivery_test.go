package outbox_test

import (
	"context"
	"errors"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/outbox"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

func TestMain(m *testing.M) { battery.Main(m) }

// open opens a delivery whose faults are texts that name the call, and returns what its error handler gets.
func open(d *outbox.Delivery) *[]string {
	var faults []string
	d.OnFault = func(f *action.CallError) {
		if f.Err == nil {
			faults = append(faults, f.CallID+": "+f.Panic.(string))
		} else {
			faults = append(faults, f.CallID+": "+f.Err.Error())
		}
	}
	d.Open(&sched.Scheduler{})
	return &faults
}

// TestEventsAreNumbered: events come in the order of their numbers, from every goroutine; the number
// that an event is given counts, and one without a number leaves no gap.
func TestEventsAreNumbered(t *testing.T) {
	var sink runtime.MemorySink
	d := outbox.Delivery{Sinks: []runtime.Sink{&sink}}
	open(&d)
	assert.True(t, d.HasSinks())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				d.Emit(&runtime.Event{Kind: runtime.EventConsentOff})
			}
		})
	}
	all.Wait()
	number := func(seq func(uint64) uint64) {
		ev := d.Begin()
		defer d.End()
		assert.Equal(t, runtime.Event{Seq: ev.Seq}, *ev, "nothing is left of the event before")
		ev.Seq, ev.Tool = seq(ev.Seq), "t"
		d.Deliver()
	}
	number(func(uint64) uint64 { return 0 })
	number(func(next uint64) uint64 { return next })
	number(func(next uint64) uint64 { return next + 100 })
	ev := runtime.Event{}
	d.Emit(&ev)
	assert.EqualValues(t, 503, ev.Seq)
	events := sink.Events()
	require.Len(t, events, 404)
	for i, ev := range events[:400] {
		require.EqualValues(t, i+1, ev.Seq)
	}
	assert.Equal(t, []uint64{0, 401, 502, 503}, []uint64{events[400].Seq, events[401].Seq, events[402].Seq, events[403].Seq})
}

// TestFlush waits for sinks, observers and the faults of both, and says what is left when its time is over.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		d := outbox.Delivery{
			Sinks: []runtime.Sink{sinkFunc(func(ev *runtime.Event) error {
				<-hang
				return errors.New("bad")
			})},
			Observers: []func(runtime.CallInfo, runtime.Outcome){func(runtime.CallInfo, runtime.Outcome) {
				<-hang
				panic("oops")
			}},
		}
		faults := open(&d)
		require.NoError(t, d.Flush(t.Context()))
		require.NoError(t, d.Drain(time.Second))
		d.Emit(&runtime.Event{CallID: "c1"})
		closed := make(chan struct{})
		close(closed)
		d.Observe(runtime.CallInfo{ID: "c2"}, runtime.Outcome{}, "", closed)
		const left = "1 events and 0 faults wait for sinks and the error handler, and 1 observers have not returned"
		start := time.Now()
		require.EqualError(t, d.Drain(time.Minute), left)
		assert.Equal(t, time.Minute, time.Since(start))
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("enough"))
		require.EqualError(t, d.Flush(ctx), left+": enough")
		close(hang)
		require.NoError(t, d.Flush(t.Context()))
		assert.ElementsMatch(t, []string{"c1: sink outbox_test.sinkFunc, event 1: bad", "c2: oops"}, *faults)
		assert.Zero(t, d.Dropped())
	})
}

// TestFlushWaitsForObservers waits for an observer though nothing else waits.
func TestFlushWaitsForObservers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		returned := false
		d := outbox.Delivery{Observers: []func(runtime.CallInfo, runtime.Outcome){func(runtime.CallInfo, runtime.Outcome) {
			time.Sleep(time.Minute)
			returned = true
		}}}
		open(&d)
		closed := make(chan struct{})
		close(closed)
		d.Observe(runtime.CallInfo{ID: "c1"}, runtime.Outcome{}, "", closed)
		start := time.Now()
		require.NoError(t, d.Flush(t.Context()))
		assert.Equal(t, time.Minute, time.Since(start))
		assert.True(t, returned)
	})
}

// TestSlowReceivers: events and faults beyond the queues are dropped and counted, and the error
// handler is told so once it returns.
func TestSlowReceivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		d := outbox.Delivery{Sinks: []runtime.Sink{sinkFunc(func(*runtime.Event) error { <-hang; return nil })}}
		var faults []string
		d.OnFault = func(f *action.CallError) { <-hang; faults = append(faults, f.Err.Error()) }
		d.Open(&sched.Scheduler{})
		d.Emit(&runtime.Event{})
		d.Report(&action.CallError{Err: errors.New("first")})
		time.Sleep(time.Second)
		for range outbox.MaxQueued + 3 {
			d.Emit(&runtime.Event{})
			d.Report(&action.CallError{Err: errors.New("fault")})
		}
		assert.EqualValues(t, 3+4, d.Dropped(), "of the faults, one more: that the sink takes no events")
		close(hang)
		require.NoError(t, d.Flush(t.Context()))
		said := slices.IndexFunc(faults, func(f string) bool {
			return strings.HasPrefix(f, "faults were dropped because the error handler did not return: ")
		})
		require.GreaterOrEqual(t, said, 0)
		assert.Contains(t, []string{"4", "5"}, faults[said][strings.LastIndexByte(faults[said], ' ')+1:],
			"the sink, which takes events again, may say what it missed while the queue is still full")
	})
}

// TestObligations: what no observer has acknowledged is reported once, without what is met already.
func TestObligations(t *testing.T) {
	out := runtime.Outcome{Obligations: []runtime.Obligation{{Code: "log"}, {Code: "met"}, {Code: "mail"}}}
	const unmet = "c: no observer has acknowledged what the policy obliges to: log, mail"
	returns := func(runtime.CallInfo, runtime.Outcome) {}
	panics := func(runtime.CallInfo, runtime.Outcome) { panic("oops") }
	for name, row := range map[string]struct {
		observers []func(runtime.CallInfo, runtime.Outcome)
		want      []string
	}{
		"no observer":              {nil, []string{unmet}},
		"one returns":              {[]func(runtime.CallInfo, runtime.Outcome){panics, returns}, []string{"c: oops"}},
		"none returns":             {[]func(runtime.CallInfo, runtime.Outcome){panics}, []string{"c: oops", unmet}},
		"one leaves its goroutine": {[]func(runtime.CallInfo, runtime.Outcome){func(runtime.CallInfo, runtime.Outcome) { goruntime.Goexit() }, returns}, []string{unmet}},
	} {
		t.Run(name, func(t *testing.T) {
			d := outbox.Delivery{Observers: row.observers}
			faults := open(&d)
			d.Observe(runtime.CallInfo{ID: "c"}, out, "met", t.Context().Done())
			require.NoError(t, d.Flush(t.Context()))
			assert.Equal(t, row.want, *faults)
		})
	}
}

// TestObserverThatHangs holds up its caller until the caller's time is over, and its obligations are
// reported then.
func TestObserverThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		d := outbox.Delivery{Observers: []func(runtime.CallInfo, runtime.Outcome){func(runtime.CallInfo, runtime.Outcome) { <-hang }}}
		faults := open(&d)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		d.Observe(runtime.CallInfo{ID: "c"}, runtime.Outcome{Obligations: []runtime.Obligation{{Code: "log"}}}, "met", ctx.Done())
		require.Error(t, ctx.Err())
		close(hang)
		require.NoError(t, d.Flush(t.Context()))
		assert.Equal(t, []string{"c: no observer has acknowledged what the policy obliges to: log"}, *faults)
	})
}
