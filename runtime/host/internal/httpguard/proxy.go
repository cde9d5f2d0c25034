package httpguard

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
)

// Proxied is the method of an actor whom a proxy in front of the host has authenticated.
const Proxied runtime.ActorMethod = "proxy"

// A ProxyHeader knows callers by headers that a proxy sets. It believes them from the addresses of the proxy
// alone.
type ProxyHeader struct {
	User, Groups string // names of headers; no Groups: none are read
	Proxies      []netip.Prefix
}

// Authenticate implements Authenticator. A header that comes twice says nothing: a client may have sent one of them.
func (p ProxyHeader) Authenticate(r *http.Request) (Caller, error) {
	ids := r.Header.Values(p.User)
	if !peerIn(r, p.Proxies) || len(ids) != 1 || strings.TrimSpace(ids[0]) == "" {
		return Caller{}, ErrUnknown
	}
	who := runtime.Actor{ID: strings.TrimSpace(ids[0]), Method: Proxied}
	if p.Groups == "" {
		return Caller{Actor: who}, nil
	}
	lists := r.Header.Values(p.Groups)
	if len(lists) > 1 {
		return Caller{}, ErrUnknown
	}
	for _, list := range lists {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.TrimSpace(name); name != "" {
				who.Groups = append(who.Groups, name)
			}
		}
	}
	return Caller{Actor: who}, nil
}

// peerIn reports whether a connection comes from one of some addresses.
func peerIn(r *http.Request, list []netip.Prefix) bool {
	from, ok := peer(r)
	return ok && slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(from) })
}
