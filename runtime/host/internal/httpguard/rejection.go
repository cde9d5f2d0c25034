package httpguard

import "github.com/ambit-tools/ambit/runtime/consent"

// rejections has the codes for the reasons for which answers are rejected. Those that it lacks say that
// the answer makes no sense.
var rejections = map[consent.Rejection]Code{
	consent.UnknownRequest:  UnknownRequest,
	consent.AlreadyResolved: AlreadyResolved,
	consent.RequestExpired:  Expired,
	consent.NotPermitted:    NotPermitted,
	consent.SelfApproval:    NotPermitted,
	consent.TermsChanged:    Changed,
	consent.GrantTooWide:    GrantTooWide,
	consent.NotRecorded:     JournalUnavailable,
}

// Rejected returns what the sender of an answer is told that was rejected; nil for one that was taken.
func Rejected(why consent.Rejection, detail string) *Problem {
	if why == consent.NotRejected {
		return nil
	}
	code, ok := rejections[why]
	if !ok {
		code = BadRequest
	}
	p := ProblemOf(code, detail)
	p.Reason = why.String()
	return p
}
