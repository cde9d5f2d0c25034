package approvals

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// A Failure says why an approver could not be notified: Err, or Panicked when its code panicked.
type Failure struct {
	Err      error
	Panicked *usercode.Panicked
}

// Notify notifies approvers of a request, each in its own goroutine, and does not wait for them. It
// calls reporter once for each approver before it begins with the first, because an approver may answer
// at once; the function that reporter returns gets the failure of that approver. When no approver
// could be notified, Notify calls none (SEMANTICS 5.1).
func Notify(ctx context.Context, s *sched.Scheduler, approvers []consent.Approver, r *consent.Notice, reporter func() func(Failure), none func()) {
	reports := make([]func(Failure), len(approvers))
	for i := range reports {
		reports[i] = reporter()
	}
	var failed atomic.Int32
	for i, a := range approvers {
		s.Busy(1)
		go func() {
			defer s.Busy(-1)
			if notify(ctx, a, r, reports[i]) {
				return
			}
			if int(failed.Add(1)) == len(approvers) {
				none()
			}
		}()
	}
}

// notify notifies one approver and reports whether that succeeded.
func notify(ctx context.Context, a consent.Approver, r *consent.Notice, report func(Failure)) (ok bool) {
	defer func() {
		if v := recover(); v != nil {
			report(Failure{Panicked: usercode.Recovered(v)})
		}
	}()
	if err := a.Notify(ctx, r); err != nil {
		report(Failure{Err: fmt.Errorf("approver %T: %w", a, err)})
		return false
	}
	return true
}
