package consent

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// DefaultTimeout is how long a request lives when nothing says otherwise.
const DefaultTimeout = 300 * time.Second

// DefaultMaxFor is how long a grant for a duration may last when nothing says
// otherwise.
const DefaultMaxFor = 24 * time.Hour

// The errors of Merge: no set of approvers could give the consent that is required,
// so the call is denied and no request is made.
var (
	ErrNobody = errors.New("the asks and the declaration have no approver in common")
	ErrQuorum = errors.New("the asks and the declaration want more approvals than they have approvers")

	// ErrSelf is that of Requirement.Answerable.
	ErrSelf = errors.New("its principal may not approve its own calls, and there are not enough other approvers")
)

// A Requirement says who must agree, how soon, and how far the agreement may reach.
type Requirement struct {
	Approvers []string           `json:"approvers,omitempty"` // ids and groups, such as group:finance; empty: any id but the principal
	Quorum    int                `json:"quorum"`              // distinct ids
	Timeout   time.Duration      `json:"timeout_ns"`
	MaxCover  runtime.GrantCover `json:"max_cover"`
	MaxFor    time.Duration      `json:"max_for_ns"` // of a grant for a duration
	AllowEdit bool               `json:"allow_edit,omitempty"`
	AllowSelf bool               `json:"allow_self,omitempty"` // the principal may be an approver too
}

// Merge returns the requirement that satisfies the declaration and every ask:
// the approvers that all of them name, the highest quorum, the shortest timeout,
// the narrowest cover. Edits, self-approval and how long a grant may last are the
// declaration's alone. A tool that declares no consent allows what a zero Requirement
// does (SEMANTICS 5.3 and 8.1).
func Merge(declared *Requirement, asks ...runtime.Ask) (Requirement, error) {
	var m Requirement
	if declared != nil {
		m = *declared
	}
	named := len(m.Approvers) > 0
	m.Approvers = distinct(m.Approvers)
	for _, a := range asks {
		switch {
		case len(a.Approvers) == 0:
		case named:
			m.Approvers = slices.DeleteFunc(m.Approvers, func(id string) bool { return !slices.Contains(a.Approvers, id) })
		default:
			m.Approvers, named = distinct(a.Approvers), true
		}
		m.Quorum = max(m.Quorum, a.Quorum)
		if a.Timeout > 0 && (m.Timeout <= 0 || a.Timeout < m.Timeout) {
			m.Timeout = a.Timeout
		}
		m.MaxCover = min(m.MaxCover, a.MaxCover)
	}
	m.Quorum = max(m.Quorum, 1)
	if m.Timeout <= 0 {
		m.Timeout = DefaultTimeout
	}
	if m.MaxFor <= 0 {
		m.MaxFor = DefaultMaxFor
	}
	switch {
	case named && len(m.Approvers) == 0:
		return Requirement{}, ErrNobody
	case named && m.Quorum > len(m.Approvers) && !slices.ContainsFunc(m.Approvers, isGroup):
		return Requirement{}, ErrQuorum
	}
	return m, nil
}

// same reports whether m wants what o does. Timeout is left out: the terms of a request do not change when it ends.
func (m *Requirement) same(o *Requirement) bool {
	a, b := *m, *o
	a.Approvers, b.Approvers, a.Timeout, b.Timeout = nil, nil, 0, 0
	return slices.Equal(m.Approvers, o.Approvers) && reflect.DeepEqual(a, b)
}

// Answerable returns ErrSelf where ids alone show that the approvals which m wants of the approvers of a call for a principal
// cannot be given, because the principal is one of them and may not approve its own calls. A group counts as somebody
// (SEMANTICS 5.5.14).
func (m *Requirement) Answerable(principal string) error {
	if m.AllowSelf || !slices.Contains(m.Approvers, principal) || slices.ContainsFunc(m.Approvers, isGroup) {
		return nil
	}
	if len(distinct(m.Approvers))-1 < max(m.Quorum, 1) {
		return ErrSelf
	}
	return nil
}

// distinct returns ids sorted, each once and none of them empty; nil for none.
func distinct(ids []string) []string {
	var out []string
	for _, id := range ids {
		if id != "" {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// grants reports whether an approver may grant what o says (SEMANTICS 8.1).
func (m *Requirement) grants(o *Offer) bool {
	return o.width() <= m.MaxCover && (o.Lasting != ForDuration || o.For <= m.MaxFor)
}

// Permits returns why an approver may not answer for a principal, NotRejected when it may. groups
// are the names of the groups of the approver, as the component that authenticated it knows them
// (SEMANTICS section 5.5).
func (m *Requirement) Permits(id string, groups []string, principal string) Rejection {
	_, why := m.admit(id, groups, principal)
	return why
}

// admit returns the entry of m.Approvers that lets an approver answer for a principal, or why it may
// not answer. The entry is empty when it is the id of the approver, or when m names no approvers.
func (m *Requirement) admit(id string, groups []string, principal string) (entry string, why Rejection) {
	if id == "" || isGroup(id) {
		return "", NotPermitted
	}
	if len(m.Approvers) > 0 && !slices.Contains(m.Approvers, id) {
		i := slices.IndexFunc(m.Approvers, func(entry string) bool {
			name, _ := strings.CutPrefix(entry, groupPrefix)
			return name != "" && name != entry && slices.Contains(groups, name)
		})
		if i < 0 {
			return "", NotPermitted
		}
		entry = m.Approvers[i]
	}
	if id == principal && !m.AllowSelf {
		return "", SelfApproval
	}
	return entry, NotRejected
}

// groupPrefix begins the entries of approvers that name a group. No approver has an id that begins
// with it.
const groupPrefix = "group:"

func isGroup(entry string) bool { return strings.HasPrefix(entry, groupPrefix) }

// Covers lists what a standing grant may cover, the narrowest first.
func (m *Requirement) Covers() []runtime.GrantCover {
	covers := []runtime.GrantCover{runtime.CoverExact, runtime.CoverArgs, runtime.CoverTool}
	return covers[:min(int(m.MaxCover), len(covers)-1)+1]
}
