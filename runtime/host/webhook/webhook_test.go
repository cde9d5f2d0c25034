package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/host/webhook"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// start sends to an endpoint from the beginning of a feed.
func start(t testing.TB, f *feed.Feed, to webhook.Endpoint, p webhook.Position, told *reports) *webhook.Sender {
	t.Helper()
	s, err := webhook.Start(f, to, p, told.add)
	require.NoError(t, err)
	return s
}

// TestMessages: what each kind of entry tells.
func TestMessages(t *testing.T) {
	answered := func(status consent.Status, r runtime.Resolution) consent.Event {
		return consent.Event{Kind: consent.EventAnswered, At: at, Request: "Q1", Call: "c1", By: "alice", Message: token, Result: &consent.Result{Resolution: r, Status: status}}
	}
	synctest.Test(t, func(t *testing.T) {
		r, told, f := &receiver{}, &reports{}, feed.New(new(journal.Memory), 0)
		to := endpoint(r)
		to.Link = "https://console.example/a/{request}?s={session}"
		s := start(t, f, to, &memory{}, told)
		call := journal.Record{Session: "s 1", Run: "r1", Turn: 3, RequestID: "web-1", Call: "c1", Tool: "send", Principal: "agent", Err: token}
		with := func(kind string, changes ...consent.Event) journal.Record {
			one := call
			one.Kind, one.Consent = kind, changes
			return one
		}
		add(t, f,
			with("tool.invoked"),
			with("approval.requested", asked),
			with("approval.expiring", consent.Event{Kind: consent.EventReminded, At: at, Request: "Q1", Call: "c1"}),
			with("approval.decided", answered(consent.StatusOpen, runtime.ResolutionRejected)),
			with("approval.decided", answered(consent.StatusOpen, runtime.ResolutionRecorded)),
			with("approval.decided", answered(consent.StatusApproved, runtime.ResolutionAccepted)),
			with("tool.denied", consent.Event{Kind: consent.EventExpired, At: at, Request: "Q1", Call: "c1"}),
			journal.Record{Kind: "tool.denied", Session: "other", Call: "c2", Consent: []consent.Event{{Kind: consent.EventCancelled, At: at, Request: "Q1", Call: "c1"}}},
			with("tool.unknown"),
			failed("c1"),
		)
		synctest.Wait()
		s.Close()
		f.Close()
		var got []string
		for _, d := range r.all() {
			got = append(got, d.body)
			assert.NotContains(t, d.body, token)
		}
		head := func(kind string, position int) string {
			return fmt.Sprintf(`{"type":%q,"timestamp":"2026-11-23T12:00:00Z","data":{"position":%d,`, kind, position)
		}
		const (
			q1    = `"request":"Q1","call":"c1",`
			where = `"session":"s 1","run":"r1","turn":3,"request_id":"web-1","tool":"send","principal":"agent"`
			link  = `"link":"https://console.example/a/Q1?s=s%201"}}`
		)
		assert.Equal(t, []string{
			head("approval.requested", 2) + q1 + where + `,"effect":"destructive","approvers":["group:finance"],"expires":"2026-11-23T13:00:00Z",` + link,
			head("approval.expiring", 3) + q1 + where + `,` + link,
			head("approval.ended", 6) + q1 + where + `,"state":"approved","by":"alice",` + link,
			head("approval.ended", 7) + q1 + where + `,"state":"expired",` + link,
			head("approval.ended", 8) + q1 + `"state":"cancelled"}}`,
			head("call.unknown", 9) + `"call":"c1",` + where + `}}`,
			head("undo.failed", 10) + `"call":"c1","session":"s 1","run":"r1","turn":3,"request_id":"web-1","tool":"send","by":"alice","reason":"handler_error"}}`,
		}, got)
		assert.Empty(t, told.all())
	})
}

// TestArgumentsWhereDeclared: they are in a body only when the endpoint says so, and masked.
func TestArgumentsWhereDeclared(t *testing.T) {
	for _, declared := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r, told, f := &receiver{}, &reports{}, feed.New(new(journal.Memory), 0)
			to := endpoint(r)
			to.Arguments, to.Types = declared, []string{webhook.ApprovalRequested}
			s := start(t, f, to, &memory{}, told)
			add(t, f, failed("c1"), journal.Record{Kind: "approval.requested", Call: "c1", Consent: []consent.Event{asked}})
			synctest.Wait()
			s.Close()
			f.Close()
			require.Len(t, r.all(), 1, "of one type")
			data := decoded(t, r.all()[0].body)["data"].(map[string]any)
			if !declared {
				assert.NotContains(t, data, "arguments")
				return
			}
			assert.Equal(t, map[string]any{"to": "ada", "pin": "(sensitive)"}, data["arguments"])
		})
	}
}

// TestSignature: a receiver that follows Standard Webhooks accepts a message by the secret that it has, the
// new one or the earlier one.
func TestSignature(t *testing.T) {
	const earlier = "whsec_ZWFybGllci1lYXJsaWVyLWVhcmxpZXItZWFybGllcg=="
	for _, rotated := range [][]string{nil, {earlier}} {
		synctest.Test(t, func(t *testing.T) {
			r, told, f := &receiver{}, &reports{}, feed.New(new(journal.Memory), 0)
			to := endpoint(r)
			to.Earlier = rotated
			s := start(t, f, to, &memory{}, told)
			add(t, f, failed("c1"))
			synctest.Wait()
			s.Close()
			f.Close()
			require.Len(t, r.all(), 1)
			d := r.all()[0]
			var want []string
			for _, each := range append([]string{secret}, rotated...) {
				key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(each, "whsec_"))
				require.NoError(t, err)
				mac := hmac.New(sha256.New, key)
				mac.Write([]byte(d.id + "." + d.header.Get("Webhook-Timestamp") + "." + d.body))
				want = append(want, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
			}
			assert.Equal(t, want, strings.Split(d.header.Get("Webhook-Signature"), " "))
			assert.Equal(t, fmt.Sprint(d.at.Unix()), d.header.Get("Webhook-Timestamp"))
			assert.Regexp(t, `^msg_[0-9a-f]{32}$`, d.id)
			assert.Equal(t, "application/json", d.header.Get("Content-Type"))
			assert.Len(t, r.all()[0].header.Values("Webhook-Signature"), 1)
		})
	}
}

// TestRetries: a message is sent until it is acknowledged, with pauses that grow, and the next one waits.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const failures = 12
		r, told, f := &receiver{}, &reports{}, feed.New(new(journal.Memory), 0)
		r.answer = func(_ context.Context, n int) (*http.Response, error) {
			switch {
			case n == 0:
				return nil, errors.New("connection refused")
			case n == 1:
				busy := status(http.StatusTooManyRequests)
				busy.Header.Set("Retry-After", "60")
				return busy, nil
			case n == 2:
				moved := status(http.StatusFound)
				moved.Header.Set("Location", "https://elsewhere.example/")
				return moved, nil
			case n < failures:
				return status(http.StatusInternalServerError), nil
			}
			return status(http.StatusOK), nil
		}
		p := &memory{}
		s := start(t, f, endpoint(r), p, told)
		add(t, f, failed("c1"), failed("c2"))
		time.Sleep(2 * time.Hour)
		s.Close()
		f.Close()
		got := r.all()
		require.Len(t, got, failures+2)
		for i := range failures {
			assert.Equal(t, got[0].id, got[i+1].id)
			assert.Equal(t, got[0].body, got[i+1].body)
			waited, longest := got[i+1].at.Sub(got[i].at), min(time.Second<<i, 5*time.Minute)
			if i == 1 {
				assert.Equal(t, time.Minute, waited, "as the receiver asked for")
				continue
			}
			assert.True(t, waited >= longest/2-1 && waited <= longest, "attempt %d after %v", i+1, waited)
		}
		assert.NotEqual(t, got[0].id, got[failures+1].id)
		assert.EqualValues(t, 2, p.at)
		require.Len(t, told.all(), failures)
		for _, text := range told.all() {
			assert.NotContains(t, text, token)
			assert.NotContains(t, text, secret)
			assert.Contains(t, text, "the webhook to receiver.example: message msg_")
		}
	})
}

// TestPositionMovesOnceAcknowledged keeps the receiver from answering.
func TestPositionMovesOnceAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r, told, f, p := &receiver{}, &reports{}, feed.New(new(journal.Memory), 0), &memory{}
		r.answer = func(ctx context.Context, _ int) (*http.Response, error) {
			select {
			case <-release:
				return status(http.StatusOK), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		s := start(t, f, endpoint(r), p, told)
		add(t, f, failed("c1"))
		synctest.Wait()
		require.Len(t, r.all(), 1)
		at, known, _ := p.Load()
		assert.True(t, known)
		assert.EqualValues(t, 0, at, "it is not acknowledged")
		close(release)
		synctest.Wait()
		at, _, _ = p.Load()
		assert.EqualValues(t, 1, at)
		s.Close()
		f.Close()
		assert.Empty(t, told.all())
	})
}

// TestRestartsLoseNothing ends senders at any moment, with positions saved or not: each message is
// acknowledged, the first time in order, and one that comes again has its id.
func TestRestartsLoseNothing(t *testing.T) {
	for seed := range battery.Count(t, 30, 1000) {
		synctest.Test(t, func(t *testing.T) {
			rng, answers := rand.New(rand.NewPCG(uint64(seed), 5)), rand.New(rand.NewPCG(uint64(seed), 6))
			r, told, inner := &receiver{}, &reports{}, new(journal.Memory)
			var acknowledged []string
			r.answer = func(ctx context.Context, n int) (*http.Response, error) {
				time.Sleep(time.Duration(answers.IntN(1000)) * time.Millisecond)
				if answers.IntN(4) == 0 {
					return status(http.StatusBadGateway), nil
				}
				r.mu.Lock()
				acknowledged = append(acknowledged, r.got[n].id+" "+r.got[n].body)
				r.mu.Unlock()
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				return status(http.StatusOK), nil
			}
			p, head, want := &memory{}, uint64(0), 0
			for round := 0; ; round++ {
				f := feed.New(inner, head)
				p.lost = false
				s := start(t, f, endpoint(r), p, told)
				last := round == 12
				if !last {
					for range rng.IntN(6) {
						if rng.IntN(2) == 0 {
							add(t, f, journal.Record{Kind: "tool.invoked"})
							continue
						}
						add(t, f, failed(fmt.Sprint("c", want)))
						want++
					}
					time.Sleep(time.Duration(rng.IntN(4000)) * time.Millisecond)
					p.mu.Lock()
					p.lost = rng.IntN(2) == 0
					p.mu.Unlock()
					time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
				} else {
					time.Sleep(time.Hour)
				}
				s.Close()
				head = f.Head()
				f.Close()
				if last {
					break
				}
			}
			checkAcknowledged(t, seed, acknowledged, want)
		})
	}
}

// checkAcknowledged checks that the messages about n calls were acknowledged, the first time in order.
// Each is an id and a body.
func checkAcknowledged(t *testing.T, seed int, messages []string, n int) {
	t.Helper()
	var first []string
	seen := map[string]string{}
	for _, one := range messages {
		id, body, _ := strings.Cut(one, " ")
		if earlier, again := seen[id]; again {
			require.Equal(t, earlier, body, "seed %d", seed)
			continue
		}
		seen[id] = body
		first = append(first, decoded(t, body)["data"].(map[string]any)["call"].(string))
	}
	require.Len(t, first, n, "seed %d", seed)
	for i, call := range first {
		require.Equal(t, fmt.Sprint("c", i), call, "seed %d", seed)
	}
}

// TestBegins: at the end of the journal the first time, at the position later, and at the end of a
// journal that was restored.
func TestBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, told, p, inner := &receiver{}, &reports{}, &memory{}, new(journal.Memory)
		f := feed.New(inner, 0)
		add(t, f, failed("before"))
		begin := func(f *feed.Feed) {
			s := start(t, f, endpoint(r), p, told)
			synctest.Wait()
			s.Close()
		}
		begin(f)
		add(t, f, failed("c1"))
		assert.Empty(t, r.all())
		begin(f)
		begin(f)
		require.Len(t, r.all(), 1)
		assert.Empty(t, told.all())
		p.at = 99
		begin(f)
		require.Len(t, told.all(), 1)
		assert.Contains(t, told.all()[0], "entry 99")
		assert.EqualValues(t, 2, p.at)
		f.Close()
	})
}

// TestEndpointsAreChecked: what is wrong, and nothing secret.
func TestEndpointsAreChecked(t *testing.T) {
	f := feed.New(new(journal.Memory), 0)
	for want, change := range map[string]func(*webhook.Endpoint){
		"in clear text":              func(e *webhook.Endpoint) { e.URL = "http://receiver.example/" + token },
		"its URL is none of https":   func(e *webhook.Endpoint) { e.URL = "https://" + token + "@receiver.example/" },
		"its URL cannot be parsed":   func(e *webhook.Endpoint) { e.URL = "https://%" + token },
		"its secret is not whsec_":   func(e *webhook.Endpoint) { e.Secret = token },
		"24 to 64 bytes":             func(e *webhook.Endpoint) { e.Secret = "whsec_aHVudGVyMg==" },
		"its earlier secret 1 is":    func(e *webhook.Endpoint) { e.Earlier = []string{token} },
		`there is no type "tool.no"`: func(e *webhook.Endpoint) { e.Types = []string{"tool.no"} },
	} {
		to := endpoint(nil)
		change(&to)
		_, err := webhook.Start(f, to, &memory{}, nil)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), token)
		assert.NotContains(t, err.Error(), to.Secret)
	}
}

// TestFile: a position outlives the process, and damage is not taken for the beginning.
func TestFile(t *testing.T) {
	store := filepath.Join(t.TempDir(), "ambit.db")
	to := endpoint(nil)
	p := webhook.FileFor(store, &to)
	assert.NotContains(t, string(p), token)
	_, known, err := p.Load()
	require.NoError(t, err)
	assert.False(t, known)
	require.NoError(t, p.Save(7))
	require.NoError(t, p.Save(12))
	at, known, err := p.Load()
	require.NoError(t, err)
	assert.True(t, known)
	assert.EqualValues(t, 12, at)
	info, err := os.Stat(string(p))
	require.NoError(t, err)
	assert.Zero(t, info.Mode().Perm()&0o077)
	left, err := os.ReadDir(filepath.Dir(store))
	require.NoError(t, err)
	assert.Len(t, left, 1)
	require.NoError(t, os.WriteFile(string(p), nil, 0o600))
	_, err = webhook.Start(feed.New(new(journal.Memory), 0), to, p, nil)
	require.ErrorContains(t, err, "remove the file")
}
