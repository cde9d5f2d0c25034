package approvals_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// An approver is notified by a function.
type approver func() error

func (a approver) Notify(context.Context, *consent.Notice) error { return a() }

// TestNotify: none is called when all approvers failed, and each failure goes to the report of its
// approver.
func TestNotify(t *testing.T) {
	errDown := errors.New("down")
	works := approver(func() error { return nil })
	fails := approver(func() error { return errDown })
	panics := approver(func() error { panic("oops") })
	for name, row := range map[string]struct {
		approvers []consent.Approver
		failures  int
		none      int
	}{
		"one works":        {[]consent.Approver{works}, 0, 0},
		"one of two fails": {[]consent.Approver{fails, works}, 1, 0},
		"all fail":         {[]consent.Approver{fails, fails, fails}, 3, 1},
		"one panics":       {[]consent.Approver{fails, panics}, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s sched.Scheduler
				failures, none := make(chan approvals.Failure, 10), make(chan struct{}, 10)
				made := 0
				approvals.Notify(t.Context(), &s, row.approvers, new(consent.Notice), func() func(approvals.Failure) {
					made++
					told := false
					return func(f approvals.Failure) {
						assert.False(t, told, "the report of another approver")
						told = true
						failures <- f
					}
				}, func() { none <- struct{}{} })
				synctest.Wait()
				assert.Equal(t, len(row.approvers), made)
				assert.Len(t, none, row.none)
				require.Len(t, failures, row.failures)
				for range row.failures {
					if f := <-failures; f.Panicked != nil {
						assert.Equal(t, "oops", f.Panicked.Value)
					} else {
						assert.ErrorIs(t, f.Err, errDown)
						assert.ErrorContains(t, f.Err, "approver approvals_test.approver: down")
					}
				}
			})
		})
	}
}

// TestNotifyReadsBefore: what a report needs of the call is read before any approver can answer.
func TestNotifyReadsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sched.Scheduler
		made := 0
		a := approver(func() error {
			assert.Equal(t, 2, made)
			return nil
		})
		approvals.Notify(t.Context(), &s, []consent.Approver{a, a}, new(consent.Notice), func() func(approvals.Failure) {
			synctest.Wait() // an approver that had been notified by now would have returned
			made++
			return func(approvals.Failure) {}
		}, func() {})
		synctest.Wait()
	})
}
