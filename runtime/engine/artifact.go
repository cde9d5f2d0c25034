package engine

import (
	"context"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/artifact"
)

// Artifact returns a stored output, complete, as the JSON that Outcome.Output would
// have held. It is for callers that may see the outputs of all sessions. The data was
// verified and must not be changed.
func (e *Executor) Artifact(ctx context.Context, ref runtime.ArtifactRef) ([]byte, error) {
	if e == nil || e.artifacts == nil {
		return nil, fmt.Errorf("artifact %q: no store was given with WithArtifacts: %w", ref.SHA256, runtime.ErrNoArtifact)
	}
	return artifact.Get(orBackground(ctx), e.artifacts, ref)
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
