package replan_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/replan"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A note is the input of the command: pin is sensitive and has seven characters, text is an argument.
type note struct {
	Text string `json:"text"`
	Pin  string `json:"pin"`
}

func (*note) Walk(wire.Visitor) {}

type codec struct{}

func (codec) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	var v note
	if json.Unmarshal(b, &v) != nil || len(v.Pin) != len(pin) || l.Size < len(b) {
		return nil, []wire.Violation{{Pointer: "/pin", Keyword: "minLength", Actual: v.Pin}}
	}
	return &v, nil
}

const pin = "hunter2"

// command returns a lookup of one tool whose program gets the text and some more arguments.
func command(declared string, more ...string) func(string) *runtime.Tool {
	t := runtime.NewDynamicCommandTool(&runtime.Spec{
		Name: "say", Version: "1.0.0", Pin: declared, Command: &runtime.Command{Program: "echo", Stdin: "pin"},
	}, codec{}, codec{}, func(in wire.Value) ([]string, error) {
		if in.(*note).Text == "panic" {
			panic(in.(*note).Pin)
		}
		return append([]string{"echo", in.(*note).Text}, more...), nil
	}, func(in wire.Value) string { return in.(*note).Pin })
	return func(name string) *runtime.Tool {
		if name != "say" {
			return nil
		}
		return t
	}
}

// entry returns the entry of a record, whose sensitive values are kept apart.
func entry(t *testing.T, r *journal.Record, secrets ...journal.Secret) journal.Entry {
	t.Helper()
	leaf, err := json.Marshal(r)
	require.NoError(t, err)
	private, err := journal.EncodePrivate(secrets)
	require.NoError(t, err)
	return journal.Entry{Leaf: leaf, Private: private}
}

// payload returns a recorded input, and its sensitive value.
func payload(t *testing.T, member, text string) (*journal.Payload, journal.Secret) {
	t.Helper()
	secret := journal.Secret{Pointer: "/" + member + "/value/pin", Salt: make([]byte, journal.SaltSize), Value: []byte(`"` + pin + `"`)}
	value, err := json.Marshal(note{text, journal.Commit(secret.Salt, secret.Value)})
	require.NoError(t, err)
	sum := sha256.Sum256(value)
	return &journal.Payload{Bytes: len(value), SHA256: hex.EncodeToString(sum[:]), Value: value, Secrets: 1}, secret
}

// call returns the entries of a call of say: asked about, and started where argv is not nil.
func call(t *testing.T, text string, argv []string) []journal.Entry {
	t.Helper()
	args, secret := payload(t, "args", text)
	list := []journal.Entry{entry(t, &journal.Record{Kind: "tool.validated", Call: "c", Tool: "say", ToolVersion: "1.0.0", Args: args}, secret)}
	if argv == nil {
		return list
	}
	sum := process.Digest(argv)
	return append(list,
		entry(t, &journal.Record{Kind: "tool.started", Call: "c", Tool: "say", Pin: "p"}),
		entry(t, &journal.Record{Kind: journal.KindProcessStarted, Call: "c", Process: &journal.Process{ID: runtime.ProcessID{PID: 1}, Argv: hex.EncodeToString(sum[:])}}))
}

// TestArgumentsAreMadeAgain of the recorded input, with the values that a rewrite or an edit has put there.
// SEMANTICS 5.10.8
func TestArgumentsAreMadeAgain(t *testing.T) {
	in, err := replan.Of(call(t, "a", []string{"echo", "a"})).Plan(command("p"))
	require.NoError(t, err)
	assert.Equal(t, []string{"echo", "a"}, in.Argv)
	in, err = replan.Of(call(t, "a", []string{"echo", "a"})).Plan(command("another"))
	require.NoError(t, err, "the digest says that they are the same")
	assert.Equal(t, []string{"echo", "a"}, in.Argv)

	final, secret := payload(t, "final_args", "b")
	edited := append(call(t, "a", []string{"echo", "b"}), entry(t, &journal.Record{Kind: "approval.decided", Call: "c", Tool: "say", Final: final}, secret))
	in, err = replan.Of(edited).Plan(command("p"))
	require.NoError(t, err)
	assert.Equal(t, []string{"echo", "b"}, in.Argv)

	in, err = replan.Of(call(t, "a", nil)).Plan(command("p"))
	require.NoError(t, err, "nothing was started")
	assert.Equal(t, []string{"echo", "a"}, in.Argv)
}

// TestArgumentsThatMayBeOthers are not returned, and the reason has no value of the input.
// SEMANTICS 5.10.8
func TestArgumentsThatMayBeOthers(t *testing.T) {
	started := call(t, "a", []string{"echo", "a"})
	asked := append(call(t, "a", nil), entry(t, &journal.Record{Kind: "approval.requested", Call: "c", Consent: []consent.Event{
		{Asked: &consent.Request{CallID: "c", Pin: "p"}}, {Asked: &consent.Request{CallID: "d", Pin: "other"}},
	}}))
	newer := append(call(t, "a", nil), entry(t, &journal.Record{Kind: "tool.authorized", Call: "c", ToolVersion: "2.0.0"}))
	damaged := call(t, "a", nil)
	damaged[0].Private = []byte("x")
	leafless := append(call(t, "a", nil), journal.Entry{Leaf: []byte("x")})
	erased := call(t, "a", nil)
	erased[0].Private = nil
	none := []journal.Entry{entry(t, &journal.Record{Kind: "tool.invoked", Call: "c", Tool: "say"})}
	gone := func(string) *runtime.Tool { return nil }
	for name, c := range map[string]struct {
		entries []journal.Entry
		lookup  func(string) *runtime.Tool
		want    string
	}{
		"other arguments":     {started, command("p", "more"), replan.ErrDiffers.Error()},
		"asked, other pin":    {asked, command("p2"), replan.ErrDeclared.Error()},
		"another version":     {newer, command("p"), replan.ErrDeclared.Error()},
		"no such tool":        {started, gone, replan.ErrNoTool.Error()},
		"private is damaged":  {damaged, command("p"), replan.ErrDamaged.Error()},
		"an entry is no JSON": {leafless, command("p"), replan.ErrDamaged.Error()},
		"erased":              {erased, command("p"), "the recorded arguments do not fit the declaration of now"},
		"no input":            {none, command("p"), replan.ErrNoInput.Error()},
		"panic":               {call(t, "panic", nil), command("p"), "the code of the tool panics for the recorded arguments"},
	} {
		in, err := replan.Of(c.entries).Plan(c.lookup)
		assert.Nil(t, in, name)
		require.EqualError(t, err, c.want, name)
		assert.NotContains(t, err.Error(), pin, name)
	}
	in, err := replan.Of(asked).Plan(command("p"))
	require.NoError(t, err)
	assert.Equal(t, []string{"echo", "a"}, in.Argv)
	in, err = replan.Of(none).Plan(gone)
	require.NoError(t, err)
	assert.Nil(t, in, "a tool with a handler")
}

// TestArgumentsThatAreAskedAbout are those of the request, whose masks stand for values of the call.
// SEMANTICS 5.10.8
func TestArgumentsThatAreAskedAbout(t *testing.T) {
	q := &consent.Request{Tool: "say", Pin: "p", CallID: "c", Terms: consent.Terms{Args: []byte(`{"text":"edited","pin":"(sensitive)"}`), Masked: []string{"/pin"}}}
	c := replan.Of(call(t, "a", nil))
	in, err := c.Asked(q, command("p"))
	require.NoError(t, err)
	assert.Equal(t, []string{"echo", "edited"}, in.Argv)
	_, err = c.Asked(q, command("p2"))
	require.ErrorIs(t, err, replan.ErrDeclared)

	q.Masked = []string{"/other"} // the call has no such value
	_, err = c.Asked(q, command("p"))
	require.EqualError(t, err, "the recorded arguments do not fit the declaration of now")

	q.Masked, q.Status = []string{"/pin"}, consent.StatusUsed
	ran := replan.Of(call(t, "a", []string{"echo", "edited"}))
	in, err = ran.Asked(q, command("p2"))
	require.NoError(t, err, "the digest says that they are the same")
	assert.Equal(t, []string{"echo", "edited"}, in.Argv)
	_, err = replan.Of(call(t, "a", []string{"echo", "a"})).Asked(q, command("p"))
	require.ErrorIs(t, err, replan.ErrDiffers)
}

// TestChangedPrograms are files that are not those that ran.
func TestChangedPrograms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tool")
	require.NoError(t, os.WriteFile(file, []byte("a program"), 0o700)) //nolint:gosec // a program
	sum := sha256.Sum256([]byte("a program"))
	p := &journal.Process{Program: file, SHA256: hex.EncodeToString(sum[:])}
	var s replan.Programs
	assert.False(t, s.Changed(p))
	assert.False(t, s.Changed(&journal.Process{Program: file}), "nothing is recorded")
	require.NoError(t, os.WriteFile(file, []byte("another one"), 0o700)) //nolint:gosec // a program
	assert.True(t, s.Changed(p))
	require.NoError(t, os.Remove(file))
	assert.True(t, s.Changed(p))
}
