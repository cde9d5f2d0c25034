package stream

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// shaky is an operator policy that allows everything, and cannot say so while how is set: by an error, by a hang or
// by a panic.
type shaky struct {
	mu  sync.Mutex
	how string
}

func (s *shaky) set(how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.how = how
}

func (s *shaky) Authorize(ctx context.Context, _ *runtime.ActRequest) (runtime.ActDecision, error) {
	s.mu.Lock()
	how := s.how
	s.mu.Unlock()
	switch how {
	case "fails":
		return runtime.ActDecision{}, errors.New("the directory of people does not answer")
	case "hangs":
		<-ctx.Done()
		return runtime.ActDecision{}, ctx.Err()
	case "panics":
		panic(how)
	}
	return runtime.ActDecision{Allow: true}, nil
}

// page is what a reader of events has got.
type page struct {
	stuck
	mu sync.Mutex
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Buffer.Write(b)
}

// told returns the positions that a reader got, and those of all events, by their kinds.
func (p *page) told() (ids []string, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range regexp.MustCompile(`id: (\d+)\nevent: tool`).FindAllStringSubmatch(p.String(), -1) {
		ids = append(ids, m[1])
	}
	return ids, p.String()
}

// TestAPolicyThatFailsLosesNothing: while the operator policy fails, hangs or panics the stream stands still, and goes
// on when it answers again. When it does not, the stream ends with the position, and who resumes there misses nothing.
// SEMANTICS 5.10.9
func TestAPolicyThatFailsLosesNothing(t *testing.T) {
	for _, how := range []string{"fails", "hangs", "panics"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, policy := feed.New(new(journal.Memory), 0), new(shaky)
				registry, err := runtime.NewRegistry(runtime.NewDynamicTool(&runtime.Spec{Name: "note"}, noCodec{}, func(_ context.Context, in wire.Value) (wire.Value, error) { return in, nil }))
				require.NoError(t, err)
				exec, err := engine.NewExecutor(registry, runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
					return runtime.Decision{}, nil
				}), engine.WithOperators(policy))
				require.NoError(t, err)
				defer func() { require.NoError(t, exec.Shutdown(t.Context())) }()
				open := func(query string) (*page, chan struct{}) {
					p, ended := &page{stuck: stuck{head: http.Header{}}}, make(chan struct{})
					go func() {
						defer close(ended)
						guard := httpguard.Guard{Auth: allowed{}}
						guard.Known(New(exec, f).Events()).ServeHTTP(p, httptest.NewRequest(http.MethodGet, "/events"+query, nil))
					}()
					synctest.Wait()
					return p, ended
				}
				seq := uint64(0)
				add := func() {
					seq++
					leaf, err := json.Marshal(journal.Record{Kind: "tool.started", Session: "s", Call: "c"})
					require.NoError(t, err)
					require.NoError(t, f.Journal().Append(t.Context(), []journal.Entry{{Seq: seq, Kind: "tool.started", Session: "s", Call: "c", Leaf: leaf}}))
					time.Sleep(3 * time.Second) // of the clock of the bubble
				}
				reader, ended := open("?after=0")
				add()
				policy.set(how)
				add()
				policy.set("")
				add()
				ids, _ := reader.told()
				assert.Equal(t, []string{"1", "2", "3"}, ids, "the stream stood still")

				policy.set(how)
				add()
				add()
				add()
				time.Sleep(10 * time.Second)
				<-ended
				ids, text := reader.told()
				assert.Equal(t, []string{"1", "2", "3"}, ids)
				assert.Equal(t, 1, strings.Count(text, "id: 3\nevent: stream.undecided\n"), text)
				assert.Contains(t, text, `"data":{"position":3,"missed":3}`)

				policy.set("")
				again, _ := open("?after=3")
				time.Sleep(time.Second)
				ids, _ = again.told()
				assert.Equal(t, []string{"4", "5", "6"}, ids)
				f.Close()
			})
		})
	}
}
