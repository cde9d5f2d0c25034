package runtime

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// DefaultArtifactOver is how many characters an output may have before it is stored as
// an artifact, for a tool that declares artifact and not over.
const DefaultArtifactOver = 12000

// ErrNoArtifact says that an artifact does not exist, or no longer exists. Compare with errors.Is.
var ErrNoArtifact = errors.New("there is no such artifact")

// An ArtifactRef names a stored output by its SHA-256.
type ArtifactRef = journal.ArtifactRef

// A StoredOutput takes the place of an output in an Outcome when the output is longer
// than the artifact declaration of its tool allows.
type StoredOutput struct {
	ArtifactRef
	// Preview is what the model reads instead of the output: JSON, cut to the limits of
	// SEMANTICS section 8 and to the number of characters that the declaration allows,
	// with notes of what is missing. It need not match the schema of the output, and it
	// shows no value of a member that is marked x-sensitive.
	Preview wire.Raw
}

// MarshalJSON returns s as a JSON object with the members sha256, type, bytes and preview.
func (s StoredOutput) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		ArtifactRef
		Preview json.RawMessage `json:"preview,omitempty"`
	}{s.ArtifactRef, json.RawMessage(s.Preview)})
}

// An ArtifactStore stores outputs. Its methods are safe for concurrent use. The
// executor and the store do not change data after passing it to each other.
type ArtifactStore interface {
	// Put stores data under the name ref and returns when the data would survive a
	// crash. When the store has data under that name already, it counts as new for the
	// removal of old artifacts. The context ends with the time of the call.
	Put(ctx context.Context, ref ArtifactRef, data []byte) error
	// Get returns the data stored as ref. The executor verifies it.
	Get(ctx context.Context, ref ArtifactRef) ([]byte, error)
}

// WithArtifacts sets the store for outputs that are longer than the artifact declaration of their
// tool allows. NewExecutor refuses tools that declare artifact when no store is set.
func WithArtifacts(s ArtifactStore) Option {
	return func(e *Executor) { e.artifacts = s }
}

// storable returns an error when tools declare artifact and no store is set.
func (e *Executor) storable() error {
	if e.artifacts != nil {
		return nil
	}
	var names []string
	for _, t := range e.reg.All() {
		if t.spec.Artifact != nil {
			names = append(names, quote(t.spec.Name))
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
func (e *Executor) Artifact(ctx context.Context, ref ArtifactRef) ([]byte, error) {
	if e == nil || e.artifacts == nil {
		return nil, fmt.Errorf("artifact %q: no store was given with WithArtifacts: %w", ref.SHA256, ErrNoArtifact)
	}
	var data []byte
	err := guard(func() (err error) {
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
func (s *Session) Artifact(ctx context.Context, sha256 string) ([]byte, ArtifactRef, error) {
	ref, ok := s.artifactOf(sha256)
	if !ok {
		return nil, ArtifactRef{}, fmt.Errorf("artifact %q: no call of the session has it: %w", sha256, ErrNoArtifact)
	}
	data, err := s.exec.Artifact(ctx, ref)
	return data, ref, err
}

// artifactOf returns the artifact of s that has the hash sha256.
func (s *Session) artifactOf(sha256 string) (ArtifactRef, bool) {
	if s == nil || s.exec == nil {
		return ArtifactRef{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.calls.all() {
		if a := r.artifact(); a != nil && a.SHA256 == sha256 {
			return a.ArtifactRef, true
		}
	}
	return ArtifactRef{}, false
}

// refOf returns the reference of data.
func refOf(data []byte, mediaType string) ArtifactRef {
	sum := sha256.Sum256(data)
	return ArtifactRef{SHA256: hex.EncodeToString(sum[:]), Type: mediaType, Bytes: int64(len(data))}
}

// over returns how many characters an output may have before it is stored.
func (a *Artifact) over() int { return cmp.Or(a.Over, DefaultArtifactOver) }

// mediaType returns the declared media type of the output.
func (a *Artifact) mediaType() string { return cmp.Or(a.Type, "application/json") }

// A MemoryArtifacts is an ArtifactStore in memory, for tests and simulations. The
// zero value is empty and ready for use.
type MemoryArtifacts struct {
	mu     sync.Mutex
	stored map[string][]byte
}

// Put stores data.
func (m *MemoryArtifacts) Put(_ context.Context, ref ArtifactRef, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stored == nil {
		m.stored = map[string][]byte{}
	}
	m.stored[ref.SHA256] = data
	return nil
}

// Get returns what was stored as ref, or ErrNoArtifact.
func (m *MemoryArtifacts) Get(_ context.Context, ref ArtifactRef) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.stored[ref.SHA256]
	if !ok {
		return nil, ErrNoArtifact
	}
	return data, nil
}
