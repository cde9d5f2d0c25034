package outcomes

import (
	"fmt"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// AskDetail names the first ask of a policy.
func AskDetail(asks []runtime.Ask) runtime.Detail {
	if len(asks) == 0 {
		return runtime.Detail{}
	}
	return runtime.Detail{Rule: asks[0].ID, At: asks[0].At}
}

// NoApprover is for a call that needs consent where there is no approver.
func NoApprover(tool string, asks []runtime.Ask) runtime.Outcome {
	return denied(runtime.ReasonConsentUnavailable, AskDetail(asks), fmt.Sprintf("%q needs somebody's consent and there is nobody to ask", tool))
}

// NobodyAsked is for a call that needs consent when no approver could be notified.
func NobodyAsked(tool string) runtime.Outcome {
	return denied(runtime.ReasonConsentUnavailable, runtime.Detail{}, fmt.Sprintf("%q needs somebody's consent and nobody could be asked", tool))
}

// TooManyPending is for a call that needs consent when its session has most open requests.
func TooManyPending(tool string, most int, asks []runtime.Ask) runtime.Outcome {
	return denied(runtime.ReasonTooManyPending, AskDetail(asks), fmt.Sprintf(
		"%q needs somebody's consent and %s the most that may: call it when some are answered", tool,
		wording.Plural(most, "1 request of this session waits for an answer, which is", "%d requests of this session wait for answers, which are")))
}

// Unaskable is for a call that cannot be shown to an approver.
func Unaskable() runtime.Outcome {
	return denied(runtime.ReasonPolicyError, runtime.Detail{Rule: "question"}, "the call cannot be put to an approver, and is denied therefore")
}

// Expired is for a call that no approver agreed to in time (SEMANTICS 5.4).
func Expired() runtime.Outcome {
	return denied(runtime.ReasonConsentExpired, runtime.Detail{}, "nobody agreed to the call in time")
}

// TooOld is for a call whose approval is too old to be used.
func TooOld() runtime.Outcome {
	return denied(runtime.ReasonConsentExpired, runtime.Detail{}, "the approval is too old: make the call again")
}

// Mismatch is for a call that is not the one that was approved.
func Mismatch(changed []string) runtime.Outcome {
	return denied(runtime.ReasonBindingMismatch, runtime.Detail{Changed: changed}, "the call is not what was approved any more: make it again")
}

// DeniedByPerson is for a call that an approver denied, with a message, which may be empty.
func DeniedByPerson(message string) runtime.Outcome {
	text := "a person denied the call"
	if message != "" {
		text += ": " + message
	}
	return denied(runtime.ReasonConsentDenied, runtime.Detail{Rule: "person", Message: message}, text)
}

// Pending is for a call that waits for consent: for the reasons that approvers read, of whom need says who may agree,
// for as long as expires says.
func Pending(tool string, reasons []consent.Reason, need consent.Requirement, expires time.Duration) runtime.Outcome {
	out := runtime.Outcome{
		Tool: tool, Kind: runtime.Pending, Reason: runtime.ReasonConsentRequired,
		AllReasons: []runtime.Reason{runtime.ReasonConsentRequired}, Loop: runtime.LoopWait,
	}
	who := "somebody"
	if len(reasons) > 0 {
		out.Detail = runtime.Detail{Rule: reasons[0].Code, At: reasons[0].At, Message: reasons[0].Message, ExpiresIn: expires}
		if len(need.Approvers) > 0 {
			who = strings.Join(need.Approvers, " or ")
		}
	}
	out.Message = fmt.Sprintf("%q waits for the consent of %s", tool, who)
	return out
}

// Redeclared is for an approved call whose tool has another declaration than when consent was asked for.
func Redeclared() runtime.Outcome {
	return denied(runtime.ReasonBindingMismatch, runtime.Detail{Changed: []string{consent.ChangedDeclaration.String()}},
		"the tool is not declared any more as it was when the call was approved: make it again")
}
