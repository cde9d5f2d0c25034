package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// WithArtifacts sets the store for outputs that are longer than the artifact declaration of their
// tool allows. NewExecutor refuses tools that declare artifact when no store is set.
func WithArtifacts(s runtime.ArtifactStore) Option {
	return func(e *Executor) { e.artifacts = s }
}

// checkArtifactStore returns an error when tools declare artifact and no store is set.
func (e *Executor) checkArtifactStore() error {
	if e.artifacts != nil {
		return nil
	}
	var names []string
	for _, t := range e.tools {
		if t.spec.Artifact != nil {
			names = append(names, wording.Quote(t.spec.Name))
		}
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("there is no store for the outputs of %s, which declare artifact: give one with WithArtifacts", strings.Join(names, ", "))
}

// Artifact returns a stored output, complete, as the JSON that Outcome.Output would
// have held. It is for callers that may see the outputs of all sessions. The data was
// verified and must not be changed.
func (e *Executor) Artifact(ctx context.Context, ref runtime.ArtifactRef) ([]byte, error) {
	if e == nil || e.artifacts == nil {
		return nil, fmt.Errorf("artifact %q: no store was given with WithArtifacts: %w", ref.SHA256, runtime.ErrNoArtifact)
	}
	var data []byte
	err := usercode.Call(func() (err error) {
		data, err = e.artifacts.Get(orBackground(ctx), ref)
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("artifact %q: %w", ref.SHA256, err)
	case refOf(data, ref.Type) != ref:
		return nil, fmt.Errorf("artifact %q: the store has something else under this name: restore it from a copy", ref.SHA256)
	}
	return data, nil
}

// Artifact is Executor.Artifact for the outputs of the calls of s, by their SHA-256, as
// a model would name one. Knowing a hash does not give access to the output of another
// session. The error is ErrNoArtifact when no call of s has that output.
func (s *Session) Artifact(ctx context.Context, sha256 string) ([]byte, runtime.ArtifactRef, error) {
	ref, ok := s.artifactOf(sha256)
	if !ok {
		return nil, runtime.ArtifactRef{}, fmt.Errorf("artifact %q: no call of the session has it: %w", sha256, runtime.ErrNoArtifact)
	}
	data, err := s.exec.Artifact(ctx, ref)
	return data, ref, err
}

// artifactOf returns the artifact of s that has the hash sha256.
func (s *Session) artifactOf(sha256 string) (runtime.ArtifactRef, bool) {
	if s == nil || s.exec == nil {
		return runtime.ArtifactRef{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.calls.all() {
		if a := r.artifact(); a != nil && a.SHA256 == sha256 {
			return a.ArtifactRef, true
		}
	}
	return runtime.ArtifactRef{}, false
}

// refOf returns the reference of data.
func refOf(data []byte, mediaType string) runtime.ArtifactRef {
	sum := sha256.Sum256(data)
	return runtime.ArtifactRef{SHA256: hex.EncodeToString(sum[:]), Type: mediaType, Bytes: int64(len(data))}
}

// artifactOver returns how many characters an output may have before it is stored.
func artifactOver(a *runtime.Artifact) int { return cmp.Or(a.Over, runtime.DefaultArtifactOver) }

// artifactType returns the declared media type of the output.
func artifactType(a *runtime.Artifact) string { return cmp.Or(a.Type, "application/json") }
