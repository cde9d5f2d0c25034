package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A viewing collects what a viewer has of each stream of a command, and wants no piece to repeat another.
type viewing struct {
	text map[string]string
	end  map[string]int64
	gaps int // of bytes that were not told
}

func (v *viewing) add(t *testing.T, pieces ...journal.Live) {
	t.Helper()
	if v.text == nil {
		v.text, v.end = map[string]string{}, map[string]int64{}
	}
	for _, p := range pieces {
		if p.Stream == "" { // the counts at the end
			assert.Empty(t, p.Text)
			continue
		}
		assert.GreaterOrEqual(t, p.Offset, v.end[p.Stream], "no piece repeats what another told")
		if p.Offset > v.end[p.Stream] {
			v.gaps++
		}
		v.text[p.Stream] += p.Text
		v.end[p.Stream] = p.End
	}
}

// lineWrites are writes of numbered lines of eight bytes, one each 30 ms.
func lineWrites(n int) (list []runtimetest.Write, text string) {
	for i := range n {
		list = append(list, runtimetest.Write{After: 30 * time.Millisecond, Text: fmt.Sprintf("line%03d\n", i)})
		text += list[i].Text
	}
	return list, text
}

// TestCommandOutput: what a command writes is told by stream and offset, in pieces that wait 100 ms or have 8 KiB, and
// up to limits.output of each stream. The journal has the counts, and no text.
// SEMANTICS 2.5.6
func TestCommandOutput(t *testing.T) {
	writes, text := lineWrites(10)
	writes = append(writes, runtimetest.Write{After: time.Second, Stream: process.Stderr, Text: strings.Repeat("e", 20<<10)}, runtimetest.Write{After: time.Second})
	writes = append(writes, flood(runtime.DefaultOutputLimit)...)
	var o livePieces
	w := prepareWorkshop(t, act(runtimetest.Act{Writes: writes}))
	synctest.Test(t, func(t *testing.T) {
		w.open(t, runtime.PolicyFunc(allowAll), engine.WithLive(o.add))
		began := time.Now()
		out := w.call("c", "make")
		require.Equal(t, runtime.Completed, out.Kind, out.Message)
		require.NoError(t, w.exec.Shutdown(t.Context()))

		var seen viewing
		seen.add(t, o.all()...)
		assert.Zero(t, seen.gaps)
		assert.True(t, strings.HasPrefix(seen.text["stdout"], text))
		assert.Equal(t, strings.Repeat("e", 20<<10), seen.text["stderr"])
		assert.Len(t, seen.text["stdout"], runtime.DefaultOutputLimit, "the cap is that of the stream")
		var first []string
		for _, p := range o.pieces[:6] {
			assert.Equal(t, []any{"s", "c", "make", 1, 0}, []any{p.Session, p.Call, p.Tool, p.Attempt, p.Kept})
			first = append(first, fmt.Sprintf("%s %d+%d after %s", p.Stream, p.Offset, p.End-p.Offset, p.At.Sub(began)))
		}
		assert.Equal(t, []string{
			"stdout 0+32 after 130ms", "stdout 32+32 after 250ms", "stdout 64+16 after 370ms",
			"stderr 0+8192 after 1.3s", "stderr 8192+8192 after 1.3s", "stderr 16384+4096 after 1.3s",
		}, first)
		counts := liveCounts(t, &w.journal)
		require.Len(t, counts, 4)
		assert.Equal(t, []int64{32, 32 + 32 + 16 + 8192}, []int64{counts[0].Bytes, counts[1].Bytes})
		last := counts[3]
		assert.Equal(t, []int64{20<<10 + runtime.DefaultOutputLimit, int64(len(text)), int64(len(o.pieces))}, []int64{last.Bytes, last.Dropped, last.Pieces})
		for _, e := range entriesOf(t, &w.journal) {
			assert.True(t, e.Kind != "tool.output" || !strings.Contains(string(e.Leaf)+string(e.Private), "line00"))
		}
	})
}

// flood writes as a program that writes much at once.
func flood(bytes int) (list []runtimetest.Write) {
	const pipe = 64 << 10
	for range bytes / pipe {
		list = append(list, runtimetest.Write{After: time.Millisecond, Text: strings.Repeat("v", pipe)})
	}
	return list
}

// entriesOf returns the entries of a journal.
func entriesOf(t *testing.T, j journal.Journal) []journal.Entry {
	t.Helper()
	entries, err := j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	return entries
}

// TestCommandOutputFromTheMiddle: who comes later first gets the head and the tail that are kept, and then what is
// written from there on: nothing twice, and nothing is missing but the middle.
// SEMANTICS 2.5.7
func TestCommandOutputFromTheMiddle(t *testing.T) {
	const much = 3 << 19 // more than is kept
	for name, row := range map[string]struct {
		before []runtimetest.Write
		after  string
		want   string // empty: of the flood
		gaps   int
	}{
		"all is kept":                       {[]runtimetest.Write{{Text: "head\n"}}, "tail\n", "head\ntail\n", 0},
		"the middle is not kept":            {flood(much), "v", "", 1},
		"half a character is not yet there": {[]runtimetest.Write{{Text: "h\xc3"}}, "\xa4\n", "h\u00e4\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var o livePieces
			w := prepareWorkshop(t, act(runtimetest.Act{Writes: append(row.before,
				runtimetest.Write{After: 250 * time.Millisecond, Text: row.after}, runtimetest.Write{After: 10 * time.Second},
			)}))
			synctest.Test(t, func(t *testing.T) {
				w.open(t, runtime.PolicyFunc(allowAll), engine.WithLive(o.add))
				assert.Empty(t, w.exec.Output("s", "c"), "there is no such call")
				go w.call("c", "once")
				time.Sleep(300 * time.Millisecond) // more was written and is not told yet
				kept, before := w.exec.Output("s", "c"), o.all()
				require.NotEmpty(t, kept)
				for i, p := range kept {
					assert.Equal(t, []any{"c", i + 1, "stdout", before[len(before)-1].Number}, []any{p.Call, p.Kept, p.Stream, p.Number})
				}
				time.Sleep(time.Second)
				var v viewing
				v.add(t, kept...)
				v.add(t, o.all()[len(before):]...)
				assert.Equal(t, row.gaps, v.gaps)
				if row.want != "" {
					assert.Equal(t, row.want, v.text["stdout"])
				} else {
					assert.Equal(t, strings.Repeat("v", runtime.DefaultOutputLimit), v.text["stdout"])
					assert.EqualValues(t, much+1, v.end["stdout"])
				}
				time.Sleep(time.Hour)
				assert.Empty(t, w.exec.Output("s", "c"), "the outcome has the output")
				require.NoError(t, w.exec.Shutdown(t.Context()))
			})
		})
	}
}

// TestCommandOutputHoldsNoSecrets: a sensitive value of the input is in no piece, nor split over two, and in nothing
// that is kept. Where the policy masks the output, or the output has sensitive members, no text is told.
// SEMANTICS 2.5.8
func TestCommandOutputHoldsNoSecrets(t *testing.T) {
	const key = "hunter2222"
	writes := []runtimetest.Write{{Text: "it is " + key[:4]}, {After: time.Second, Text: key[4:] + ", and " + key[:4]}, {After: 10 * time.Second}}
	masks := runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{{Code: "redact_output", Args: wire.Raw(`{"pointers":["/stdout"]}`)}}}
	for name, row := range map[string]struct {
		tool     string
		decision runtime.Decision
		kept     string
		told     string
	}{
		"hidden":    {"pipe", runtime.Decision{Effect: runtime.EffectAllow}, "it is (sensitive),", "it is (sensitive), and hunt"},
		"masked":    {"pipe", masks, "", ""},
		"an output": {"sealed", runtime.Decision{Effect: runtime.EffectAllow}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var o livePieces
			w := prepareWorkshop(t, act(runtimetest.Act{Writes: writes}))
			synctest.Test(t, func(t *testing.T) {
				w.open(t, decide(row.decision), engine.WithLive(o.add))
				input := `{"key":"` + key + `"}`
				if row.tool == "sealed" {
					input = `{}`
				}
				go w.run().Turn(engine.TurnConfig{}).Execute(context.Background(), callOf("c", row.tool, input))
				time.Sleep(2 * time.Second)
				var later, all viewing
				later.add(t, w.exec.Output("s", "c")...)
				assert.Equal(t, row.kept, later.text["stdout"], "the end may be the beginning of a value")
				time.Sleep(time.Hour)
				all.add(t, o.all()...)
				assert.Equal(t, row.told, all.text["stdout"])
				counts := liveCounts(t, &w.journal)
				assert.Equal(t, row.told == "", counts[len(counts)-1].Dropped > 0)
				require.NoError(t, w.exec.Shutdown(t.Context()))
			})
		})
	}
}

// TestCommandOutputAtADeadline: after the outcome nothing is told, and what may be the beginning of a sensitive value
// is not told either.
// SEMANTICS 2.5.6, 2.5.8
func TestCommandOutputAtADeadline(t *testing.T) {
	var o livePieces
	w := prepareWorkshop(t, act(runtimetest.Act{Stubborn: true, Hang: true, Writes: []runtimetest.Write{{Text: "late hunt"}, {After: time.Second}}}))
	synctest.Test(t, func(t *testing.T) {
		w.open(t, runtime.PolicyFunc(allowAll), engine.WithLive(o.add))
		out := w.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c", "pipe", `{"key":"hunter2222"}`))
		assert.Equal(t, runtime.TimedOut, out.Kind, out.Message)
		var all viewing
		all.add(t, o.all()...)
		assert.Equal(t, "late hunt"[:len("late hunt")-len("hunter2222")+1], all.text["stdout"])
		require.NoError(t, w.exec.Shutdown(t.Context()))
	})
}
