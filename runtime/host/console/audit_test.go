package console_test

import (
	"bufio"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAudit: who may audit finds the entries of the journal, each in full with its hash, and takes them away as
// JSON lines; who may not finds nothing.
func TestAudit(t *testing.T) {
	r := start(t)
	eve, mallory := r.as("eve", "audit"), r.as("mallory")
	r.callAs("c1", "note", "ada", "x")
	r.callAs("c2", "seal", "ada", "x")
	all := eve.get("/audit")
	require.Equal(t, http.StatusOK, all.StatusCode)
	assert.Contains(t, all.text, "<code>tool.completed</code>")
	assert.Less(t, strings.Index(all.text, "tool.denied"), strings.Index(all.text, "tool.completed"), "the newest first")
	some := eve.get("/audit?kind=tool.denied&tool=seal&session=s").text
	assert.Contains(t, some, "/calls/s/c2")
	assert.NotContains(t, some, "/calls/s/c1")
	assert.Contains(t, eve.get("/audit?by=nobody").text, "There are no entries that the filter wants")
	assert.Equal(t, http.StatusBadRequest, eve.get("/audit?before=x").StatusCode)
	assert.Equal(t, http.StatusBadRequest, eve.get("/audit/x").StatusCode)
	assert.Equal(t, http.StatusForbidden, eve.get("/audit/99999").StatusCode)

	p := eve.get("/audit/export")
	require.Equal(t, "application/x-ndjson", p.Header.Get("Content-Type"))
	type line struct {
		Seq    uint64          `json:"seq"`
		Hash   string          `json:"leaf_hash"`
		Record json.RawMessage `json:"record"`
	}
	var last line
	n := uint64(0)
	for s := bufio.NewScanner(strings.NewReader(p.text)); s.Scan(); {
		require.NoError(t, json.Unmarshal(s.Bytes(), &last))
		n++
	}
	head, err := r.Store.Head(t.Context())
	require.NoError(t, err)
	assert.Equal(t, head, n)
	sum := sha256.Sum256(append([]byte{0}, last.Record...))
	assert.Equal(t, last.Hash, hex.EncodeToString(sum[:]))
	one := eve.get("/audit/" + jsonNumber(last.Seq))
	assert.Contains(t, one.text, last.Hash)
	assert.NotContains(t, p.text+one.text, secret)
	assert.Equal(t, 1, strings.Count(eve.get("/audit/export?after="+jsonNumber(head-1)).text, "\n"))

	assert.NotContains(t, mallory.get("/audit").text, "/calls/s/")
	assert.Empty(t, mallory.get("/audit/export").text)
	assert.Equal(t, http.StatusForbidden, mallory.get("/audit/1").StatusCode)
	assert.Equal(t, http.StatusForbidden, mallory.post("/audit/verify", url.Values{}).StatusCode)
	assert.NotContains(t, mallory.get("/audit").text, "Verify now")
}

func jsonNumber(n uint64) string {
	text, _ := json.Marshal(n)
	return string(text)
}

// TestVerifyNow: the page says what a verification found, in these words, and where the first bad entry is.
func TestVerifyNow(t *testing.T) {
	r := start(t)
	eve := r.as("eve", "audit")
	r.callAs("c1", "note", "ada", "x")
	require.Equal(t, http.StatusSeeOther, eve.post("/audit/verify", url.Values{}).StatusCode)
	p := eve.get("/audit").text
	assert.Contains(t, p, "Verified at")
	assert.NotContains(t, p, "The first bad position")
	r.damage("UPDATE entry SET leaf = cast(replace(leaf, 'run.started', 'run.restart') AS BLOB) WHERE seq = 3")
	require.Equal(t, http.StatusSeeOther, eve.post("/audit/verify", url.Values{}).StatusCode)
	p = eve.get("/audit").text
	assert.Contains(t, p, "<strong>bad</strong>")
	assert.Contains(t, p, "The first bad position is 3.")
}

// TestVerifyNowOfAnUnreadableEntry: a verification names an entry that cannot be read, also one after which the tree of
// the sessions was not written yet.
func TestVerifyNowOfAnUnreadableEntry(t *testing.T) {
	r := start(t)
	eve := r.as("eve", "audit")
	r.callAs("c1", "note", "ada", "x")
	r.callAs("c2", "note", "ada", "x")
	r.damage("UPDATE entry SET leaf = 'text' WHERE seq = 9")
	require.Equal(t, http.StatusSeeOther, eve.post("/audit/verify", url.Values{}).StatusCode)
	assert.Contains(t, eve.get("/audit").text, "The first bad position is 9.")
}

// damage changes the file of the store as no owner does.
func (r *rig) damage(statement string) {
	r.Helper()
	path := filepath.Join(r.dir, "ambit.db")
	for _, text := range []string{
		`PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT', ''), 'NOT NULL', '') WHERE name = 'entry';
DELETE FROM sqlite_schema WHERE type = 'trigger'`, statement,
	} {
		db, err := sql.Open("sqlite", path)
		require.NoError(r, err)
		db.SetMaxOpenConns(1)
		_, err = db.Exec(text)
		require.NoError(r, err)
		require.NoError(r, db.Close())
	}
}

// TestDamageIsShown: a journal that is damaged shows what can be read, and where it cannot be.
func TestDamageIsShown(t *testing.T) {
	r := start(t)
	eve := r.as("eve", "audit")
	for _, id := range []string{"c1", "c2", "c3", "c4"} {
		r.callAs(id, "note", "ada", "x")
	}
	r.damage("UPDATE entry SET leaf = 'text' WHERE seq = 13")
	p := eve.get("/audit")
	require.Equal(t, http.StatusOK, p.StatusCode)
	assert.Contains(t, p.text, "Entry 13 cannot be read.")
	for _, part := range []string{`href="/audit/12"`, `href="/audit/14"`, `href="/audit/1"`} {
		assert.Contains(t, p.text, part)
	}
	assert.NotContains(t, p.text, `href="/audit/13"`)
	p = eve.get("/audit/13")
	assert.Equal(t, http.StatusInternalServerError, p.StatusCode)
	assert.Contains(t, p.text, "<code>damaged</code>")
	lines := strings.Split(strings.TrimSpace(eve.get("/audit/export").text), "\n")
	assert.Len(t, lines, 13)
	assert.Equal(t, `{"seq":13,"code":"damaged"}`, lines[12])
}
