package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// maxMessage is how many bytes a message of a client may have.
const maxMessage = 64 << 10

// closeRevoked is the status with which a socket is closed whose token was revoked.
const closeRevoked websocket.StatusCode = 4401

// closeLagged is the status with which a socket is closed whose reader took nothing.
const closeLagged websocket.StatusCode = 4408

// errProtocol is the cause for which a socket ends whose client sent no frame that can be read, or is gone.
var errProtocol = errors.New("a frame breaks the WebSocket protocol; a client masks its frames")

// Socket returns the handler for programs: a WebSocket on which a client subscribes and answers
// requests for consent. docs/stream.md has the messages.
func (s *Stream) Socket() http.Handler { return http.HandlerFunc(s.socket) }

func (s *Stream) socket(w http.ResponseWriter, r *http.Request) {
	caller, ok := httpguard.CallerOf(r.Context())
	if !ok {
		httpguard.ProblemOf(httpguard.NotAuthenticated, "").Write(w)
		return
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		httpguard.ProblemOf(httpguard.BadRequest, "this is a WebSocket").Write(w)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(maxMessage)
	ctx, cancel := untilRevoked(r.Context(), caller)
	defer cancel(nil)
	c := &client{stream: s, viewer: viewer{s.exec, caller.Actor}, conn: conn, queue: newQueue(0), cancel: cancel}
	done := make(chan struct{})
	go func() {
		defer close(done)
		cancel(c.read(ctx))
	}()
	c.write(ctx)
	cancel(nil)
	<-done
	c.following.Wait()
}

// read handles the messages of a client until the connection or ctx ends.
func (c *client) read(ctx context.Context) error {
	for {
		// A context that ends during a read closes the connection without a status. So the read
		// goes on, and write closes it.
		kind, text, err := c.conn.Read(context.WithoutCancel(ctx))
		if err != nil {
			return fmt.Errorf("%w: %w", errProtocol, err)
		}
		m, err := parse(text)
		if err == nil && kind != websocket.MessageText {
			err = errors.New("a message is text")
		}
		if err != nil {
			c.reply(ctx, reply{ID: m.ID, Problem: httpguard.ProblemOf(httpguard.BadRequest, "it is no message of this protocol: "+err.Error())})
			continue
		}
		out, then := c.handle(ctx, m)
		c.reply(ctx, out)
		if then != nil {
			then()
		}
	}
}

// write writes what is in the queue until its last frame, or ctx ends.
func (c *client) write(ctx context.Context) {
	for {
		f, some, last, err := c.queue.take(ctx, idle)
		if err != nil {
			c.close(err)
			return
		}
		within, stop := context.WithTimeout(ctx, writeTimeout)
		if some {
			err = c.conn.Write(within, websocket.MessageText, f.text)
		} else {
			err = c.conn.Ping(within)
		}
		stop()
		switch {
		case err != nil && ctx.Err() == nil:
			return // it is of no use any more
		case err != nil:
			c.close(context.Cause(ctx))
			return
		case last && f.kind == undecided:
			_ = c.conn.Close(websocket.StatusTryAgainLater, "resume after the position of the last message")
			return
		case last:
			_ = c.conn.Close(closeLagged, "resume after the position of the last message")
			return
		}
	}
}

// close closes the connection, and says why in words that say nothing of the host.
func (c *client) close(why error) {
	switch {
	case errors.Is(why, errRevoked):
		_ = c.conn.Close(closeRevoked, string(httpguard.NotAuthenticated))
	case errors.Is(why, journal.ErrClosed), errors.Is(why, context.Canceled):
		_ = c.conn.Close(websocket.StatusGoingAway, "the host ends")
	case errors.Is(why, errProtocol):
		_ = c.conn.Close(websocket.StatusProtocolError, errProtocol.Error())
	default:
		_ = c.conn.Close(websocket.StatusInternalError, string(httpguard.JournalUnavailable))
	}
}

// A message is what a client sends.
type message struct {
	Type string `json:"type"` // subscribe or approval.decide
	ID   string `json:"id"`   // for the reply
	subscription
	decision
}

// parse reads a message: one JSON object with members that there are, each once. The error says which
// member is wrong.
func parse(text []byte) (m message, err error) {
	if bad := wire.Unmarshal(text, wire.Limits{Size: maxMessage}, &m); bad != nil {
		return m, errors.New(bad[0].String())
	}
	return m, nil
}

// A reply tells a client what became of a message.
type reply struct {
	Type    string             `json:"type"` // reply
	ID      string             `json:"id,omitempty"`
	Problem *httpguard.Problem `json:"problem,omitempty"`

	Position *uint64 `json:"position,omitempty"` // of subscribe: events come after it
	*answered
}

func (c *client) reply(ctx context.Context, r reply) {
	r.Type = "reply"
	text, err := json.Marshal(r)
	if err != nil { // it has no value that JSON lacks
		panic(err)
	}
	if errors.Is(c.queue.push(ctx, frame{text: text}), errStalled) {
		c.queue.finish(c.stream.missed)
	}
}

// handle does what a message wants, except then, which follows the reply: the reply to a subscription
// comes before its events.
func (c *client) handle(ctx context.Context, m message) (out reply, then func()) {
	out.ID = m.ID
	switch m.Type {
	case "subscribe":
		out.Position, then, out.Problem = c.subscribe(ctx, m.subscription)
	case "approval.decide":
		out.answered, out.Problem = c.decide(ctx, m.decision)
	default:
		out.Problem = httpguard.ProblemOf(httpguard.BadRequest, "type: subscribe or approval.decide")
	}
	return out, then
}
