package outbox_test

import (
	"errors"
	goruntime "runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/outbox"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// TestOutbox delivers in order, past a receiver that fails, panics and leaves its goroutine.
func TestOutbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sched.Scheduler
		var o outbox.Outbox[int, lockorder.Sink]
		var got []int
		faults := map[int]error{}
		o.Open(&s, outbox.Receiver[int]{
			Deliver: func(v *int) error {
				got = append(got, *v)
				switch *v {
				case 2:
					return errors.New("bad")
				case 3:
					panic("oops")
				case 4:
					goruntime.Goexit()
				}
				return nil
			},
			Failed: func(v *int, err error) { faults[*v] = err },
		})
		assert.Nil(t, o.Drained(), "nothing was added")
		for i := range 6 {
			o.Add(&i)
		}
		await(&s, o.Drained())
		assert.Equal(t, []int{0, 1, 2, 3, 4, 5}, got)
		assert.EqualError(t, faults[2], "bad")
		assert.ErrorContains(t, faults[3], "oops")
		assert.Error(t, faults[4])
		assert.Len(t, faults, 3)
	})
}

// TestOutboxIsBounded: a receiver that blocks loses what does not fit, and is told how much.
func TestOutboxIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sched.Scheduler
		var o outbox.Outbox[int, lockorder.Sink]
		release := make(chan struct{})
		var told, began, ended uint64
		o.Open(&s, outbox.Receiver[int]{
			Deliver: func(v *int) error {
				<-release
				if *v < 0 {
					told += uint64(-*v)
				}
				return nil
			},
			Failed: func(*int, error) {},
			Missed: func(n uint64) int { return -int(n) },
			Full: func(n uint64) {
				if n == 0 {
					began++
				}
				ended += n
			},
		})
		first := 0
		o.Add(&first)
		time.Sleep(time.Second) // the receiver has it and blocks
		for i := range outbox.MaxQueued + 10 {
			o.Add(&i)
		}
		dropped, _ := o.Lost()
		assert.EqualValues(t, 10, dropped)
		close(release)
		await(&s, o.Drained())
		assert.EqualValues(t, 1, began)
		assert.Equal(t, dropped, ended)
		assert.Equal(t, dropped, told)
	})
}

// await waits until drained fires. It is nil when the outbox was empty before the question.
func await(s *sched.Scheduler, drained *sched.Event) {
	if drained != nil {
		s.Wait(drained, nil, nil)
	}
}
