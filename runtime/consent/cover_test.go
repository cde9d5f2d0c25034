package consent_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/consent"
)

// SEMANTICS 5.3.5
func TestExactGrantIsNotUsedForOtherArguments(t *testing.T) {
	d := granted(t, `{"to":"a"}`, session(consent.CoverExact))
	_, err := d.book.UseGrant(after(31), "q1", question(`{"to":"b"}`, widest()))
	require.ErrorIs(t, err, consent.ErrNoGrant)
	_, err = d.book.UseGrant(after(31), "q1", question(`{"to":"a"}`, widest()))
	require.NoError(t, err)
}

// SEMANTICS 5.3.6, 5.3.12
func TestPrefixIsWhereTheMemberBegins(t *testing.T) {
	d := granted(t, `{}`, session(consent.CoverArgs, where("to", consent.OpPrefix, `"docs/"`)))
	assert.True(t, d.matches(31, question(`{"to":"docs/docs/"}`, widest())))
	assert.False(t, d.matches(31, question(`{"to":"../docs/"}`, widest())))
}
