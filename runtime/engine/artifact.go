package engine

import (
	"context"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/artifact"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
)

// Artifact returns a stored output, complete, as the JSON that Outcome.Output would
// have held. It is for callers that may see the outputs of all sessions. The data was
// verified and must not be changed.
func (e *Executor) Artifact(ctx context.Context, ref runtime.ArtifactRef) ([]byte, error) {
	if e == nil || e.artifacts == nil {
		return nil, fmt.Errorf("artifact %q: no store was given with WithArtifacts: %w", ref.SHA256, runtime.ErrNoArtifact)
	}
	return artifact.Get(deadline.OrBackground(ctx), e.artifacts, ref)
}

// Artifact is Executor.Artifact for the outputs of the calls of s, by their SHA-256, as
// a model would name one. Knowing a hash does not give access to the output of another
// session. The error is ErrNoArtifact when no call of s has that output.
func (s *Session) Artifact(ctx context.Context, sha256 string) ([]byte, runtime.ArtifactRef, error) {
	s = s.whole()
	var ref runtime.ArtifactRef
	ok := s != nil && s.exec != nil
	if ok {
		defer s.place.Pin()()
		s.mu.Lock()
		ref, ok = s.memory.Artifact(sha256)
		s.mu.Unlock()
	}
	return s.artifact(ctx, sha256, ref, ok)
}

// artifact reads an artifact that a call has, if ok.
func (s *Session) artifact(ctx context.Context, sha256 string, ref runtime.ArtifactRef, ok bool) ([]byte, runtime.ArtifactRef, error) {
	if !ok {
		return nil, runtime.ArtifactRef{}, fmt.Errorf("artifact %q: no call of the session has it: %w", sha256, runtime.ErrNoArtifact)
	}
	data, err := s.exec.Artifact(ctx, ref)
	return data, ref, err
}
