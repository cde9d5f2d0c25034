//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
)

// A model records the calls that the program was given and what it has promised.
type model struct {
	t      *testing.T
	random *rand.Rand
	dir    string
	calls  []*told
	byID   map[string]*told
	open   []*told            // wait for consent
	files  map[string][]*told // writes that stand, by path, the newest last
	first  map[string]string  // what the files were before
	cut    *step              // was not answered before the kill
	counts map[string]int     // of outcomes, by tool
}

// told is a call that the program was given.
type told struct {
	id, tool, path, content string
	line                    string
	ended                   *outcomeLine // that was printed; nil: none was
	undone                  bool
}

// A step is a line for the program, about a call.
type step struct {
	do   verb
	call *told
	line string
}

const fees = "docs/fees.md"

func newModel(t *testing.T, random *rand.Rand) *model {
	m := &model{
		t: t, random: random, dir: t.TempDir(), byID: map[string]*told{}, files: map[string][]*told{}, counts: map[string]int{},
		first: map[string]string{fees: "the fee\n", "docs/a.md": "a\n", "docs/b.md": "b\n", ".git/config": "mine\n"},
	}
	for name, text := range m.first {
		require.NoError(t, os.MkdirAll(filepath.Join(m.dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o644))
	}
	return m
}

// next chooses what the program is told now: first again what it has not answered.
func (m *model) next() step {
	if m.cut != nil {
		return *m.cut
	}
	switch n := m.random.IntN(10); {
	case n < 3:
		return m.write([]string{"docs/a.md", "docs/b.md", "docs/new/c.md"}[m.random.IntN(3)])
	case n < 6:
		return m.call(filetools.MessageSendName, "", "", map[string]any{"text": "hello"})
	case n < 8 && len(m.open) < 6:
		return m.write(fees)
	case n < 9 && len(m.open) > 0:
		return m.about([]verb{doApprove, doApprove, doDeny}[m.random.IntN(3)], m.open[m.random.IntN(len(m.open))])
	}
	for _, path := range slices.Sorted(maps.Keys(m.files)) {
		if list := m.files[path]; len(list) > 0 && m.random.IntN(2) == 0 {
			return m.about(doUndo, list[len(list)-1])
		}
	}
	return m.call(filetools.FileReadName, "", "", map[string]any{"path": "docs/a.md"})
}

// write is a call that replaces a file. Half a file would show.
func (m *model) write(path string) step {
	content := strings.Repeat(fmt.Sprintf("line of c%d\n", len(m.calls)), 1+m.random.IntN(200))
	return m.call(filetools.FileWriteName, path, content, map[string]any{"path": path, "content": content})
}

// call is a new call.
func (m *model) call(tool, path, content string, input map[string]any) step {
	c := &told{id: fmt.Sprintf("c%d", len(m.calls)), tool: tool, path: path, content: content}
	text, err := json.Marshal(map[string]any{"id": c.id, "tool": tool, "input": input})
	require.NoError(m.t, err)
	c.line = string(text)
	m.calls, m.byID[c.id] = append(m.calls, c), c
	return step{call: c, line: c.line}
}

// about is a line about an earlier call.
func (m *model) about(do verb, c *told) step {
	return step{do: do, call: c, line: fmt.Sprintf("{%q: %q}", do, c.id)}
}

// interrupted notes which step was not answered.
func (m *model) interrupted(s step) { m.cut = &s }

// learn takes a line that the program has printed, and reports whether it answers
// a step. A start first tells what became of calls of earlier ones.
func (m *model) learn(text string, s step) (answers bool) {
	var line outcomeLine
	require.NoError(m.t, json.Unmarshal([]byte(text), &line), text)
	c := m.byID[line.Call]
	require.NotNil(m.t, c, "nobody has made the call: %s", text)
	require.True(m.t, (line.Outcome == "") != (line.Undo == ""), text)
	if line.Undo != "" {
		m.takenBack(c, &line)
	} else {
		m.ends(c, &line)
	}
	if c != s.call || (s.do == doUndo) != (line.Undo != "") {
		return false
	}
	if (s.do == doApprove || s.do == doDeny) && line.Outcome == "pending" {
		return false // a start says that it waits
	}
	if m.cut != nil {
		m.cut = nil
		m.check() // nothing is under way now
	}
	return true
}

// ends notes the outcome of a call. One that was printed before is the same.
func (m *model) ends(c *told, line *outcomeLine) {
	if line.Outcome == "pending" {
		require.Equal(m.t, fees, c.path)
		require.Nil(m.t, c.ended, "%s waits again", c.id)
		if !slices.Contains(m.open, c) {
			m.open = append(m.open, c)
		}
		return
	}
	if c.ended != nil {
		require.Equal(m.t, c.ended, line, "the outcome of %s is another one", c.id)
		return
	}
	c.ended = line
	m.open = slices.DeleteFunc(m.open, func(o *told) bool { return o == c })
	why := line.Outcome + " " + line.Reason
	m.counts[c.tool+" "+strings.TrimSpace(why)]++
	allowed := map[string][]string{
		filetools.FileReadName:    {"completed ", "failed interrupted", "unknown interrupted"},
		filetools.MessageSendName: {"completed ", "failed interrupted", "unknown interrupted"},
		filetools.FileWriteName:   {"completed ", "failed interrupted", "unknown interrupted", "denied consent_denied", "denied binding_mismatch"},
	}
	require.Contains(m.t, allowed[c.tool], why, "%s: %s", c.id, line.Message)
	if c.path != "" && line.Outcome == "completed" { // any other outcome leaves the file as it was
		m.files[c.path] = append(m.files[c.path], c)
	}
}

// takenBack notes the undo of a call, the newest write of its file.
func (m *model) takenBack(c *told, line *outcomeLine) {
	if c.undone {
		require.Equal(m.t, "already_undone", line.Reason)
		return
	}
	if line.Undo == "not_undone" {
		require.Equal(m.t, "already_undone", line.Reason, "%s: nobody was told of its undo, and nobody else has changed %s", c.id, c.path)
	}
	c.undone = true
	m.counts["undo"]++
	list := m.files[c.path]
	require.Equal(m.t, c, list[len(list)-1])
	m.files[c.path] = list[:len(list)-1]
}

// check compares the directory with what the outcomes say.
func (m *model) check() {
	want := maps.Clone(m.first)
	for path, list := range m.files {
		if len(list) > 0 {
			want[path] = list[len(list)-1].content
		}
	}
	have := map[string]string{}
	require.NoError(m.t, fs.WalkDir(os.DirFS(m.dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(m.dir, name))
		have[name] = string(text)
		return err
	}))
	if !maps.Equal(want, have) {
		require.Equal(m.t, summary(want), summary(have))
	}
}

// summary makes files short enough to be read.
func summary(files map[string]string) map[string]string {
	short := map[string]string{}
	for name, text := range files {
		line, _, _ := strings.Cut(text, "\n")
		short[name] = fmt.Sprintf("%s (%d bytes)", line, len(text))
	}
	return short
}

// everything is what was ever told, once more, and an answer for all that waits.
func (m *model) everything() []step {
	var list []step
	for i, c := range m.open {
		list = append(list, m.about([]verb{doApprove, doDeny}[i%2], c))
	}
	for _, c := range m.calls {
		list = append(list, step{call: c, line: c.line})
	}
	return list
}

// checkOutbox holds that no message was sent twice, and that those were sent that
// the outcomes tell of.
func (m *model) checkOutbox(name string) {
	text, err := os.ReadFile(name)
	if !errors.Is(err, fs.ErrNotExist) { // no message was sent
		require.NoError(m.t, err)
	}
	sent := map[string]int{}
	for line := range strings.Lines(string(text)) {
		word, _, _ := strings.Cut(line, " ")
		id, err := strconv.Unquote(word)
		require.NoError(m.t, err, line)
		sent[id]++
	}
	for _, c := range m.calls {
		require.NotNil(m.t, c.ended, "%s has no outcome", c.id)
		n := sent[c.id]
		delete(sent, c.id)
		switch {
		case c.tool == filetools.MessageSendName && c.ended.Outcome == "completed":
			require.Equal(m.t, 1, n, "%s was acknowledged", c.id)
		case c.tool == filetools.MessageSendName && c.ended.Outcome == "unknown":
			require.LessOrEqual(m.t, n, 1, "%s was sent twice", c.id)
		default:
			require.Zero(m.t, n, "%s has done nothing, it was said", c.id)
		}
	}
	require.Empty(m.t, sent)
}

// figures says what has happened.
func (m *model) figures() string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(m.counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", m.counts[what], what))
	}
	return fmt.Sprintf("%d calls: %s", len(m.calls), strings.Join(parts, ", "))
}
