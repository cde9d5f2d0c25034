package stream_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/wire"
)

var ofACall = []string{"tool.invoked", "tool.validated", "tool.authorized", "tool.started", "tool.completed"}

// TestEventsOfACall: a browser and a program get the events of a call in their order, as CloudEvents.
func TestEventsOfACall(t *testing.T) {
	r := start(t)
	_, token := r.token("eve", "audit")
	browser, program := r.events("", token), r.socket(token)
	require.Empty(t, program.ask(`{"type":"subscribe","id":"1"}`).Problem.Code)
	out := r.call("note", "ada")
	require.Equal(t, runtime.Completed, out.Kind)
	seen := browser.until("tool.completed")
	assert.Equal(t, append([]string{"stream.opened"}, ofACall...), types(seen))
	last := seen[len(seen)-1]
	assert.Equal(t, []string{"1.0", strconv.FormatUint(last.Data.Position, 10), "/ambit", "sessions/s/calls/" + out.CallID},
		[]string{last.SpecVersion, last.ID, last.Source, last.Subject})
	assert.Equal(t, []string{"s", out.CallID, "note", "completed", "COMPLETED"},
		[]string{last.Data.Session, last.Data.Call, last.Data.Tool, last.Data.Outcome, last.Data.To})
	assert.Contains(t, string(last.Data.Output), `"to":"ada"`)
	for _, e := range seen[1:] {
		assert.Equal(t, []any{1, "web-1"}, []any{e.Data.Turn, e.Data.RequestID}, e.Type)
	}
	assert.Equal(t, seen[1:], program.until("tool.completed"), "both get the same")
}

// TestResume: who resumes after the last event that he has seen misses none and gets none twice.
func TestResume(t *testing.T) {
	r := start(t)
	_, token := r.token("eve", "audit")
	first := r.events("?after=0", token)
	r.call("note", "ada")
	seen := first.until("tool.authorized")
	require.NoError(t, first.res.Body.Close())
	r.call("note", "bob")
	at := strconv.FormatUint(first.position, 10)
	browser := r.events("?after=0", token, "Last-Event-ID", at)
	rest := append(browser.until("tool.completed"), browser.until("tool.completed")...)
	assert.Equal(t, append([]string{"stream.opened"}, append(ofACall[3:], ofACall...)...), types(rest))
	assert.Equal(t, seen[len(seen)-1].Data.Position, rest[0].Data.Position)
	program := r.socket(token)
	answer := program.ask(`{"type":"subscribe","after":` + at + `}`)
	assert.Equal(t, first.position, *answer.Position)
	assert.Equal(t, rest[1:], append(program.until("tool.completed"), program.until("tool.completed")...))
}

// TestFilter: session, run, call and kinds choose events.
func TestFilter(t *testing.T) {
	r := start(t)
	_, token := r.token("eve", "audit")
	one, two := r.call("note", "ada"), r.call("note", "bob")
	got := r.events("?after=0&session=s&call="+two.CallID+"&kind=tool.started&kind=tool.completed", token).until("tool.completed")
	assert.Equal(t, []string{"stream.opened", "tool.started", "tool.completed"}, types(got))
	program := r.socket(token)
	program.ask(`{"type":"subscribe","after":0,"call":"` + one.CallID + `","kinds":["tool.completed"]}`)
	assert.Equal(t, []string{one.CallID}, []string{program.until("tool.completed")[0].Data.Call})
	run := got[1].Data.Run
	require.NotEmpty(t, run)
	program = r.socket(token)
	program.ask(`{"type":"subscribe","after":0,"run":"` + run + `"}`)
	for _, ev := range program.until("tool.completed") {
		assert.Equal(t, two.CallID, ev.Data.Call)
	}
}

// TestWhoSeesWhat: the operator policy decides what a reader gets. Only who may decide gets what the
// declaration reveals, and the secret is in no other message.
func TestWhoSeesWhat(t *testing.T) {
	r := start(t)
	_, auditor := r.token("eve", "audit")
	_, approver := r.token("alice")
	_, member := r.token("bob", "finance")
	_, agent := r.token("agent", "finance")
	_, stranger := r.token("mallory")
	r.call("note", "nobody")
	asked := r.call("send", "ada")
	require.Equal(t, runtime.Pending, asked.Kind)
	r.call("note", "last")
	head := strconv.FormatUint(r.Feed.Head(), 10)
	read := func(token string) (list []event, all string) {
		program := r.socket(token)
		program.ask(`{"type":"subscribe","after":0}`)
		// An answer of somebody who may not answer is the last event, which an auditor sees. For the
		// others there is the reply to a message behind the subscription.
		for {
			_, text, err := program.Read(t.Context())
			require.NoError(t, err)
			var ev event
			require.NoError(t, json.Unmarshal(text, &ev))
			all += string(text) + "\n"
			ev.text = string(text)
			list = append(list, ev)
			if ev.Type == "approval.requested" && token != auditor || ev.ID == head {
				return list, all
			}
		}
	}
	seen, all := read(auditor)
	assert.Contains(t, types(seen), "tool.failed")
	assert.NotContains(t, all, secret)
	assert.NotContains(t, all, "permission denied", "the raw error of a handler")
	for _, token := range []string{approver, member} {
		seen, all = read(token)
		require.Equal(t, []string{"approval.requested"}, types(seen), "an approver sees the request, and no event of calls")
		assert.Equal(t, []string{"alice", "group:finance"}, seen[0].Data.Approval.Requirement.Approvers)
		assert.Equal(t, "Send a letter", seen[0].Data.Approval.Title)
		assert.Contains(t, string(seen[0].Data.Approval.Shown), secret, "it is revealed to who may decide")
		assert.NotContains(t, strings.Replace(all, string(seen[0].Data.Approval.Shown), "", 1), secret)
	}
	for _, token := range []string{agent, stranger} { // they get nothing of what was, and nothing of what comes
		program := r.socket(token)
		program.ask(`{"type":"subscribe","after":0}`)
		browser := r.events("?after=0", token)
		ev, _ := browser.next()
		require.Equal(t, "stream.opened", ev.Type)
		require.NoError(t, r.Tokens.Revoke(t.Context(), nameOf(token)))
		_, text, err := program.Read(t.Context())
		assert.Error(t, err, "%s", text)
		ev, ok := browser.next()
		assert.False(t, ok, ev.text)
	}
}

// nameOf returns the name in the text of a token.
func nameOf(token string) string { return strings.Split(token, "_")[1] }

// TestDecide: an answer over the socket is one in the name of the token's holder, with the answers of
// the executor.
func TestDecide(t *testing.T) {
	r := start(t)
	_, alice := r.token("alice")
	_, mallory := r.token("mallory")
	_, agent := r.token("agent", "finance")
	asked := r.call("send", "ada")
	answer := func(token, more string) reply {
		return r.socket(token).ask(`{"type":"approval.decide","id":"7","request":"` + asked.RequestID + `"` + more + `}`)
	}
	for _, c := range []struct {
		token, more, code, reason string
		status                    int
	}{
		{mallory, `,"approve":true`, "not_permitted", "not_permitted", http.StatusForbidden},
		{agent, `,"approve":true`, "not_permitted", "self_approval", http.StatusForbidden},
		{alice, ``, "no_decision", "", http.StatusBadRequest},
		{alice, `,"approve":true,"grant":"forever"`, "bad_request", "", http.StatusBadRequest},
		{alice, `,"approve":true,"by":"bob"`, "bad_request", "", http.StatusBadRequest},
	} {
		got := answer(c.token, c.more)
		assert.Equal(t, []any{c.code, c.reason, c.status}, []any{got.Problem.Code, got.Problem.Reason, got.Problem.Status}, c.more)
	}
	got := answer(alice, `,"approve":true`)
	assert.Equal(t, []string{"reply", "7", "accepted", asked.CallID, ""}, []string{got.Type, got.ID, got.Resolution, got.Call, got.Problem.Code})
	assert.Equal(t, "already_resolved", answer(alice, `,"approve":false`).Problem.Code)
	asked.RequestID = "NONE"
	assert.Equal(t, "unknown_request", answer(alice, `,"approve":true`).Problem.Code)
}

// TestRewrittenEdit: an edit over a socket that the policy rewrites approves nothing, and says so. The next answer names what
// the request asks about now.
// SEMANTICS 5.2.7
func TestRewrittenEdit(t *testing.T) {
	r := start(t, func(c *host.Config) {
		c.Policy = runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			d := runtime.Decision{Effect: runtime.EffectAllow}
			if in.Args.(*letter).To == "everybody" {
				d.Rewrites = []runtime.Rewrite{{Code: "desk", Pointer: "/to", Value: wire.Raw(`"desk"`)}}
			}
			return d, nil
		})
	})
	_, alice := r.token("alice")
	asked, program := r.call("send", "ada"), r.socket(alice)
	answer := func(more string) reply {
		return program.ask(`{"type":"approval.decide","id":"1","request":"` + asked.RequestID + `","approve":true` + more + `}`)
	}
	got := answer(`,"edit":{"to":"everybody","pin":"1"}`)
	assert.Equal(t, []any{"recorded", 1, true}, []any{got.Resolution, got.Missing, got.Rewritten})
	assert.Equal(t, "changed", answer("").Problem.Code)
	now, open := r.Executor.Request(asked.RequestID)
	require.True(t, open)
	assert.Contains(t, string(now.Args), `"to":"desk"`)
	assert.Equal(t, "accepted", answer(`,"binding":"`+now.Binding.String()+`"`).Resolution)
	assert.Contains(t, string(r.Executor.Await(t.Context(), "s", asked.CallID).Output), `"to":"desk"`)
}

// TestDecideIsReadStrictly: an answer in which two readers could find two answers answers nothing, and the
// reply names the member.
// SEMANTICS 7.1.6
func TestDecideIsReadStrictly(t *testing.T) {
	r := start(t)
	_, alice := r.token("alice")
	asked, program := r.call("send", "ada"), r.socket(alice)
	for members, member := range map[string]string{
		`"approve":false,"approve":true`:                                   "/approve: duplicate",
		`"approve":true,"approve":false`:                                   "/approve: duplicate",
		`"approve":true,"approve":null`:                                    "/approve: duplicate",
		`"APPROVE":true`:                                                   "/APPROVE: additionalProperties",
		`"approve":false,"Approve":true`:                                   "/Approve: additionalProperties",
		`"approve":true,"grant":"once","GRANT":"session"`:                  "/GRANT: additionalProperties",
		`"approve":true,"where":[{"member":"to","op":"eq","Value":"ada"}]`: "/where/0/Value: additionalProperties",
		`"approve":true,"edit":{"to":"a","to":"b"}`:                        "/edit/to: duplicate",
		`"approve":"true"`:                                                 "/approve: type",
		`"approve":true,"message":null`:                                    "/message: type",
		`"approve":true}{"approve":false`:                                  "(root): json",
	} {
		got := program.ask(`{"type":"approval.decide","id":"1","request":"` + asked.RequestID + `",` + members + `}`)
		assert.Equal(t, []any{"bad_request", "", "1"}, []any{got.Problem.Code, got.Resolution, got.ID}, members)
		assert.Contains(t, got.Problem.Detail, member)
	}
	assert.Equal(t, "accepted", program.ask(`{"type":"approval.decide","request":"`+asked.RequestID+`","approve":true}`).Resolution)
}

// TestAnswersAreLimited: an identity gives 30 answers at once over all its sockets, and what is refused of them
// writes little, however long its texts are.
func TestAnswersAreLimited(t *testing.T) {
	r := start(t)
	_, guest := r.token("guest")
	_, alice := r.token("alice")
	asked := r.call("send", "ada")
	head := r.Feed.Head()
	text := `{"type":"approval.decide","id":"1","request":"` + strings.Repeat("x", 3_000) + `","approve":false,"message":"` + strings.Repeat("m", 50_000) + `"}`
	limited := 0
	for range 2 {
		program := r.socket(guest)
		for range 20 {
			switch got := program.ask(text); got.Problem.Code {
			case "too_many_requests":
				limited++
			default:
				assert.Equal(t, "unknown_request", got.Problem.Code)
			}
		}
	}
	assert.Positive(t, limited)
	entries, err := r.Store.Read(t.Context(), head, 1_000)
	require.NoError(t, err)
	for _, e := range entries {
		assert.Less(t, len(e.Leaf), 2_000)
	}
	assert.Equal(t, "accepted", r.socket(alice).ask(`{"type":"approval.decide","request":"`+asked.RequestID+`","approve":true}`).Resolution, "the limit is of one identity")
}

// TestRevokeEndsStreams: a revoked token opens no stream, and those that it opened end.
func TestRevokeEndsStreams(t *testing.T) {
	r := start(t)
	name, token := r.token("eve", "audit")
	_, other := r.token("eve", "audit")
	browser, program, stays := r.events("", token), r.socket(token), r.events("", other)
	browser.until("stream.opened")
	program.ask(`{"type":"subscribe"}`)
	require.NoError(t, r.Tokens.Revoke(t.Context(), name))
	_, ok := browser.next()
	assert.False(t, ok)
	_, _, err := program.Read(t.Context())
	assert.Equal(t, websocket.StatusCode(4401), websocket.CloseStatus(err))
	assert.Equal(t, http.StatusUnauthorized, r.get("/events", token).StatusCode)
	r.call("note", "ada")
	stays.until("tool.completed")
}

// TestBrokenFramesCloseSockets: a client that breaks the WebSocket protocol is told so, and nothing of the journal.
func TestBrokenFramesCloseSockets(t *testing.T) {
	r := start(t)
	_, token := r.token("eve", "audit")
	for name, sent := range map[string][]byte{
		"not masked":         {0x81, 2, '{', '}'},
		"a ping, not masked": {0x89, 0},
		"a reserved bit":     {0xc1 | 0x20, 0x80, 0, 0, 0, 0},
		"no known opcode":    {0x83, 0x80, 0, 0, 0, 0},
		"a negative length":  {0x81, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"no first frame":     {0x80, 0x80, 0, 0, 0, 0},
	} {
		conn, err := net.Dial("tcp", r.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = fmt.Fprintf(conn, "GET /stream HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", r.Addr(), token)
		require.NoError(t, err)
		in := bufio.NewReader(conn)
		res, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusSwitchingProtocols, res.StatusCode)
		_, err = conn.Write(sent)
		require.NoError(t, err)
		head := make([]byte, 4)
		_, err = io.ReadFull(in, head)
		require.NoError(t, err, name)
		require.Equal(t, byte(0x88), head[0], "%s: a close frame", name)
		assert.EqualValues(t, websocket.StatusProtocolError, binary.BigEndian.Uint16(head[2:]), name)
		reason := make([]byte, head[1]-2)
		_, err = io.ReadFull(in, reason)
		require.NoError(t, err, name)
		assert.NotContains(t, string(reason), "journal", name)
		if name == "not masked" {
			assert.Equal(t, "a frame breaks the WebSocket protocol; a client masks its frames", string(reason))
		}
	}
}

// TestProblems: what is refused is told why, with a stable code and nothing of the host.
func TestProblems(t *testing.T) {
	r := start(t)
	_, token := r.token("eve", "audit")
	r.call("note", "ada")
	head := r.Feed.Head()
	for name, c := range map[string]struct {
		path, token string
		headers     []string
		status      int
		code        string
	}{
		"no token":          {"/events", "", nil, 401, "not_authenticated"},
		"wrong token":       {"/stream", token + "A", nil, 401, "not_authenticated"},
		"metrics":           {"/metrics", "", nil, 401, "not_authenticated"},
		"foreign host":      {"/events", token, []string{"Host", "evil.example"}, 421, "foreign_host"},
		"foreign health":    {"/health", "", []string{"Host", "evil.example"}, 421, "foreign_host"},
		"rebound name":      {"/stream", token, []string{"Host", "127.0.0.1.evil.example"}, 421, "foreign_host"},
		"foreign origin":    {"/events", token, []string{"Origin", "https://evil.example"}, 403, "foreign_origin"},
		"no origin":         {"/stream", token, []string{"Origin", "null"}, 403, "foreign_origin"},
		"position":          {"/events?after=999999", token, nil, 400, "bad_position"},
		"no position":       {"/events?after=soon", token, nil, 400, "bad_position"},
		"negative position": {"/events", token, []string{"Last-Event-ID", "-1"}, 400, "bad_position"},
		"kind":              {"/events?kind=consent.off", token, nil, 400, "bad_request"},
		"after twice":       {"/events?after=0&after=1", token, nil, 400, "bad_request"},
		"session twice":     {"/events?session=s&session=t", token, nil, 400, "bad_request"},
		"no parameter":      {"/events?sesion=s", token, nil, 400, "bad_request"},
		"no query":          {"/events?session=s;run=r", token, nil, 400, "bad_request"},
		"no escape":         {"/events?session=%zz", token, nil, 400, "bad_request"},
		"no socket":         {"/stream", token, nil, 400, "bad_request"},
	} {
		t.Run(name, func(t *testing.T) {
			res := r.get(c.path, c.token, c.headers...)
			assert.Equal(t, "application/problem+json", res.Header.Get("Content-Type"))
			var p map[string]any
			var text bytes.Buffer
			require.NoError(t, json.NewDecoder(http.MaxBytesReader(nil, res.Body, 4096)).Decode(&p))
			assert.Equal(t, []any{c.status, c.code, float64(c.status), "about:blank"}, []any{res.StatusCode, p["code"], p["status"], p["type"]})
			require.NoError(t, json.NewEncoder(&text).Encode(p))
			assert.NotContains(t, text.String(), "/", "no path, and no error of the host")
			if c.code == "bad_position" {
				assert.Equal(t, []any{float64(1), float64(head)}, []any{p["oldest"], p["head"]})
			}
		})
	}
	res := r.get("/events?session=s&kind=tool.started&session=t", token)
	var told struct{ Detail string }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&told))
	assert.Equal(t, `"session" comes twice`, told.Detail)
	program := r.socket(token)
	got := program.ask(`{"type":"subscribe","id":"x","after":999999}`)
	assert.Equal(t, []any{"x", "bad_position", uint64(1), head}, []any{got.ID, got.Problem.Code, got.Problem.Oldest, got.Problem.Head})
	for _, bad := range []string{`{`, `[]`, `{"type":"become","id":"1"}`, `{"type":"subscribe"}{}`, `{"type":"subscribe","who":"alice"}`, `{"type":"subscribe","kinds":["policy.shadow"]}`} {
		assert.Equal(t, "bad_request", program.ask(bad).Problem.Code, bad)
	}
	assert.Empty(t, program.ask(`{"type":"subscribe"}`).Problem.Code)
	assert.Equal(t, "bad_request", program.ask(`{"type":"subscribe"}`).Problem.Code, "one subscription for each socket")
}

// seeing lets eve see requests, which she may not answer.
type seeing struct{}

func (seeing) Authorize(ctx context.Context, r *runtime.ActRequest) (runtime.ActDecision, error) {
	return runtime.ActDecision{Allow: r.Act == runtime.ActSee}, nil
}

// TestShownIsForThoseWhoMayDecide: who may see a request and not answer it gets no revealed arguments.
func TestShownIsForThoseWhoMayDecide(t *testing.T) {
	r := start(t, func(c *host.Config) { c.Operators = seeing{} })
	_, token := r.token("eve")
	require.Equal(t, runtime.Pending, r.call("send", "ada").Kind)
	seen := r.events("?after=0", token).until("approval.requested")
	last := seen[len(seen)-1]
	assert.Equal(t, "Send a letter", last.Data.Approval.Title)
	assert.Empty(t, last.Data.Approval.Shown)
	assert.NotContains(t, last.text, secret)
}

// TestApproversSeeNoCalls: who may see a request gets its events, and none of its call, before or after
// the answer.
func TestApproversSeeNoCalls(t *testing.T) {
	r := start(t)
	_, token := r.token("alice")
	program := r.socket(token)
	first := r.call("send", "ada")
	require.Equal(t, "accepted", program.ask(`{"type":"approval.decide","request":"`+first.RequestID+`","approve":true}`).Resolution)
	require.Equal(t, runtime.Completed, r.Executor.Await(t.Context(), "s", first.CallID).Kind)
	require.Equal(t, runtime.Pending, r.call("send", "bob").Kind)
	program.ask(`{"type":"subscribe","after":0}`)
	seen := append(program.until("approval.decided"), program.until("approval.requested")...)
	assert.Equal(t, []string{"approval.requested", "approval.decided", "approval.requested"}, types(seen))
}

// TestEndedRequests: who may see a request hears how it ended, by an answer, by its time or with its call,
// and nothing else of the call. Who may not, does not.
func TestEndedRequests(t *testing.T) {
	r := start(t)
	_, alice := r.token("alice")
	_, mallory := r.token("mallory")
	_, auditor := r.token("eve", "audit")
	ofAlice := r.events("?after=0&kind=approval.ended", alice)
	all := r.events("?after=0", auditor)
	stranger := r.events("?after=0", mallory)
	denied, cancelled := r.call("send", "ada"), r.call("send", "ada")
	got := r.socket(alice).ask(`{"type":"approval.decide","request":"` + denied.RequestID + `","approve":false}`)
	require.Equal(t, "accepted", got.Resolution)
	require.NoError(t, r.Executor.Cancel(t.Context(), "s", cancelled.CallID, runtime.ProgramActor("ops"), "not wanted any more"))
	late := r.call("hasty", "ada")
	want := []endedRequest{
		{denied.RequestID, denied.CallID, "denied", "alice"}, {cancelled.RequestID, cancelled.CallID, "cancelled", ""}, {late.RequestID, late.CallID, "expired", ""},
	}
	var heard, audited []endedRequest
	for len(heard) < len(want) {
		list := ofAlice.until("approval.ended")
		ev := list[len(list)-1]
		heard = append(heard, ev.Data.Ended...)
		assert.Equal(t, []string{"", "", ""}, []string{ev.Data.Call, ev.Data.Outcome, ev.Data.Tool}, "nothing of the call")
	}
	assert.Equal(t, want, heard)
	for len(audited) < len(want) {
		ev, ok := all.next()
		require.True(t, ok)
		assert.NotEqual(t, "approval.ended", ev.Type, "the event of the call says it")
		audited = append(audited, ev.Data.Ended...)
	}
	assert.Equal(t, want, audited)
	expired := r.socket(alice).ask(`{"type":"approval.decide","request":"` + late.RequestID + `","approve":true}`)
	assert.Equal(t, []any{"expired", "expired", http.StatusGone}, []any{expired.Problem.Code, expired.Problem.Reason, expired.Problem.Status})
	ev, _ := stranger.next()
	require.Equal(t, "stream.opened", ev.Type)
	require.NoError(t, r.Tokens.Revoke(t.Context(), nameOf(mallory)))
	_, ok := stranger.next()
	assert.False(t, ok)
}

// TestAnswerThatCannotBeRecorded: while the journal takes nothing, an answer is not taken either, with a
// code that says so.
func TestAnswerThatCannotBeRecorded(t *testing.T) {
	r := start(t)
	_, alice := r.token("alice")
	asked := r.call("send", "ada")
	program := r.socket(alice)
	require.NoError(t, r.Executor.Shutdown(t.Context()))
	got := program.ask(`{"type":"approval.decide","request":"` + asked.RequestID + `","approve":true}`)
	assert.Equal(t, []any{"journal_unavailable", "journal_unavailable", http.StatusServiceUnavailable}, []any{got.Problem.Code, got.Problem.Reason, got.Problem.Status})
}

// TestTimesAndFinalArguments: the event of an outcome says what the parts of the call took, and that of an
// edit with which arguments the handler runs, its sensitive values committed.
func TestTimesAndFinalArguments(t *testing.T) {
	r := start(t)
	_, alice := r.token("alice")
	_, auditor := r.token("eve", "audit")
	asked := r.call("send", "ada")
	shown, _ := r.Executor.Request(asked.RequestID)
	var edit map[string]string
	require.NoError(t, json.Unmarshal(shown.Args, &edit))
	edit["to"] = "bob"
	text, err := json.Marshal(edit)
	require.NoError(t, err)
	got := r.socket(alice).ask(`{"type":"approval.decide","request":"` + asked.RequestID + `","binding":"` + shown.Binding.String() + `","approve":true,"edit":` + string(text) + `}`)
	require.Equal(t, "accepted", got.Resolution)
	seen := r.events("?after=0", auditor).until("tool.completed")
	var final []json.RawMessage
	for _, ev := range seen {
		assert.NotContains(t, ev.text, secret)
		if ev.Data.Final != nil {
			final = append(final, ev.Data.Final)
		}
	}
	require.NotEmpty(t, final)
	assert.Contains(t, string(final[0]), `"to":"bob"`)
	last := seen[len(seen)-1]
	assert.Contains(t, string(last.Data.Output), `"to":"bob"`)
	assert.ElementsMatch(t, []string{"policy_ms", "consent_ms", "queue_ms", "handler_ms"}, slices.Collect(maps.Keys(last.Data.Times)))
	assert.Positive(t, last.Data.Times["consent_ms"])
}
