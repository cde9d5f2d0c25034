package stream_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/tokens"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestFiftySubscribers: over sockets, every reader of fifty gets every event once, in its order.
// SEMANTICS 2.1.3
func TestFiftySubscribers(t *testing.T) {
	r := start(t)
	_, token := r.token("eve", "audit")
	const subscribers, calls = 50, 20
	var all sync.WaitGroup
	lists := make([][]event, subscribers)
	for i := range subscribers {
		if i%2 == 0 {
			browser := r.events("?after=0", token)
			browser.until("stream.opened")
			all.Go(func() {
				for range calls {
					lists[i] = append(lists[i], browser.until("tool.completed")...)
				}
			})
			continue
		}
		program := r.socket(token)
		program.ask(`{"type":"subscribe","after":0}`)
		all.Go(func() {
			for range calls {
				lists[i] = append(lists[i], program.until("tool.completed")...)
			}
		})
	}
	for range calls {
		require.Equal(t, runtime.Completed, r.call("note", "ada").Kind)
	}
	all.Wait()
	want := toldOf(t, r.Store, "tool.")
	for i, list := range lists {
		require.Equal(t, want, positions(list), "subscriber %d", i)
	}
}

func positions(list []event) (all []uint64) {
	for _, ev := range list {
		all = append(all, ev.Data.Position)
	}
	return all
}

// A reader is a store, or one that is read by another process.
type reader interface {
	Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error)
}

// toldOf returns the positions of the entries of a journal whose kinds begin with a prefix.
func toldOf(t *testing.T, j reader, prefix string) (all []uint64) {
	t.Helper()
	for after := uint64(0); ; {
		list, err := j.Read(t.Context(), after, 1000)
		require.NoError(t, err)
		if len(list) == 0 {
			return all
		}
		for i := range list {
			if after = list[i].Seq; len(list[i].Kind) > len(prefix) && list[i].Kind[:len(prefix)] == prefix {
				all = append(all, after)
			}
		}
	}
}

// TestCallsDoNotWaitForReaders: calls come to their end while readers take nothing of more than what
// sockets and buffers hold. What the readers then get, resuming where they are told to, is everything.
func TestCallsDoNotWaitForReaders(t *testing.T) {
	r := start(t)
	_, token := r.token("eve", "audit")
	const readers, calls = 4, 200
	browsers := make([]*events, readers)
	for i := range browsers {
		browsers[i] = r.events("?after=0", token)
	}
	program := r.socket(token)
	program.send(`{"type":"subscribe","after":0}`)
	long := strings.Repeat("ada ", 2500)
	for range calls { // nothing is read before all have ended
		require.Equal(t, runtime.Completed, r.call("note", long).Kind)
	}
	want := toldOf(t, r.Store, "tool.")
	for _, b := range browsers {
		var list []uint64
		for len(list) < len(want) {
			ev, ok := b.next()
			require.True(t, ok, "who is not told that he missed something misses nothing")
			switch ev.Type {
			case "stream.lagged":
				assert.Equal(t, lastOf(list), ev.Data.Position)
				assert.Equal(t, r.Feed.Head()-lastOf(list), ev.Data.Missed)
				_, ok := b.next()
				assert.False(t, ok, "the stream ends")
				b = r.events("", token, "Last-Event-ID", strconv.FormatUint(b.position, 10))
			case "stream.opened":
			default:
				list = append(list, ev.Data.Position)
			}
		}
		assert.Equal(t, want, list)
	}
}

// victimOf tells a process of this test that it is one that will be killed, and its folder.
const victimOf = "AMBIT_STREAM_VICTIM"

// victim opens a host, says where it listens, and makes calls until it is killed.
func victim(dir string) {
	config := configOf(dir)
	config.Serve.Addr = os.Getenv(victimOf + "_ADDR")
	h, err := host.Open(context.Background(), config)
	if err == nil {
		fmt.Println("ready")
		for err == nil {
			_ = execute(context.Background(), failer{}, h, "note", "report "+rand.Text())
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// failer ends the process of a victim.
type failer struct{}

func (failer) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format, args...) }
func (failer) FailNow()                          { os.Exit(1) }

// TestResumesOverKills kills the process that serves, again and again. Readers resume after the last
// event that they have seen: to each the journal is told without a gap, and nothing twice. Live output is
// told at most once, and its counts are in the journal.
func TestResumesOverKills(t *testing.T) {
	dir := t.TempDir()
	token, text, err := tokens.New("eve", []string{"audit"})
	require.NoError(t, err)
	require.NoError(t, tokens.Open(tokens.FileOf(dir+"/ambit.db")).Add(t.Context(), token))
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := free.Addr().String()
	require.NoError(t, free.Close())
	var browser, program []uint64
	pieces := map[string]bool{} // that the browser got
	kills := battery.Count(t, 3, 50)
	for kill := range kills {
		end := begin(t, dir, addr)
		browser = append(browser, overEvents(t, addr, text, lastOf(browser), 40+kill%7, pieces)...)
		program = append(program, overSocket(t, addr, text, lastOf(program), 25+kill%5)...)
		end()
	}
	r, err := sqlite.OpenReader(dir + "/ambit.db")
	require.NoError(t, err)
	want := toldOf(t, r, "tool.")
	require.NoError(t, r.Close())
	require.Greater(t, len(want), len(browser))
	assert.Equal(t, want[:len(browser)], browser)
	assert.Equal(t, want[:len(program)], program)
	assert.NotEmpty(t, pieces)
	t.Logf("%d kills, %d and %d of %d events, %d pieces", kills, len(browser), len(program), len(want), len(pieces))
}

// begin starts a victim, and returns a function that kills it.
func begin(t *testing.T, dir, addr string) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimOf+"="+dir, victimOf+"_ADDR="+addr)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	ready := make([]byte, len("ready"))
	_, err = out.Read(ready)
	if err != nil {
		t.Fatalf("the victim has ended by itself: %v", cmd.Wait())
	}
	return func() {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
	}
}

// lastOf returns the position that a reader resumes after.
func lastOf(list []uint64) uint64 {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)-1]
}

// overEvents returns the positions of n events after one, as a browser gets them.
func overEvents(t *testing.T, addr, token string, after uint64, n int, pieces map[string]bool) (list []uint64) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res := get(t.Context(), t, &client, "http://"+addr+"/events", token, "Last-Event-ID", strconv.FormatUint(after, 10))
	browser := eventsOf(t, res)
	for len(list) < n {
		ev, ok := browser.next()
		require.True(t, ok)
		switch {
		case ev.Data.After != nil:
			piece := fmt.Sprint(ev.Data.Call, " ", ev.Data.Offset)
			require.False(t, pieces[piece], piece)
			pieces[piece] = true
		case ev.Type != "stream.opened":
			list = append(list, ev.Data.Position)
			require.Equal(t, ev.Type == "tool.output", ev.Data.Live != nil)
		}
	}
	return list
}

// overSocket returns the positions of n events after one, as a program gets them.
func overSocket(t *testing.T, addr, token string, after uint64, n int) (list []uint64) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	conn, _, err := websocket.Dial(t.Context(), "ws://"+addr+"/stream", &websocket.DialOptions{
		HTTPClient: &client, HTTPHeader: http.Header{"Authorization": {"Bearer " + token}},
	})
	require.NoError(t, err)
	defer func() { _ = conn.CloseNow() }()
	program := &socket{t, conn}
	program.send(fmt.Sprintf(`{"type":"subscribe","after":%d}`, after))
	for len(list) < n {
		_, text, err := program.Read(t.Context())
		require.NoError(t, err)
		var ev event
		require.NoError(t, json.Unmarshal(text, &ev))
		if ev.Type != "reply" && ev.Data.After == nil {
			list = append(list, ev.Data.Position)
		}
	}
	return list
}
