package engine

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/compact"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// storeArtifact stores the output of e when it is longer than the artifact declaration
// allows, and replaces it with a reference and a preview. It stores the output before
// the call commits and has its outcome. An output that cannot be stored fails the call,
// and the effects of the call are rolled back where that is possible.
func (c *call) storeArtifact(e *result) {
	if e.outcome.Kind != runtime.Completed || !c.tooLong(e.outcome.Output) || c.hasEnded() {
		return
	}
	stored, err := c.store(c.running, c.outputs, e.outcome.Output)
	if err != nil {
		*e = result{output: e.output}
		fault := c.newFault(runtime.ReasonCommitFailed, fmt.Errorf("the output cannot be stored: %w", err))
		c.setFailed(e, fmt.Sprintf("the output of %q is too long to be answered and could not be stored", c.record.tool), fault)
		return
	}
	e.outcome.Output, e.outcome.Artifact = nil, stored
}

// tooLong reports whether an output has to be stored.
func (c *ident) tooLong(out wire.Raw) bool {
	a := c.tool.spec.Artifact
	return a != nil && utf8.RuneCount(out) > artifactOver(a)
}

// store stores an output and returns what the outcome holds instead.
func (c *work) store(ctx context.Context, v wire.Value, out wire.Raw) (*runtime.StoredOutput, error) {
	a := c.tool.spec.Artifact
	ref := refOf(out, artifactType(a))
	preview, err := c.artifactPreview(v, artifactOver(a))
	if err == nil {
		err = usercode.Call(func() error { return c.exec.artifacts.Put(ctx, ref, out) })
	}
	return &runtime.StoredOutput{ArtifactRef: ref, Preview: preview}, err
}

// hasEnded reports whether the call has its outcome already.
func (c *call) hasEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.life.Ended()
}

// artifactPreview returns the preview of an output. It omits sensitive values, because the
// preview is recorded as it is, and what the policy wants redacted.
func (c *work) artifactPreview(v wire.Value, characters int) (wire.Raw, error) {
	veil := walk.Veil{Hide: func(string, walk.Tokens) (string, error) { return "(sensitive)", nil }}
	shown, err := veil.Append(nil, walk.Unruled{Of: v})
	if err != nil {
		return nil, err
	}
	// An error means that a value to be redacted cannot be found, because Append has
	// hidden it already. The preview is empty then.
	masked, _ := c.redact(shown)
	limits := compact.Default()
	limits.Total = characters
	return compact.Text(masked, limits)
}

// fullOutput returns the complete output for an undo. After a restart it reads the output from the
// store when the journal has only the reference. An output that was redacted is not what the
// handler returned and is not read. The undo runs without the output when it cannot be read.
func (c *ident) fullOutput(ctx context.Context, known wire.Value) wire.Value {
	was := c.record.outcome()
	a := was.Artifact
	if known != nil || a == nil || was.Kind != runtime.Completed || redacts(was.Obligations) {
		return known
	}
	data, err := c.exec.Artifact(ctx, a.ArtifactRef)
	var v wire.Value
	if err == nil {
		v, err = decodeRecorded(c.tool.hooks.DecodeOutput, data)
	}
	if err != nil {
		c.exec.report(c.newFault(runtime.ReasonNone, fmt.Errorf("the undo does without the output: %w", err)))
		return nil
	}
	return v
}
