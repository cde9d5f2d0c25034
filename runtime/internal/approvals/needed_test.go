package approvals_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
)

// TestStart: a call starts once by its approval, as it was approved, and code of its tool is told who approved it.
func TestStart(t *testing.T) {
	w := open(t)
	q := question("c1", time.Hour)
	n := &approvals.Needed{Question: *q}
	assert.False(t, n.Requested())
	assert.Nil(t, w.Start(time.Now(), n, q.Call), "it needs no consent")
	n.Request = w.ask(t, q)
	assert.True(t, n.Requested())
	w.Decide(time.Now(), n.Request, yes)

	r, _ := w.Request(n.Request)
	again := approvals.Restored(&r)
	assert.Equal(t, n.Request, again.Request)
	assert.Equal(t, r.Created, again.Since)
	assert.Equal(t, consent.Question{Requirement: r.Requirement, Reasons: r.Reasons}, again.Question)

	assert.Nil(t, w.Start(time.Now(), n, q.Call))
	var info callctx.Info
	n.Describe(&info)
	assert.Equal(t, callctx.Info{Request: n.Request, ApprovedBy: []string{"bob"}}, info)
	out := w.Start(time.Now(), n, q.Call)
	require.NotNil(t, out, "an approval is used once")
	assert.Equal(t, runtime.ReasonBindingMismatch, out.Reason)
}

// TestStartMismatch: a call that is not what was approved, or whose approval is too old, is denied.
func TestStartMismatch(t *testing.T) {
	for _, row := range []struct {
		path  args
		after time.Duration
		want  runtime.Reason
	}{{"b.md", 0, runtime.ReasonBindingMismatch}, {"a.md", time.Hour, runtime.ReasonConsentExpired}} {
		w := open(t)
		q := question("c1", time.Hour)
		n := &approvals.Needed{Question: *q, Request: w.ask(t, q)}
		w.Decide(time.Now(), n.Request, yes)
		call := q.Call
		call.Args = row.path
		out := w.Start(time.Now().Add(row.after), n, call)
		require.NotNil(t, out)
		assert.Equal(t, row.want, out.Reason)
		assert.Empty(t, n.ApprovedBy)
	}
}

// TestStartByGrant: a call starts by a grant for as long as the grant lasts.
func TestStartByGrant(t *testing.T) {
	w := open(t)
	q := question("c1", time.Hour)
	id := w.ask(t, q)
	w.Decide(time.Now(), id, &consent.Answer{By: "bob", Approve: true, Offer: consent.Offer{Lasting: consent.ForSession, Cover: runtime.CoverTool}})
	n := &approvals.Needed{Question: *question("c2", time.Hour), Grant: id}
	assert.Nil(t, w.Start(time.Now(), n, n.Question.Call))
	var info callctx.Info
	n.Describe(&info)
	assert.Equal(t, callctx.Info{Grant: id, ApprovedBy: []string{"bob"}}, info)
	w.Revoke(time.Now(), id, "bob", "")
	assert.NotNil(t, w.Start(time.Now(), n, n.Question.Call))
	var none *approvals.Needed
	none.Describe(&info)
	assert.False(t, none.Requested())
	assert.Equal(t, id, info.Grant, "a call that needs no consent adds nothing")
}

// TestPending: the outcome of a waiting call is that of its request; without one, of a request made now.
func TestPending(t *testing.T) {
	w := open(t)
	q := question("c1", time.Hour)
	n := &approvals.Needed{Question: *q}
	out := w.Pending(time.Now(), n, "put")
	assert.Equal(t, time.Hour, out.Detail.ExpiresIn)
	assert.Empty(t, out.RequestID)
	n.Request = w.ask(t, q)
	r, _ := w.Request(n.Request)
	out = w.Pending(r.Expires.Add(-time.Minute), n, "put")
	assert.Equal(t, runtime.Pending, out.Kind)
	assert.Equal(t, time.Minute, out.Detail.ExpiresIn)
	assert.Equal(t, n.Request, out.RequestID)
}

// TestView: an approver sees the title of a known tool, and the arguments of a call that has not ended.
func TestView(t *testing.T) {
	w := open(t)
	q := question("c1", time.Hour)
	r, _ := w.Request(w.ask(t, q))
	v := w.View(r, &tools.Tool{Spec: &runtime.Spec{Title: "Put", Description: "It puts."}}, q.Call.Args)
	assert.Equal(t, r.ID, v.ID)
	assert.Equal(t, "Put", v.Title)
	assert.Equal(t, "It puts.", v.Description)
	assert.JSONEq(t, `{"path":"a.md"}`, string(v.Shown))
	assert.NotEmpty(t, v.Covers)
	v = w.View(r, nil, nil)
	assert.Empty(t, v.Title)
	assert.Nil(t, v.Shown)
	assert.Nil(t, w.View(r, nil, args("panic")).Shown)
}

// TestViewOfACommand: approvers see what a call would run, as long as it may.
func TestViewOfACommand(t *testing.T) {
	w := open(t)
	q := question("c1", time.Hour)
	r := consent.Request{}
	tool := &tools.Tool{Spec: &runtime.Spec{}}
	plan := &runtime.Invocation{Program: "git", Argv: []string{"git", "log"}}
	v := w.View(r, tool, &runtime.PlannedInput{Value: q.Call.Args, Plan: plan})
	assert.Equal(t, plan, v.Command)
	assert.JSONEq(t, `{"path":"a.md"}`, string(v.Shown))
	assert.Nil(t, w.View(r, tool, nil).Command, "it is over")
	assert.Nil(t, w.View(r, tool, q.Call.Args).Command, "it has a handler")
}
