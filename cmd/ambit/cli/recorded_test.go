package cli_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/user"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/cmd/ambit/cli"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/console"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// unpackRecorded unpacks the folder of a host of commit 89cfa63, which testdata/recorded-89cfa63.go.txt has made, and makes it the working directory:
// from there the segment has the name that the store knows. It returns the clock of that time.
func unpackRecorded(t *testing.T) (dir string, clock runtime.Clock) {
	t.Helper()
	dir = t.TempDir()
	f, err := os.Open(filepath.Join("testdata", "recorded-89cfa63.tar.gz"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, f.Close()) }()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		name := filepath.Join(dir, filepath.FromSlash(header.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, text, 0o600))
	}
	t.Chdir(dir)
	return dir, recordedAt(t)
}

// recordedAt returns the clock of the time of the recording.
func recordedAt(t *testing.T) runtime.Clock {
	t.Helper()
	text, err := os.ReadFile("recorded")
	require.NoError(t, err)
	at, err := time.Parse(time.RFC3339, string(text))
	require.NoError(t, err)
	return recordedClock{time.Until(at.Add(10 * time.Second))}
}

// A recordedClock is the real clock, set back to the time of a recording.
type recordedClock struct{ offset time.Duration }

func (c recordedClock) Now() time.Time { return time.Now().Add(c.offset) }

func (recordedClock) AfterFunc(d time.Duration, f func()) runtime.Timer { return time.AfterFunc(d, f) }

// A recordedHost is a host of today on that folder. Pay is transfer now and note is memo, ship has another declaration, and the
// policy counts its questions from 100.
type recordedHost struct {
	*host.Host
	*testing.T
	mu      sync.Mutex
	faults  []string
	ran     []string // tools and their arguments
	reports int
	run     *engine.Run
}

// config is that of a host on a folder.
func (h *recordedHost) config(dir string, clock runtime.Clock) host.Config {
	return host.Config{
		Tools: h.tools(), Policy: runtime.PolicyFunc(h.policy), Dir: dir, Retain: host.KeepAll, Report: func(err error) { h.mu.Lock(); defer h.mu.Unlock(); h.faults = append(h.faults, err.Error()) },
		Options: []engine.Option{engine.WithPendingRequests(), engine.WithClock(clock)},
	}
}

func (h *recordedHost) tools() []*runtime.Tool {
	tool := func(name string, of func(*runtime.Spec)) *runtime.Tool {
		spec := &runtime.Spec{Name: name, Version: "1.0.0", Effect: runtime.SideEffectWrite, Pin: "one"}
		if of != nil {
			of(spec)
		}
		return runtime.NewDynamicTool(spec, text{}, func(_ context.Context, in wire.Value) (wire.Value, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.ran = append(h.ran, name+" "+string(in.(wire.Raw)))
			return wire.Raw(`{"by":"` + name + `"}`), nil
		})
	}
	ask := &runtime.Consent{Ask: runtime.ConsentAskAlways, MaxCover: runtime.CoverTool}
	asks := func(s *runtime.Spec) { s.Consent = ask }
	return []*runtime.Tool{
		tool("transfer", func(s *runtime.Spec) {
			s.RenamedFrom, s.Idempotency = []string{"pay"}, &runtime.Idempotency{Key: []string{"order"}, Window: 24 * time.Hour}
		}),
		tool("memo", func(s *runtime.Spec) {
			s.RenamedFrom = []string{"note"}
			s.Dedupe, s.Rules.MaxCalls = runtime.Dedupe{Mode: runtime.DedupeWindow, Window: 24 * time.Hour}, 2
		}),
		tool("send", asks), tool("report", nil),
		tool("ship", func(s *runtime.Spec) { s.Consent, s.Pin = ask, "two" }),
		tool("order", func(s *runtime.Spec) {
			s.Consent = &runtime.Consent{Ask: runtime.ConsentAskAlways, Approvers: []string{"alice", "bob"}, Quorum: 2, AllowEdit: true}
		}),
		tool("mail", func(s *runtime.Spec) { s.Consent, s.Capabilities = ask, []string{"mail"} }),
		tool("read", asks), tool("fetch", asks), tool("list", asks),
		tool("export", func(s *runtime.Spec) { s.Artifact = &runtime.Artifact{Over: 300} }),
		tool("slow", func(s *runtime.Spec) { s.Limits.Concurrency = 1 }),
		tool("finish", func(s *runtime.Spec) { s.Rules.ExitLoop = true }),
	}
}

func (h *recordedHost) policy(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
	for _, c := range in.Tool.Capabilities {
		if !slices.Contains(in.Capabilities, c) {
			return runtime.Decision{Denials: []runtime.Denial{{Code: runtime.ReasonCapabilityMissing.String(), Message: "needs the capability " + c}}}, nil
		}
	}
	d := runtime.Decision{Effect: runtime.EffectAllow}
	switch {
	case in.Tool.Name == "report":
		h.mu.Lock()
		defer h.mu.Unlock()
		h.reports++
		d.Effect = runtime.EffectAsk
		d.Asks = []runtime.Ask{{ID: "counted", Message: fmt.Sprintf("question %d", 99+h.reports)}}
	case in.Tool.Name == "order" && strings.Contains(string(in.Args.(wire.Raw)), "50"):
		d.Rewrites = []runtime.Rewrite{{Code: "tenfold", Pointer: "/amount", Value: wire.Raw("500")}}
	}
	return d, nil
}

// openRecorded opens a host of today on the folder, without what is in its inbox.
func openRecorded(t *testing.T, edit ...func(*host.Config)) *recordedHost {
	t.Helper()
	dir, clock := unpackRecorded(t)
	require.NoError(t, os.RemoveAll("ambit.db.inbox")) // its command approves a request
	h := &recordedHost{T: t}
	c := h.config(dir, clock)
	for _, f := range edit {
		f(&c)
	}
	h.open(c)
	return h
}

func (h *recordedHost) open(c host.Config) {
	h.Helper()
	var err error
	h.Host, err = host.Open(h.Context(), c)
	require.NoError(h, err)
	h.Cleanup(func() { assert.NoError(h, h.Close(context.Background())) })
	h.run = h.runOf("agent")
}

// runOf is the open run of the recorded calls.
func (h *recordedHost) runOf(principal string) *engine.Run {
	h.Helper()
	run, open := h.Executor.Session(engine.SessionConfig{ID: "s", Principal: principal, Capabilities: []string{"mail"}}).Run("r")
	require.True(h, open)
	return run
}

func (h *recordedHost) await(id string) runtime.Outcome {
	s, known := h.Executor.FindSession("s")
	require.True(h, known)
	return s.Await(h.Context(), id)
}

func (h *recordedHost) execute(run *engine.Run, id, tool, in string) runtime.Outcome {
	h.Helper()
	return run.Turn(engine.TurnConfig{}).Execute(h.Context(), runtime.Call{ID: id, Tool: tool, Input: []byte(in)})
}

// request is the open request of a call.
func (h *recordedHost) request(call string) *consent.Notice {
	h.Helper()
	all := h.Executor.Requests()
	at := slices.IndexFunc(all, func(r *consent.Notice) bool { return r.CallID == call })
	require.GreaterOrEqual(h, at, 0, "no request of %q is open", call)
	return all[at]
}

func (h *recordedHost) decide(call string, a action.Answer) action.Resolution {
	h.Helper()
	return h.Executor.Decide(h.Context(), h.request(call).ID, a)
}

// ambit runs the command line in the folder.
func (h *recordedHost) ambit(args ...string) (code int, out string) {
	h.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Run(args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String() + stderr.String()
}

// TestRecordedCalls: the calls of commit 89cfa63 are answered, repeated and refused by the rules of now.
func TestRecordedCalls(t *testing.T) {
	h := openRecorded(t)
	same := func(out runtime.Outcome, output string) {
		t.Helper()
		assert.Equal(t, []any{runtime.Completed, output}, []any{out.Kind, string(out.Output)}, out.Message)
	}
	reused := func(out runtime.Outcome) {
		t.Helper()
		assert.Equal(t, runtime.ReasonCallIDReused, out.Reason, out.Message)
		assert.Contains(t, out.Message, "an id of its own")
	}

	// What is keyed by the name of a tool is known under its new name.
	for i, name := range []string{"transfer", "pay"} {
		out := h.execute(h.run, fmt.Sprint("key", i), name, `{"order":"o1","amount":5}`)
		assert.Equal(t, []any{runtime.Duplicate, "c1", `{"by":"pay"}`}, []any{out.Kind, out.Of, string(out.Output)}, out.Message)
	}
	out := h.execute(h.run, "conflict", "transfer", `{"order":"o1","amount":6}`)
	assert.Equal(t, []any{runtime.ReasonIdempotencyConflict, `call "c1" had the same idempotency key and other arguments`}, []any{out.Reason, out.Message})
	for i, name := range []string{"memo", "note"} {
		out := h.execute(h.run, fmt.Sprint("equal", i), name, `{"text":"hello"}`)
		assert.Equal(t, []any{runtime.Duplicate, "c2"}, []any{out.Kind, out.Of}, out.Message)
	}
	same(h.execute(h.run, "second", "memo", `{"text":"second"}`), `{"by":"memo"}`)
	out = h.execute(h.run, "third", "memo", `{"text":"third"}`)
	assert.Equal(t, []any{runtime.ReasonMaxCalls, 2}, []any{out.Reason, out.Detail.Used}, out.Message)

	// An id is answered to the principal of its call, and that of a sub-agent's call to the sub-agent and the run.
	same(h.execute(h.run, "c1", "pay", `{"order":"o1","amount":5}`), `{"by":"pay"}`)
	same(h.execute(h.run, "c1", "transfer", `{"order":"o1","amount":5}`), `{"by":"pay"}`)
	reused(h.execute(h.run, "c1", "pay", `{"order":"o1","amount":6}`))
	other := h.run.WithPrincipal("other")
	reused(h.execute(other, "c1", "pay", `{"order":"o1","amount":5}`))
	reused(other.Turn(engine.TurnConfig{}).Await(t.Context(), "c1"))
	same(h.run.Turn(engine.TurnConfig{}).Await(t.Context(), "c1"), `{"by":"pay"}`)
	same(h.execute(h.run, "c3", "pay", `{"order":"o3"}`), `{"by":"pay"}`)
	same(h.execute(h.run.Child(engine.RunConfig{ID: "helper"}), "c3", "pay", `{"order":"o3"}`), `{"by":"pay"}`)
	reused(h.execute(h.run.Child(engine.RunConfig{ID: "sibling"}), "c3", "pay", `{"order":"o3"}`))
	exported := h.execute(h.run, "c4", "export", `{}`)
	require.NotNil(t, exported.Artifact, exported.Message)
	text, _, err := h.run.Turn(engine.TurnConfig{}).Artifact(t.Context(), exported.Artifact.SHA256)
	require.NoError(t, err)
	assert.Contains(t, string(text), "long long")
	_, _, err = other.Turn(engine.TurnConfig{}).Artifact(t.Context(), exported.Artifact.SHA256)
	assert.ErrorIs(t, err, runtime.ErrNoArtifact)
	_, err = h.Executor.Session(engine.SessionConfig{ID: "s", Principal: "other"}).StartRun(t.Context(), engine.RunConfig{})
	assert.EqualError(t, err, `the session "s" is of the principal "agent" and is not continued for "other": set SessionConfig.Rebind where it is handed over`)

	// An id beyond the bound of now is refused, and the application still reads the outcome.
	long := strings.Repeat("long", 2500)
	out = h.execute(h.run, long, "pay", `{"order":"o4"}`)
	assert.Equal(t, []any{runtime.ReasonInvalidInput, "the id of the call has 10000 bytes, and 8192 are allowed"}, []any{out.Reason, out.Message})
	same(h.await(long), `{"by":"pay"}`)

	out = h.execute(h.run, "d1", "slow", `{"id":"d1"}`)
	assert.Equal(t, []any{runtime.Cancelled, "the executor was shut down; it may still have taken effect"}, []any{out.Kind, out.Message})

	// What was refused for the moment, and whose handler never started, is judged anew.
	same(h.execute(h.run, "d2", "slow", `{"id":"d2"}`), `{"by":"slow"}`)
	assert.Equal(t, []string{`memo {"text":"second"}`, `slow {"id":"d2"}`}, h.ran)
}

// TestRecordedSegment: a call whose entries commit 89cfa63 has archived is answered from its segment, to its principal. Where the segment is
// not at its place the answer says where the outcome is.
func TestRecordedSegment(t *testing.T) {
	h := openRecorded(t)
	run, err := h.Executor.Session(engine.SessionConfig{ID: "old", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	if goruntime.GOOS == "linux" { // the store knows it as /proc/self/cwd/old.segment
		out := h.execute(run, "a1", "pay", `{"order":"o0"}`)
		assert.Equal(t, []any{runtime.Completed, `{"by":"pay"}`}, []any{out.Kind, string(out.Output)}, out.Message)
	}
	assert.Equal(t, runtime.ReasonCallIDReused, h.execute(run.WithPrincipal("other"), "a1", "pay", `{"order":"o0"}`).Reason)
	require.NoError(t, os.Rename("old.segment", "moved.segment"))
	out := h.execute(run, "a1", "pay", `{"order":"o0"}`)
	assert.Equal(t, runtime.ReasonCallIDReused, out.Reason)
	assert.Contains(t, out.Message, "entries of that call are archived: its outcome is entry 8")
	code, text := h.ambit("audit", "show", "--seq", "8", "--store", "ambit.db", "--segment", "moved.segment")
	assert.Zero(t, code, text)
	assert.Contains(t, text, "a1")
}

// TestRecordedRequests: the requests that commit 89cfa63 has left open are answered by the rules of now.
func TestRecordedRequests(t *testing.T) {
	dir, clock := unpackRecorded(t)
	letters, err := filepath.Glob(filepath.Join("ambit.db.inbox", "*.command"))
	require.NoError(t, err)
	require.Len(t, letters, 1)
	if who, err := user.Current(); err != nil || who.Username != "root" { // who sent the recorded command: the file has to belong to the sender
		require.NoError(t, os.Remove(letters[0]))
		code, text := (&recordedHost{T: t}).ambit("approvals", "approve", "--call", "q7", "--store", "ambit.db", "--wait", "0s")
		require.Equal(t, 5, code, text) // it waits
	}
	h := &recordedHost{T: t}
	h.open(h.config(dir, clock))

	// The command in the inbox is carried out.
	out := h.await("q7")
	assert.Equal(t, runtime.Completed, out.Kind, out.Message)
	left, err := filepath.Glob(filepath.Join("ambit.db.inbox", "*.command"))
	require.NoError(t, err)
	assert.Empty(t, left)

	// The request of a run that has ended meanwhile has ended: no answer could count.
	out = h.await("e1")
	assert.Equal(t, []any{runtime.ReasonRunFinished, "the run is finished: it takes no more calls"}, []any{out.Reason, out.Message})

	// An exit waits for those that are open.
	out = h.execute(h.run, "exit", "finish", `{}`)
	assert.Equal(t, runtime.ReasonPrerequisiteMissing, out.Reason)
	assert.Equal(t, []string{"q1", "q2", "q3", "q4", "q5", "q6"}, out.Detail.Waiting)
	assert.Equal(t, runtime.LoopWait, out.Loop)

	// A declaration that has changed: nothing is used.
	for range 2 {
		code, text := h.ambit("approvals", "approve", "--call", "q3", "--store", "ambit.db")
		assert.NotZero(t, code)
		assert.Contains(t, text, "the declaration of the tool has changed since consent was asked for: an approval counts under the former one")
	}
	res := h.decide("q3", action.Answer{By: runtime.ProgramActor("ann"), Approve: true})
	assert.Equal(t, []any{runtime.ResolutionRejected, consent.TermsChanged, runtime.Pending}, []any{res.Kind, res.Reason, res.Outcome.Kind})

	// A plain one, and one whose message is another one now.
	for _, id := range []string{"q1", "q2"} {
		code, text := h.ambit("approvals", "approve", "--call", id, "--store", "ambit.db")
		assert.Zero(t, code, text)
		out := h.await(id)
		assert.Equal(t, runtime.Completed, out.Kind, out.Message)
	}
	assert.Equal(t, 1, h.reports)

	// One of another principal, which had the capabilities of the session then and has none now: the call is refused, and says why.
	res = h.decide("q6", action.Answer{By: runtime.ProgramActor("ann"), Approve: true})
	require.Equal(t, runtime.ResolutionAccepted, res.Kind)
	assert.Equal(t, []any{runtime.Denied, runtime.ReasonCapabilityMissing}, []any{res.Outcome.Kind, res.Outcome.Reason})
	assert.Contains(t, res.Outcome.Message, "needs the capability mail")
	assert.Equal(t, runtime.Pending, h.execute(h.run.WithPrincipal("other", "mail"), "given", "mail", `{}`).Kind)
	require.Equal(t, runtime.ResolutionAccepted, h.decide("given", action.Answer{By: runtime.ProgramActor("ann"), Approve: true}).Kind)

	// Edits of alice: an answer is for what is shown, which for q4 is what the policy has made of the edit. Since nothing recorded whether it
	// has made something of it, alice answers again.
	for id, args := range map[string]string{"q4": `{"amount":500}`, "q5": `{"amount":9}`} {
		r := h.request(id)
		assert.Equal(t, args, string(r.Args))
		blind := h.decide(id, action.Answer{By: runtime.ProgramActor("bob"), Approve: true})
		assert.Equal(t, runtime.ResolutionRejected, blind.Kind, id)
		assert.Empty(t, r.Votes)
		res := h.decide(id, action.Answer{By: runtime.ProgramActor("bob"), Approve: true, Binding: r.Binding})
		assert.Equal(t, []any{runtime.ResolutionRecorded, 1}, []any{res.Kind, res.Missing}, id)
		res = h.decide(id, action.Answer{By: runtime.ProgramActor("alice"), Approve: true})
		assert.Equal(t, []any{runtime.ResolutionRejected, consent.TermsChanged}, []any{res.Kind, res.Reason}, id)
		res = h.decide(id, action.Answer{By: runtime.ProgramActor("alice"), Approve: true, Binding: r.Binding})
		require.Equal(t, runtime.ResolutionAccepted, res.Kind, res.Reason)
		assert.Equal(t, runtime.Completed, res.Outcome.Kind, res.Outcome.Message)
	}
	assert.ElementsMatch(t, []string{`send {"to":"x"}`, `send {"to":"y"}`, `report {}`, `mail {}`, `order {"amount":500}`, `order {"amount":9}`}, h.ran)

	// What waits for the former declaration can be denied, and then the run may end.
	require.Equal(t, runtime.ResolutionAccepted, h.decide("q3", action.Answer{By: runtime.ProgramActor("ann")}).Kind)
	out = h.execute(h.run, "exit again", "finish", `{}`)
	assert.Equal(t, []any{runtime.Completed, runtime.RunFinished}, []any{out.Kind, out.Run}, out.Message)
}

// TestRecordedGrants: the grants that commit 89cfa63 has given by prefix answer by the rules of now, and the lists say which one answers nothing.
//
// SEMANTICS 5.3.13
func TestRecordedGrants(t *testing.T) {
	h := openRecorded(t, func(c *host.Config) {
		c.Serve = host.Serve{Addr: "127.0.0.1:0", Mount: []func(*host.Host) (string, http.Handler){console.Mount(console.Options{Out: io.Discard})}}
	})
	for i, c := range []struct {
		tool, args string
		kind       runtime.OutcomeKind
	}{
		{"read", `{"path":"docs/a.md"}`, runtime.Completed},
		{"read", `{"path":"docs/../x"}`, runtime.Pending},
		{"read", `{"path":"docs/%2e%2e/x"}`, runtime.Pending},
		{"fetch", `{"url":"https://docs.example.com/a"}`, runtime.Pending},
		{"fetch", `{"url":"https://docs.example.com@evil.example"}`, runtime.Pending},
		{"list", `{"of":"anything"}`, runtime.Completed},
		{"list", `{"of":1}`, runtime.Pending},
	} {
		out := h.execute(h.run, fmt.Sprint("n", i), c.tool, c.args)
		assert.Equal(t, c.kind, out.Kind, "%s %s: %s", c.tool, c.args, out.Message)
	}
	const why = `the prefix for "url" contains ://, and its letters begin URLs of other hosts too: compare by url`
	code, text := h.ambit("grants", "list", "--store", "ambit.db")
	assert.Zero(t, code, text)
	assert.Equal(t, 1, strings.Count(text, "answers nothing"), text)
	assert.Contains(t, text, `url prefix "https://docs.example.com" (answers nothing: `+why+`)`)

	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := http.Client{Jar: jar}
	defer client.CloseIdleConnections()
	page, err := client.Get(h.OwnLoginURL("/grants"))
	require.NoError(t, err)
	body, err := io.ReadAll(page.Body)
	require.NoError(t, errors.Join(err, page.Body.Close()))
	assert.Contains(t, html.UnescapeString(string(body)), "no call: "+why)

	fetch := h.Executor.Grants(action.GrantFilter{Tool: "fetch"})
	require.Len(t, fetch, 1)
	code, text = h.ambit("grants", "revoke", fetch[0].ID, "--store", "ambit.db")
	assert.Zero(t, code, text)
}

// TestRecordedBackup: the store and the backup of commit 89cfa63 are proved, and the backup is restored and used, although entries of it are archived.
//
// SEMANTICS 6.15.4
func TestRecordedBackup(t *testing.T) {
	h := openRecorded(t)
	report, err := h.VerifyAudit(t.Context())
	require.NoError(t, err)
	assert.True(t, report.OK, report.Bad)
	require.NoError(t, h.Close(t.Context()))
	code, text := h.ambit("audit", "verify", "--store", "ambit.db", "--key", "ambit.db.audit.pub", "--anchor", "ambit.db.anchor", "--keys", "ambit.db.keys", "--segment", "old.segment")
	assert.Zero(t, code, text)

	require.NoError(t, os.Mkdir("restored", 0o700))
	store := filepath.Join("restored", "ambit.db")
	code, text = h.ambit("restore", "old.backup", "--store", store, "--reason", "a drill", "--key", "ambit.db.audit")
	require.Zero(t, code, text)
	signer, err := os.ReadFile("ambit.db.audit")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(store+".audit", signer, 0o600))
	again := &recordedHost{T: t}
	dir, err := filepath.Abs("restored")
	require.NoError(t, err)
	again.open(again.config(dir, recordedAt(t)))
	out := again.execute(again.run, "c1", "pay", `{"order":"o1","amount":5}`)
	assert.Equal(t, runtime.Completed, out.Kind, out.Message)
	out = again.execute(again.run, "repeated", "transfer", `{"order":"o1","amount":5}`)
	assert.Equal(t, runtime.Duplicate, out.Kind, out.Message)
	res := again.decide("q1", action.Answer{By: runtime.ProgramActor("ann"), Approve: true})
	require.Equal(t, runtime.ResolutionAccepted, res.Kind)
	assert.Equal(t, runtime.Completed, res.Outcome.Kind, res.Outcome.Message)
	assert.Len(t, again.Executor.Grants(action.GrantFilter{Live: true}), 3)
	report, err = again.VerifyAudit(t.Context())
	require.NoError(t, err)
	assert.Nil(t, report.Bad)
	assert.Len(t, report.Restored, 1)
}

// TestRecordedModes: the files of commit 89cfa63 that others may read are refused with the command that mends it.
func TestRecordedModes(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("files have no modes there")
	}
	dir, clock := unpackRecorded(t)
	h := &recordedHost{T: t}
	for _, name := range []string{"ambit.db", "ambit.db.keys"} {
		require.NoError(t, os.Chmod(name, 0o604))
		_, err := host.Open(t.Context(), h.config(dir, clock))
		require.ErrorContains(t, err, "chmod o-rwx")
		require.NoError(t, os.Chmod(name, 0o600))
	}
	h.open(h.config(dir, clock))
}
