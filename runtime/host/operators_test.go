package host_test

import (
	"context"
	goruntime "runtime"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// onlyDecide is an operator policy that lets an approver answer requests, and nothing else.
type onlyDecide struct{}

func (onlyDecide) Authorize(_ context.Context, r *runtime.ActRequest) (runtime.ActDecision, error) {
	return runtime.ActDecision{Allow: r.Act == runtime.ActDecide && r.Approver}, nil
}

// TestIdentity: the host says who gives a command and to which groups that person belongs, and the
// operator policy what the person may do.
func TestIdentity(t *testing.T) {
	fs := policies()
	fs["note_write.rego"] = &fstest.MapFile{Data: []byte(`package ambit.tools.note_write

allow contains {"code": "notes", "message": "notes may be written"}

ask contains {"id": "draft", "message": "a draft", "approvers": ["group:finance"]}
`)}
	h, err := host.Open(t.Context(), host.Config{
		Tools: noteTools(nil), Policies: fs, Dir: t.TempDir(), Report: func(error) {}, Operators: onlyDecide{},
		Identity: func(string) (string, []string) { return "ada@example.com", []string{"finance"} },
	})
	require.NoError(t, err)
	defer func() { assert.NoError(t, h.Close(context.Background())) }()
	asked := execute(t, h, "c1", "Draft")
	require.Equal(t, runtime.Pending, asked.Kind, asked.Message)
	give := func(c inbox.Command) inbox.CommandResult {
		require.NoError(t, inbox.Put(t.Context(), h.Store, &c))
		for {
			entries, err := h.Store.Read(t.Context(), 0, 1000)
			require.NoError(t, err)
			for _, e := range entries {
				r, err := journal.Decode(e.Leaf)
				require.NoError(t, err)
				if e.Kind == journal.KindCommandDone && r.Command.Nonce == c.Nonce {
					return *r.Command.Result
				}
			}
			goruntime.Gosched()
		}
	}
	assert.Equal(t, string(action.CodeNotPermitted), give(inbox.Command{Kind: inbox.CommandCancel, Session: "s", Call: "c1"}).Reason)
	assert.True(t, give(inbox.Command{Kind: inbox.CommandApprove, Request: asked.RequestID}).Done)
	session := h.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
	assert.Equal(t, runtime.Completed, session.Await(t.Context(), "c1").Kind)
	r, _ := h.Executor.Request(asked.RequestID)
	require.Len(t, r.Votes, 1)
	assert.Equal(t, []string{"ada@example.com", "group:finance"}, []string{r.Votes[0].By, r.Votes[0].Entry})
}
