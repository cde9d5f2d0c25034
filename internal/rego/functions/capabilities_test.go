package functions

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCapabilities(t *testing.T) {
	allowed := map[string]bool{}
	for name := range strings.FieldsSeq(Allowed) {
		assert.False(t, allowed[name], "%s is listed twice", name)
		allowed[name] = true
	}
	c := Capabilities()
	assert.Len(t, c.Builtins, len(allowed), "a listed function does not exist")
	assert.Equal(t, []string{}, c.AllowNet)
	for _, b := range c.Builtins {
		assert.False(t, b.IsNondeterministic(), b.Name)
		assert.False(t, b.IsDeprecated(), b.Name)
	}
	for _, name := range []string{"http.send", "net.lookup_ip_addr", "opa.runtime", "rand.intn", "time.now_ns", "uuid.rfc4122", "json.match_schema", "trace"} {
		assert.False(t, allowed[name], name)
	}
}
