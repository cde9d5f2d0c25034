package engine

import (
	"context"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/artifact"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// storeArtifact stores the output of e when it is longer than the artifact declaration
// allows, and replaces it with a reference and a preview. It stores the output before
// the call commits and has its outcome. An output that cannot be stored fails the call,
// and the effects of the call are rolled back where that is possible.
func (c *call) storeArtifact(e *result) {
	if e.outcome.Kind != runtime.Completed || !artifact.Needed(c.tool.spec.Artifact, e.outcome.Output) || c.scope.Ended() {
		return
	}
	stored, err := c.store(c.scope.Context(), c.outputs, e.outcome.Output)
	if err != nil {
		*e = result{output: e.output}
		fault := c.newFault(runtime.ReasonCommitFailed, fmt.Errorf("the output cannot be stored: %w", err))
		c.setFailed(e, fmt.Sprintf("the output of %q is too long to be answered and could not be stored", c.record.tool), fault)
		return
	}
	e.outcome.Output, e.outcome.Artifact = nil, stored
}

// store stores an output and returns what the outcome holds instead.
func (c *work) store(ctx context.Context, v wire.Value, out wire.Raw) (*runtime.StoredOutput, error) {
	return artifact.Put(ctx, c.exec.artifacts, c.tool.spec.Artifact, v, out, c.redact)
}

// fullOutput returns the complete output for an undo. After a restart it reads the output from the
// store when the journal has only the reference. An output that was redacted is not what the
// handler returned and is not read. The undo runs without the output when it cannot be read.
func (c *ident) fullOutput(ctx context.Context, known wire.Value) wire.Value {
	was := c.record.outcome()
	a := was.Artifact
	if known != nil || a == nil || was.Kind != runtime.Completed || entry.Redacted(&was) {
		return known
	}
	data, err := c.exec.Artifact(ctx, a.ArtifactRef)
	var v wire.Value
	if err == nil {
		v, err = entry.Decode(c.tool.hooks.DecodeOutput, data)
	}
	if err != nil {
		c.exec.report(c.newFault(runtime.ReasonNone, fmt.Errorf("the undo does without the output: %w", err)))
		return nil
	}
	return v
}
