package crashtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/simulate/replay"
)

// extras is what a declaration says of the kinds of tools.
var extras = map[string]string{
	"put":     "undo: {ttl: 1000h, state: {type: object, additionalProperties: true}}",
	"ask":     "consent: {ask: always, approvers: [alice], timeout: 1000h, max_cover: tool}",
	"both":    "artifact: {over: 60, type: text/plain}",
	"again":   fmt.Sprintf("idempotent: true, retry: {max: %d, initial: 1s, on_timeout: true}", maxRetry),
	"limited": fmt.Sprintf("rules: {max_calls: %d}", maxCalls),
	"claim":   "rules: {exclusive_group: g}",
	"rival":   "rules: {exclusive_group: g}",
	"needs":   "rules: {requires_preceding: [put]}",
	"once":    "dedupe: always",
}

// declaration is the declaration of the tools of the battery, as far as rules and
// consent look at them.
func declaration(t *testing.T) *dsl.File {
	text := "ambit: v1\npackage: crash\ntools:\n"
	for _, k := range kinds {
		text += fmt.Sprintf("  %s: {version: 1.0.0, description: D., effect: write, deadline: %s,\n"+
			"    input: {type: object, additionalProperties: true}, output: {type: object, additionalProperties: true}", k.name, deadline)
		if more := extras[k.name]; more != "" {
			text += ", " + more
		}
		text += "}\n"
	}
	file, err := dsl.Parse("tools.yaml", []byte(text))
	require.NoError(t, err, text)
	return file
}

// TestReplays replays what the journal of each world holds, on the rules that it was
// made with: over power cuts, restarts and resolved calls nothing is decided otherwise.
func TestReplays(t *testing.T) {
	candidate := &replay.Candidate{Declaration: declaration(t), Policy: func(*runtime.Registry) (runtime.Policy, error) {
		return runtime.PolicyFunc(allow), nil
	}}
	each(t, tries(t, 20, 2000), func(w *world, seed uint64) error {
		w.mayForget = true
		if err := w.fresh(seed); err != nil {
			return err
		}
		for range crashes {
			if err := w.life(); err != nil {
				return err
			}
			w.m.restart()
		}
		return errors.Join(w.last(), w.replay(t.Context(), candidate))
	}, func(w *world) error {
		if w.store == nil {
			return nil
		}
		return w.store.Close()
	})
}

// replay replays the journal.
func (w *world) replay(ctx context.Context, c *replay.Candidate) error {
	j, err := w.whole()
	if err != nil {
		return err
	}
	report, err := replay.Run(ctx, j, c)
	if err != nil {
		return err
	}
	w.tally["replayed calls"] += report.Summary.Calls
	for _, r := range report.Runs {
		if d := r.Divergence; d != nil {
			err = errors.Join(err, fmt.Errorf("run %s: call %s (%s, entry %d) was %+v, and is %+v in a replay", r.Run, d.Call, d.Tool, d.Seq, d.Recorded, d.Candidate))
		}
		for _, n := range r.NotReplayable {
			w.tally["not replayable: "+n.Why]++
		}
	}
	return err
}
