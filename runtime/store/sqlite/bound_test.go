package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestValuesAreBound writes, finds and reads values that are SQL. They are values
// (SEMANTICS section 7.5).
// SEMANTICS 7.5.3
func TestValuesAreBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	hostile := []string{"s'; DELETE FROM owner; --", `s" OR 1=1 --`, "?1", ":a", "%", "s\\'", "NULL"}
	for i, text := range hostile {
		e := journal.Entry{
			Seq: uint64(i + 1), Kind: "tool.validated", Session: text, Run: text, Call: text, Tool: text,
			Mark: journal.MarkOpened, Leaf: []byte(text),
		}
		require.NoError(t, s.Append(t.Context(), []journal.Entry{e}))
		require.NoError(t, s.Apply(t.Context(), []sqlite.Write{{Key: text, Value: []byte(text)}}))
	}
	for _, text := range hostile {
		list, err := openReader(t, path).Calls(t.Context(), sqlite.CallFilter{Session: text})
		require.NoError(t, err)
		require.Len(t, list, 1, text)
		assert.Equal(t, text, list[0].Call)
		value, err := s.Get(t.Context(), text)
		require.NoError(t, err)
		assert.Equal(t, text, string(value))
	}
}
