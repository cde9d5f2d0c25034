package engine

import (
	"errors"
	"slices"
	"strconv"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A reservation says what a call holds in the state of the rules.
type reservation uint8

// The reservations of a call.
const (
	reservedNothing    reservation = iota
	reserved                       // it is admitted, or waits for consent
	reservedAndInvoked             // its handler was started
)

// Check returns the verdict of the rules about a call. waits says that the call waits for consent: its own
// reservation, if it has one, does not count against it.
func (m *memory) Check(at rules.Instant, rc *rules.Call, r *callRecord, waits bool) rules.Verdict {
	if waits && r.Reservation == reserved {
		return m.rules.Recheck(at, rc)
	}
	return m.rules.Check(at, rc)
}

// Admit reserves what a call uses, unless the rules refuse the call (SEMANTICS 3.5).
func (m *memory) Admit(at rules.Instant, rc *rules.Call, r *callRecord) rules.Verdict {
	v, ev := m.rules.Admit(at, rc)
	return m.reserved(v, &ev, r)
}

// Ask reserves what a call uses that has to wait for consent (SEMANTICS 5.6).
func (m *memory) Ask(at rules.Instant, rc *rules.Call, r *callRecord) rules.Verdict {
	v, ev := m.rules.Ask(at, rc)
	return m.reserved(v, &ev, r)
}

// Resume admits a call that waited for consent, without counting its own reservation. It reserves anew for a
// call whose reservation was released (SEMANTICS 6.7).
func (m *memory) Resume(at rules.Instant, rc *rules.Call, r *callRecord) rules.Verdict {
	if r.Reservation == reservedNothing {
		return m.Admit(at, rc, r)
	}
	v, ev := m.rules.Resume(at, rc)
	return m.reserved(v, &ev, r)
}

func (m *memory) reserved(v rules.Verdict, ev *rules.Event, r *callRecord) rules.Verdict {
	if v.Admitted() {
		r.Reservation = reserved
		m.changed(ev)
	}
	return v
}

// Rebind replaces the arguments of a call that goes on waiting. When the rules refuse the new arguments they
// keep the old ones, and the call is refused after its approval.
func (m *memory) Rebind(at rules.Instant, rc *rules.Call) {
	if v, ev := m.rules.Rebind(at, rc); v.Admitted() {
		m.changed(&ev)
	}
}

// Start counts a call whose handler starts. It returns an error when the run was closed.
func (m *memory) Start(at rules.Instant, r *callRecord) error {
	ev, err := m.rules.Commit(at, r.ID)
	if err != nil {
		return err
	}
	r.Reservation = reservedAndInvoked
	m.changed(&ev)
	return nil
}

// Release releases the reservation of a call (SEMANTICS 6.7).
func (m *memory) Release(at rules.Instant, r *callRecord) {
	r.Reservation = reservedNothing
	if ev, err := m.rules.Release(at, r.ID); err == nil {
		m.changed(&ev)
	}
}

// End releases or finishes the reservation of a call that has an outcome. A call that was
// denied after all has not started its handler.
func (m *memory) End(at rules.Instant, r *callRecord, out *runtime.Outcome) {
	switch {
	case r.Reservation == reservedNothing:
	case r.Reservation == reservedAndInvoked && out.Kind != runtime.Denied:
		r.Reservation = reservedNothing
		m.Resolve(at, r, out)
	default:
		m.Release(at, r)
	}
}

// Resolve changes the status of a finished call to that of out.
func (m *memory) Resolve(at rules.Instant, r *callRecord, out *runtime.Outcome) {
	if ev, err := m.rules.Finish(at, r.ID, ruleStatus(out)); err == nil {
		m.changed(&ev)
	}
}

// ruleStatus returns the status of an invocation for the rules.
func ruleStatus(out *runtime.Outcome) rules.Status {
	switch {
	case out.Kind == runtime.Completed:
		return rules.StatusOK
	case out.Kind == runtime.Unknown:
		return rules.StatusUnknown
	case out.RolledBack, out.Kind == runtime.Failed && !out.Detail.Killed: // SEMANTICS 4.9.7
		return rules.StatusError
	}
	return rules.StatusTimeout
}

// Undone takes a call that was undone out of the counts (SEMANTICS 4.20).
func (m *memory) Undone(at rules.Instant, r *callRecord) {
	if ev, err := m.rules.Undo(at, r.ID); err == nil {
		m.changed(&ev)
	}
}

// Apply applies the event of an undo that was decided before a restart.
func (m *memory) Apply(at rules.Instant, ev *rules.Event) {
	ev.At = at
	if m.rules.RunState(ev.Run) == rules.RunClosed { // closed after the decision
		ev.Run, ev.Status, ev.State = "", 0, rules.RunRunning
	}
	if err := m.rules.Apply(ev); err == nil {
		m.changed(ev)
	}
}

// Required returns the tools that a run needs calls of: start tools that have not succeeded for a principal and, once the
// run is ending or its model has stopped, the required tools that are open (SEMANTICS 4.11 and 4.14).
func (m *memory) Required(run, principal string) []string {
	names := m.rules.OpenStarts(run, principal)
	if st := m.rules.Status(run); runState(st.State) == runtime.RunCleanup || st.Reminders > 0 {
		for _, name := range st.PendingExit {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Moot returns the calls of a run that wait for consent and that its phase lets run no more, and what the rules say of
// them (SEMANTICS 4.14.10).
func (m *memory) Moot(run string) (calls []*call, why rules.Verdict) {
	ids, why := m.rules.Moot(run)
	for _, id := range ids {
		if r := m.Find(id); r != nil {
			calls = append(calls, r.Live)
		}
	}
	return calls, why
}

// NextRun makes the id of a run.
func (m *memory) NextRun(session string) string {
	for {
		m.runs++
		if id := session + "/" + strconv.Itoa(m.runs); m.rules.RunState(id) == rules.RunClosed {
			return id
		}
	}
}

// StartRun starts a run, unless the session is shut or a run of that id is open.
func (m *memory) StartRun(at rules.Instant, id string) error {
	if m.IsShut() {
		return errors.New("the session has ended: start the run in another one")
	}
	ev, err := m.rules.StartRun(at, id)
	if err == nil {
		m.changed(&ev)
	}
	return err
}

// StopRun records that the model of a run answered without a call, and reports whether that changes the run.
func (m *memory) StopRun(at rules.Instant, id string) bool {
	ev, err := m.rules.Stop(at, id)
	if err == nil {
		m.changed(&ev)
	}
	return err == nil
}

// CloseRun closes a run, and reports whether it was open. The session forgets a run in which no call was made.
func (m *memory) CloseRun(at rules.Instant, id string) bool {
	delete(m.nodes, id)
	if x := m.byRun[id]; x != nil && !x.some {
		delete(m.byRun, id)
	}
	_, ev, err := m.rules.CloseRun(at, id)
	if err == nil {
		m.changed(&ev)
	}
	return err == nil
}

// FillStatus sets the status of a run after an outcome of a call of tool in it. started says that
// the handler was started, heartbeat that the model asked to be continued, and exits that tools are
// required before the end of a run.
func (m *memory) FillStatus(out *runtime.Outcome, run, tool string, started, heartbeat, exits bool) {
	result := rules.ResultRefused
	switch {
	case out.Kind == runtime.Pending:
		result = rules.ResultPending
	case out.Kind == runtime.Completed:
		result = rules.ResultSucceeded
	case started:
		result = rules.ResultFailed
	case out.Detail.Waiting != nil && out.Detail.Missing == nil && len(out.AllReasons) == 1: // nothing else refuses it (SEMANTICS 4.18.4)
		result = rules.ResultHeld
	}
	out.Loop = m.rules.Hint(run, tool, result, heartbeat)
	out.Run = runState(m.rules.RunState(run))
	if exits {
		out.PendingExit = m.rules.Status(run).PendingExit
	}
}

// runState returns the state of a run for the state s of the rules.
func runState(s rules.RunState) runtime.RunState {
	if s >= rules.RunClosed {
		return runtime.RunFinished
	}
	return runtime.RunState(s)
}
