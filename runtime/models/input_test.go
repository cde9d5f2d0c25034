package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/models"
)

// TestInputNamesThePlace: by a JSON Pointer, in which / and ~ of a name are escaped.
func TestInputNamesThePlace(t *testing.T) {
	_, err := models.Input(map[string]any{"a/b": map[string]any{"c~d": []any{1.5, float64(1 << 53)}}})
	require.ErrorContains(t, err, "/a~1b/c~0d/1: the number 9007199254740992")
}
