package console

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/journal"
)

func (q *request) callKey() journal.CallKey {
	return journal.CallKey{Session: q.id("session"), Call: q.id("call")}
}

// cancel cancels a call.
func (p *pages) cancel(q *request) error {
	key := q.callKey()
	return p.done(q, key, p.exec.Cancel(q.Context(), key.Session, key.Call, q.by, q.PostForm.Get("reason")))
}

// resolve says, on the word of the viewer, whether a call whose outcome is unknown took effect. There is no
// default.
func (p *pages) resolve(q *request) error {
	key := q.callKey()
	r := action.ResolveRequest{By: q.by, Reason: q.PostForm.Get("reason")}
	switch q.PostForm.Get("effect") {
	case "yes":
		r.TookEffect = true
	case "no":
	default:
		return p.done(q, key, problem(httpguard.NoDecision, "say whether the call took effect"))
	}
	return p.done(q, key, p.exec.Resolve(q.Context(), key.Session, key.Call, r))
}

// An undoPage shows what an undo would do.
type undoPage struct {
	*recordedCall
	Until         string
	Arguments     table // with which the call ran
	ArgumentsLink string
	Later         []laterItem
	Why           string // it cannot be undone; empty: it can
}

type laterItem struct{ Call, Tool, Shares string }

// undoReview serves what an undo would touch. It changes nothing.
func (p *pages) undoReview(q *request) error {
	c, err := p.audited(q)
	if err != nil {
		return err
	}
	res, err := p.exec.Undo(q.Context(), c.Session, action.UndoRequest{CallID: c.Call, By: q.by, DryRun: true})
	d := undoPage{recordedCall: c, Arguments: tableOf(c.Args), ArgumentsLink: p.link.Act(c.Session, c.Call, "arguments")}
	if len(c.Final) > 0 {
		d.Arguments = tableOf(c.Final)
	}
	if err == nil && len(res.Calls) > 0 {
		err = res.Calls[0].Err
	}
	if err != nil {
		r := p.refusalOf(err)
		d.Why = cmp.Or(noticeOf(r).Remedy, r.Title+".")
	} else {
		d.Until = momentOf(res.Calls[0].Until).Text
		for _, l := range res.Calls[0].Later {
			d.Later = append(d.Later, laterItem{l.CallID, l.Tool, strings.Join(l.Shares, ", ")})
		}
	}
	p.render(q, http.StatusOK, "undo", "Undo the call of "+c.Tool, d)
	return nil
}

// undo takes a call back. It goes on when the browser leaves: the end of the context would end the undo
// handler. The handler may take as long as the deadline of the tool.
func (p *pages) undo(q *request) error {
	_ = http.NewResponseController(q.w).SetWriteDeadline(time.Time{}) // a server of net/http has one
	key := q.callKey()
	_, err := p.exec.Undo(context.WithoutCancel(q.Context()), key.Session, action.UndoRequest{CallID: key.Call, By: q.by, Reason: q.PostForm.Get("reason")})
	return p.done(q, key, err)
}
