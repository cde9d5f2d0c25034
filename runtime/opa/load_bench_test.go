package opa

import (
	"fmt"
	goruntime "runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

// BenchmarkLoad prints what a load takes with a plan and without, in turns, and what
// the policies that it returns hold of the memory.
func BenchmarkLoad(b *testing.B) {
	w := newWorld(b, 100)
	fsys, declared, err := generate(declarationOf(100))
	require.NoError(b, err)
	for _, t := range declared {
		fsys[t.Name()+".rego"] = regotest.Text(toolPolicy(t.Name()))
	}
	evaluators := []Evaluator{Reference, Plan}
	load := func(e Evaluator) *Policy {
		p, err := Load(fsys, w.reg, WithEvaluator(e))
		require.NoError(b, err)
		return p
	}
	var took [2][]time.Duration
	for range 7 {
		for i, e := range evaluators {
			start := time.Now()
			load(e)
			took[i] = append(took[i], time.Since(start))
		}
	}
	var held [2]uint64
	for i, e := range evaluators {
		const policies = 8
		before := heap()
		kept := make([]*Policy, policies)
		for k := range kept {
			kept[k] = load(e)
		}
		held[i] = (heap() - before) / policies
		goruntime.KeepAlive(kept)
	}
	for i, e := range evaluators {
		slices.Sort(took[i])
		fmt.Printf("%-10s least %9v  median %9v  %.2f  holds %5d KiB  %.2f\n", e, took[i][0], took[i][3],
			float64(took[i][0])/float64(took[0][0]), held[i]>>10, float64(held[i])/float64(held[0]))
	}
}

// heap returns the bytes that are alive.
func heap() uint64 {
	goruntime.GC()
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return m.HeapAlloc
}
