package approvals_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
)

// TestDescribe: an operator policy is told of what call a request is, and who may answer it.
func TestDescribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		q := question("c1", time.Minute)
		q.Requirement.Approvers = []string{"group:ops"}
		request := w.ask(t, q)
		for name, groups := range map[string][]string{"bob": {"ops"}, "eve": nil} {
			r := runtime.ActRequest{Actor: runtime.Actor{ID: name, Groups: groups}, ActTarget: runtime.ActTarget{Request: request}}
			w.Describe(&r)
			assert.Equal(t, "c1", r.Call)
			assert.Equal(t, "s", r.Session)
			assert.Equal(t, "r", r.Run)
			assert.Equal(t, "put", r.Tool)
			assert.Equal(t, "alice", r.Principal)
			assert.Equal(t, groups != nil, r.Approver, name)
		}
		unknown := runtime.ActRequest{ActTarget: runtime.ActTarget{Request: "x", Grant: "y"}}
		w.Describe(&unknown)
		assert.Equal(t, runtime.ActRequest{ActTarget: runtime.ActTarget{Request: "x", Grant: "y"}}, unknown)
		w.Close()
	})
}
