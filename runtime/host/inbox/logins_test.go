package inbox

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
)

// entered keeps what a command enters.
type entered struct {
	url, path string
	sum       [sha256.Size]byte
	who       runtime.Actor
}

func (e *entered) Enter(sum [sha256.Size]byte, who runtime.Actor, path string) string {
	e.sum, e.who, e.path = sum, who, path
	return e.url
}

// TestOpenConsole: the ticket acts as who gave the command, authenticated as that command was.
func TestOpenConsole(t *testing.T) {
	sum := sha256.Sum256([]byte("ticket"))
	give := func(login *Login, to Logins) CommandResult {
		c := Command{By: "ada", Groups: []string{"finance"}, Kind: CommandConsoleOpen, Method: runtime.MethodUser, Login: login, logins: to}
		return c.execute(t.Context(), nil)
	}
	login := &Login{SHA256: hex.EncodeToString(sum[:]), Path: "/approvals/x"}
	to := &entered{url: "http://127.0.0.1:7411/login"}
	assert.Equal(t, CommandResult{Done: true, Result: "accepted", URL: to.url}, give(login, to))
	assert.Equal(t, &entered{to.url, "/approvals/x", sum, runtime.Actor{ID: "ada", Groups: []string{"finance"}, Method: runtime.MethodUser}}, to)
	assert.Equal(t, RejectedNotServed, give(login, nil).Reason)
	assert.Equal(t, RejectedNotServed, give(login, &entered{}).Reason)
	assert.Equal(t, RejectedIncomplete, give(nil, to).Reason)
	for _, bad := range []string{"", "ab", "zz", hex.EncodeToString(append(sum[:], 1))} {
		assert.Equal(t, RejectedBadArguments, give(&Login{SHA256: bad}, to).Reason, bad)
	}
}
