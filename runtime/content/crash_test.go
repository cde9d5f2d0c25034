package content_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/internal/simfs"
)

// A shop is a store on a simulated disk and what it has promised to keep.
type shop struct {
	disk  *simfs.Disk
	r     *rand.Rand
	store *content.Store
	kept  map[content.Ref][]byte
}

// data returns a content; there are few, so that they are put again.
func (s *shop) data() []byte {
	return bytes.Repeat([]byte{byte('a' + s.r.IntN(12))}, 1+s.r.IntN(4)*50)
}

// put stores something in one of three ways and remembers what was promised.
func (s *shop) put(t *testing.T) error {
	ctx := t.Context()
	one, two := s.data(), s.data()
	switch s.r.IntN(3) {
	case 0:
		ref, err := s.store.Put(ctx, one)
		return s.promised(err, []content.Ref{ref}, one)
	case 1:
		refs, err := s.store.PutAll(ctx, one, two)
		return s.promised(err, refs, one, two)
	}
	w, err := s.store.Create(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = w.Write(one)
	_, err2 := w.Write(two)
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	ref, err := w.Commit(ctx)
	return s.promised(err, []content.Ref{ref}, append(bytes.Clone(one), two...))
}

func (s *shop) promised(err error, refs []content.Ref, contents ...[]byte) error {
	for i := range contents {
		if err == nil {
			s.kept[refs[i]] = contents[i]
		}
	}
	return err
}

// look reads what was promised: it has to be there and whole.
func (s *shop) look(t *testing.T) error {
	for ref, want := range s.kept {
		got, err := s.store.Get(t.Context(), ref)
		if err != nil {
			return fmt.Errorf("lost: %w", err)
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("content %s is %q, not %q", ref, got, want)
		}
	}
	return nil
}

func (s *shop) live(t *testing.T) error {
	for range 4 {
		s.store = content.On(s.disk.Root())
		s.disk.CutAfter(1 + s.r.IntN(40))
		if s.r.IntN(3) == 0 {
			s.disk.Fail(simfs.Faults{Write: 30, Space: 30, Sync: 15})
		}
		for range 12 {
			if s.put(t) != nil && s.disk.Dead() {
				break
			}
		}
		s.disk.Crash()
		s.store = content.On(s.disk.Root())
		if err := s.look(t); err != nil {
			return err
		}
	}
	return nil
}

// TestCrashes lets the power go in the middle of any operation, and the disk
// fail: what Put has returned is there afterwards.
func TestCrashes(t *testing.T) {
	for seed := range battery.Count(t, 2000, 20_000) {
		s := &shop{disk: simfs.New(uint64(seed)), r: rand.New(rand.NewPCG(uint64(seed), 2)), kept: map[content.Ref][]byte{}}
		if err := s.live(t); err != nil {
			require.NoError(t, err, "seed %d", seed)
		}
	}
}
