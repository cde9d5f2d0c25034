package audit_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/store/audit"
)

func TestFileAnchor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "anchor")
	r := newRig(t)
	l := r.open(audit.WithAnchor(audit.FileAnchor{Path: path}))
	r.append(l, 0, 5)
	require.NoError(t, l.Checkpoint(t.Context()))
	r.append(l, 5, 5)
	require.NoError(t, l.Close(t.Context()))
	assert.Equal(t, r.anchored.all(), readAnchors(t, path, r.signer.Name()))

	text := readFile(t, path)
	for cut := range len(text) {
		writeFile(t, path, text[:cut])
		require.NoError(t, audit.FileAnchor{Path: path}.Anchor(t.Context(), r.anchored.all()[1]))
		for _, n := range readAnchors(t, path, r.signer.Name()) {
			require.Contains(t, r.anchored.all(), n, "cut at %d", cut)
		}
		rep := verify(t, audit.NewSource(&r.inner, &r.checkpoints), r.verifier, readAnchors(t, path, r.signer.Name()))
		require.Equal(t, audit.VerdictOK, rep.Verdict, "cut at %d: %v", cut, rep.Bad)
	}
	require.Error(t, audit.FileAnchor{Path: filepath.Join(path, "x")}.Anchor(t.Context(), nil))
}

func TestWriterAnchorAmongOtherLines(t *testing.T) {
	var text strings.Builder
	r := newRig(t)
	w := audit.NewWriterAnchor(&text)
	l := r.open(audit.WithAnchor(w))
	text.WriteString("starting\r\n")
	r.append(l, 0, 1)
	require.NoError(t, l.Checkpoint(t.Context()))
	text.WriteString("more\n\n")
	r.append(l, 1, 1)
	require.NoError(t, l.Close(t.Context()))
	got, err := audit.ReadAnchors(strings.NewReader(strings.ReplaceAll(text.String(), "\n", "\r\n")), r.signer.Name())
	require.NoError(t, err)
	assert.Equal(t, r.anchored.all(), got)
	none, err := audit.ReadAnchors(strings.NewReader(text.String()), "other")
	require.NoError(t, err)
	assert.Empty(t, none)
}

// TestNotesAmongLongLines: lines longer than a buffer are no obstacle, in a note or between notes.
func TestNotesAmongLongLines(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	first := "o\n1\nroot\n\n— o " + long + "\n"
	second := "o\n2\n" + long + "\n\n— o s\n— p s\n"
	got, err := audit.ReadAnchors(strings.NewReader(long+"\n"+first+"\n"+long+"\n"+long+"\n"+second+"\no\n3\n"+long), "o")
	require.NoError(t, err)
	require.Len(t, got, 2)
	assert.Equal(t, first, string(got[0]))
	assert.Equal(t, second, string(got[1]))
}
