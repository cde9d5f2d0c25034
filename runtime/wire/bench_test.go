package wire_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/wire"
)

type plainInput struct {
	Path  string `json:"path"`
	Limit *int64 `json:"limit"`
}

type plainOutput struct {
	Content string `json:"content"`
	Size    int64  `json:"size"`
}

var (
	benchInput = []byte(`{"path": "docs/guide/introduction.md", "limit": 200}`)
	benchText  = strings.Repeat("Each line of the guide says one thing.\n", 4)
)

func wireCall(b *testing.B) {
	in, bad := wire.Decode[readInput](benchInput, wire.Limits{}, &readInputRule)
	if bad != nil {
		b.Fatal(bad)
	}
	out := readOutput{Content: benchText, Size: int64(len(in.Path))}
	if _, bad = wire.Append(nil, &out); bad != nil {
		b.Fatal(bad)
	}
}

func plainCall(b *testing.B) {
	var in plainInput
	if err := json.Unmarshal(benchInput, &in); err != nil {
		b.Fatal(err)
	}
	if _, err := json.Marshal(&plainOutput{Content: benchText, Size: int64(len(in.Path))}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCall decodes {path, limit} and encodes {content, size}: once with
// wire, with all checks, and once with encoding/json, without any.
func BenchmarkCall(b *testing.B) {
	b.Run("wire", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			wireCall(b)
		}
	})
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			plainCall(b)
		}
	})
	b.Run("ratio", func(b *testing.B) {
		const batch = 100
		var wired, plain []time.Duration
		for b.Loop() {
			start := time.Now()
			for range batch {
				wireCall(b)
			}
			mid := time.Now()
			for range batch {
				plainCall(b)
			}
			wired = append(wired, mid.Sub(start))
			plain = append(plain, time.Since(mid))
		}
		w, p := median(wired), median(plain)
		b.ReportMetric(w/p, "wire/json")
		b.ReportMetric(w/batch, "wire-ns")
		b.ReportMetric(p/batch, "json-ns")
	})
}

// median returns the median in nanoseconds: the machine may be busy with other things.
func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2])
}

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, bad := wire.Decode[readInput](benchInput, wire.Limits{}, &readInputRule); bad != nil {
			b.Fatal(bad)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	out := readOutput{Content: benchText, Size: 12}
	b.ReportAllocs()
	for b.Loop() {
		if _, bad := wire.Append(nil, &out); bad != nil {
			b.Fatal(bad)
		}
	}
}

// BenchmarkEverything decodes and encodes a value with a member of each kind.
func BenchmarkEverything(b *testing.B) {
	in := []byte(sampleJSON)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		v, bad := wire.Decode[everything](in, wire.Limits{}, &everythingRule)
		if bad != nil {
			b.Fatal(bad)
		}
		if _, bad := wire.Append(nil, v); bad != nil {
			b.Fatal(bad)
		}
	}
}

// BenchmarkRefuse lists all that is wrong with a hostile text of 64 KiB.
func BenchmarkRefuse(b *testing.B) {
	in := []byte("{" + strings.Repeat(`"x":1,`, 10_900) + `"y":1}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, bad := wire.Decode[everything](in, wire.Limits{}, &everythingRule); len(bad) < 100 {
			b.Fatal(bad)
		}
		if _, bad := wire.Decode[readInput](in, wire.Limits{}, &readInputRule); len(bad) < 100 {
			b.Fatal(bad)
		}
	}
}
