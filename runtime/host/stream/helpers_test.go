package stream_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/tokens"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimOf); dir != "" {
		victim(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// secret is the value of a sensitive member. It is to be in no message but those to who may decide.
const secret = "sesame-4711"

// A letter is the input of the tools. pin is sensitive.
type letter struct {
	To  string `json:"to"`
	Pin string `json:"pin"`
}

var (
	letterRule = wire.ObjectRule{Names: []string{"to", "pin"}, Required: 2}
	letterTo   = wire.StringRule{}
	letterPin  = wire.StringRule{Sensitive: true}
)

func (v *letter) Walk(w wire.Visitor) {
	wire.BeginObject(w, &letterRule)
	wire.Member(w, "to", &v.To, wire.WalkString, &letterTo)
	wire.Member(w, "pin", &v.Pin, wire.WalkString, &letterPin)
	wire.End(w)
}

type codec struct{}

func (codec) Decode(b []byte, _ wire.Limits) (wire.Value, []wire.Violation) {
	var v letter
	if json.Unmarshal(b, &v) != nil {
		return nil, []wire.Violation{{}}
	}
	return &v, nil
}

// tools are send, which alice and the group finance are asked about, hasty, about which nobody answers in
// time, and note. All fail for a letter to nobody, with an error that names the secret. For a letter to
// "report x" they report x and the secret.
func tools() []*runtime.Tool {
	answer := func(ctx context.Context, in wire.Value) (wire.Value, error) {
		to := in.(*letter).To
		if to == "nobody" {
			return nil, os.ErrPermission
		}
		if text, ok := strings.CutPrefix(to, "report "); ok {
			return in, runtime.Report(ctx, runtime.Progress{Done: 1, Total: 2, Text: text + in.(*letter).Pin})
		}
		return in, nil
	}
	hasty := runtime.Consent{Ask: runtime.ConsentAskAlways, Approvers: []string{"alice"}, Timeout: time.Millisecond}
	ask := &runtime.Consent{Ask: runtime.ConsentAskAlways, Approvers: []string{"alice", "group:finance"}, Reveal: []string{"pin"}, AllowEdit: true}
	return []*runtime.Tool{
		runtime.NewDynamicTool(&runtime.Spec{Name: "send", Title: "Send a letter", Effect: runtime.SideEffectWrite, Consent: ask}, codec{}, answer),
		runtime.NewDynamicTool(&runtime.Spec{Name: "hasty", Effect: runtime.SideEffectWrite, Consent: &hasty}, codec{}, answer),
		runtime.NewDynamicTool(&runtime.Spec{Name: "note", Effect: runtime.SideEffectWrite}, codec{}, answer),
	}
}

// auditors lets actors of the group audit read the journal, beside what runtime.OperatorDefaults allows.
type auditors struct{}

func (auditors) Authorize(ctx context.Context, r *runtime.ActRequest) (runtime.ActDecision, error) {
	for _, g := range r.Actor.Groups {
		if g == "audit" && r.Act == runtime.ActAudit {
			return runtime.ActDecision{Allow: true}, nil
		}
	}
	return runtime.OperatorDefaults{}.Authorize(ctx, r)
}

var allow = runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
})

func configOf(dir string) host.Config {
	return host.Config{
		Tools: tools(), Policy: allow, Dir: dir, Operators: auditors{}, Report: func(error) {},
		Serve: host.Serve{Addr: "127.0.0.1:0"},
	}
}

// A rig is a host that serves, over real sockets.
type rig struct {
	*testing.T
	*host.Host
	client http.Client
}

func start(t *testing.T, edit ...func(*host.Config)) *rig {
	t.Helper()
	config := configOf(t.TempDir())
	for _, f := range edit {
		f(&config)
	}
	h, err := host.Open(t.Context(), config)
	require.NoError(t, err)
	r := &rig{T: t, Host: h, client: http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	t.Cleanup(func() { assert.NoError(t, h.Close(context.Background())) })
	return r
}

// token makes a token, and returns its text.
func (r *rig) token(id string, groups ...string) (name, text string) {
	r.Helper()
	token, text, err := tokens.New(id, groups)
	require.NoError(r, err)
	require.NoError(r, r.Tokens.Add(r.Context(), token))
	return token.Name, text
}

// call makes a call of a tool, in a run of its own.
func (r *rig) call(tool, to string) runtime.Outcome {
	r.Helper()
	return execute(r.Context(), r.T, r.Host, tool, to)
}

func execute(ctx context.Context, t require.TestingT, h *host.Host, tool, to string) runtime.Outcome {
	run, err := h.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(ctx, engine.RunConfig{Metadata: map[string]string{"request_id": "web-1"}})
	require.NoError(t, err)
	input, err := json.Marshal(letter{to, secret})
	require.NoError(t, err)
	return run.Turn(engine.TurnConfig{}).Execute(ctx, runtime.Call{ID: rand.Text(), Tool: tool, Input: input})
}

// get asks for a path with a token, and headers as pairs.
func (r *rig) get(path, token string, headers ...string) *http.Response {
	r.Helper()
	return get(r.Context(), r.T, &r.client, "http://"+r.Addr().String()+path, token, headers...)
}

func get(ctx context.Context, t *testing.T, client *http.Client, url, token string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := client.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// An event is a message as a reader gets it.
type event struct {
	SpecVersion, ID, Source, Type, Subject, Time string

	Data struct {
		Position, Missed                                  uint64
		Session, Run, Call, Tool, Outcome, Reason, To, By string
		Turn                                              int
		RequestID                                         string `json:"request_id"`
		Request, Resolution                               string
		Ended                                             []endedRequest
		Times                                             map[string]float64
		Final                                             json.RawMessage `json:"final_arguments"`
		After                                             *uint64         // of live output
		Offset, Done, Total, Dropped, End                 int64
		Stream                                            string
		Kept                                              int
		Text                                              string
		Live                                              *runtime.LiveCounts
		OutputIn                                          string `json:"output_in"`
		Arguments, Output                                 json.RawMessage
		Approval                                          *struct {
			Title            string
			Requirement      struct{ Approvers []string }
			Arguments, Shown json.RawMessage
		}
	}
	text string
}

// An endedRequest is one, as a client gets it.
type endedRequest struct{ Request, Call, State, By string }

// events reads server-sent events. Their last id is position.
type events struct {
	t        *testing.T
	res      *http.Response
	lines    *bufio.Scanner
	position uint64
}

func (r *rig) events(query, token string, headers ...string) *events {
	r.Helper()
	return eventsOf(r.T, r.get("/events"+query, token, headers...))
}

func eventsOf(t *testing.T, res *http.Response) *events {
	t.Helper()
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	e := &events{t: t, res: res, lines: bufio.NewScanner(res.Body)}
	e.lines.Buffer(nil, 4<<20)
	return e
}

// next returns the next event; false when the stream has ended.
func (e *events) next() (ev event, ok bool) {
	e.t.Helper()
	id := ""
	for e.lines.Scan() {
		name, value, _ := strings.Cut(e.lines.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "data":
			ev.text = value
			require.NoError(e.t, json.Unmarshal([]byte(value), &ev))
			if ev.Data.After != nil { // live output
				require.Empty(e.t, id, "nothing resumes at a piece")
				return ev, true
			}
			position, err := strconv.ParseUint(id, 10, 64)
			require.NoError(e.t, err)
			require.Equal(e.t, ev.Data.Position, position)
			e.position = position
			return ev, true
		}
	}
	return ev, false
}

// until returns the events up to one of a kind.
func (e *events) until(kind string) (list []event) {
	e.t.Helper()
	for {
		ev, ok := e.next()
		require.True(e.t, ok, "the stream has ended")
		if list = append(list, ev); ev.Type == kind {
			return list
		}
	}
}

// A socket is a WebSocket of a client.
type socket struct {
	t *testing.T
	*websocket.Conn
}

func (r *rig) socket(token string) *socket {
	r.Helper()
	conn, _, err := websocket.Dial(r.Context(), "ws://"+r.Addr().String()+"/stream", &websocket.DialOptions{
		HTTPClient: &r.client, HTTPHeader: http.Header{"Authorization": {"Bearer " + token}},
	})
	require.NoError(r, err)
	r.Cleanup(func() { _ = conn.CloseNow() })
	return &socket{r.T, conn}
}

// send sends a message.
func (s *socket) send(message string) {
	s.t.Helper()
	require.NoError(s.t, s.Write(s.t.Context(), websocket.MessageText, []byte(message)))
}

// A reply is one, as a client gets it.
type reply struct {
	Type, ID, Resolution, Call, State string
	Missing                           int
	Rewritten                         bool
	Position                          *uint64
	Problem                           struct {
		Type, Code, Reason, Detail string

		Status       int
		Oldest, Head uint64
	}
}

// ask sends a message and returns the reply to it. Events that come before it are dropped.
func (s *socket) ask(message string) (r reply) {
	s.t.Helper()
	s.send(message)
	for r.Type != "reply" {
		r = reply{}
		require.NoError(s.t, wsjson.Read(s.t.Context(), s.Conn, &r))
	}
	return r
}

// until returns the events up to one of a kind.
func (s *socket) until(kind string) (list []event) {
	s.t.Helper()
	for {
		ev := s.next()
		if list = append(list, ev); ev.Type == kind {
			return list
		}
	}
}

// next returns the next frame, which may be a reply.
func (s *socket) next() (ev event) {
	s.t.Helper()
	_, text, err := s.Read(s.t.Context())
	require.NoError(s.t, err)
	require.NoError(s.t, json.Unmarshal(text, &ev))
	ev.text = string(text)
	return ev
}

// types returns the types of events.
func types(list []event) (all []string) {
	for _, ev := range list {
		all = append(all, ev.Type)
	}
	return all
}
