package host

import (
	"context"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
)

// artifacts keeps the outputs of calls in a store of contents.
type artifacts struct{ *content.Store }

// Put stores an output under its SHA-256.
func (a artifacts) Put(ctx context.Context, ref runtime.ArtifactRef, data []byte) error {
	stored, err := a.Store.Put(ctx, data)
	if err == nil && stored.SHA256 != ref.SHA256 {
		err = fmt.Errorf("the output has the SHA-256 %s, and is stored as %s", stored.SHA256, ref.SHA256)
	}
	return err
}

// Get returns an output.
func (a artifacts) Get(ctx context.Context, ref runtime.ArtifactRef) ([]byte, error) {
	return a.Store.Get(ctx, content.Ref{SHA256: ref.SHA256, Size: ref.Bytes})
}
