package tools

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/errmark"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/rewrites"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Encode checks an output and appends it to dst. It returns wire.ErrTooLarge for an output over the
// limit of the tool, and wire.ErrTooDeep, with a violation that says so, for one that is too deep. An
// output for which it returns an error must not be walked again.
func (t *Tool) Encode(dst []byte, v wire.Value) (wire.Raw, []wire.Violation, error) {
	out, violations, err := wire.AppendWithin(dst, v, int(min(t.OutputLimit(), math.MaxInt)), entry.MaxDepth)
	if err == wire.ErrTooDeep {
		violations = []wire.Violation{{
			Keyword: "depth", Expected: "at most " + strconv.Itoa(entry.MaxDepth) + " nested objects and arrays", Actual: "more",
		}}
	}
	return slices.Clip(out), violations, err
}

// FullOutput returns the complete output of a call with an outcome. known is what this process has of it;
// nil, as after a restart: it is read from the store when the outcome has only the reference. An output
// that was redacted is not what the handler returned and is not read.
func (t *Tool) FullOutput(
	ctx context.Context, was *runtime.Outcome, known wire.Value, get func(context.Context, runtime.ArtifactRef) ([]byte, error),
) (wire.Value, error) {
	if known != nil || was.Artifact == nil || was.Kind != runtime.Completed || entry.Redacted(was) {
		return known, nil
	}
	data, err := get(ctx, was.Artifact.ArtifactRef)
	if err != nil {
		return nil, err
	}
	return entry.Decode(t.Hooks.DecodeOutput, data)
}

// Mask masks the members of an output that obligations want masked. When it cannot, it withholds the
// whole output.
func (t *Tool) Mask(obligations []runtime.Obligation, out wire.Raw) (wire.Raw, error) {
	masked := out
	for _, o := range obligations {
		if o.Code != redact.Obligation {
			continue
		}
		var err error
		if masked, err = redact.Mask(out, masked, o.Args, t.Place); err != nil {
			return masked, fmt.Errorf("obligation redact_output %s: %w", rewrites.At(o.At), err)
		}
	}
	return masked, nil
}

// Previews reports whether the tool shows what a call would do.
func (t *Tool) Previews() bool {
	return t.Hooks.Preview != nil && t.Spec.Consent != nil && t.Spec.Consent.Preview
}

// Preview calls the preview hook, if the tool has one.
func (t *Tool) Preview(ctx context.Context, args wire.Value) (p *consent.Preview, err error) {
	if !t.Previews() {
		return nil, nil
	}
	err = usercode.Call(func() error {
		mediaType, text, err := t.Hooks.Preview(ctx, args)
		p = &consent.Preview{MediaType: mediaType, Text: text}
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// ErrorText returns what a model may read of an error of the tool: the text of a public error, with
// its code; otherwise whole, the text of the error, if the tool declares safe_errors. It is empty
// when the model may read nothing of it. The text may have secrets of the call. The caller holds no
// lock: the methods of err are code of the tool and may hang or panic (SEMANTICS 2.4).
func (t *Tool) ErrorText(err error, whole string) (text, code string) {
	text, code = PublicError(err)
	if text == "" && t.Spec.SafeErrors {
		text = whole
	}
	return text, code
}

// PublicError returns the text and the code of the marked error in err; code is empty if there is
// none. The caller holds no lock.
func PublicError(err error) (text, code string) {
	marked := errmark.PublicOf(err)
	if marked == nil {
		return "", ""
	}
	return usercode.ErrorText(marked.Err), marked.Code
}
