// Package artifact stores long outputs and reads them again: their references, previews and verification.
package artifact

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/compact"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Ref returns the reference of data.
func Ref(data []byte, mediaType string) runtime.ArtifactRef {
	sum := sha256.Sum256(data)
	return runtime.ArtifactRef{SHA256: hex.EncodeToString(sum[:]), Type: mediaType, Bytes: int64(len(data))}
}

// over returns how many characters an output may have before it is stored.
func over(a *runtime.Artifact) int { return cmp.Or(a.Over, runtime.DefaultArtifactOver) }

// Needed reports whether an output has to be stored, under a declaration; nil: there is none.
func Needed(a *runtime.Artifact, out wire.Raw) bool {
	return a != nil && utf8.RuneCount(out) > over(a)
}

// Put stores an output and returns what stands for it. v is the output as a value. The preview omits
// sensitive values, because it is recorded as it is, and what redact takes away.
func Put(
	ctx context.Context, to runtime.ArtifactStore, a *runtime.Artifact, v wire.Value, out wire.Raw, redact func(wire.Raw) (wire.Raw, error),
) (*runtime.StoredOutput, error) {
	r := Ref(out, cmp.Or(a.Type, "application/json"))
	text, err := preview(v, over(a), redact)
	if err == nil {
		err = usercode.Call(func() error { return to.Put(ctx, r, out) })
	}
	return &runtime.StoredOutput{ArtifactRef: r, Preview: text}, err
}

// preview returns the preview of an output, in a number of characters.
func preview(v wire.Value, characters int, redact func(wire.Raw) (wire.Raw, error)) (wire.Raw, error) {
	mask := walk.Mask{Hide: func(string, walk.Tokens) (string, error) { return "(sensitive)", nil }}
	shown, err := mask.Append(nil, walk.Unruled{Of: v})
	if err != nil {
		return nil, err
	}
	// An error means that a value to be redacted cannot be found, because Append has hidden it already.
	// The preview is empty then.
	masked, _ := redact(shown)
	limits := compact.Default()
	limits.Total = characters
	return compact.Text(masked, limits)
}

// Get reads a stored output and verifies that it is the one that was stored.
func Get(ctx context.Context, from runtime.ArtifactStore, of runtime.ArtifactRef) ([]byte, error) {
	var data []byte
	err := usercode.Call(func() (err error) {
		data, err = from.Get(ctx, of)
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("artifact %q: %w", of.SHA256, err)
	case Ref(data, of.Type) != of:
		return nil, fmt.Errorf("artifact %q: the store has something else under this name: restore it from a copy", of.SHA256)
	}
	return data, nil
}
