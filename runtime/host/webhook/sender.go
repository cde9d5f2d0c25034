package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/ambit-tools/ambit/runtime/host/feed"
)

const (
	// attemptTimeout is how long the receiver may take to acknowledge.
	attemptTimeout = 15 * time.Second
	firstPause     = time.Second
	longestPause   = 5 * time.Minute
	// saveEvery is after how many entries that tell the endpoint nothing the position is saved.
	saveEvery = 4096
	// mostRead is how much of an answer is read, so that the connection can be used again.
	mostRead = 64 << 10
)

// A Sender sends messages to one endpoint until it is closed.
type Sender struct {
	feed     *feed.Feed
	to       Endpoint
	keys     [][]byte
	client   http.Client
	position Position
	report   func(error)

	stop context.CancelFunc
	done chan struct{}
}

// Start sends what the entries of a feed after a position tell an endpoint. The first time, the
// position is the end of the feed. report is told when the receiver does not acknowledge; it may be
// called from several goroutines at a time. The caller closes the Sender before the feed.
func Start(f *feed.Feed, to Endpoint, position Position, report func(error)) (*Sender, error) {
	keys, err := to.check()
	if err != nil {
		return nil, fmt.Errorf("the webhook to %s: %w", to.host(), err)
	}
	s := &Sender{feed: f, to: to, keys: keys, position: position, report: report, done: make(chan struct{})}
	s.client = http.Client{
		Transport: to.Transport, Timeout: attemptTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	after, err := s.begin()
	if err != nil {
		return nil, s.fault(err)
	}
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	go s.run(ctx, after)
	return s, nil
}

// begin returns the position after which to begin, and saves it when it is new.
func (s *Sender) begin() (after uint64, err error) {
	head := s.feed.Head()
	after, known, err := s.position.Load()
	switch {
	case err != nil:
		return 0, err
	case known && after <= head:
		return after, nil
	case known:
		s.report(s.fault(fmt.Errorf("it was told of entry %d and the journal ends with entry %d, as one does that was restored: it is told of what comes next", after, head)))
	}
	return head, s.position.Save(head)
}

// Close stops sending. What was not acknowledged is sent after the next Start.
func (s *Sender) Close() {
	s.stop()
	<-s.done
}

// fault names the endpoint in an error.
func (s *Sender) fault(err error) error { return fmt.Errorf("the webhook to %s: %w", s.to.host(), err) }

// run sends messages until ctx ends. When the journal cannot be read it tries again.
func (s *Sender) run(ctx context.Context, after uint64) {
	defer close(s.done)
	for failures := 0; ; failures++ {
		next, err := s.follow(ctx, after)
		if ctx.Err() != nil {
			return
		}
		if next > after {
			failures = 0
		}
		after = next
		s.report(s.fault(err))
		if !sleep(ctx, pause(failures, 0)) {
			return
		}
	}
}

// follow sends what the entries after a position tell. It returns the position up to which all is
// acknowledged.
func (s *Sender) follow(ctx context.Context, after uint64) (uint64, error) {
	saved := after
	for entry, err := range s.feed.Subscribe(ctx, after, feed.Filter{}) {
		if err != nil {
			if after != saved {
				err = errors.Join(err, s.position.Save(after))
			}
			return after, err
		}
		list, err := s.to.messages(&entry)
		if err != nil {
			s.report(s.fault(fmt.Errorf("entry %d: %w", entry.Seq, err)))
		}
		for i := range list {
			if !s.deliver(ctx, &list[i]) {
				return after, ctx.Err()
			}
		}
		after = entry.Seq
		if len(list) > 0 || after-saved >= saveEvery {
			if err := s.position.Save(after); err != nil {
				s.report(s.fault(err)) // after a crash what follows the saved position is sent again
				continue
			}
			saved = after
		}
	}
	return after, nil
}

// deliver sends a message until the receiver acknowledges it. It reports false when ctx has ended.
func (s *Sender) deliver(ctx context.Context, m *message) bool {
	for failures := 0; ; failures++ {
		wait, err := s.send(ctx, m)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		s.report(s.fault(fmt.Errorf("message %s: %w", m.id, err)))
		if !sleep(ctx, pause(failures, wait)) {
			return false
		}
	}
}

// send sends a message once. With an error it returns how long the receiver asks to wait, 0 when it
// does not. The error holds nothing of the URL.
func (s *Sender) send(ctx context.Context, m *message) (wait time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.to.URL, bytes.NewReader(m.body))
	if err != nil {
		return 0, errors.New("its URL cannot be used")
	}
	now := time.Now()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "ambit")
	r.Header.Set("Webhook-Id", m.id)
	r.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	r.Header.Set("Webhook-Signature", m.sign(s.keys, now))
	answer, err := s.client.Do(r)
	if err != nil {
		if of, ok := errors.AsType[*url.Error](err); ok {
			err = of.Err
		}
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, mostRead)
	if answer.StatusCode/100 == 2 {
		return 0, nil
	}
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	return time.Duration(min(max(seconds, 0), int(longestPause/time.Second))) * time.Second, fmt.Errorf("the receiver answered with status %d", answer.StatusCode)
}

// pause returns how long to wait after a number of failures: twice as long each time, up to
// longestPause, randomly shortened, and not shorter than the receiver asks for.
func pause(failures int, asked time.Duration) time.Duration {
	d := min(firstPause<<min(failures, 16), longestPause)
	return max(d-rand.N(d/2+1), asked)
}

// sleep waits. It reports false when ctx has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
