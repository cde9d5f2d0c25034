package console_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/console"
	"github.com/ambit-tools/ambit/runtime/host/tokens"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is the value of a sensitive member, which approvers may see.
const secret = "sesame-4711"

// A letter is the input of the tools. pin is sensitive.
type letter struct {
	To   string `json:"to"`
	Text string `json:"text"`
	Pin  string `json:"pin"`
}

var (
	letterRule = wire.ObjectRule{Names: []string{"to", "text", "pin"}, Required: 1}
	letterText = wire.StringRule{}
	letterPin  = wire.StringRule{Sensitive: true}
)

func (v *letter) Walk(w wire.Visitor) {
	wire.BeginObject(w, &letterRule)
	wire.Member(w, "to", &v.To, wire.WalkString, &letterText)
	wire.Member(w, "text", &v.Text, wire.WalkString, &letterText)
	wire.Member(w, "pin", &v.Pin, wire.WalkString, &letterPin)
	wire.End(w)
}

type codec struct{}

func (codec) Decode(b []byte, _ wire.Limits) (wire.Value, []wire.Violation) {
	var v letter
	if json.Unmarshal(b, &v) != nil {
		return nil, []wire.Violation{{Keyword: "json", Expected: "a letter", Actual: "something else"}}
	}
	return &v, nil
}

// tools are send and burn, which alice, bob and the group finance are asked about, pair, which wants two
// approvals and lets approvers edit, exact, whose grants are narrow,
// brief, whose requests expire at once, note, write, which shows what it would do and lets approvers edit,
// seal, which comes after another, and file, whose calls can be undone.
func tools() []*runtime.Tool {
	answer := func(_ context.Context, in wire.Value) (wire.Value, error) { return in, nil }
	asked := func(edit func(*runtime.Consent)) *runtime.Consent {
		c := &runtime.Consent{
			Ask: runtime.ConsentAskAlways, Approvers: []string{"alice", "bob", "group:finance"}, Reveal: []string{"pin"}, MaxCover: runtime.CoverTool,
			Message: "Send {text} to {to}?",
		}
		if edit != nil {
			edit(c)
		}
		return c
	}
	tool := func(name, title string, effect runtime.SideEffect, c *runtime.Consent) *runtime.Tool {
		return runtime.NewDynamicTool(&runtime.Spec{
			Name: name, Title: title, Effect: effect, Consent: c, Limits: runtime.Limits{Input: 8 << 20, Output: 8 << 20},
		}, codec{}, answer)
	}
	undo := func(_ context.Context, _ string, in, _, _ wire.Value) error {
		if in.(*letter).Text == "drifts" {
			return runtime.ErrDrift
		}
		return nil
	}
	none := func(context.Context, wire.Value) (wire.Value, error) { return nil, nil }
	return []*runtime.Tool{
		tool("send", "Send a letter", runtime.SideEffectWrite, asked(nil)),
		tool("burn", "Burn the letters", runtime.SideEffectDestructive, asked(nil)),
		tool("pair", "", runtime.SideEffectWrite, asked(func(c *runtime.Consent) { c.Quorum, c.AllowEdit = 2, true })),
		tool("exact", "", runtime.SideEffectWrite, asked(func(c *runtime.Consent) { c.MaxCover = runtime.CoverExact })),
		tool("brief", "", runtime.SideEffectWrite, asked(func(c *runtime.Consent) { c.Timeout = 1 })),
		tool("note", "", runtime.SideEffectWrite, nil),
		runtime.NewDynamicTool(&runtime.Spec{
			Name: "write", Effect: runtime.SideEffectWrite, Undo: &runtime.UndoSpec{TTL: time.Hour}, Consent: asked(func(c *runtime.Consent) { c.Preview, c.AllowEdit = true, true }),
		}, codec{}, func(_ context.Context, in wire.Value) (wire.Value, error) {
			files.Store(in.(*letter).To, in.(*letter).Text)
			return in, nil
		}, runtime.WithDynamicPreview(preview), runtime.WithDynamicUndo(codec{}, codec{}, none, undo)),
		runtime.NewDynamicTool(&runtime.Spec{
			Name: "seal", RenamedFrom: []string{"stamp"}, Effect: runtime.SideEffectWrite, Rules: runtime.Rules{MaxCalls: 1000, RequiresPreceding: []string{"note", "send"}, AnyPreceding: true},
		}, codec{}, answer),
		runtime.NewDynamicTool(&runtime.Spec{
			Name: "file", Title: "File <b>a</b> letter", Description: "Puts \u202eit away", Effect: runtime.SideEffectWrite, Undo: &runtime.UndoSpec{TTL: 90 * time.Minute},
			Limits:     runtime.Limits{Memory: 1 << 20, Concurrency: 2},
			Deprecated: &runtime.Deprecation{Since: "1.2", Use: "note", Message: "It is slow."}, InputSchema: &schema, Artifact: &runtime.Artifact{Over: 1000},
		}, codec{}, answer, runtime.WithDynamicUndo(codec{}, codec{}, none, undo)),
	}
}

// files is what the tool write writes, by name.
var files sync.Map

// preview shows what the tool write would do.
func preview(_ context.Context, in wire.Value) (runtime.Preview, error) {
	v := in.(*letter)
	was, _ := files.Load(v.To)
	return runtime.Preview{MediaType: "text/x-diff", Text: fmt.Sprintf("-%v\n+%s\n", was, v.Text)}, nil
}

var schema = `{"type":"object","title":"</pre><script>alert(1)</script>"}`

// auditors lets actors of the group audit see everything, and those of operators do everything, beside what
// runtime.OperatorDefaults allows.
type auditors struct{}

func (auditors) Authorize(ctx context.Context, r *runtime.ActRequest) (runtime.ActDecision, error) {
	for _, g := range r.Actor.Groups {
		if g == "audit" && (r.Act == runtime.ActAudit || r.Act == runtime.ActSee) || g == "operators" {
			return runtime.ActDecision{Allow: true}, nil
		}
	}
	return runtime.OperatorDefaults{}.Authorize(ctx, r)
}

var allow = runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
})

// A rig is a host with a console, over real sockets.
type rig struct {
	*testing.T
	*host.Host
	dir               string
	printed, reported buffer
	closes            assert.ErrorAssertionFunc // what the host is closed with
}

// A buffer may be written by several goroutines at a time.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func start(t *testing.T, edit ...func(*console.Options)) *rig {
	t.Helper()
	return startWith(t, nil, edit...)
}

// startWith is start with another configuration of the host.
func startWith(t *testing.T, config func(*host.Config), edit ...func(*console.Options)) *rig {
	t.Helper()
	r := &rig{T: t, dir: t.TempDir(), closes: assert.NoError}
	report := func(err error) { _, _ = io.WriteString(&r.reported, err.Error()+"\n") }
	o := console.Options{Out: &r.printed, Report: report}
	for _, f := range edit {
		f(&o)
	}
	c := host.Config{
		Tools: tools(), Policy: allow, Dir: r.dir, Operators: auditors{}, Report: report,
		Identity: func(string) (string, []string) { return "owner", []string{"admins"} },
		Serve:    host.Serve{Addr: "127.0.0.1:0", Mount: []func(*host.Host) (string, http.Handler){console.Mount(o)}},
	}
	if config != nil {
		config(&c)
	}
	h, err := host.Open(t.Context(), c)
	require.NoError(t, err)
	r.Host = h
	t.Cleanup(func() { r.closes(t, h.Close(context.Background())) })
	return r
}

// ask makes a call that waits for consent, and returns the id of the request.
func (r *rig) ask(tool, to, text string) string {
	r.Helper()
	require.Equal(r, runtime.Pending, r.call(tool, to, text).Kind)
	list := r.Executor.Requests()
	require.NotEmpty(r, list)
	return list[len(list)-1].ID
}

// call makes a call of a tool, in a run of its own.
func (r *rig) call(tool, to, text string) runtime.Outcome {
	r.Helper()
	return r.callAs(rand.Text(), tool, to, text)
}

func (r *rig) callAs(id, tool, to, text string) runtime.Outcome {
	r.Helper()
	return r.execute(r.turn(), id, tool, to, text)
}

// turn returns a turn of a new run.
func (r *rig) turn() *engine.Turn {
	r.Helper()
	run, err := r.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(r.Context(), engine.RunConfig{})
	require.NoError(r, err)
	return run.Turn(engine.TurnConfig{})
}

func (r *rig) execute(turn *engine.Turn, id, tool, to, text string) runtime.Outcome {
	r.Helper()
	input, err := json.Marshal(letter{to, text, secret})
	require.NoError(r, err)
	return turn.Execute(r.Context(), runtime.Call{ID: id, Tool: tool, Input: input})
}

// status is where a request stands.
func (r *rig) status(id string) string {
	r.Helper()
	q, ok := r.Executor.Request(id)
	require.True(r, ok)
	return q.Status.String()
}

// A browser is signed in, by a bearer token or by a cookie.
type browser struct {
	*rig
	client http.Client
	token  string
}

// as returns a browser that acts as an id.
func (r *rig) as(id string, groups ...string) *browser {
	r.Helper()
	token, text, err := tokens.New(id, groups)
	require.NoError(r, err)
	require.NoError(r, r.Tokens.Add(r.Context(), token))
	return r.browser(text)
}

func (r *rig) browser(token string) *browser {
	r.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(r, err)
	return &browser{r, http.Client{
		Transport: &http.Transport{DisableKeepAlives: true}, Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, token}
}

// A page is an answer.
type page struct {
	*http.Response
	text string
}

// do sends a request, with headers as pairs.
func (b *browser) do(method, path string, form url.Values, headers ...string) *page {
	b.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(b.Context(), method, "http://"+b.Addr().String()+path, body)
	require.NoError(b, err)
	req.Header.Set("Accept", "text/html")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", "null") // as browsers do for a page without referrer
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if b.token != "" {
		req.Header.Set("Authorization", "Bearer "+b.token)
	}
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := b.client.Do(req)
	require.NoError(b, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(b, err)
	require.NoError(b, res.Body.Close())
	return &page{res, string(text)}
}

func (b *browser) get(path string, headers ...string) *page {
	b.Helper()
	return b.do(http.MethodGet, path, nil, headers...)
}

func (b *browser) post(path string, form url.Values, headers ...string) *page {
	b.Helper()
	return b.do(http.MethodPost, path, form, headers...)
}

// answer sends the form of the page of a request, with fields as pairs.
func (b *browser) answer(id string, fields ...string) *page {
	b.Helper()
	v := url.Values{"binding": {hidden(b.get("/approvals/" + id).text).Get("binding")}}
	for i := 0; i < len(fields); i += 2 {
		v.Add(fields[i], fields[i+1])
	}
	return b.post("/approvals/"+id, v)
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// ownScript is the one script of a page.
var ownScript = regexp.MustCompile(`<script src="/static/[0-9a-f]{16}/console\.js" defer></script>`)

// hidden returns the hidden fields of a page that answers, each once.
func hidden(text string) url.Values {
	v := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(text, -1) {
		if m[1] != "to" {
			v.Set(m[1], html.UnescapeString(m[2]))
		}
	}
	return v
}
