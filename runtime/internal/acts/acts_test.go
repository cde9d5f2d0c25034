package acts_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/acts"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
)

func TestMain(m *testing.M) { battery.Main(m) }

type policy func(context.Context, *runtime.ActRequest) (runtime.ActDecision, error)

func (p policy) Authorize(ctx context.Context, r *runtime.ActRequest) (runtime.ActDecision, error) {
	return p(ctx, r)
}

var errDown = errors.New("the directory is down")

// TestAnswers: only an answer in time that allows allows. A policy that fails, panics or hangs denies and is reported.
func TestAnswers(t *testing.T) {
	allow := runtime.ActDecision{Allow: true, Reason: "is not told", Revision: "r1"}
	for name, row := range map[string]struct {
		policy   policy
		allowed  bool
		reason   string
		reported string
	}{
		"allows": {func(context.Context, *runtime.ActRequest) (runtime.ActDecision, error) { return allow, nil }, true, "", ""},
		"denies": {func(context.Context, *runtime.ActRequest) (runtime.ActDecision, error) {
			return runtime.ActDecision{Reason: "not you"}, nil
		}, false, "not you", ""},
		"fails": {func(context.Context, *runtime.ActRequest) (runtime.ActDecision, error) { return allow, errDown }, false,
			"the operator policy has failed", `the operator policy about undo by "ann": the directory is down`},
		"panics": {func(context.Context, *runtime.ActRequest) (runtime.ActDecision, error) { panic("oops") }, false,
			"the operator policy has failed", "oops"},
		"hangs": {func(ctx context.Context, _ *runtime.ActRequest) (runtime.ActDecision, error) {
			<-ctx.Done()
			return allow, nil
		}, false, "the operator policy has failed", "undo"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var records []*journal.Record
				var faults []*action.CallError
				j := acts.Judge{
					Sched: new(sched.Scheduler), Policy: row.policy, Timeout: time.Second,
					Record: func(r *journal.Record) { records = append(records, r) },
					Report: func(f *action.CallError) { faults = append(faults, f) },
				}
				err := j.Allow(t.Context(), &runtime.ActRequest{
					Act: runtime.ActUndo, Actor: runtime.Actor{ID: "ann"}, ActTarget: runtime.ActTarget{Session: "s", Call: "c"},
				}, true)
				synctest.Wait()
				require.Len(t, records, 1)
				assert.Equal(t, row.allowed, records[0].Operator.Allowed)
				assert.Equal(t, row.reason, records[0].Operator.Reason)
				if row.allowed {
					assert.Nil(t, err)
				} else {
					assert.Equal(t, action.CodeNotPermitted, err.Code)
					assert.Equal(t, row.reason, err.Message)
				}
				if row.reported == "" {
					assert.Empty(t, faults)
					return
				}
				require.Len(t, faults, 1)
				assert.ErrorContains(t, faults[0], row.reported)
				assert.Equal(t, "c", faults[0].CallID)
			})
		})
	}
}

// TestRecords: acts that only look, and those of a dry run, are not recorded. A session that is not known is not
// that of the entry.
func TestRecords(t *testing.T) {
	for name, row := range map[string]struct {
		act     runtime.Act
		dry     bool
		known   bool
		session string
		records int
	}{
		"undo":       {runtime.ActUndo, false, true, "s", 1},
		"of no call": {runtime.ActUndo, false, false, "", 1},
		"dry":        {runtime.ActUndo, true, true, "", 0},
		"see":        {runtime.ActSee, false, true, "", 0},
		"audit":      {runtime.ActAudit, false, true, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var records []*journal.Record
			j := acts.Judge{
				Sched: new(sched.Scheduler), Policy: runtime.OperatorDefaults{}, Timeout: time.Minute,
				Record: func(r *journal.Record) { records = append(records, r) },
			}
			_ = j.Allow(t.Context(), &runtime.ActRequest{
				Act: row.act, Actor: runtime.ProgramActor("ops"), ActTarget: runtime.ActTarget{Session: "s", DryRun: row.dry},
			}, row.known)
			require.Len(t, records, row.records)
			if row.records > 0 {
				assert.Equal(t, row.session, records[0].Session)
				assert.Equal(t, "s", records[0].Operator.Session)
			}
		})
	}
}

// TestOfAnswer: an approval that lasts is an act more than an answer.
func TestOfAnswer(t *testing.T) {
	lasting := consent.Offer{Lasting: consent.Once + 1}
	assert.Equal(t, []runtime.Act{runtime.ActDecide, runtime.ActGrant}, acts.OfAnswer(&consent.Answer{Approve: true, Offer: lasting}))
	assert.Equal(t, []runtime.Act{runtime.ActDecide}, acts.OfAnswer(&consent.Answer{Approve: true}))
	assert.Equal(t, []runtime.Act{runtime.ActDecide}, acts.OfAnswer(&consent.Answer{Offer: lasting}))
}
