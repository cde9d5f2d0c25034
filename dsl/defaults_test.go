package dsl

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const withDefaults = `ambit: v1
package: shop
tools:
  plain:
    version: 1.0.0
    description: Say nothing.
    input: {type: object}
    output: {type: object}
    consent: {ask: always}
  own:
    version: 1.0.0
    description: Say everything.
    input: {type: object}
    output: {type: object}
    deadline: 3s
    dedupe: never
    consent: {ask: always, timeout: 1m}
    limits: {input: 1KiB, output: 2KiB, memory: 3MiB, concurrency: 5, queue: 6}
  some:
    version: 1.0.0
    description: Say some.
    input: {type: object}
    output: {type: object}
    limits: {output: 2KiB, queue: 0}
defaults:
  deadline: 10s
  consent: {timeout: 24h}
  dedupe: 1h
  limits: {input: 8KiB, memory: 64MiB, concurrency: 2, queue: 3}
`

// TestFileDefaults: tools have what defaults says, wherever it stands, and what
// it does not say as ever.
func TestFileDefaults(t *testing.T) {
	f, err := Parse("tools.yaml", []byte(withDefaults))
	require.NoError(t, err)
	plain, own, some := f.Tools[0], f.Tools[1], f.Tools[2]

	hour := Dedupe{Mode: "window", Window: time.Hour}
	assert.Equal(t, 10*time.Second, plain.Deadline)
	assert.Equal(t, 24*time.Hour, plain.Consent.Timeout)
	assert.Equal(t, hour, plain.Dedupe)
	assert.Equal(t, Limits{Input: 8 << 10, Output: 1 << 20, Memory: 64 << 20, Concurrency: 2, Queue: 3}, plain.Limits)

	assert.Equal(t, 3*time.Second, own.Deadline)
	assert.Equal(t, time.Minute, own.Consent.Timeout)
	assert.Equal(t, Dedupe{Mode: "never"}, own.Dedupe)
	assert.Equal(t, Limits{Input: 1 << 10, Output: 2 << 10, Memory: 3 << 20, Concurrency: 5, Queue: 6}, own.Limits)

	assert.Nil(t, some.Consent, "a default asks nobody")
	assert.Equal(t, Limits{Input: 8 << 10, Output: 2 << 10, Memory: 64 << 20, Concurrency: 2, Queue: NoQueue}, some.Limits)
}

// A queue needs slots to wait for: that of the defaults is for the tools that have some.
// SEMANTICS 8.1.11
func TestDefaultQueue(t *testing.T) {
	f, err := Parse("tools.yaml", []byte(`ambit: v1
package: shop
defaults: {limits: {queue: 3}}
tools:
  free: {version: 1.0.0, description: Have no limit., input: {type: object}, output: {type: object}}
  half: {version: 1.0.0, description: Have another limit., input: {type: object}, output: {type: object}, limits: {input: 1KiB}}
  slots: {version: 1.0.0, description: Have slots., input: {type: object}, output: {type: object}, limits: {concurrency: 1}}
`))
	require.NoError(t, err)
	assert.Equal(t, 0, f.Tools[0].Limits.Queue)
	assert.Equal(t, 0, f.Tools[1].Limits.Queue)
	assert.Equal(t, 3, f.Tools[2].Limits.Queue)
}

// TestDedupeTrue: true stands for five minutes (SEMANTICS section 8).
// SEMANTICS 8.1.7
func TestDedupeTrue(t *testing.T) {
	f, err := Parse("tools.yaml", []byte(`ambit: v1
package: shop
tools:
  buy: {version: 1.0.0, description: Buy something., dedupe: true, input: {type: object}, output: {type: object}}
`))
	require.NoError(t, err)
	assert.Equal(t, Dedupe{Mode: "window", Window: 5 * time.Minute}, f.Tools[0].Dedupe)
}
