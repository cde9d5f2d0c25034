package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// end closes the run of in, or ends its session, and records the steps that this is for the model.
func (r *recorder) end(client int, in linearStep, how string) {
	from := r.clock.Add(1)
	steps := []string{"close"}
	var err error
	if in.ofEnd = how == "end"; in.ofEnd {
		err = r.sessions[in.session].End(context.Background())
		steps = []string{"end", "close", "forget"}
	} else {
		err = r.runs[in.session].Close(context.Background())
	}
	out := ""
	if err != nil {
		out = err.Error()
	}
	for _, in.kind = range steps {
		r.did(client, in, from, out)
	}
	in.kind = map[string]string{"close": "closed", "end": "ended"}[how]
	r.did(client, in, r.clock.Add(1), out)
}

// cancel cancels a call of the session of in that waits for consent, or has no outcome yet.
func (r *recorder) cancel(client int, in linearStep, rng *rand.Rand) {
	r.mu.Lock()
	ids := append([]string(nil), r.inFlight[in.session]...)
	for _, asked := range r.asked[in.session] {
		ids = append(ids, asked.id)
	}
	r.mu.Unlock()
	in.kind, in.id = "cancel", ids[rng.IntN(len(ids))]
	from := r.clock.Add(1)
	if err := r.sessions[in.session].Cancel(context.Background(), in.id, runtime.ProgramActor("alice"), ""); err == nil {
		r.did(client, in, from, "")
	}
}

// look asks how the session of in stands, or begins another run in it.
func (r *recorder) look(client int, in linearStep, what string) {
	in.kind = what
	from := r.clock.Add(1)
	is := false
	switch what {
	case "begin":
		_, err := r.sessions[in.session].StartRun(context.Background(), engine.RunConfig{ID: in.id})
		is = err == nil
	case "status":
		is = r.runs[in.session].Status().State == runtime.RunFinished
	case "grants":
		is = len(r.exec.Grants(action.GrantFilter{Session: fmt.Sprint(in.session), Live: true})) > 0
	}
	r.did(client, in, from, yesNo(is))
}

// reached returns what calls have reached, by their ids: pending, reserved or started.
func reached(t *testing.T, rig *rig) map[string]string {
	require.NoError(t, rig.exec.Flush(t.Context()))
	list := map[string]string{}
	for _, e := range rig.sink.Events() {
		switch e.Kind {
		case runtime.EventApprovalRequested:
			list[e.CallID] = "pending"
		case runtime.EventAuthorized:
			if list[e.CallID] == "" {
				list[e.CallID] = "reserved"
			}
		case runtime.EventStarted:
			list[e.CallID] += " started"
		}
	}
	return list
}

// whole returns the history with the ends of handlers. What ended before it started, or before its caller knew that it
// has to wait, is recorded as far as it came.
func (r *recorder) whole(t *testing.T, rig *rig) (history []porcupine.Operation) {
	reached := reached(t, rig)
	for _, op := range r.history {
		in, out := op.Input.(linearStep), op.Output.(string)
		waits, started := strings.HasPrefix(reached[in.id], "pending"), strings.HasSuffix(reached[in.id], "started")
		finishes := out == "started"
		switch {
		case in.kind == "cancel" && started:
			in.was = "started"
		case in.kind == "cancel":
			in.was = reached[in.id]
		case in.kind == "call" && waits:
			assert.True(t, out == "pending" || strings.HasPrefix(out, "cancelled"), "call %s: %s", in.id, out)
			out = "pending"
		case strings.HasPrefix(out, "cancelled") && started:
			out = "started"
		case strings.HasPrefix(out, "cancelled") && in.kind == "call" && reached[in.id] == "reserved":
			out = "reserved"
		}
		if finishes {
			end := in
			end.kind = "finish"
			history = append(history, porcupine.Operation{ClientId: op.ClientId, Input: end, Call: r.ended[in.id], Output: "", Return: op.Return})
		}
		if at := r.started[in.id]; at != 0 && out == "started" {
			op.Return = at
		}
		op.Input, op.Output = in, out
		history = append(history, op)
	}
	return history
}
