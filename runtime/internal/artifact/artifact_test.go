package artifact_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/artifact"
	"github.com/ambit-tools/ambit/runtime/wire"
)

var errFails = errors.New("it fails")

// A store keeps the data by their hashes, or fails.
type store struct {
	data map[string][]byte
	err  error
	boom bool
}

func (s *store) Put(_ context.Context, ref runtime.ArtifactRef, data []byte) error {
	if s.boom {
		panic("boom")
	}
	s.data[ref.SHA256] = data
	return s.err
}

func (s *store) Get(_ context.Context, ref runtime.ArtifactRef) ([]byte, error) {
	return s.data[ref.SHA256], s.err
}

func same(out wire.Raw) (wire.Raw, error) { return out, nil }

// TestNeeded: an output is stored when it has more characters than the declaration says.
func TestNeeded(t *testing.T) {
	assert.False(t, artifact.Needed(nil, wire.Raw(strings.Repeat("a", 1<<20))))
	assert.False(t, artifact.Needed(&runtime.Artifact{Over: 4}, wire.Raw(`"ää"`)))
	assert.True(t, artifact.Needed(&runtime.Artifact{Over: 4}, wire.Raw(`"äää"`)))
	assert.False(t, artifact.Needed(&runtime.Artifact{}, make(wire.Raw, runtime.DefaultArtifactOver)))
	assert.True(t, artifact.Needed(&runtime.Artifact{}, make(wire.Raw, runtime.DefaultArtifactOver+1)))
}

// TestPutAndGet: what was stored is read again, and verified.
func TestPutAndGet(t *testing.T) {
	s := &store{data: map[string][]byte{}}
	out := wire.Raw(`{"text":"` + strings.Repeat("a", 2000) + `"}`)
	stored, err := artifact.Put(t.Context(), s, &runtime.Artifact{Over: 100}, out, out, same)
	require.NoError(t, err)
	assert.Equal(t, "application/json", stored.Type)
	assert.EqualValues(t, len(out), stored.Bytes)
	assert.LessOrEqual(t, len(stored.Preview), 200)
	got, err := artifact.Get(t.Context(), s, stored.ArtifactRef)
	require.NoError(t, err)
	assert.Equal(t, []byte(out), got)

	other := stored.ArtifactRef
	other.Bytes++
	_, err = artifact.Get(t.Context(), s, other)
	require.ErrorContains(t, err, "the store has something else under this name")
	s.data[stored.SHA256] = []byte("{}")
	_, err = artifact.Get(t.Context(), s, stored.ArtifactRef)
	require.ErrorContains(t, err, "the store has something else under this name")
	s.err = errFails
	_, err = artifact.Get(t.Context(), s, stored.ArtifactRef)
	require.ErrorIs(t, err, errFails)
}

// TestPutThatFails: an error or a panic of the store is an error, and so is a preview that cannot be made.
func TestPutThatFails(t *testing.T) {
	out := wire.Raw(`{"a":1}`)
	_, err := artifact.Put(t.Context(), &store{data: map[string][]byte{}, err: errFails}, &runtime.Artifact{}, out, out, same)
	require.ErrorIs(t, err, errFails)
	_, err = artifact.Put(t.Context(), &store{boom: true}, &runtime.Artifact{}, out, out, same)
	require.ErrorContains(t, err, "boom")
}

// TestPreviewIsRedacted, by the function of the caller, also when that finds too little.
func TestPreviewIsRedacted(t *testing.T) {
	s := &store{data: map[string][]byte{}}
	out := wire.Raw(`{"a":"secret"}`)
	stored, err := artifact.Put(t.Context(), s, &runtime.Artifact{Type: "text/plain"}, out, out, func(shown wire.Raw) (wire.Raw, error) {
		assert.JSONEq(t, string(out), string(shown))
		return wire.Raw(`{"a":"-"}`), errFails
	})
	require.NoError(t, err)
	assert.Equal(t, "text/plain", stored.Type)
	assert.JSONEq(t, `{"a":"-"}`, string(stored.Preview))
}
