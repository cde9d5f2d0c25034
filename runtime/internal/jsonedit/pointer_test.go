package jsonedit

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
		p, err := Parse(pointer)
		require.NoError(t, err, pointer)
		got, err := p.Put([]byte(text), []byte("0"), nil)
		require.NoError(t, err, pointer)
		assert.Equal(t, want, string(got), pointer)
	}
	for _, pointer := range []string{"/a/b~1c/3", "/a/b~1c/01", "/a/b~1c/-", "/n/x", "/x/y", "/a/b~1c/2/0"} {
		p, err := Parse(pointer)
		require.NoError(t, err, pointer)
		_, err = p.Put([]byte(text), []byte("0"), nil)
		assert.Error(t, err, pointer)
		assert.Equal(t, text, string(p.Mask([]byte(text))), pointer)
	}
	p, err := Parse("/x")
	require.NoError(t, err)
	got, err := p.Put([]byte(" { } "), []byte("1"), nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"x":1}`, string(got))
	assert.Equal(t, `{}`, string(p.Mask([]byte(`{}`))), "a mask adds nothing")
	got, err = p.Put([]byte("{ \"a\" : [ 1 , 2 ] , \"x\" : { } }"), []byte("1"), nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"a":[1,2],"x":1}`, string(got))
}

func TestPointerSyntax(t *testing.T) {
	for _, text := range []string{"a", "/~", "/~2", "/a~", "#/a"} {
		_, err := Parse(text)
		assert.Error(t, err, text)
	}
	a, b := Pointer{"a"}, Pointer{"a", "b"}
	assert.True(t, a.Overlaps(b) && b.Overlaps(a) && a.Overlaps(Pointer{}))
	assert.False(t, b.Overlaps(Pointer{"a", "c"}))
}

func TestPutAddsWhatDefaultsHave(t *testing.T) {
	p := Pointer{"a", "b", "c"}
	got, err := p.Put([]byte(`{}`), []byte(`1`), []byte(`{"a":{"b":{"d":2}}}`))
	require.NoError(t, err)
	assert.Equal(t, `{"a":{"b":{"d":2,"c":1}}}`, string(got))
	for _, defaults := range []string{`{}`, `{"a":[]}`} {
		_, err := p.Put([]byte(`{}`), []byte(`1`), []byte(defaults))
		assert.Error(t, err, defaults)
	}
	_, err = p.Put([]byte(`{}`), []byte(`1`), nil)
	assert.Error(t, err)
	assert.True(t, p[:1].Has([]byte(`{"a":null}`)))
	assert.False(t, p[:1].Has([]byte(`{"b":1}`)))
	assert.False(t, p.Has([]byte(`{"a":1}`)))
}
