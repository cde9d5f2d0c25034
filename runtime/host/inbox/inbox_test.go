package inbox_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/runtime/host/inbox"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(victimOf); path != "" {
		fmt.Fprintln(os.Stderr, victim(path))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// A store has a name and a key.
type store struct {
	path string
	key  []byte
	err  error
}

func newStore(t *testing.T) *store {
	return &store{path: filepath.Join(t.TempDir(), "ambit.db"), key: make([]byte, 32)}
}

func (s *store) Path() string                                { return s.path }
func (s *store) Key(context.Context, string) ([]byte, error) { return s.key, s.err }

// An importer hands on what it is given.
type importer struct {
	got chan inbox.Command
	err error
	do  func(context.Context, inbox.Command)
}

func (i *importer) Import(ctx context.Context, c inbox.Command) (inbox.CommandResult, error) {
	if i.do != nil {
		i.do(ctx, c)
	}
	i.got <- c
	return inbox.CommandResult{}, i.err
}

// Reports are what was reported.
type reports struct {
	mu    sync.Mutex
	lines []string
	more  chan struct{}
}

func newLog() *reports { return &reports{more: make(chan struct{}, 100)} }

func (l *reports) add(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, err.Error())
	l.more <- struct{}{}
}

func (l *reports) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// serve serves the inbox of a store until the test ends, or stop is called.
func serve(t *testing.T, s *store, to *importer, opts ...inbox.Option) (stop func()) {
	t.Helper()
	in, err := inbox.ServeTo(t.Context(), s, to.Import, opts...)
	require.NoError(t, err)
	stop = func() { require.NoError(t, in.Close(context.Background())) }
	t.Cleanup(stop)
	return stop
}

// left lists the commands that are still in the inbox.
func left(t *testing.T, s *store) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(inbox.Dir(s), "*.command"))
	require.NoError(t, err)
	return list
}

func TestCommandsArrive(t *testing.T) {
	s, to := newStore(t), &importer{got: make(chan inbox.Command, 10)}
	stop := serve(t, s, to)
	want := inbox.Command{
		Kind: inbox.CommandApprove, Request: "q", Reason: "fine", Where: []consent.Predicate{{Member: "path", Value: json.RawMessage(`"a"`)}},
		Edit: json.RawMessage(`{"a":1}`),
	}
	require.NoError(t, inbox.Put(t.Context(), s, &want))
	got := <-to.got
	assert.NotEmpty(t, got.By)
	assert.Len(t, got.MAC, 64)
	got.MAC = ""
	want.Method = runtime.MethodOwner
	assert.Equal(t, want, got)
	stop()
	assert.Empty(t, left(t, s))

	for i := range 5 { // they wait, in their order
		require.NoError(t, inbox.Put(t.Context(), s, &inbox.Command{Kind: inbox.CommandDeny, Request: fmt.Sprint(i)}))
	}
	assert.Len(t, left(t, s), 5)
	stop = serve(t, s, to)
	for i := range 5 {
		assert.Equal(t, fmt.Sprint(i), (<-to.got).Request)
	}
	stop()
	assert.Empty(t, left(t, s))
}

func TestServedSaysWhetherSomebodyImports(t *testing.T) {
	s, to := newStore(t), &importer{got: make(chan inbox.Command, 1)}
	served := func() bool {
		yes, err := inbox.Served(s)
		require.NoError(t, err)
		return yes
	}
	assert.False(t, served())
	stop := serve(t, s, to)
	require.NoError(t, inbox.Put(t.Context(), s, &inbox.Command{Kind: inbox.CommandDeny}))
	<-to.got // by then it has the lock
	assert.True(t, served())
	stop()
	assert.False(t, served())
}

func TestCommandsThatCannotBeGiven(t *testing.T) {
	s := newStore(t)
	assert.ErrorIs(t, inbox.Put(t.Context(), s, new(inbox.Command)), inbox.ErrNoInbox)
	s.err = fs.ErrNotExist
	assert.ErrorIs(t, inbox.Put(t.Context(), s, new(inbox.Command)), inbox.ErrNoInbox)
	s.err = fmt.Errorf("the keys: %w", fs.ErrPermission)
	err := inbox.Put(t.Context(), s, new(inbox.Command))
	assert.ErrorIs(t, err, fs.ErrPermission)
	assert.ErrorContains(t, err, "only who can read the keys of the store may give one")
	s.err = nil
	require.NoError(t, os.Mkdir(inbox.Dir(s), 0o700))
	err = inbox.Put(t.Context(), s, &inbox.Command{Reason: strings.Repeat("a", inbox.MaxCommand)})
	assert.ErrorContains(t, err, "which is more than 65536: give a shorter reason")
	assert.Empty(t, left(t, s))
}

// forged returns a letter that says what it says, signed with a key.
func forged(key []byte, version, command string) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte("ambit inbox v1\n" + command))
	return fmt.Sprintf(`{"version":%q,"command":%s,"mac":%q}`, version, command, hex.EncodeToString(m.Sum(nil)))
}

func TestBadLettersAreReportedAndNeverCarriedOut(t *testing.T) {
	s, to, said := newStore(t), &importer{got: make(chan inbox.Command, 10)}, newLog()
	require.NoError(t, os.Mkdir(inbox.Dir(s), 0o700))
	good := inbox.Command{Kind: inbox.CommandDeny, Request: "q"}
	require.NoError(t, inbox.Put(t.Context(), s, &good))
	text, err := os.ReadFile(left(t, s)[0])
	require.NoError(t, err)
	mine := fmt.Sprintf(`{"nonce":"n","at":"2026-01-02T03:04:05Z","by":%q,"kind":"deny","request":"q"}`, good.By)
	signed := func(command string) string { return forged(s.key, "ambit inbox v1", command) }
	with := func(member string) string { return strings.TrimSuffix(mine, "}") + member + "}" }
	for name, c := range map[string]struct{ text, want string }{
		"garbage":  {"garbage", "it is no command"},
		"empty":    {"", "it is no command"},
		"cut":      {string(text[:len(text)/2]), "it is no command"},
		"changed":  {strings.Replace(string(text), "deny", "undo", 1), "not signed with the key"},
		"stranger": {forged([]byte("another key"), "ambit inbox v1", mine), "not signed with the key"},
		"newer":    {forged(s.key, "ambit inbox v2", mine), `version "ambit inbox v2", and this executor imports "ambit inbox v1"`},
		"nobody":   {forged(s.key, "ambit inbox v1", `{"nonce":"n","at":"2026-01-02T03:04:05Z","by":"","kind":""}`), "does not say who gives it"},
		"nonce":    {forged(s.key, "ambit inbox v1", `{"nonce":"","at":"2026-01-02T03:04:05Z","by":"x","kind":""}`), "has no nonce"},
		"other":    {forged(s.key, "ambit inbox v1", `{"nonce":"n","at":"2026-01-02T03:04:05Z","by":"somebody else","kind":""}`), `in the name of "somebody else" and its file belongs to`},
		"twice":    {signed(with(`,"kind":"approve"`)), "it is no command: "},
		"case":     {signed(with(`,"Kind":"approve"`)), "it is no command: /Kind: additionalProperties: "},
		"unknown":  {signed(with(`,"urgent":true`)), "it is no command: /urgent: additionalProperties: "},
		"groups":   {signed(with(`,"groups":["finance"]`)), "it is no command: /groups: additionalProperties: "},
		"method":   {signed(with(`,"method":"owner"`)), "it is no command: /method: additionalProperties: "},
		"utf-8":    {signed(with(",\"reason\":\"\xff\"")), "it is no command: "},
		"type":     {signed(with(`,"for_ns":"1h"`)), "it is no command: "},
		"trailing": {signed(mine) + "{}", "it is no command: "},
		"envelope": {strings.Replace(signed(mine), `"mac"`, `"urgent":true,"mac"`, 1), "it is no command: /urgent: additionalProperties: "},
		"two macs": {strings.Replace(signed(mine), `"mac"`, `"mac":"","mac"`, 1), "it is no command: "},
		"deep":     {signed(with(`,"edit":` + strings.Repeat("[", 200) + strings.Repeat("]", 200))), "it is no command: "},
		"long":     {strings.Repeat(" ", inbox.MaxCommand) + string(text), "more than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(inbox.Dir(s), "0-"+name+".command")
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			stop := serve(t, s, to, inbox.WithReport(said.add))
			<-said.more
			stop()
			assert.Contains(t, said.String(), c.want)
			assert.NoFileExists(t, path)
			said.lines = nil
		})
	}
	require.NoError(t, os.Mkdir(filepath.Join(inbox.Dir(s), "0-dir.command"), 0o700))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(inbox.Dir(s), "0-link.command")))
	stop := serve(t, s, to, inbox.WithReport(said.add))
	<-said.more
	<-said.more
	stop()
	assert.Contains(t, said.String(), "it is no file")
	for len(to.got) > 0 {
		assert.Equal(t, good.Nonce, (<-to.got).Nonce, "a bad letter was imported")
	}
}

// TestUsersWithAccess: a user that was given access to a store is not its owner.
func TestUsersWithAccess(t *testing.T) {
	assert.Equal(t, runtime.MethodOwner, inbox.MethodOf("app", "app"))
	assert.Equal(t, runtime.MethodUser, inbox.MethodOf("app", "ada"))
	assert.Equal(t, runtime.MethodUser, inbox.MethodOf("app", ""))
}

func TestIdentities(t *testing.T) {
	s, to, said := newStore(t), &importer{got: make(chan inbox.Command, 10)}, newLog()
	var whose string
	var mu sync.Mutex
	stop := serve(t, s, to, inbox.WithReport(said.add), inbox.WithIdentity(func(string) (string, []string) {
		mu.Lock()
		defer mu.Unlock()
		return whose, []string{"finance"}
	}))
	c := inbox.Command{Kind: inbox.CommandDeny, Request: "q"}
	require.NoError(t, inbox.Put(t.Context(), s, &c))
	<-said.more
	assert.Contains(t, said.String(), "is nobody who may give commands")
	mu.Lock()
	whose = "group:finance"
	mu.Unlock()
	require.NoError(t, inbox.Put(t.Context(), s, &c))
	<-said.more
	assert.Equal(t, 2, strings.Count(said.String(), "is nobody who may give commands"))
	assert.Empty(t, to.got)
	mu.Lock()
	whose = "ada@example.com"
	mu.Unlock()
	require.NoError(t, inbox.Put(t.Context(), s, &c))
	got := <-to.got
	assert.Equal(t, "ada@example.com", got.By)
	assert.Equal(t, []string{"finance"}, got.Groups)
	assert.Equal(t, runtime.MethodOwner, got.Method)
	assert.Equal(t, c.By, got.User)
	stop()
}

func TestCommandsThatCannotBeRecordedStay(t *testing.T) {
	s, said := newStore(t), newLog()
	to := &importer{got: make(chan inbox.Command, 10), err: errors.New("the disk is full")}
	stop := serve(t, s, to, inbox.WithReport(said.add))
	require.NoError(t, inbox.Put(t.Context(), s, &inbox.Command{Kind: inbox.CommandDeny, Request: "1"}))
	<-said.more
	require.NoError(t, inbox.Put(t.Context(), s, &inbox.Command{Kind: inbox.CommandDeny, Request: "2"}))
	<-said.more
	stop()
	assert.Len(t, to.got, 2, "each was tried once")
	assert.Len(t, left(t, s), 2)
	assert.Contains(t, said.String(), "waits in the inbox for the next start: the disk is full")

	to = &importer{got: make(chan inbox.Command, 10), err: fmt.Errorf("no: %w", engine.ErrCommandKnown)}
	stop = serve(t, s, to, inbox.WithReport(said.add))
	<-to.got
	<-to.got
	stop()
	assert.Empty(t, left(t, s))
	assert.Len(t, said.lines, 2)
}

// TestALongCommandKeepsNobodyWaiting has one that ends only with the server.
func TestALongCommandKeepsNobodyWaiting(t *testing.T) {
	s := newStore(t)
	to := &importer{got: make(chan inbox.Command, 10)}
	begun := make(chan struct{})
	to.do = func(ctx context.Context, c inbox.Command) {
		if c.Kind == inbox.CommandUndo {
			close(begun)
			<-ctx.Done()
		}
	}
	in, err := inbox.ServeTo(t.Context(), s, to.Import)
	require.NoError(t, err)
	require.NoError(t, inbox.Put(t.Context(), s, &inbox.Command{Kind: inbox.CommandUndo}))
	<-begun
	require.NoError(t, inbox.Put(t.Context(), s, &inbox.Command{Kind: inbox.CommandDeny}))
	assert.Equal(t, inbox.CommandDeny, (<-to.got).Kind)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, in.Close(over))
	assert.Equal(t, inbox.CommandUndo, (<-to.got).Kind)
	require.NoError(t, in.Close(over))
	assert.Empty(t, left(t, s))
}

func TestInboxesThatCannotBeServed(t *testing.T) {
	s := newStore(t)
	require.NoError(t, os.Mkdir(inbox.Dir(s), 0o700))
	require.NoError(t, os.Chmod(inbox.Dir(s), 0o777))
	_, err := inbox.ServeTo(t.Context(), s, (&importer{}).Import)
	assert.ErrorContains(t, err, "everybody may write to it (mode 0777): run chmod 700 on it")
	assert.ErrorContains(t, inbox.Put(t.Context(), s, new(inbox.Command)), "everybody may write to it")
	require.NoError(t, os.Remove(inbox.Dir(s)))
	require.NoError(t, os.Symlink(t.TempDir(), inbox.Dir(s)))
	_, err = inbox.ServeTo(t.Context(), s, (&importer{}).Import)
	assert.ErrorContains(t, err, "is no directory")
	assert.ErrorContains(t, inbox.Put(t.Context(), s, new(inbox.Command)), "is no directory")
	s.err = errors.New("no key")
	_, err = inbox.ServeTo(t.Context(), s, (&importer{}).Import)
	assert.ErrorContains(t, err, "no key")
}
