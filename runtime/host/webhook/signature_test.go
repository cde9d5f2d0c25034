package webhook

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPublishedVectors signs what the libraries of Standard Webhooks sign in their tests, "sign function
// works" of the one in JavaScript and its like in the others, with the secret of these tests alone and as an earlier one.
func TestPublishedVectors(t *testing.T) {
	const published, signature = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	m := message{"msg_p5jXN8AQM9LWM0D4loKWxJek", []byte(`{"test": 2432232314}`)}
	at := time.Unix(1614265330, 999)
	to := Endpoint{URL: "https://receiver.example", Secret: published}
	keys, err := to.check()
	require.NoError(t, err)
	assert.Equal(t, signature, m.sign(keys, at))

	to.Secret, to.Earlier = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0", []string{published}
	keys, err = to.check()
	require.NoError(t, err)
	assert.Regexp(t, `^v1,[A-Za-z0-9+/]{43}= `+regexp.QuoteMeta(signature)+`$`, m.sign(keys, at))
}
