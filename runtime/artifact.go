package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// DefaultArtifactOver is how many characters an output may have before it is stored as
// an artifact, for a tool that declares artifact and not over.
const DefaultArtifactOver = 12000

// ErrNoArtifact says that an artifact does not exist, or no longer exists. Compare with errors.Is.
var ErrNoArtifact = errors.New("there is no such artifact")

// An ArtifactRef names an output that is stored aside by its SHA-256.
type ArtifactRef struct {
	SHA256 string `json:"sha256"` // of the stored bytes: 64 hexadecimal digits, lower case
	Type   string `json:"type"`   // media type, as the tool declares it
	Bytes  int64  `json:"bytes"`
}

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
