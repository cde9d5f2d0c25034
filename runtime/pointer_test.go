package runtime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPointerSet(t *testing.T) {
	const text = `{"a":{"b/c":[10,{"~":"x,}]\""},[]],"":true},"n":null,"é":-1.5e3}`
	for pointer, want := range map[string]string{
		"":             `0`,
		"/n":           `{"a":{"b/c":[10,{"~":"x,}]\""},[]],"":true},"n":0,"é":-1.5e3}`,
		"/é":           `{"a":{"b/c":[10,{"~":"x,}]\""},[]],"":true},"n":null,"é":0}`,
		"/a":           `{"a":0,"n":null,"é":-1.5e3}`,
		"/a/":          `{"a":{"b/c":[10,{"~":"x,}]\""},[]],"":0},"n":null,"é":-1.5e3}`,
		"/a/b~1c/0":    `{"a":{"b/c":[0,{"~":"x,}]\""},[]],"":true},"n":null,"é":-1.5e3}`,
		"/a/b~1c/1/~0": `{"a":{"b/c":[10,{"~":0},[]],"":true},"n":null,"é":-1.5e3}`,
		"/a/b~1c/2":    `{"a":{"b/c":[10,{"~":"x,}]\""},0],"":true},"n":null,"é":-1.5e3}`,
		"/new\"":       `{"a":{"b/c":[10,{"~":"x,}]\""},[]],"":true},"n":null,"é":-1.5e3,"new\"":0}`,
	} {
		p, err := parsePointer(pointer)
		require.NoError(t, err, pointer)
		got, err := p.set([]byte(text), []byte("0"))
		require.NoError(t, err, pointer)
		assert.Equal(t, want, string(got), pointer)
	}
	for _, pointer := range []string{"/a/b~1c/3", "/a/b~1c/01", "/a/b~1c/-", "/n/x", "/x/y", "/a/b~1c/2/0"} {
		p, err := parsePointer(pointer)
		require.NoError(t, err, pointer)
		_, err = p.set([]byte(text), []byte("0"))
		assert.Error(t, err, pointer)
		assert.Equal(t, text, string(p.mask([]byte(text))), pointer)
	}
	p, err := parsePointer("/x")
	require.NoError(t, err)
	got, err := p.set([]byte(" { } "), []byte("1"))
	require.NoError(t, err)
	assert.JSONEq(t, `{"x":1}`, string(got))
	assert.Equal(t, `{}`, string(p.mask([]byte(`{}`))), "a mask adds nothing")
	got, err = p.set([]byte("{ \"a\" : [ 1 , 2 ] , \"x\" : { } }"), []byte("1"))
	require.NoError(t, err)
	assert.JSONEq(t, `{"a":[1,2],"x":1}`, string(got))
}

func TestPointerSyntax(t *testing.T) {
	for _, text := range []string{"a", "/~", "/~2", "/a~", "#/a"} {
		_, err := parsePointer(text)
		assert.Error(t, err, text)
	}
	a, b := pointer{"a"}, pointer{"a", "b"}
	assert.True(t, a.overlaps(b) && b.overlaps(a) && a.overlaps(pointer{}))
	assert.False(t, b.overlaps(pointer{"a", "c"}))
}
