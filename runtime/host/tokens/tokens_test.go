package tokens_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/tokens"
)

// keep makes a token and keeps it.
func keep(t *testing.T, f *tokens.File, id string, groups ...string) (tokens.Token, string) {
	t.Helper()
	token, text, err := tokens.New(id, groups)
	require.NoError(t, err)
	require.NoError(t, f.Add(t.Context(), token))
	return token, text
}

// open is true for a token that has not been revoked.
func open(revoked <-chan struct{}) bool {
	select {
	case <-revoked:
		return false
	default:
		return true
	}
}

// TestVerify: the text of a token is its holder's id and groups, and no other text is anybody's.
func TestVerify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.tokens")
	f := tokens.Open(path)
	token, text := keep(t, f, "alice", "finance")
	_, bobs := keep(t, f, "bob")
	who, revoked, ok, err := f.Verify(text)
	require.NoError(t, err)
	require.True(t, ok)
	assert.True(t, open(revoked))
	assert.Equal(t, runtime.Actor{ID: "alice", Groups: []string{"finance"}, Method: tokens.Method}, who)
	for name, wrong := range map[string]string{
		"nothing":              "",
		"name alone":           "ambit_" + token.Name,
		"name and no secret":   "ambit_" + token.Name + "_",
		"secret of another":    "ambit_" + token.Name + bobs[len("ambit_")+len(token.Name):],
		"the hash":             token.SHA256,
		"the hash as a secret": "ambit_" + token.Name + "_" + token.SHA256,
		"one more":             text + "A",
		"one less":             text[:len(text)-1],
		"other case":           strings.ToLower(text),
		"unknown name":         strings.Replace(text, token.Name, "AAAAAAAAAAAA", 1),
	} {
		_, _, ok, err := f.Verify(wrong)
		assert.NoError(t, err, name)
		assert.False(t, ok, name)
	}
}

// TestKeptHashed: the file has no part of the secret, and only its owner can read it.
func TestKeptHashed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.tokens")
	_, text := keep(t, tokens.Open(path), "alice")
	secret := text[strings.LastIndex(text[:len("ambit_")+13], "_")+1:]
	raw, err := base64.RawURLEncoding.DecodeString(secret)
	require.NoError(t, err)
	assert.Len(t, raw, 32, "256 bits")
	stored, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(stored), secret)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// TestRevoke: a token that was revoked is nobody's, and the channel of its holder closes, whichever
// File of the process or of another one revoked it.
func TestRevoke(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.tokens")
	served, other := tokens.Open(path), tokens.Open(path)
	first, firstText := keep(t, served, "alice")
	second, secondText := keep(t, other, "alice")
	_, firstRevoked, ok, err := served.Verify(firstText)
	require.True(t, ok, err)
	_, secondRevoked, ok, err := served.Verify(secondText)
	require.True(t, ok, "the File reads again: %v", err)

	require.NoError(t, served.Revoke(t.Context(), first.Name))
	assert.False(t, open(firstRevoked))
	assert.True(t, open(secondRevoked), "it is another token")
	_, _, ok, err = other.Verify(firstText)
	assert.NoError(t, err)
	assert.False(t, ok)

	require.NoError(t, other.Revoke(t.Context(), second.Name))
	assert.ErrorIs(t, served.Revoke(t.Context(), second.Name), tokens.ErrUnknown)
	assert.False(t, open(secondRevoked), "who revokes what is gone ends its streams too")
	list, err := served.List()
	assert.NoError(t, err)
	assert.Empty(t, list)
}

// TestAddTwice: a token is added once, and its name is taken.
func TestAddTwice(t *testing.T) {
	f := tokens.Open(filepath.Join(t.TempDir(), "store.tokens"))
	token, _ := keep(t, f, "alice", "finance")
	require.NoError(t, f.Add(t.Context(), token))
	list, err := f.List()
	require.NoError(t, err)
	assert.Equal(t, []tokens.Token{token}, list)
	token.Groups = append(token.Groups, "root")
	assert.ErrorIs(t, f.Add(t.Context(), token), tokens.ErrExists)
}

// TestWritersAtOnce: of several writers none loses what another one added.
func TestWritersAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.tokens")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 4 {
				token, _, err := tokens.New("alice", nil)
				assert.NoError(t, err)
				assert.NoError(t, tokens.Open(path).Add(t.Context(), token))
			}
		})
	}
	all.Wait()
	list, err := tokens.Open(path).List()
	require.NoError(t, err)
	assert.Len(t, list, 32)
}

// TestNames refuses ids and groups that approvers cannot name.
func TestNames(t *testing.T) {
	for name, id := range map[string]string{
		"empty": "", "a group": "group:finance", "nearly a group": "groups:x", "a blank": "alice ", "a line": "a\nb", "bidi": "a\u202eb", "no UTF-8": "a\xff", "long": strings.Repeat("a", 257),
	} {
		_, _, err := tokens.New(id, nil)
		assert.Error(t, err, name)
		_, _, err = tokens.New("alice", []string{id})
		assert.Error(t, err, name)
	}
	_, _, err := tokens.New("alice", make([]string, 65))
	assert.Error(t, err)
}

// TestDamagedFile: who cannot be looked up is not let in.
func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.tokens")
	_, text := keep(t, tokens.Open(path), "alice")
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	for name, content := range map[string]string{
		"cut":            string(good[:len(good)/2]),
		"version":        strings.Replace(string(good), `"version": 1`, `"version": 2`, 1),
		"unknown member": strings.Replace(string(good), `"id"`, `"may": "all", "id"`, 1),
		"a group's id":   strings.Replace(string(good), `"alice"`, `"group:finance"`, 1),
	} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, _, ok, err := tokens.Open(path).Verify(text)
		assert.Error(t, err, name)
		assert.False(t, ok, name)
	}
}
