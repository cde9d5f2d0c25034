package webhook

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// The types of messages.
const (
	ApprovalRequested = "approval.requested"
	ApprovalExpiring  = "approval.expiring"
	ApprovalEnded     = "approval.ended"
	CallUnknown       = "call.unknown"
	UndoFailed        = "undo.failed"
)

var types = []string{ApprovalRequested, ApprovalExpiring, ApprovalEnded, CallUnknown, UndoFailed}

// secretPrefix begins secrets, as Standard Webhooks writes them.
const secretPrefix = "whsec_"

// An Endpoint is where messages are sent to.
type Endpoint struct {
	// URL is sent to with POST: https, or http to a loopback address. Redirects are not followed. An
	// endpoint with another URL begins with the next entry of the journal.
	URL string
	// Secret signs the messages: whsec_ and 24 to 64 bytes in base64.
	Secret string
	// Earlier are secrets that sign too, after Secret, until the receiver has changed to the new one: it
	// accepts a message when one signature is right.
	Earlier []string
	// Types are the types of messages that are sent; nil: all.
	Types []string
	// Link is the page that a message links to, with {request}, {session} and {call} in it, such as
	// "https://console.example/approvals/{request}". A message that lacks one of them has no link.
	Link string
	// Arguments sends the arguments of calls with approval.requested, as the journal has them: values
	// of members marked x-sensitive are masked. They are otherwise sent to no receiver.
	Arguments bool
	// Transport sends requests. The default, http.DefaultTransport, is wrong behind a proxy with an
	// authentication of its own.
	Transport http.RoundTripper
}

// check returns the keys that sign for the endpoint. The error says what is wrong, and holds neither a secret
// nor more of the URL than its host.
func (e *Endpoint) check() (keys [][]byte, err error) {
	u, err := url.Parse(e.URL)
	switch {
	case err != nil:
		return nil, errors.New("its URL cannot be parsed")
	case u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("its URL is none of https with a host and without a user")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, fmt.Errorf("its URL sends to %s in clear text: use https, or a loopback address", u.Host)
	}
	for _, name := range e.Types {
		if !slices.Contains(types, name) {
			return nil, fmt.Errorf("there is no type %q of messages; there are: %s", name, strings.Join(types, ", "))
		}
	}
	for i, secret := range append([]string{e.Secret}, e.Earlier...) {
		encoded, found := strings.CutPrefix(secret, secretPrefix)
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !found || err != nil || len(key) < 24 || len(key) > 64 {
			which := "its secret"
			if i > 0 {
				which = fmt.Sprintf("its earlier secret %d", i)
			}
			return nil, fmt.Errorf("%s is not %s and 24 to 64 bytes in base64", which, secretPrefix)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// host names the endpoint in errors.
func (e *Endpoint) host() string {
	if u, err := url.Parse(e.URL); err == nil && u.Host != "" {
		return u.Host
	}
	return "its receiver"
}

// wants reports whether messages of a type are sent.
func (e *Endpoint) wants(kind string) bool { return e.Types == nil || slices.Contains(e.Types, kind) }
