package journal_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// salt returns one that is as good as random for a test.
func salt(b byte) []byte { return bytes.Repeat([]byte{b}, journal.SaltSize) }

// hidden returns a leaf with two commitments, its private part, and the leaf
// that was before.
func hidden(t testing.TB) (leaf, private []byte, before string) {
	t.Helper()
	token, card := []byte(`"h<unter\u0032"`), []byte(`{"no": [1.0, 2e3]}`)
	before = `{"event":"x", "args":{"value":{"to/ken":` + string(token) + `,"list":[0,{"~card":` + string(card) + `},"é"]}}}`
	leaf = []byte(strings.NewReplacer(
		string(token), `"`+journal.Commit(salt(1), token)+`"`,
		string(card), `"`+journal.Commit(salt(2), card)+`"`).Replace(before))
	private, err := journal.EncodePrivate([]journal.Secret{
		{Pointer: "/args/value/list/1/~0card", Salt: salt(2), Value: card},
		{Pointer: "/args/value/to~1ken", Salt: salt(1), Value: token},
	})
	require.NoError(t, err)
	return leaf, private, before
}

func TestRestore(t *testing.T) {
	leaf, private, before := hidden(t)
	out, err := journal.Restore(leaf, private)
	require.NoError(t, err)
	assert.Equal(t, before, string(out), "byte for byte")
	require.NoError(t, journal.CheckPrivate(leaf, private))

	out, err = journal.Restore(leaf, nil)
	require.NoError(t, err)
	assert.Equal(t, string(leaf), string(out), "everything was erased")

	secrets, err := journal.DecodePrivate(private)
	require.NoError(t, err)
	rest, err := journal.EncodePrivate(secrets[:1])
	require.NoError(t, err)
	out, err = journal.Restore(leaf, rest)
	require.NoError(t, err)
	assert.Contains(t, string(out), `2e3`)
	assert.Contains(t, string(out), `(committed: `, "one was erased")
}

func TestRestoreOfTheWholeLeaf(t *testing.T) {
	leaf := []byte(` "` + journal.Commit(salt(3), []byte(`null`)) + `" `)
	private, err := journal.EncodePrivate([]journal.Secret{{Salt: salt(3), Value: []byte(" null\n")}})
	require.NoError(t, err)
	out, err := journal.Restore(leaf, private)
	require.NoError(t, err)
	assert.Equal(t, ` null `, string(out))
}

func TestCommitmentHoldsSaltAndValue(t *testing.T) {
	c := journal.Commit(salt(1), []byte(`"a"`))
	assert.Len(t, c, len("(committed: )")+64)
	assert.NotEqual(t, c, journal.Commit(salt(2), []byte(`"a"`)))
	assert.NotEqual(t, c, journal.Commit(salt(1), []byte(`"b"`)))
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	leaf, private, _ := hidden(t)
	good := string(private)
	for name, bad := range map[string]string{
		"no list":         `{}`,
		"not JSON":        `[`,
		"something after": good + `[]`,
		"unknown member":  strings.Replace(good, `{"pointer"`, `{"x":1,"pointer"`, 1),
		"no value":        `[{"pointer":"/event","salt":"01010101010101010101010101010101"}]`,
		"null":            `[null]`,
		"short salt":      `[{"pointer":"/event","salt":"01","value":1}]`,
		"salt":            `[{"pointer":"/event","salt":"zz010101010101010101010101010101","value":1}]`,
		"other value":     strings.Replace(good, "h<unter", "hunter", 1),
		"other salt":      strings.Replace(good, "0202", "0203", 1),
		"other place":     strings.Replace(good, "to~1ken", "list", 1),
		"no place":        strings.Replace(good, "to~1ken", "token", 1),
		"no pointer":      strings.Replace(good, "/args/value/to", "args/value/to", 1),
		"same place":      `[` + good[1:len(good)-1] + `,` + good[1:],
		"below a string":  strings.Replace(good, "to~1ken", "to~1ken/a", 1),
		"array index":     strings.Replace(good, "list/1/", "list/01/", 1),
	} {
		t.Run(name, func(t *testing.T) {
			require.NotEqual(t, good, bad)
			_, err := journal.Restore(leaf, []byte(bad))
			require.ErrorIs(t, err, journal.ErrCommitment)
			require.ErrorIs(t, journal.CheckPrivate(leaf, []byte(bad)), journal.ErrCommitment)
		})
	}
	for name, bad := range map[string]string{
		"not JSON":       string(leaf[1:]),
		"a member twice": strings.Replace(string(leaf), `"to/ken"`, `"to/ken":1,"to\/ken"`, 1),
		"its parent":     strings.Replace(string(leaf), `"args":`, `"args":{"value":{"to/ken":1,"list":[0,{"~card":2}]}},"args":`, 1),
	} {
		t.Run("leaf "+name, func(t *testing.T) {
			_, err := journal.Restore([]byte(bad), private)
			require.ErrorIs(t, err, journal.ErrCommitment)
		})
	}
}

func TestEncodePrivateRefusesWhatCannotBeRead(t *testing.T) {
	_, err := journal.EncodePrivate([]journal.Secret{{Pointer: "/a", Salt: salt(1)[1:], Value: []byte(`1`)}})
	require.ErrorContains(t, err, `"/a"`)
	_, err = journal.EncodePrivate([]journal.Secret{{Pointer: "/a", Salt: salt(1), Value: []byte(`1 2`)}})
	require.ErrorContains(t, err, `"/a"`)
	none, err := journal.EncodePrivate(nil)
	require.NoError(t, err)
	require.Nil(t, none)
}

// FuzzRestore holds that hostile input never breaks Restore, that what it
// returns is JSON, and that it returns something only for what CheckPrivate takes.
func FuzzRestore(f *testing.F) {
	leaf, private, _ := hidden(f)
	f.Add(leaf, private)
	f.Add([]byte(`{"a":[{"a":"\\\""}, -1e9 ,true]}`), []byte(`[{"pointer":"/a/1","salt":"01010101010101010101010101010101","value":1}]`))
	f.Add([]byte(strings.Repeat(`[`, 2000)+strings.Repeat(`]`, 2000)), []byte(`[{"pointer":"`+strings.Repeat("/0", 3000)+`","salt":"01010101010101010101010101010101","value":1}]`))
	f.Fuzz(func(t *testing.T, leaf, private []byte) {
		out, err := journal.Restore(leaf, private)
		if (err == nil) != (journal.CheckPrivate(leaf, private) == nil) {
			t.Fatal("Restore and CheckPrivate disagree")
		}
		if err == nil && json.Valid(leaf) != json.Valid(out) {
			t.Fatalf("%q of %q", out, leaf)
		}
	})
}
