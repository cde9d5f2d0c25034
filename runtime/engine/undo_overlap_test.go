package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestShared: texts are shared at any place, numbers in members of one name, and groups by their name.
func TestShared(t *testing.T) {
	earlier := overlapSubjectOf([]byte(`{"path":"a.md","n":7,"list":["x",{"deep":"y"}],"empty":""}`), []string{"g", "h"})
	for name, row := range map[string]struct {
		args   string
		groups []string
		want   []string
	}{
		"nothing":                {args: `{"path":"b.md","n":8}`},
		"a text":                 {args: `{"other":"a.md"}`, want: []string{"/other"}},
		"a text deep below":      {args: `{"a/b":{"c~d":["y"]}}`, want: []string{"/a~1b/c~0d"}},
		"a number":               {args: `{"n":7}`, want: []string{"/n"}},
		"a number of that name":  {args: `{"in":{"n":7}}`, want: []string{"/in/n"}},
		"a number under another": {args: `{"m":7}`},
		"an empty text":          {args: `{"empty":""}`},
		"each place once":        {args: `{"list":["x","y"],"path":"a.md"}`, want: []string{"/list", "/path"}},
		"a group":                {args: `{}`, groups: []string{"f", "h"}, want: []string{"group h"}},
		"no JSON":                {args: `{"path":`, groups: []string{"g"}, want: []string{"group g"}},
		"a boolean and null":     {args: `{"path":true,"n":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, row.want, earlier.Shared(overlapSubjectOf([]byte(row.args), row.groups)))
		})
	}
}
