package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// used does with a store all that makes a statement of its own.
func used(t *testing.T, path string) (s *Store, r *Reader) {
	t.Helper()
	ctx := t.Context()
	s, err := Open(path)
	require.NoError(t, err)
	_, err = s.Key(ctx, "inbox")
	require.NoError(t, err)
	for seq := uint64(1); seq <= 400; seq += 4 {
		var list []journal.Entry
		for i := range uint64(4) {
			list = append(list, journal.Entry{Seq: seq + i, At: time.Unix(int64(seq), 0), Kind: "k", Session: fmt.Sprint("s", seq%7), Run: "r", Call: fmt.Sprint("c", seq), Tool: "t", Mark: journal.Mark(i % 4), Leaf: []byte("{}"), Private: []byte("p")})
		}
		require.NoError(t, s.Append(ctx, list))
	}
	require.NoError(t, s.Append(ctx, []journal.Entry{{Seq: 401, Kind: "k", Session: "s", Leaf: []byte("{}")}}))
	require.NoError(t, s.Apply(ctx, []Write{{Key: "a", Value: []byte("b")}, {Key: "c"}}))
	require.NoError(t, s.SaveCheckpoint(ctx, 2, []byte("note")))
	require.NoError(t, s.Archive(ctx, journal.Segment{First: 1, Last: 2}))
	require.NoError(t, s.SaveCheckpoint(ctx, 401, []byte("note")))
	require.NoError(t, s.Renew(ctx))
	require.NoError(t, s.Erase(ctx, 1))
	require.NoError(t, s.EraseSession(ctx, "s1"))
	release, err := s.Claim(ctx)
	require.NoError(t, err)
	release()
	require.NoError(t, s.Fence(ctx, func() {}))
	s.Health()
	r, err = OpenReader(path, WithKeys(path+".keys"))
	require.NoError(t, err)
	_, err = r.Authenticate(ctx)
	require.NoError(t, err)
	_, err = r.Owned(ctx)
	require.NoError(t, err)
	for _, f := range []CallFilter{{}, {Session: "s1"}, {Session: "s1", Before: 9}, {Session: "s1", Tool: "t"}, {Session: "s1", Call: "c1"}, {Call: "c1"}, {Call: "c1", Tool: "t"}, {Call: "c", Prefix: true}, {Run: "r"}, {Run: "r", Prefix: true}, {Tool: "t"}, {Tool: "t", Since: time.Unix(1, 0)}, {Since: time.Unix(1, 0)}, {Since: time.Unix(1000, 0)}, {Until: time.Unix(9, 0)}, {Tool: "t", Until: time.Unix(9, 0)}, {Before: 9}, {Unfinished: true}, {Unresolved: true}} {
		_, err = r.Calls(ctx, f)
		require.NoError(t, err)
	}
	maxSince = 10 // of the hundred calls
	_, err = r.Calls(ctx, CallFilter{Since: time.Unix(1, 0)})
	maxSince = 10_000
	require.NoError(t, err)
	_, err = r.Sessions(ctx, "s1", 50)
	require.NoError(t, err)
	_, err = r.Runs(ctx, "s1", 9, 50)
	require.NoError(t, err)
	_, err = r.Call(ctx, journal.CallKey{Session: "s1", Call: "c1"})
	require.ErrorAs(t, err, new(*journal.ArchivedError), "its first two entries are archived")
	_, err = r.Unfinished(ctx)
	require.NoError(t, err)
	_, err = r.Keys(ctx, "a")
	require.NoError(t, err)
	_, err = r.Get(ctx, "a")
	require.NoError(t, err)
	_, err = r.Checkpoints(ctx)
	require.NoError(t, err)
	usedOfJournal(t, r)
	usedOfRequests(t, s, r)
	return s, r
}

// usedOfRequests appends what tells of requests, and finds them.
func usedOfRequests(t *testing.T, s *Store, r *Reader) {
	t.Helper()
	leaf := []byte(`{"consent":[{"kind":"reminded","request":"q"},{"kind":"grant_used","grant":"q"}]}`)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{{Seq: 402, Kind: "k", Session: "s", Leaf: leaf}}))
	check, err := r.CheckIndex(t.Context())
	require.NoError(t, err)
	_ = check.Compare(t.Context(), 0) // for its statements
	for _, f := range requestFilters {
		_, err := r.Requests(t.Context(), f)
		require.NoError(t, err)
	}
}

// requestFilters are those that verbs use.
var requestFilters = []journal.RequestFilter{
	{Waiting: true}, {Ended: true, Limit: 9}, {Ended: true, Before: 9, Limit: 9}, {Granted: true}, {Granted: true, Live: true}, {Retired: true},
	{ID: "q"}, {ID: "q", Session: "s"}, {ID: "q", Prefix: true}, {ID: "q", Prefix: true, Waiting: true}, {ID: "q", Prefix: true, Granted: true},
	{Call: "c", Prefix: true}, {Call: "c", Session: "s", Prefix: true},
}

// usedOfJournal reads by session and by position, and the last checkpoints.
func usedOfJournal(t *testing.T, r *Reader) {
	t.Helper()
	require.NoError(t, r.Back(t.Context(), "s2", 400, func(*journal.Entry) bool { return true }))
	_, err := r.Segments(t.Context())
	require.NoError(t, err)
	_, err = r.Head(t.Context())
	require.NoError(t, err)
	require.ErrorAs(t, r.archived(t.Context(), 1), new(*journal.ArchivedError))
	_, err = r.Entries(t.Context(), 7, 3)
	require.NoError(t, err)
	_, err = r.Open(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.VerifySessions(t.Context()))
	plain, err := OpenReader(r.path)
	require.NoError(t, err)
	require.NoError(t, plain.Back(t.Context(), "s2", 400, func(*journal.Entry) bool { return true }))
	maps.Copy(r.stmts, plain.stmts)
	require.NoError(t, plain.Close())
	_, err = r.RecentCheckpoints(t.Context(), 400, 2)
	require.NoError(t, err)
}

// scans are the statements that read all rows of a table, with the reason why they may. The text is a
// part of the statement; every part must be met.
var scans = map[string]string{
	"DELETE FROM private WHERE session = ?":            "an operator erases a session now and then; an index would be written with every sensitive value",
	"FROM segment ORDER BY last":                       "all segments are listed",
	"SELECT first, session, call, entries FROM call":   "a verification compares all of the index",
	"open, live FROM request":                          "likewise",
	"FROM checkpoint ORDER BY size":                    "a verification compares all checkpoints",
	"FROM owner o LEFT JOIN node t ON true":            "a verification reads all of the tree of the sessions",
	"call_settled WHERE true ORDER BY":                 "the newest calls, in the order of the table, up to the limit",
	"call_settled WHERE true AND opened_at >= ? ORDER": "more than 10,000 calls were opened since that time: the newest of them, in the order of the table, up to the limit",
}

// scan matches the line of a plan that reads all of a table, without an index that has a part of its rows.
var scan = regexp.MustCompile(`^SCAN (entry|call|request|private|state|checkpoint|key|node|session|segment|c|e|t|p|g)( USING (COVERING )?INDEX sqlite_autoindex.*)?( LEFT-JOIN)?$`)

// TestNoStatementScans asks SQLite how it executes every statement of a store.
func TestNoStatementScans(t *testing.T) {
	s, r := used(t, filepath.Join(t.TempDir(), "store"))
	queries := slices.Concat(slices.Collect(maps.Keys(s.stmts)), slices.Collect(maps.Keys(r.stmts)), slices.Collect(maps.Keys(s.w.c.stmts)))
	for _, text := range literals(t, ".") {
		if !slices.ContainsFunc(queries, func(q string) bool { return strings.Contains(q, text) }) {
			queries = append(queries, text) // a whole one; plan fails for a part of one, which used has to execute
		}
	}
	met := map[string]bool{}
	for _, q := range queries {
		for _, line := range plan(t, r.db, q) {
			if !scan.MatchString(line) {
				continue
			}
			allowed := false
			for part := range scans {
				if strings.Contains(q, part) {
					allowed, met[part] = true, true
				}
			}
			assert.True(t, allowed, "%q: %s", q, line)
		}
	}
	for part := range scans {
		assert.True(t, met[part], "no statement with %q scans: take it off the list", part)
	}
	require.NoError(t, r.Close())
	require.NoError(t, s.Close())
}

// literals returns the statements that are written in the files of a package, as far as they are one literal.
func literals(t *testing.T, dir string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	verb := regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|VACUUM|WITH) `)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil && verb.MatchString(text) && !elsewhere[text] {
					list = append(list, text)
				}
			}
			return true
		})
	}
	require.NotEmpty(t, list)
	return list
}

// elsewhere are statements that run once, on a connection that is not kept.
var elsewhere = map[string]bool{
	"VACUUM INTO ?": true, // a backup, which reads all
}

// plan returns how SQLite executes a statement.
func plan(t *testing.T, db *sql.DB, query string) (lines []string) {
	t.Helper()
	args := make([]any, strings.Count(query, "?"))
	if strings.Contains(query, "?1") {
		args = args[:1]
		if strings.Contains(query, "?2") {
			args = make([]any, 2)
		}
		if strings.Contains(query, "?3") {
			args = make([]any, 3)
		}
	}
	rows, err := db.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+query, args...)
	require.NoError(t, err, query)
	defer func() { require.NoError(t, rows.Close()) }()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		require.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
		lines = append(lines, detail)
	}
	require.NoError(t, rows.Err())
	return lines
}

// TestAPageReadsAnIndex: a page of all calls steps through the table in its order and ends at the limit; a
// page of the calls of a session, of its runs and of all sessions reads an index.
func TestAPageReadsAnIndex(t *testing.T) {
	s, r := used(t, filepath.Join(t.TempDir(), "store"))
	for part, want := range map[string]string{
		"call_settled WHERE true ORDER BY first DESC":                                   "SCAN call",
		"call_settled WHERE true AND first < ? ORDER BY first DESC":                     "SEARCH call USING INTEGER PRIMARY KEY (rowid<?)",
		"call_settled WHERE true AND session = ? ORDER BY first DESC":                   "SEARCH call USING INDEX call_session (session=?)",
		"call_settled WHERE true AND session = ? AND first < ? ORDER":                   "SEARCH call USING INDEX call_session (session=? AND first<?)",
		"call_settled WHERE true AND session = ? AND tool = ? ORDER":                    "SEARCH call USING INDEX call_session (session=?)",
		"call_settled WHERE true AND tool = ? ORDER BY first DESC":                      "SEARCH call USING INDEX call_tool (tool=?)",
		"call_settled WHERE true AND run = ? ORDER BY first DESC":                       "SEARCH call USING INDEX call_run (run=?)",
		"call_settled WHERE true AND run >= ? AND run < ? ORDER BY":                     "SEARCH call USING INDEX call_run (run>? AND run<?)",
		"WHERE true AND tool = ? AND opened_at >= ? AND first >= ?":                     "SEARCH call USING INDEX call_tool (tool=? AND first>?)",
		"WHERE true AND opened_at >= ? AND first >= ? ORDER":                            "SEARCH call USING INTEGER PRIMARY KEY (rowid>?)",
		"count(*), coalesce(min(first), 0)":                                             "SEARCH call USING COVERING INDEX call_opened_at (opened_at>?)",
		"call_settled WHERE true AND " + unfinished + " ORDER BY":                       "SCAN call USING INDEX call_unfinished",
		"call_settled WHERE true AND " + unresolved + " ORDER BY":                       "SCAN call USING INDEX call_unknown",
		"first >> 13 = n AND true AND call = ? LIMIT":                                   "SEARCH call USING COVERING INDEX call_id (<expr>=? AND call=?)",
		"first >> 13 = n AND true AND call >= ? AND call < ? LIMIT":                     "SEARCH call USING COVERING INDEX call_id (<expr>=? AND call>? AND call<?)",
		"WITH RECURSIVE s(id)":                                                          "SEARCH call USING COVERING INDEX call_session (session>?)",
		"WHERE +asked < ? AND id <> '' AND open = 1 AND expires > ?":                    "SEARCH request USING INDEX request_open (expires>?)",
		"WHERE +asked < ? AND id <> '' AND live IS NOT NULL ORDER":                      "SCAN request USING INDEX request_granted",
		"WHERE +asked < ? AND id <> '' AND live IS NOT NULL AND live = 1 AND until > ?": "SEARCH request USING INDEX request_live (until>?)",
		"WHERE asked < ? AND id <> '' AND (open = 0 OR expires <= ?)":                   "SEARCH request USING INDEX request_asked (asked<?)",
		"WHERE id = '' ORDER BY":                                                        "SEARCH request USING PRIMARY KEY (id=?)",
		"WHERE +asked < ? AND id = ? AND id <> ''":                                      "SEARCH request USING PRIMARY KEY (id=?)",
		"WHERE +asked < ? AND id >= ? AND id < ? AND id <> '' ORDER":                    "SEARCH request USING PRIMARY KEY (id>? AND id<?)",
		"WHERE +asked < ? AND call >= ? AND call < ?":                                   "SEARCH request USING INDEX request_call (call>? AND call<?)",
		"FROM checkpoint WHERE size <= ?":                                               "SEARCH checkpoint USING INTEGER PRIMARY KEY (rowid<?)",
		"SELECT ?1, '', count(*)":                                                       "SEARCH call USING COVERING INDEX sqlite_autoindex_call_1 (session=?)",
		"SELECT ?1, run, count(*)":                                                      "SEARCH call USING INDEX call_session (session=?)",
	} {
		queries := slices.DeleteFunc(slices.Collect(maps.Keys(r.stmts)), func(q string) bool { return !strings.Contains(q, part) })
		require.Len(t, queries, 1, part)
		lines := plan(t, r.db, queries[0])
		assert.Contains(t, lines, want, part)
		if strings.Contains(part, "session = ?") { // what comes after it sorts a page, and the calls of the last entries
			table := lines[:slices.Index(lines, "SCAN (subquery-1)")]
			assert.NotContains(t, table, "USE TEMP B-TREE FOR ORDER BY", "%s: all calls of the session are sorted", part)
		}
	}
	require.NoError(t, r.Close())
	require.NoError(t, s.Close())
}
