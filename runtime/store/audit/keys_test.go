package audit_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/store/audit"
)

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}

func writeFile(t testing.TB, path string, text []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, text, 0o600))
}

func readAnchors(t *testing.T, path, origin string) [][]byte {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	list, err := audit.ReadAnchors(f, origin)
	require.NoError(t, err)
	return list
}

func TestKeyFiles(t *testing.T) {
	signer, verifier, err := audit.GenerateKey("agents.example.com/prod")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "audit.key")
	require.NoError(t, audit.WriteKeys(path, signer, verifier))
	s, err := audit.ReadSigner(path)
	require.NoError(t, err)
	v, err := audit.ReadVerifier(path + audit.PublicSuffix)
	require.NoError(t, err)
	assert.Equal(t, "agents.example.com/prod", s.Name())
	sig, err := s.Sign([]byte("x"))
	require.NoError(t, err)
	assert.True(t, v.Verify([]byte("x"), sig))

	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	again, other, err := audit.GenerateKey("x")
	require.NoError(t, err)
	require.ErrorIs(t, audit.WriteKeys(path, again, other), fs.ErrExist)
	assert.Equal(t, signer+"\n", string(readFile(t, path)), "never overwritten")
	require.NoError(t, os.Remove(path+audit.PublicSuffix))
	require.ErrorIs(t, audit.WriteKeys(path, again, other), fs.ErrExist)
	assert.NoFileExists(t, path+audit.PublicSuffix, "not half a key")

	require.NoError(t, os.Chmod(path, 0o640))
	_, err = audit.ReadSigner(path)
	require.ErrorContains(t, err, "chmod 600")
	_, err = audit.ReadVerifier(path)
	require.ErrorContains(t, err, path)
	_, err = audit.ReadSigner(path + "x")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestKeyNames(t *testing.T) {
	for _, name := range []string{"", "a b", "a+b", "a\nb", "\xff", "a\x7fb"} {
		_, _, err := audit.GenerateKey(name)
		require.Error(t, err, "%q", name)
	}
}

func TestOpenSigner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	_, err := audit.OpenSigner(path, "a.example/log", false)
	require.ErrorIs(t, err, fs.ErrNotExist, "another key could not continue a log")
	require.NoError(t, os.WriteFile(path, nil, 0o600), "of a start that was killed")
	made, err := audit.OpenSigner(path, "a.example/log", true)
	require.NoError(t, err)
	require.Equal(t, "a.example/log", made.Name())
	again, err := audit.OpenSigner(path, "b.example/log", true)
	require.NoError(t, err)
	require.Equal(t, made.KeyHash(), again.KeyHash())
	verifier, err := audit.ReadVerifier(path + audit.PublicSuffix)
	require.NoError(t, err)
	require.Equal(t, made.KeyHash(), verifier.KeyHash())
	require.NoError(t, os.WriteFile(path, []byte("nonsense"), 0o600))
	_, err = audit.OpenSigner(path, "a.example/log", true)
	require.ErrorContains(t, err, "is not the signer of a key", "what is there is not replaced")
}
