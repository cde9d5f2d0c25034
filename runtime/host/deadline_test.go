package host

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A pipes is a listener of connections in memory, so that the deadlines on them are in the time of a bubble.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// TestHeaderDeadline: a client that does not end its headers, that begins no further request, or that sends too
// many of them, does not hold a connection.
func TestHeaderDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served := 0
		server := newServer(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { served++; w.WriteHeader(http.StatusNoContent) }))
		listener := make(pipes)
		go func() { _ = server.Serve(listener) }()
		send := func(request string) (answer string, after time.Duration) {
			client, conn := net.Pipe()
			defer func() { _ = client.Close() }()
			listener <- conn
			began := time.Now()
			go func() { _, _ = io.WriteString(client, request) }()
			text, err := io.ReadAll(client)
			require.NoError(t, err)
			return string(text), time.Since(began)
		}
		_, after := send("GET / HTTP/1.1\r\nHost: a\r\n")
		assert.Equal(t, headerTimeout, after)
		assert.Zero(t, served)
		answer, after := send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		assert.Contains(t, answer, "204 No Content")
		assert.Equal(t, idleTimeout, after)
		answer, _ = send("GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", maxHeader+8<<10) + "\r\n\r\n")
		assert.Contains(t, answer, "431 ")
		assert.Equal(t, 1, served)
		require.NoError(t, server.Close())
	})
}
